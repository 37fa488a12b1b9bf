internal import AlcoveCore
internal import CPosixShim
internal import llama

/// Tries a projector that nobody knows in a child process: llama.cpp ends its process on much that it does not expect.
///
/// The child loads it and lets it look at an empty picture, or hear silence.
public enum ProjectorTrial {
    /// - Parameter command: Path and arguments of a program that calls `serve()`.
    /// - Throws: `EngineError.projectorFailed` when the child is told so, or ends in another way than it should.
    public static func run(_ path: String, command: [String]) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let isStarted = startThread(name: "alcove.projector-trial", stackBytes: 512 << 10) {
                continuation.resume(with: Result { try exchange(path, command) })
            }
            if !isStarted {
                continuation.resume(throwing: failure(of: path, "the system gives no thread"))
            }
        }
    }

    private static func failure(of path: String, _ reason: String) -> EngineError {
        .projectorFailed(name: GGUFName.ofFile(path), reason: reason)
    }

    private static func exchange(_ path: String, _ command: [String]) throws {
        var toChild: [Int32] = [-1, -1], fromChild: [Int32] = [-1, -1]
        guard alcove_pipe(&toChild) == 0 else { throw failure(of: path, Platform.describe(errno: errno)) }
        defer { close(toChild[1]) }
        guard alcove_pipe(&fromChild) == 0 else {
            close(toChild[0])
            throw failure(of: path, Platform.describe(errno: errno))
        }
        defer { close(fromChild[0]) }
        let nothing = open("/dev/null", O_WRONLY | O_CLOEXEC)
        var process: Int32 = 0
        let code = FastCopyProcess.spawn(command, [toChild[0], fromChild[1], nothing], &process)
        for descriptor in [toChild[0], fromChild[1], nothing] { close(descriptor) }
        guard code == 0 else { throw failure(of: path, "it could not be tried: \(Platform.describe(errno: code))") }
        let line = (["path": .string(path)] as JSONValue).bytes() + [0x0A]
        _ = line.withUnsafeBytes { alcove_write_quietly(toChild[1], $0.baseAddress, $0.count) }
        var answer: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while answer.count < 1 << 20 {
            let count = read(fromChild[0], &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            answer += piece[..<count]
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        let told = try? JSONValue(parsing: answer.prefix { $0 != 0x0A }.map { $0 })
        if told?["ok"]?.bool == true { return }
        throw failure(
            of: path, told?["error"]?.string ?? "it ended the program that tried it (signal \(status & 0x7F))")
    }

    // MARK: The child's side

    /// Answers one request on standard input and ends.
    public static func serve() {
        guard let line = readLine(), let path = (try? JSONValue(parsing: Array(line.utf8)))?["path"]?.string else {
            return tell(["error": "the request cannot be read"])
        }
        LlamaLibrary.start()
        var parameters = mtmd_context_params_default()
        parameters.use_gpu = false
        parameters.print_timings = false
        parameters.n_threads = Int32(Platform.processorCount)
        // Here it is looked through as it will be at a person's picture.
        parameters.warmup = true
        guard let raw = mtmd_init_from_file(path, nil, parameters) else {
            return tell(["error": .string(LlamaLibrary.takeLastError() ?? "the library does not say why")])
        }
        mtmd_free(raw)
        tell(["ok": true])
    }

    private static func tell(_ line: JSONValue) {
        let bytes = line.bytes() + [0x0A]
        _ = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }
}
