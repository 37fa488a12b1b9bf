internal import AlcoveCore

/// A moment of the wall clock, to the millisecond, as it is stored and sent.
package struct Timestamp: Sendable, Hashable, Comparable {
    /// Since 1970-01-01T00:00:00Z, leap seconds left out.
    package var milliseconds: Int64

    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// The system's clock.
    package static var now: Timestamp {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Timestamp(milliseconds: Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000)
    }

    package static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }
}

extension Timestamp {
    /// As ISO 8601 in UTC with milliseconds: `2026-01-31T09:05:00.250Z`.
    package var iso8601: String {
        let (seconds, rest) = milliseconds.flooredDivision(by: 1_000)
        let (days, second) = seconds.flooredDivision(by: 86_400)
        let date = CivilDate(daysSince1970: days)
        let time = "\(padded(second / 3600)):\(padded(second / 60 % 60)):\(padded(second % 60)).\(padded(rest, 3))"
        return "\(padded(date.year, 4))-\(padded(date.month))-\(padded(date.day))T\(time)Z"
    }

    /// Reads ISO 8601 as we and other programs write it: `T` or a space, seconds with or without a fraction, `Z`, an
    /// offset, or nothing, which means UTC. Nil for anything else.
    package init?(iso8601 text: String) {
        var reader = DigitReader(bytes: Array(text.utf8))
        guard let year = reader.number(4), reader.take("-"), let month = reader.number(2), reader.take("-"),
            let day = reader.number(2), reader.take("T") || reader.take(" "), let hour = reader.number(2),
            reader.take(":"), let minute = reader.number(2), (1...12).contains(month), (1...31).contains(day),
            hour < 24, minute < 60
        else { return nil }
        var second: Int64 = 0
        var fraction: Int64 = 0
        if reader.take(":") {
            guard let value = reader.number(2), value <= 60 else { return nil }
            second = value
            if reader.take(".") {
                guard let value = reader.milliseconds() else { return nil }
                fraction = value
            }
        }
        guard let offset = reader.offsetMinutes(), reader.isAtEnd else { return nil }
        let days = CivilDate(year: year, month: month, day: day).daysSince1970
        let minutes = (days * 24 + hour) * 60 + minute - offset
        milliseconds = (minutes * 60 + second) * 1_000 + fraction
    }
}

private func padded(_ value: Int64, _ width: Int = 2) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

extension Int64 {
    fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

/// A day of the Gregorian calendar. The arithmetic is Howard Hinnant's, https://howardhinnant.github.io/date_algorithms.html
private struct CivilDate {
    var year: Int64
    var month: Int64
    var day: Int64

    init(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = day
    }

    init(daysSince1970 days: Int64) {
        let (era, dayOfEra) = (days + 719_468).flooredDivision(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shifted + 2) / 5 + 1
        month = shifted < 10 ? shifted + 3 : shifted - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var daysSince1970: Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = shiftedYear.flooredDivision(by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}

private struct DigitReader {
    let bytes: [UInt8]
    var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    private mutating func digit() -> Int64? {
        guard position < bytes.count, (0x30...0x39).contains(bytes[position]) else { return nil }
        position += 1
        return Int64(bytes[position - 1] - 0x30)
    }

    mutating func number(_ width: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<width {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// A fraction of any length; what is past the third digit is cut.
    mutating func milliseconds() -> Int64? {
        guard var value = digit() else { return nil }
        var places = 1
        while let digit = digit() {
            if places < 3 { value = value * 10 + digit }
            places += 1
        }
        while places < 3 {
            value *= 10
            places += 1
        }
        return value
    }

    mutating func offsetMinutes() -> Int64? {
        if isAtEnd || take("Z") { return 0 }
        let isEast = take("+")
        guard isEast || take("-"), let hours = number(2) else { return nil }
        _ = take(":")
        guard let minutes = number(2) else { return nil }
        return (isEast ? 1 : -1) * (hours * 60 + minutes)
    }
}
