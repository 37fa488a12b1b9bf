internal import AlcoveCore

/// Dates as people write them.
enum DateText {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    private static let days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

    static func days(_ year: Int, _ month: Int) -> Int {
        [31, year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][
            month - 1]
    }

    /// Sunday is 0.
    static func weekday(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let table = [0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4]
        let y = month < 3 ? year - 1 : year
        return (y + y / 4 - y / 100 + y / 400 + table[month - 1] + day) % 7
    }

    /// Seconds since 1970; nil when the text is no date.
    static func seconds(_ text: String, now: Int, isUTC: Bool, zone: [UInt8]?) -> Int? {
        var words: [String] = []
        var word = ""
        let lowered = Array(text.lowercased().trimmingBlanks)
        // Signs stand by themselves unless they are within a date or a zone.
        for (index, character) in lowered.enumerated() {
            if character == " " || character == "\t" || character == "," {
                if !word.isEmpty { words.append(word) }
                word = ""
            } else if character == "t", !word.isEmpty, word.last?.isNumber == true, index + 1 < lowered.count,
                lowered[index + 1].isNumber
            {
                words.append(word)
                word = ""
            } else {
                word.append(character)
            }
        }
        if !word.isEmpty { words.append(word) }
        if words.first?.first == "@", let seconds = Double(words[0].dropFirst()) {
            return relative(
                Array(words.dropFirst()), to: Clock.parts(Int(seconds.rounded(.down)), isUTC: isUTC, zone: zone),
                isUTC: isUTC, zone: zone, offset: nil)
        }
        var parts = Clock.parts(now, isUTC: isUTC, zone: zone)
        var hasTime = false
        var hasDate = false
        var offset: Int?
        var rest: [String] = []
        var index = 0
        while index < words.count {
            let word = words[index]
            index += 1
            if let (year, month, day) = date(word) {
                (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(year - 1900), Int32(month - 1), Int32(day))
                hasDate = true
            } else if word.contains(":"), rest.isEmpty || rest.last != "-" {
                guard let (seconds, zoneOffset) = time(word) else { return nil }
                (parts.tm_hour, parts.tm_min, parts.tm_sec) = (
                    Int32(seconds / 3600), Int32(seconds / 60 % 60), Int32(seconds % 60)
                )
                if let zoneOffset { offset = zoneOffset }
                hasTime = true
                if index < words.count, words[index] == "pm" || words[index] == "am" {
                    if words[index] == "pm", parts.tm_hour < 12 { parts.tm_hour += 12 }
                    if words[index] == "am", parts.tm_hour == 12 { parts.tm_hour = 0 }
                    index += 1
                }
            } else if let month = months.firstIndex(where: { word.hasPrefix($0) && word.count >= 3 }),
                !"monthsmondaymarket".contains(word) || word.count == 3
            {
                parts.tm_mon = Int32(month)
                hasDate = true
                if let day = rest.last.flatMap({ Int($0) }), (1...31).contains(day) {
                    parts.tm_mday = Int32(day)
                    rest.removeLast()
                } else if index < words.count, let day = Int(words[index]), (1...31).contains(day) {
                    parts.tm_mday = Int32(day)
                    index += 1
                } else {
                    parts.tm_mday = 1
                }
                if index < words.count, let year = Int(words[index]), year > 31 {
                    parts.tm_year = Int32(year - 1900)
                    index += 1
                }
            } else if ["z", "utc", "gmt"].contains(word) {
                offset = 0
            } else if word == "midnight" {
                (parts.tm_hour, parts.tm_min, parts.tm_sec) = (0, 0, 0)
                hasTime = true
            } else if word == "noon" {
                (parts.tm_hour, parts.tm_min, parts.tm_sec) = (12, 0, 0)
                hasTime = true
            } else {
                rest.append(word)
            }
        }
        if hasDate, !hasTime { (parts.tm_hour, parts.tm_min, parts.tm_sec) = (0, 0, 0) }
        return relative(rest, to: parts, isUTC: isUTC, zone: zone, offset: offset)
    }

