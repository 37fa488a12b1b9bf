import AlcoveStorage
import Synchronization

/// A clock that moves one second with every look.
final class SteppingClock: Sendable {
    private let count = Counter()
    var now: @Sendable () -> Timestamp {
        { [count] in Timestamp(milliseconds: 1_700_000_000_000 + count.next() * 1_000) }
    }
}

private final class Counter: Sendable {
    private let value = Mutex<Int64>(0)
    func next() -> Int64 {
        value.withLock {
            $0 += 1
            return $0
        }
    }
}
