internal import AlcoveCore
package import AlcoveStorage

/// Reads titles and times of events: today, tomorrow, or the next seven days.
///
/// Four gates, each by itself: the person has switched it on; the source is there and may be read; the exact read was
/// approved, once; and somebody is there, before it is read and after.
package enum CalendarTool {
    /// Most events of one answer, and most characters of a title.
    static let eventLimit = 50, titleLength = 120

    package static func make(
        consent: @escaping @Sendable () async throws -> CalendarConsent,
        source: @escaping @Sendable (_ path: String, _ credentials: String?) throws -> any CalendarSource,
        now: @escaping @Sendable () -> Timestamp = { .now }
    ) -> any Tool {
        let open = { @Sendable () async throws -> any CalendarSource in
            let consent = try await consent()
            guard consent.isOpen else {
                throw InputError(
                    code: "calendar_off", message: "The calendar is not open to the assistant.",
                    hint: "Switch it on in the settings (calendarEnabled).")
            }
            guard let path = consent.path else {
                throw InputError(
                    code: "calendar_nowhere", message: "Nobody has said where the calendar is.",
                    hint: "Set calendarPath to an .ics file, a folder of them, or a CalDAV server's address.")
            }
            return try source(path, consent.credentials)
        }
        return KeptTool(
            "calendar_read", "Read titles and times of calendar events: today, tomorrow, or the next seven days.",
            effect: .readsCalendar, shown: "range",
            properties: ["range": ["type": "string", "enum": .array(Span.allCases.map { .string($0.rawValue) })]],
            required: ["range"],
            foresight: { arguments in
                // What is closed is not asked about.
                let place = try await open().place
                return Span(arguments).question + (place.map { " The server \($0) is asked for them." } ?? "")
            }
        ) { arguments, context in
            let span = Span(arguments), days = span.days(from: now())
            guard context.isAttended() else { throw unattended }
            let found = try await open().events(from: days.start, to: days.end, stop: context.stop)
            guard context.isAttended() else { throw unattended }
            return ToolResult(succeeded: true, text: text(found, span))
        }
    }

    private static let unattended = InputError(
        code: "calendar_unattended",
        message: "Nobody was there while the calendar was read, so nothing of it was taken.",
        hint: "Ask again, and stay.")

    enum Span: String, CaseIterable {
        case today, tomorrow
        case nextSevenDays = "next_seven_days"

        init(_ arguments: JSONObject) { self = arguments["range"]?.string.flatMap(Span.init(rawValue:)) ?? .today }

        var words: String {
            switch self {
            case .today: "today"
            case .tomorrow: "tomorrow"
            case .nextSevenDays: "the next seven days"
            }
        }

        /// What exactly would be read.
        var question: String {
            "Reads titles, beginnings and ends of your calendar's events for \(words), at most \(eventLimit). Nothing else of them."
        }

        /// From the beginning of a day of this device to that of another.
        func days(from moment: Timestamp) -> (start: Timestamp, end: Timestamp) {
            switch self {
            case .today: (LocalTime.midnight(moment, plus: 0), LocalTime.midnight(moment, plus: 1))
            case .tomorrow: (LocalTime.midnight(moment, plus: 1), LocalTime.midnight(moment, plus: 2))
            case .nextSevenDays: (LocalTime.midnight(moment, plus: 0), LocalTime.midnight(moment, plus: 7))
            }
        }
    }

    private static func text(_ found: CalendarEvents, _ span: Span) -> String {
        var lines = found.events.prefix(eventLimit).map { event in
            let title = sanitized(event.title)
            guard !event.isAllDay else {
                // The last day is the one before the end.
                let last = Timestamp(milliseconds: event.end.milliseconds - 1)
                let first = LocalTime.day(event.start)
                return
                    "- \(first == LocalTime.day(last) ? first : "\(first) to \(LocalTime.day(last))"), all day: \(title)"
            }
            let until = event.end == event.start ? "" : " to \(LocalTime.moment(event.end, after: event.start))"
            return "- \(LocalTime.moment(event.start))\(until): \(title)"
        }
        if found.events.count > eventLimit { lines.append("... and more.") }
        if lines.isEmpty { lines = ["Nothing is in the calendar for \(span.words)."] }
        if let warning = found.warning { lines.append(warning) }
        return lines.joined(separator: "\n")
    }

    /// One line without control characters; strangers write titles.
    private static func sanitized(_ title: String) -> String {
        let words = VisibleText.make(title).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        if words.isEmpty { return "(without a title)" }
        return words.count <= titleLength ? words : String(words.prefix(titleLength - 1)) + "…"
    }
}
