internal import Synchronization

/// Stops the operation that runs on a connection now, from any thread, without waiting behind it.
///
/// The connection's progress handler asks `isRaised` every few hundred steps. Unlike `sqlite3_interrupt` it never touches
/// the connection from outside, and cannot hit the operation after the one that was meant.
final class StopSignal: Sendable {
    private let lastTicket = Atomic<UInt64>(0)
    /// Ticket of the operation that runs; 0 when none does.
    private let running = Atomic<UInt64>(0)
    private let stopped = Atomic<UInt64>(.max)

    /// A number for an operation to come.
    func ticket() -> UInt64 { lastTicket.wrappingAdd(1, ordering: .relaxed).newValue }

    // A stop that comes before `begin` is seen by whoever asks `Task.isCancelled` after it, one that comes later by
    // `raise`: that needs one order of all four steps, hence the strongest ordering.
    func begin(_ ticket: UInt64) { running.store(ticket, ordering: .sequentiallyConsistent) }
    func end() { running.store(0, ordering: .sequentiallyConsistent) }

    /// Stops one operation if it is the one that runs, else nothing.
    func raise(for ticket: UInt64) {
        if running.load(ordering: .sequentiallyConsistent) == ticket {
            stopped.store(ticket, ordering: .sequentiallyConsistent)
        }
    }

    /// Stops whatever runs now.
    func raise() {
        let ticket = running.load(ordering: .sequentiallyConsistent)
        if ticket != 0 { stopped.store(ticket, ordering: .sequentiallyConsistent) }
    }

    var isRaised: Bool { stopped.load(ordering: .relaxed) == running.load(ordering: .relaxed) }
}
