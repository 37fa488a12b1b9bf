internal import Synchronization

/// The wish to stop one piece of work. Set once, from any thread; read by the work itself as often as it likes.
///
/// Unlike the cancellation of a task it leaves the work's stream open, so that what was done until then, and what it
/// cost, still arrives.
public final class StopSignal: Sendable {
    private let flag = Atomic<Bool>(false)
    private let handlers = Mutex<[@Sendable () -> Void]>([])

    public init() {}

    public var isSet: Bool { flag.load(ordering: .acquiring) }

    public func set() {
        let waiting = handlers.withLock { handlers -> [@Sendable () -> Void] in
            if flag.exchange(true, ordering: .acquiringAndReleasing) { return [] }
            defer { handlers = [] }
            return handlers
        }
        for handler in waiting { handler() }
    }

    /// Calls `handler` once when the signal is set; at once when it is set already.
    public func whenSet(_ handler: @escaping @Sendable () -> Void) {
        let isLate = handlers.withLock { handlers -> Bool in
            if flag.load(ordering: .acquiring) { return true }
            handlers.append(handler)
            return false
        }
        if isLate { handler() }
    }

    /// Returns when this signal is set, or the other one is; at once when one of them is already.
    ///
    /// Whoever waits is woken outside of every lock. Ending the task that waits does not end the wait: set a signal.
    public func wait(or other: StopSignal? = nil) async {
        await withCheckedContinuation { continuation in
            let waiting = Mutex<CheckedContinuation<Void, Never>?>(continuation)
            let once: @Sendable () -> Void = {
                waiting.withLock { waiting in
                    defer { waiting = nil }
                    return waiting
                }?.resume()
            }
            whenSet(once)
            other?.whenSet(once)
        }
    }
}
