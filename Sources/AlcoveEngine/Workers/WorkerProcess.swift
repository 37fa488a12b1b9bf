internal import AlcoveCore
internal import CPosixShim
internal import Synchronization
internal import llama

/// The process that computes for others. What a host sends it may end it, so it is never the one that a person has started.
package final class WorkerProcess: Sendable {
    /// The side of the child: computes until its input ends, so that it never outlives who started it.
    package static func serve(endpoint: String, threads: Int) {
        let isWatched = startThread(name: "alcove.input") {
            while readLine() != nil {}
            _exit(0)
        }
        guard isWatched else { return }
        LlamaLibrary.start()
        alcove_rpc_serve(endpoint, Int32(threads))
    }

    private let process: Mutex<Int32?>
    private let input: Int32

    /// - Parameters:
    ///   - command: The program and words that end in `serve`.
    ///   - log: A descriptor that takes what the library prints.
    package init(_ command: [String], log: Int32) throws(WorkerError) {
        var ends: [Int32] = [-1, -1]
        guard alcove_pipe(&ends) == 0 else { throw .noChild(reason: Platform.describe(errno: errno)) }
        var child: Int32 = 0
        let code = FastCopyProcess.spawn(command, [ends[0], log, log], &child)
        close(ends[0])
        input = ends[1]
        process = Mutex(code == 0 ? child : nil)
        if code != 0 { throw .noChild(reason: Platform.describe(errno: code)) }
    }

    deinit { close(input) }

    /// Ends it at once; `wait` returns then.
    package func end() {
        process.withLock { process in
            guard let process else { return }
            #if canImport(Darwin)
            _ = Darwin.kill(process, SIGKILL)
            #else
            _ = Glibc.kill(process, SIGKILL)
            #endif
        }
    }

    /// Blocks until it has ended.
    ///
    /// - Returns: the signal that ended it, or 0.
    package func wait() -> Int32 {
        guard let child = process.withLock({ $0 }) else { return 0 }
        // Left to be collected until nobody can signal it any more: its number stays its own.
        var info = siginfo_t()
        while waitid(P_PID, id_t(child), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        return process.withLock { process in
            var status: Int32 = 0
            while waitpid(child, &status, 0) < 0, errno == EINTR {}
            process = nil
            return status & 0x7F
        }
    }

    /// Takes an address, so that it stays free for the child and nobody else gets it.
    ///
    /// - Returns: a descriptor to close at the end, and the port, chosen by the system where 0 was asked for.
    package static func reserve(_ worker: WorkerAddress) throws(WorkerError) -> (descriptor: Int32, port: UInt16) {
        #if canImport(Darwin)
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        func failed() -> WorkerError {
            let code = errno
            close(descriptor)
            return .noChild(reason: "\(worker.name): \(Platform.describe(errno: code))")
        }
        guard descriptor >= 0 else { throw failed() }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        // Both reuse the address and this one never listens, so the child may bind it too.
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = worker.port.bigEndian
        inet_pton(AF_INET, worker.address, &address.sin_addr)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isBound else { throw failed() }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }
}
