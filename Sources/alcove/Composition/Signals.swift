internal import AlcoveCore
internal import Synchronization

/// Ctrl-C, the system's wish to end, and the return from a pause, as calls on a thread of their own, where anything may be done.
///
/// Blocking the signals and waiting for them would not do: libdispatch parks the main thread with none blocked.
enum Signals {
    typealias Handler = @Sendable (_ signal: Int32) -> Void
    private static let handler = Mutex<Handler?>(nil)
    /// Written by the C handler, which may do little else.
    nonisolated(unsafe) private static var pipeEnds: [Int32] = [-1, -1]  // set once, before any other thread is there

    static func prepare() {
        signal(SIGPIPE, SIG_IGN)
        guard pipe(&pipeEnds) == 0 else { return }
        for end in pipeEnds { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let reading = pipeEnds[0]
        let isStarted = startThread(name: "alcove.signals", stackBytes: 64 << 10) {
            var number: UInt8 = 0
            while true {
                let count = read(reading, &number, 1)
                if count < 0, errno == EINTR { continue }
                guard count == 1 else { return }
                guard let handler = handler.withLock({ $0 }) else {
                    if Int32(number) == SIGCONT { continue }
                    exit(ExitCode.interrupted.rawValue)
                }
                handler(Int32(number))
            }
        }
        guard isStarted else { return }
        for number in [SIGINT, SIGTERM, SIGHUP, SIGCONT, SIGUSR1, SIGUSR2] {
            signal(number) { number in
                let code = errno
                var byte = UInt8(truncatingIfNeeded: number)
                _ = AlcoveCore.write(Signals.pipeEnds[1], &byte, 1)
                errno = code
            }
        }
    }

    /// A fault of the program as one sentence, where the runtime would print a trace of some hundred lines. Who wants that
    /// sets `SWIFT_BACKTRACE`. The system then ends the process as it would have.
    static func explainFaults() {
        if getenv("SWIFT_BACKTRACE") != nil { return }
        for number in [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP] {
            signal(number) { number in
                let words: StaticString =
                    number == SIGBUS
                    ? "alcove: A file was cut short while it was in use, most likely the model's. What was saved is safe; start again.\n"
                    : "alcove: The program ended on a fault of its own. What was saved is safe; start again. If it happens with one model only, choose another.\n"
                _ = AlcoveCore.write(STDERR_FILENO, words.utf8Start, words.utf8CodeUnitCount)
                signal(number, SIG_DFL)
                raise(number)
            }
        }
    }

    static func handle(_ body: @escaping Handler) { handler.withLock { $0 = body } }
}
