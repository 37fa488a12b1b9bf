internal import AlcoveCore
internal import Synchronization

/// When the first word of an answer came; told by one thread and read by another.
final class RemoteTiming: Sendable {
    private let nanoseconds = Mutex<UInt64?>(nil)

    var first: UInt64? { nanoseconds.withLock { $0 } }

    func noteFirst() { nanoseconds.withLock { if $0 == nil { $0 = Platform.monotonicNanoseconds } } }
}
