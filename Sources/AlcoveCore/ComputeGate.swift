internal import Synchronization

/// Says whether the engine may compute now. The app closes it when it leaves the foreground, where the system takes the
/// graphics processor away, and opens it when it is back.
///
/// Whoever computes looks at it between two steps and waits: an answer goes on from the same token.
public final class ComputeGate: Sendable {
    private struct State {
        var closedAt: UInt64?
        var closures = 0
        var closedNanoseconds: UInt64 = 0
        var waiting: [Int: @Sendable () -> Void] = [:]
        var nextWaiter = 0
    }

    private let state = Mutex(State())

    public init() {}

    public var isClosed: Bool { state.withLock { $0.closedAt != nil } }
    /// How often it was closed since the start.
    public var closures: Int { state.withLock { $0.closures } }
    /// How much work waits before it.
    public var waiting: Int { state.withLock { $0.waiting.count } }

    /// How long it was closed in all, until now.
    public var closedSeconds: Double {
        state.withLock { state in
            let current = state.closedAt.map { Platform.monotonicNanoseconds - $0 } ?? 0
            return Double(state.closedNanoseconds + current) / 1e9
        }
    }

    public func close() {
        state.withLock { state in
            guard state.closedAt == nil else { return }
            state.closedAt = Platform.monotonicNanoseconds
            state.closures += 1
        }
    }

    public func open() {
        let waiting = state.withLock { state -> [@Sendable () -> Void] in
            guard let since = state.closedAt else { return [] }
            state.closedAt = nil
            state.closedNanoseconds += Platform.monotonicNanoseconds - since
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for body in waiting { body() }
    }

    /// Calls `body` once when it opens.
    ///
    /// - Returns: what `forget` takes; nil when it is open, and `body` is then never called.
    public func whenOpened(_ body: @escaping @Sendable () -> Void) -> Int? {
        state.withLock { state in
            guard state.closedAt != nil else { return nil }
            state.nextWaiter += 1
            state.waiting[state.nextWaiter] = body
            return state.nextWaiter
        }
    }

    public func forget(_ waiter: Int) { _ = state.withLock { $0.waiting.removeValue(forKey: waiter) } }

    /// Returns when it is open, or the work is to stop.
    public func wait(orStop stop: StopSignal = StopSignal()) async {
        while !stop.isSet {
            let opened = StopSignal()
            guard let waiter = whenOpened({ opened.set() }) else { return }
            await opened.wait(or: stop)
            forget(waiter)
        }
    }
}
