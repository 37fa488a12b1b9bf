internal import AlcoveCore
internal import Synchronization

/// Ctrl-C and the system's wish to end, as calls on a thread of their own, where anything may be done.
enum Signals {
    typealias Handler = @Sendable (_ signal: Int32) -> Void
    private static let handler = Mutex<Handler?>(nil)

    /// Before any other thread is there: all of them leave these signals to ours.
    static func prepare() {
        signal(SIGPIPE, SIG_IGN)
        var set = watched
        pthread_sigmask(SIG_BLOCK, &set, nil)
        let isStarted = startThread(name: "alcove.signals", stackBytes: 64 << 10) {
            var set = watched
            var taken: Int32 = 0
            while true {
                guard sigwait(&set, &taken) == 0 else { continue }
                guard let handler = handler.withLock({ $0 }) else { exit(ExitCode.interrupted.rawValue) }
                handler(taken)
            }
        }
        if !isStarted { pthread_sigmask(SIG_UNBLOCK, &set, nil) }
    }

    static func handle(_ body: @escaping Handler) { handler.withLock { $0 = body } }

    private static var watched: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&set, number) }
        return set
    }
}
