internal import Synchronization

/// The wish to stop one generation, set from any thread, read by the engine between steps and within a long one.
final class StopFlag: Sendable {
    private let value = Atomic<Bool>(false)
    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
}

/// What the library asks during a computation: whether to give it up. Only a computation for one generation alone may
/// be given up; when several share it, it is short and is let end.
final class Cancellation: Sendable {
    private let flag = Mutex<StopFlag?>(nil)

    var isAsked: Bool { flag.withLock { $0?.isSet ?? false } }

    /// Watches a flag while `body` computes.
    func watching<Result>(_ flag: StopFlag?, _ body: () -> Result) -> Result {
        self.flag.withLock { $0 = flag }
        defer { self.flag.withLock { $0 = nil } }
        return body()
    }
}
