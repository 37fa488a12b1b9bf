internal import AlcoveCore
internal import AlcoveEngine
internal import Synchronization

/// A machine that computes for the hosts of its own network.
enum WorkerCommand {
    static let command = Command(
        name: "worker", summary: "Compute layers of models for a host on another machine of your network.",
        discussion: """
            The host is started with --rpc and this address; the model's file is needed there only. A worker has no
            password and no encryption, so it takes addresses of this machine and its own network only. It serves
            one host at a time. What a host sends is computed in a process of its own, which is started again if it
            breaks. Ctrl-C ends the worker.
            """,
        options: [
            Command.Option(
                name: "--listen", short: nil, value: "HOST:PORT",
                help: "Where to listen: an IPv4 address of this machine. Default: 127.0.0.1:\(WorkerOptions.usualPort)."
            ),
            CommonOptions.threads,
        ],
        run: { try await run($0) })

    /// The side of the child.
    static let child = Command(
        name: "rpc-worker", summary: "What computes for hosts; started by `alcove worker`.",
        arguments: [
            Command.Argument(name: "ENDPOINT", help: "IPv4 address and port."),
            Command.Argument(name: "THREADS", help: "Threads that compute."),
        ],
        run: { invocation in
            let words = invocation.arguments
            WorkerProcess.serve(endpoint: words[0], threads: Int(words[1]) ?? 1)
            return .failure
        })

    /// A child that lives less long than this has not begun to work.
    private static let shortLife: Duration = .seconds(5)
    private static let mostShortLives = 3

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let threads = min(
            try invocation.int("--threads", in: 1...1024) ?? Platform.processorCount, Platform.processorCount)
        var worker = try WorkerOptions.address(
            invocation.text("--listen") ?? "127.0.0.1", option: "--listen", takesAnyPort: true)
        let reserved = try WorkerProcess.reserve(worker)
        defer { close(reserved.descriptor) }
        worker.port = reserved.port
        worker.name = "\(worker.address):\(worker.port)"
        let command = [Resources().program, "plumbing", "rpc-worker", worker.name, "\(threads)"]

        let shared = Shared()
        Signals.handle { signal in
            if signal == SIGCONT || signal == SIGUSR1 || signal == SIGUSR2 { return }
            shared.end()
        }
        let log = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(log) }
        var shortLives = 0
        while true {
            let begun = ContinuousClock.now
            guard let child = try shared.begin({ try WorkerProcess(command, log: log) }) else { return .success }
            let ended = Task.detached { child.wait() }
            announce(worker, threads: threads)
            let signal = await ended.value
            if shared.isEnding {
                Terminal.notice("\nThe worker has ended.")
                return .success
            }
            shortLives = ContinuousClock.now - begun < shortLife ? shortLives + 1 : 0
            guard shortLives < mostShortLives else { throw WorkerError.keepsEnding(signal: signal) }
            Terminal.notice("alcove: The worker's process ended (signal \(signal)); it is started again.")
        }
    }

    /// Tells that it answers, as soon as it does.
    private static func announce(_ worker: WorkerAddress, threads: Int) {
        for _ in 0..<100 {
            do {
                let free = try WorkerProbe.ask(worker, seconds: 1)
                Terminal.line(
                    "The worker at \(worker.name) computes with \(threads) thread\(threads == 1 ? "" : "s") and has "
                        + "\(free / 1_000_000) MB of memory. Start the host with --rpc \(worker.name)")
                return
            } catch .silent {
                return  // A host was quicker than we.
            } catch {
                usleep(50_000)  // Only the person waits here; the child has no other way to say that it listens.
            }
        }
    }

    /// The child, for the thread that hears signals.
    private final class Shared: Sendable {
        private let state = Mutex((child: WorkerProcess?.none, isEnding: false))
        var isEnding: Bool { state.withLock { $0.isEnding } }

        /// - Returns: nil when it is to end already.
        func begin(_ make: () throws -> WorkerProcess) throws -> WorkerProcess? {
            try state.withLock { state in
                if state.isEnding { return nil }
                let child = try make()
                state.child = child
                return child
            }
        }

        func end() {
            state.withLock { state in
                state.isEnding = true
                state.child?.end()
            }
        }
    }
}
