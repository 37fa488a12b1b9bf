internal import AlcoveAgent
internal import AlcoveCalendar
internal import AlcoveCore
internal import AlcoveStorage

extension PlumbingCommand {
    static let calendar = Command(
        name: "calendar", summary: "Read a calendar: path (or address), from, to (seconds since 1970).",
        discussion: """
            {"path", "credentials", "from", "to", "patience"} answers {"events": [{"title", "start", "end", "allDay"}],
            "warning", "ms"}. "credentials" is a file that holds name:password, "patience" the seconds a server is given.
            """,
        run: { _ in
            for bytes in InputLines() {
                var result: JSONObject = [:]
                do {
                    let line = try JSONValue(parsing: bytes)
                    result["id"] = line["id"] ?? .null
                    let start = Platform.monotonicNanoseconds
                    defer { result["ms"] = .double(Double(Platform.monotonicNanoseconds - start) / 1e6) }
                    let found = try await readCalendar(line)
                    result["events"] = .array(found.events.map(event))
                    if let warning = found.warning { result["warning"] = .string(warning) }
                } catch {
                    result["error"] = .string((error as? any UserFacingError)?.message ?? "\(error)")
                    if let code = (error as? any UserFacingError)?.code { result["code"] = .string(code) }
                }
                Terminal.line(JSONValue.object(result).text())
            }
            return .success
        })

    private static func readCalendar(_ line: JSONValue) async throws -> CalendarEvents {
        guard let path = line["path"]?.string, let from = line["from"]?.int, let to = line["to"]?.int, from <= to else {
            throw InputError(
                code: "bad_line", message: "\"path\" should be text, and \"from\" and \"to\" seconds in their order.")
        }
        let credentials = line["credentials"]?.string
        let source: any CalendarSource =
            path.hasPrefix("/")
            ? CalendarFiles(path: path)
            : try CalendarServer(
                path, credentials: credentials,
                patience: min(600, max(1, line["patience"]?.int ?? CalendarServer.patience)))
        return try await source.events(
            from: Timestamp(milliseconds: Int64(from) * 1_000), to: Timestamp(milliseconds: Int64(to) * 1_000),
            stop: StopSignal())
    }

    private static func event(_ event: CalendarEvent) -> JSONValue {
        [
            "title": .string(event.title), "start": .integer(event.start.milliseconds / 1_000),
            "end": .integer(event.end.milliseconds / 1_000), "allDay": .bool(event.isAllDay),
        ]
    }
}
