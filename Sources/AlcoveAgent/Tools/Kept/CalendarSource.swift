package import AlcoveCore
package import AlcoveStorage

/// One event, with no more than what may leave the calendar: no place, no people, no notes.
package struct CalendarEvent: Sendable, Hashable {
    package var title: String
    package var start: Timestamp
    /// Of a whole-day event: midnight of the day after its last.
    package var end: Timestamp
    package var isAllDay: Bool

    package init(title: String, start: Timestamp, end: Timestamp, isAllDay: Bool) {
        self.title = title
        self.start = start
        self.end = end
        self.isAllDay = isAllDay
    }
}

/// Where events are read.
package protocol CalendarSource: Sendable {
    /// Events that overlap a span, in order.
    ///
    /// - Throws: a sentence when it cannot be read; the system's refusal too.
    func events(from: Timestamp, to: Timestamp, stop: StopSignal) async throws -> CalendarEvents

    /// Who is asked, where that is not this device.
    var place: String? { get }
}

extension CalendarSource {
    package var place: String? { nil }
}

package struct CalendarEvents: Sendable, Hashable {
    package var events: [CalendarEvent]
    /// A sentence where something could not be read.
    package var warning: String?

    package init(_ events: [CalendarEvent], warning: String? = nil) {
        self.events = events
        self.warning = warning
    }
}

/// Whether a person has opened their calendar to the assistant, and where it is.
package struct CalendarConsent: Sendable {
    package var isOpen: Bool
    /// A file, a folder, or a server's address; nil when nobody has said.
    package var path: String?
    /// A file with the name and password for the server; nil for none.
    package var credentials: String?

    package init(isOpen: Bool, path: String?, credentials: String? = nil) {
        self.isOpen = isOpen
        self.path = path
        self.credentials = credentials
    }

    /// As the settings have it now.
    package init(in database: Database) async throws {
        let settings = try await SettingsStore(database).value("host")
        isOpen = settings?["calendarEnabled"]?.bool ?? false
        path = settings?["calendarPath"]?.string
        credentials = settings?["calendarCredentials"]?.string
    }
}
