internal import Synchronization

/// Hands out 0, 1, ... in turn.
final class RoundRobin: Sendable {
    private let count = Atomic<Int>(0)

    func next(below limit: Int) -> Int { count.wrappingAdd(1, ordering: .relaxed).oldValue % limit }
}
