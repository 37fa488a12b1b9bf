package import AlcoveAgent
package import AlcoveCore
package import AlcoveDownloads
package import AlcoveStorage

/// Events of a CalDAV server (RFC 4791): of one calendar, or of all that its address leads to.
///
/// The server is asked for the span only; recurrence, exceptions and time zones are worked out here, by libical.
package struct CalendarServer: CalendarSource {
    /// Most bytes that all answers of one read may have, most calendars that are asked, seconds for all of it.
    package static let byteLimit = 16 << 20, calendarLimit = 64, patience = 30

    private let address: WebAddress
    private let credentials: String?
    private let zone: String?
    private let patience: Int
    private let client: any HTTPPost

    /// - Parameters:
    ///   - text: The address of a calendar, of a folder of them, of an account, or of a server alone. Plain http only on this
    ///     device and in its own network.
    ///   - credentials: The whole path of a file that holds `name:password` in one line; nil for none.
    ///   - patience: Seconds for one read.
    /// - Throws: `CalendarServerError.badAddress`.
    package init(
        _ text: String, credentials: String?, zone: String? = CalendarFiles.deviceZone,
        patience: Int = CalendarServer.patience, client: any HTTPPost = CurlFetch()
    ) throws(CalendarServerError) {
        do {
            address = try WebAddress(text)
        } catch {
            throw .badAddress(text.contains("@") ? "given" : String(text.prefix(200)), reason: "it is no whole address")
        }
        guard address.credentials == nil else {
            throw .badAddress(address.shown, reason: "it holds a name or a password, which belong into a file")
        }
        self.credentials = credentials
        self.zone = zone
        self.patience = patience
        self.client = client
    }

    package var place: String? { CalendarServer.host(address) }

    static func host(_ address: WebAddress) -> String {
        String(address.origin.dropFirst(address.scheme.rawValue.count + 3))
    }

    package func events(from: Timestamp, to: Timestamp, stop: StopSignal) async throws -> CalendarEvents {
        try await withCheckedThrowingContinuation { continuation in
            let isStarted = startThread(name: "alcove.calendar", stackBytes: 1 << 20) {
                continuation.resume(with: Result { try self.read(from, to, stop) })
            }
            if !isStarted {
                continuation.resume(
                    throwing: CalendarServerError.unreachable(host: place ?? "", reason: "the system gives no thread"))
            }
        }
    }

    private func read(_ from: Timestamp, _ to: Timestamp, _ stop: StopSignal) throws -> CalendarEvents {
        let exchange = CalendarExchange(
            address, account: try credentials.map { try CalendarAccount(file: $0) }, client: client, patience: patience,
            stop: stop)
        let calendars = try CalendarDiscovery(exchange).calendars(at: address)
        guard !calendars.isEmpty else { throw CalendarServerError.noCalendars(address: address.shown) }
        var found = CalendarText(from: from, to: to, zone: zone)
        var unreadable = 0
        let question = CalendarServer.question(from, to)
        for calendar in calendars.prefix(CalendarServer.calendarLimit) {
            for object in try exchange.send("REPORT", calendar, depth: 1, body: question).resources {
                guard let data = object.calendarData else { continue }
                if !found.take(data) { unreadable += 1 }
            }
        }
        let notes = [
            unreadable > 0 ? "\(unreadable) of its entries could not be read" : nil,
            calendars.count > CalendarServer.calendarLimit
                ? "only the first \(CalendarServer.calendarLimit) of its \(calendars.count) calendars were asked" : nil,
        ].compactMap { $0 }
        return CalendarEvents(
            found.sorted,
            warning: notes.isEmpty
                ? nil : "Not all of \(CalendarServer.host(address)) was read: \(notes.joined(separator: ", "))."
        )
    }

    /// What touches a span. A day more on both sides: the server may place times without a zone elsewhere than this device.
    static func question(_ from: Timestamp, _ to: Timestamp) -> String {
        let day: Int64 = 86_400_000
        return """
            <?xml version="1.0" encoding="utf-8"?>
            <C:calendar-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:prop><C:calendar-data/></D:prop>\
            <C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT">\
            <C:time-range start="\(moment(from.milliseconds - day))" end="\(moment(to.milliseconds + day))"/>\
            </C:comp-filter></C:comp-filter></C:filter></C:calendar-query>
            """
    }

    /// `20261130T090000Z`.
    private static func moment(_ milliseconds: Int64) -> String {
        Timestamp(milliseconds: milliseconds).iso8601.prefix(19).filter { $0 != "-" && $0 != ":" } + "Z"
    }
}

/// A name and a password, as a file holds them. Never shown, never logged.
struct CalendarAccount: Sendable {
    let authorization: String

    /// - Throws: `CalendarServerError.badCredentials`, which names the file and never what is in it.
    init(file path: String) throws(CalendarServerError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw .badCredentials(path: path, reason: Platform.describe(errno: errno))
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: CalendarAccount.longest + 1)
        let count = AlcoveCore.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw .badCredentials(path: path, reason: Platform.describe(errno: errno)) }
        guard count <= CalendarAccount.longest else { throw .badCredentials(path: path, reason: "it is too long") }
        var line = bytes[..<count]
        while let last = line.last, last == 0x0A || last == 0x0D { line = line.dropLast() }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            !line.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else { throw .badCredentials(path: path, reason: "it should hold one line, name:password") }
        authorization = "Basic " + Base64.text(Array(line))
    }

    private static let longest = 4_096
}
