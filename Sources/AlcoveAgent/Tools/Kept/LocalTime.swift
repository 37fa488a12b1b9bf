internal import AlcoveCore
internal import AlcoveStorage

/// A moment as the device's own clock and time zone have it.
enum LocalTime {
    private static let days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]

    /// "Monday, 30 November 2026, 11:20 (UTC+01:00)"
    static func words(_ moment: Timestamp) -> String {
        var seconds = time_t(moment.milliseconds / 1_000), parts = tm()
        localtime_r(&seconds, &parts)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let offset = parts.tm_gmtoff / 60
        let zone = "UTC\(offset < 0 ? "-" : "+")\(two(abs(offset) / 60)):\(two(abs(offset) % 60))"
        let day = days[Int(parts.tm_wday) % 7], month = months[Int(parts.tm_mon) % 12]
        return
            "\(day), \(parts.tm_mday) \(month) \(Int(parts.tm_year) + 1900), \(two(Int(parts.tm_hour))):\(two(Int(parts.tm_min))) (\(zone))"
    }

    private static func parts(_ moment: Timestamp) -> tm {
        var seconds = time_t(moment.milliseconds / 1_000), parts = tm()
        localtime_r(&seconds, &parts)
        return parts
    }

    /// The beginning of a moment's day, or of a later one; days are as long as they are.
    static func midnight(_ moment: Timestamp, plus days: Int) -> Timestamp {
        var parts = parts(moment)
        (parts.tm_hour, parts.tm_min, parts.tm_sec, parts.tm_isdst) = (0, 0, 0, -1)
        parts.tm_mday += Int32(days)
        return Timestamp(milliseconds: Int64(mktime(&parts)) * 1_000)
    }

    /// "Mon 30 November 2026"
    static func day(_ moment: Timestamp) -> String {
        let parts = parts(moment)
        let day = days[Int(parts.tm_wday) % 7].prefix(3)
        return "\(day) \(parts.tm_mday) \(months[Int(parts.tm_mon) % 12]) \(Int(parts.tm_year) + 1900)"
    }

    /// "Mon 30 November 2026, 11:20"; without the day where it is that of another moment.
    static func moment(_ moment: Timestamp, after other: Timestamp? = nil) -> String {
        let parts = parts(moment), day = day(moment)
        let clock = "\(parts.tm_hour < 10 ? "0" : "")\(parts.tm_hour):\(parts.tm_min < 10 ? "0" : "")\(parts.tm_min)"
        return other.map { LocalTime.day($0) } == day ? clock : "\(day), \(clock)"
    }
}
