internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveStorage
internal import CCalendar
internal import Synchronization

/// Events of iCalendar texts within a span of time, collected one text after the other.
struct CalendarText {
    /// Most events that are collected.
    static let eventLimit = 5_000

    private let from: Timestamp, to: Timestamp
    private let zone: String?
    private var found = Found()

    private struct Found { var events: [CalendarEvent] = [] }

    /// - Parameter zone: The device's time zone, for events without one; nil is UTC.
    init(from: Timestamp, to: Timestamp, zone: String?) {
        (self.from, self.to, self.zone) = (from, to, zone)
    }

    /// In their order. Two at the same time stand as their titles do, so that the same texts give the same answer.
    var sorted: [CalendarEvent] {
        found.events.sorted {
            ($0.start.milliseconds, $0.end.milliseconds, $0.title) < (
                $1.start.milliseconds, $1.end.milliseconds, $1.title
            )
        }
    }

    /// - Parameter text: Ends with a zero.
    /// - Returns: Whether it is a calendar.
    mutating func take(_ text: [CChar]) -> Bool {
        CalendarText.library.withLock { _ in
            withUnsafeMutablePointer(to: &found) { found in
                alcove_calendar_events(
                    text, from.milliseconds / 1_000, to.milliseconds / 1_000, zone,
                    { event, context in
                        guard let event = event?.pointee, let found = context?.assumingMemoryBound(to: Found.self),
                            found.pointee.events.count < CalendarText.eventLimit
                        else { return }
                        found.pointee.events.append(
                            CalendarEvent(
                                title: event.title.map { String(cString: $0) } ?? "",
                                start: Timestamp(milliseconds: event.start * 1_000),
                                end: Timestamp(milliseconds: event.end * 1_000), isAllDay: event.is_all_day))
                    }, found)
            }
        } != ALCOVE_CALENDAR_UNREADABLE
    }

    /// libical keeps its time zones for the whole process, without locks of its own.
    private static let library = Mutex(())
}
