import AlcoveAgent
import AlcoveCore
import AlcoveStorage
import TestFolder
import Testing

@testable import AlcoveCalendar

/// Calendars as their programs write them; the device is in New York.
struct CalendarFilesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func calendar(_ events: String...) -> String {
        let zone = """
            BEGIN:VTIMEZONE
            TZID:Office
            BEGIN:STANDARD
            DTSTART:19700101T000000
            TZOFFSETFROM:+0330
            TZOFFSETTO:+0330
            END:STANDARD
            END:VTIMEZONE
            """
        let body = events.map { "BEGIN:VEVENT\n\($0)\nEND:VEVENT" }.joined(separator: "\n")
        return "BEGIN:VCALENDAR\nVERSION:2.0\n\(zone)\n\(body)\nEND:VCALENDAR\n".replacing("\n", with: "\r\n")
    }

    /// From Monday, 30 November 2026, 00:00 in UTC, seven days.
    private let start = Timestamp(milliseconds: 1_795_996_800_000)

    private func read(_ path: String? = nil) async throws -> CalendarEvents {
        try await CalendarFiles(path: path ?? folder.path, zone: "America/New_York").events(
            from: start, to: Timestamp(milliseconds: start.milliseconds + 7 * 86_400_000), stop: StopSignal())
    }

    private func times(_ text: String) async throws -> [String] {
        try folder.file("a.ics", text)
        return try await read().events.map {
            "\($0.start.iso8601.prefix(16)) \(($0.end.milliseconds - $0.start.milliseconds) / 60_000) \($0.title)"
        }
    }

    @Test(arguments: [
        // In UTC, in a zone of the system's, in one of the file's, where the device is, of a whole day.
        ("SUMMARY:a\nDTSTART:20261201T090000Z\nDTEND:20261201T093000Z", ["2026-12-01T09:00 30 a"]),
        ("SUMMARY:a\nDTSTART;TZID=Europe/Berlin:20261201T090000\nDURATION:PT1H", ["2026-12-01T08:00 60 a"]),
        (
            "SUMMARY:a\nDTSTART;TZID=Office:20261201T090000\nDTEND;TZID=Office:20261201T091500",
            ["2026-12-01T05:30 15 a"]
        ),
        ("SUMMARY:a\nDTSTART:20261201T090000", ["2026-12-01T14:00 0 a"]),
        ("SUMMARY:a\nDTSTART;VALUE=DATE:20261201", ["2026-12-01T05:00 1440 a"]),
        ("SUMMARY:a\nDTSTART;VALUE=DATE:20261128\nDTEND;VALUE=DATE:20261202", ["2026-11-28T05:00 5760 a"]),
        // Outside, at the edges, and over all of it.
        ("DTSTART:20261129T090000Z\nDTEND:20261130T000000Z", []), ("DTSTART:20261207T000000Z\nDURATION:PT1H", []),
        ("SUMMARY:a\nDTSTART:20261101T000000Z\nDTEND:20270101T000000Z", ["2026-11-01T00:00 87840 a"]),
        ("SUMMARY:a\nSTATUS:CANCELLED\nDTSTART:20261201T090000Z", []),
        // Folded, escaped, without a title.
        (
            "SUMMARY:Tea\\, the \n second cup\\; 茶\nDTSTART:20261201T090000Z",
            ["2026-12-01T09:00 0 Tea, the second cup; 茶"]
        ),
        ("DTSTART:20261201T090000Z", ["2026-12-01T09:00 0 "]),
    ])
    func oneEvent(_ event: String, _ expected: [String]) async throws {
        #expect(try await times(calendar("UID:1\n" + event)) == expected)
    }

    @Test func aRecurrenceHasExceptionsMovedAndAddedOccurrences() async throws {
        let daily = """
            UID:1
            SUMMARY:Walk
            DTSTART;TZID=Europe/Berlin:20261128T090000
            DURATION:PT45M
            RRULE:FREQ=DAILY;COUNT=7
            EXDATE;TZID=Europe/Berlin:20261201T090000
            RDATE;TZID=Europe/Berlin:20261205T180000
            """
        let moved = """
            UID:1
            RECURRENCE-ID;TZID=Europe/Berlin:20261202T090000
            SUMMARY:Walk, later
            DTSTART;TZID=Europe/Berlin:20261202T150000
            DURATION:PT45M
            """
        let cancelled = "UID:1\nRECURRENCE-ID:20261203T080000Z\nSTATUS:CANCELLED\nDTSTART:20261203T080000Z"

        #expect(
            try await times(calendar(daily, moved, cancelled)) == [
                "2026-11-30T08:00 45 Walk", "2026-12-02T14:00 45 Walk, later", "2026-12-04T08:00 45 Walk",
                "2026-12-05T17:00 45 Walk",
            ])
    }

    /// Nine in the morning is nine in the morning, before and after the clocks change.
    @Test func recurrencesKeepTheirHourWhenClocksChange() async throws {
        let weekly = "UID:1\nSUMMARY:a\nDTSTART;TZID=Europe/Berlin:20260601T090000\nRRULE:FREQ=WEEKLY;BYDAY=MO"
        #expect(try await times(calendar(weekly)) == ["2026-11-30T08:00 0 a"])
        let yearly = "UID:1\nSUMMARY:a\nDTSTART;VALUE=DATE:19801202\nRRULE:FREQ=YEARLY"
        #expect(try await times(calendar(yearly)) == ["2026-12-02T05:00 1440 a"])
    }

    @Test func whatNeverEndsEnds() async throws {
        for rule in ["FREQ=SECONDLY", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=DAILY;INTERVAL=0", "nonsense"] {
            _ = try await times(calendar("UID:1\nDTSTART:19700101T000000Z\nRRULE:\(rule)"))
        }
        let many = (0..<30_000).map { "UID:\($0)\nDTSTART:20261201T090000Z" }.joined(
            separator: "\nEND:VEVENT\nBEGIN:VEVENT\n")
        #expect(try await times(calendar(many)).count == CalendarText.eventLimit)
    }

    @Test func aFolderIsReadWholeAndSaysWhatItCouldNot() async throws {
        try folder.file("a.ics", calendar("UID:1\nSUMMARY:first\nDTSTART:20261201T090000Z"))
        mkdir(folder.path + "/inner", 0o700)
        try folder.file("inner/b.ICS", calendar("UID:1\nSUMMARY:second\nDTSTART:20261201T080000Z"))
        try folder.file(".hidden.ics", calendar("UID:1\nSUMMARY:hidden\nDTSTART:20261201T080000Z"))
        try folder.file("c.ics", "<html>no calendar</html>")
        try folder.file("notes.txt", "nothing")

        let found = try await read()

        #expect(found.events.map(\.title) == ["second", "first"])
        #expect(found.warning == "Not all could be read: \(folder.path)/c.ics is no calendar.")
    }

    @Test func whatIsNotThereOrNoCalendarIsTold() async throws {
        await #expect(throws: CalendarError.unreadable(path: "/nowhere", code: ENOENT)) {
            _ = try await read("/nowhere")
        }
        await #expect(throws: CalendarError.empty(path: folder.path)) { _ = try await read() }
        let page = try folder.file("page.ics", "<html>")
        await #expect(throws: CalendarError.noCalendar(path: page)) { _ = try await read(page) }
        await #expect(throws: CalendarError.noCalendar(path: "/dev/zero")) { _ = try await read("/dev/zero") }
    }

    /// Bytes changed at random: told, refused, or read; never a fault.
    @Test func brokenFilesHurtNobody() async throws {
        let whole = Array(
            calendar(
                "UID:1\nSUMMARY:a\nDTSTART;TZID=Office:20261128T090000\nRRULE:FREQ=MONTHLY;BYDAY=-1MO;COUNT=9\nEXDATE:20261130T090000Z",
                "UID:2\nDTSTART;VALUE=DATE:20261201\nDURATION:P2D"
            ).utf8)
        var state: UInt64 = 11
        func draw(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        for _ in 0..<300 {
            var bytes = whole
            for _ in 0...draw(12) { bytes[draw(bytes.count)] = UInt8(draw(256)) }
            if draw(4) == 0 { bytes.removeLast(draw(bytes.count)) }
            try folder.file("a.ics", String(decoding: bytes, as: UTF8.self))
            _ = try? await read()
        }
    }
}
