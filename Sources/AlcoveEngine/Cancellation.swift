internal import AlcoveCore
internal import Synchronization

/// What the library asks during a computation: whether to give it up. Only a computation for one generation alone may
/// be given up; when several share it, it is short and is let end.
final class Cancellation: Sendable {
    private let watched = Mutex<StopSignal?>(nil)

    var isAsked: Bool { watched.withLock { $0?.isSet ?? false } }

    /// Watches a signal while `body` computes.
    func watching<Result>(_ signal: StopSignal?, _ body: () -> Result) -> Result {
        watched.withLock { $0 = signal }
        defer { watched.withLock { $0 = nil } }
        return body()
    }
}
