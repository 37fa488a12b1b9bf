import AlcoveCore
import Testing

/// A process that writes to a store until it is killed (Tests/Support/storage-kill-child).
final class Child {
    private let process: pid_t
    private let output: Int32
    private var pending: [UInt8] = []

    init(_ arguments: String...) throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        // Else the next child would hold this one's pipe open, and its end would never be seen.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let program = try Child.folder() + "/storage-kill-child"
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, program, &actions, nil, &words, environ)
        close(ends[1])
        try #require(code == 0, "\(program): \(Platform.describe(errno: code))")
        self.process = process
        output = ends[0]
    }

    deinit {
        kill()
        close(output)
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }

    func kill() { _ = sendSignal(process, SIGKILL) }

    /// The next whole line; nil at the end. A line cut short by the kill was never acknowledged.
    func line() -> String? {
        while true {
            if let end = pending.firstIndex(of: 0x0A) {
                defer { pending.removeSubrange(...end) }
                return String(decoding: pending[..<end], as: UTF8.self)
            }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(output, &buffer, buffer.count)
            if count <= 0 { return nil }
            pending += buffer[..<count]
        }
    }

    /// Where the package's programs were built: beside the one that runs the tests.
    private static func folder() throws -> String {
        #if os(Linux)
        let link = "/proc/self/exe"
        #else
        let link = CommandLine.arguments[0]
        #endif
        for start in [link] + CommandLine.arguments {
            guard let resolved = realpath(start, nil) else { continue }
            defer { free(resolved) }
            var path = String(cString: resolved)
            while let slash = path.lastIndex(of: "/") {
                path = String(path[..<slash])
                if access(path + "/storage-kill-child", X_OK) == 0 { return path }
            }
        }
        throw InputError(code: "no_child", message: "storage-kill-child was not built beside the tests.")
    }
}

/// `Child.kill` hides the function of that name.
private func sendSignal(_ process: pid_t, _ signal: Int32) -> Int32 { kill(process, signal) }