    private static func date(_ word: String) -> (Int, Int, Int)? {
        let separator: Character = word.contains("/") ? "/" : "-"
        let numbers = word.split(separator: separator, omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 3, let a = numbers[0], let b = numbers[1], let c = numbers[2], word.first != "-" else {
            guard word.count == 8, let number = Int(word), number > 10_000_000 else { return nil }
            return (number / 10_000, number / 100 % 100, number % 100)
        }
        let (year, month, day) = separator == "/" && a < 13 ? (c, a, b) : (a, b, c)
        guard (1...12).contains(month), (1...days(year, month)).contains(day) else { return nil }
        return (year, month, day)
    }

    /// Seconds of the day, and the zone's distance from UTC when it is written too.
    private static func time(_ word: String) -> (Int, Int?)? {
        var text = word[...]
        var offset: Int?
        var adds = 0
        if text.hasSuffix("z") {
            offset = 0
            text.removeLast()
        } else if let sign = text.lastIndex(where: { $0 == "+" || $0 == "-" }) {
            let digits = text[text.index(after: sign)...].filter { $0 != ":" }
            guard let number = Int(digits) else { return nil }
            let minutes = digits.count <= 2 ? number * 60 : number / 100 * 60 + number % 100
            offset = (text[sign] == "-" ? -60 : 60) * minutes
            text = text[..<sign]
        }
        if text.hasSuffix("pm") || text.hasSuffix("am") {
            adds = text.hasSuffix("pm") && !text.hasPrefix("12") ? 12 : 0
            text.removeLast(2)
        }
        let parts = text.split(separator: ":").map { Double($0) }
        guard (2...3).contains(parts.count), let hours = parts[0], let minutes = parts[1], hours + Double(adds) < 25,
            minutes < 60
        else { return nil }
        let seconds = parts.count > 2 ? parts[2] ?? -1 : 0
        guard seconds >= 0, seconds < 61 else { return nil }
        return ((Int(hours) + adds) * 3600 + Int(minutes) * 60 + Int(seconds), offset)
    }

    private static func relative(_ words: [String], to start: tm, isUTC: Bool, zone: [UInt8]?, offset: Int?) -> Int? {
        var parts = start
        var seconds = 0
        var sign = 1
        var number: Int?
        var changes: [(Int, String)] = []
        for (index, given) in words.enumerated() {
            var word = given
            if word == "+" || word == "-" {
                sign = word == "-" ? -1 : 1
                continue
            }
            if let first = word.first, first == "+" || first == "-", word.count > 1 {
                sign = first == "-" ? -1 : 1
                word.removeFirst()
            }
            let digits = word.prefix { $0.isNumber }
            if !digits.isEmpty {
                guard let value = Int(digits), value < 1_000_000_000 else { return nil }
                number = value * sign
                sign = 1
                if digits.count == word.count { continue }
                word.removeFirst(digits.count)
            }
            switch word {
            case "now", "today", "and", "of", "at": continue
            case "tomorrow": changes.append((1, "day"))
            case "yesterday": changes.append((-1, "day"))
            case "next": number = 1
            case "last": number = -1
            case "this": number = 0
            case "ago":
                guard let last = changes.popLast() else { return nil }
                changes.append((-last.0, last.1))
            default:
                if word.hasSuffix("s"), word.count > 3 { word.removeLast() }
                if ["sec", "second", "min", "minute", "hour", "day", "week", "fortnight", "month", "year"].contains(
                    word)
                {
                    changes.append((number ?? 1, word))
                } else if let day = days.firstIndex(where: { given.hasPrefix($0) }) {
                    var ahead = (day - Int(parts.tm_wday) + 7) % 7
                    if let count = number { ahead += count > 0 ? (ahead == 0 ? 7 : 0) : count < 0 ? (-7) : 0 }
                    changes.append((ahead, "day"))
                    if index == 0 || number != nil { (parts.tm_hour, parts.tm_min, parts.tm_sec) = (0, 0, 0) }
                } else {
                    return nil
                }
                number = nil
            }
        }
        for (count, unit) in changes {
            switch unit {
            case "sec", "second": seconds += count
            case "min", "minute": seconds += count * 60
            case "hour": seconds += count * 3600
            case "day": parts.tm_mday += Int32(clamping: count)
            case "week": parts.tm_mday += Int32(clamping: count * 7)
            case "fortnight": parts.tm_mday += Int32(clamping: count * 14)
            case "month": parts.tm_mon += Int32(clamping: count)
            default: parts.tm_year += Int32(clamping: count)
            }
        }
        parts.tm_isdst = -1
        let base = Clock.seconds(parts, isUTC: isUTC || offset != nil, zone: zone)
        return base - (offset ?? 0) + seconds
    }
}

extension String {
    fileprivate var trimmingBlanks: Substring {
        var text = self[...]
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return text
    }
}
