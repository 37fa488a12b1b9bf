internal import AlcoveCore
internal import Synchronization

/// The interpreter's own thread, for ever, and the programs that wait for it.
///
/// Unchecked: the mutex guards the queue; the semaphore-like pipe of pthread calls is made for any thread.
final class PythonThread: @unchecked Sendable {
    static let shared = PythonThread()

    private struct Wish: Sendable {
        let running: ScriptOnThread
        let body: @Sendable () -> Int32
    }

    private struct State {
        var queue: [Wish] = []
        var current: ScriptOnThread?
        var thread: pthread_t?
        var isStarted = false
    }

    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let bell = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var state = State()

    private init() {
        pthread_mutex_init(lock, nil)
        pthread_cond_init(bell, nil)
    }

    private func locked<Value>(_ body: () -> Value) -> Value {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return body()
    }

    func run(_ running: ScriptOnThread, _ body: @escaping @Sendable () -> Int32) {
        let isFirst = locked { () -> Bool in
            state.queue.append(Wish(running: running, body: body))
            pthread_cond_signal(bell)
            defer { state.isStarted = true }
            return !state.isStarted
        }
        if isFirst, !startThread(name: "python", stackBytes: 64 << 20, { self.work() }) {
            locked { state.isStarted = false }
            running.finish(71)
        }
    }

    private func work() {
        // A thread begins with the mask of the one that started it, and those of Dispatch let nothing through.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        locked { state.thread = pthread_self() }
        while true {
            let wish = locked { () -> Wish in
                while state.queue.isEmpty { pthread_cond_wait(bell, lock) }
                let next = state.queue.removeFirst()
                state.current = next.running
                return next
            }
            let isReady = PythonInterpreter.start()
            let status = wish.running.stop.isSet ? 130 : isReady ? wish.body() : 71
            locked { state.current = nil }
            wish.running.finish(status)
        }
    }

    /// Asks a program to end, as Ctrl-C would, until it does. One that waits for its turn never begins.
    func interrupt(_ running: ScriptOnThread) {
        guard !running.isDone, locked({ state.isStarted }) else { return }
        _ = startThread(name: "python.stop") {
            while !running.isDone {
                self.locked {
                    // Only while it runs: the next program is not meant.
                    if self.state.current === running, let thread = self.state.thread { pthread_kill(thread, SIGINT) }
                }
                usleep(100_000)
            }
        }
    }
}
