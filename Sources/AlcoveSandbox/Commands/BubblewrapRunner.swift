#if os(Linux)
package import AlcoveCore
internal import CPosixShim
internal import Synchronization

/// Runs scripts on Linux in namespaces of their own, made by bubblewrap. Never without.
///
/// Scripts see the workspace at `/workspace`, the read-only folders, a system they cannot write, and a /tmp of their own.
package struct BubblewrapRunner: CommandRunner {
    package let readOnly: [ConfinedPaths.Mount]
    private let program: String?

    /// - Parameters:
    ///   - readOnly: Folders that scripts may read besides, such as uploads and skills.
    ///   - program: Where bwrap is; looked for in the system's own folders when nil, never in PATH.
    package init(readOnly: [ConfinedPaths.Mount] = [], program: String? = nil) {
        self.readOnly = readOnly
        self.program = program ?? BubblewrapRunner.installed()
    }

    static func installed() -> String? {
        ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"].first { access($0, X_OK) == 0 }
    }

    package func run(
        _ request: CommandRequest, output: @escaping @Sendable (CommandOutput) -> Void
    ) async throws -> CommandResult {
        try await request.onItsThread { stop throws(SandboxError) in
            try runBlocking(request, stop: stop, output: output)
        }
    }

    /// The same on this thread, which must live until the end.
    func runBlocking(
        _ request: CommandRequest, stop: StopSignal, output: @escaping @Sendable (CommandOutput) -> Void
    ) throws(SandboxError) -> CommandResult {
        guard let program, access(program, X_OK) == 0 else { throw .programMissing }
        try request.check()
        let shell = ScriptShell.found()
        var passed: [Descriptor] = []
        func pass(_ descriptor: Descriptor) -> Int32 {
            passed.append(descriptor)
            return Int32(3 + passed.count)
        }
        let filter = pass(try file(try BubblewrapRunner.filter(request.allowsNetwork)))
        var copies: [BubblewrapArguments.Copy] = []
        for (path, text) in [
            (BubblewrapArguments.script, request.script), ("/etc/passwd", BubblewrapArguments.passwd),
            ("/etc/group", BubblewrapArguments.group), ("/etc/hosts", BubblewrapArguments.hosts),
        ] {
            copies.append(.init(path: path, descriptor: pass(try file(Array(text.utf8)))))
        }
        for path in BubblewrapArguments.copiedFiles {
            guard let file = Descriptor(open(path, O_RDONLY | O_CLOEXEC)) else { continue }
            copies.append(.init(path: path, descriptor: pass(file)))
        }
        // Not on the command line: everybody on the machine can read that, and it has an end.
        let arguments = pass(
            try file(
                BubblewrapArguments.list(
                    workspace: request.workspace, readOnly: readOnly, environment: request.environment,
                    allowsNetwork: request.allowsNetwork, filter: filter, copies: copies
                ).flatMap { Array($0.utf8) + [0] }))
        // bwrap reads its arguments to their end before it starts anything. This list of none ends when the group is set.
        var gate: Pipe? = try Pipe()
        let opened = gate.map { pass($0.reader) } ?? arguments
        var group: ControlGroup?
        if geteuid() == 0 {
            _ = BubblewrapRunner.deviceRights
            // Threads count here too, and so does bwrap. What is above the limit we still see and say.
            group = ControlGroup(tasks: 2 * request.limits.processes + 64)
        }
        let process = try ConfinedProcess(limits: request.limits, input: request.input, stop: stop, output: output)
        // An empty environment: the first process of the sandbox is bwrap itself, and scripts can read what it got.
        let result = try process.run(
            program,
            ["bwrap", "--json-status-fd", "3", "--args", "\(opened)", "--args", "\(arguments)", "--"]
                + shell.arguments(script: BubblewrapArguments.script, limits: request.limits),
            passed: passed
        ) { process in
            _ = group?.add(process)
            gate = nil
            return NamespaceTree(program: process)
        }
        group = nil
        BubblewrapRunner.putDevicesRight()
        // Said only when the shell was really started in the finished sandbox.
        if case .exited(let code) = result.end, code != 0, !process.status.contains("\"exit-code\"") {
            throw .refused(cause: BubblewrapRunner.cause(process.firstError))
        }
        return result
    }

    // MARK: Is it there?

    package enum Probe: Sendable {
        /// - Parameters:
        ///   - version: As bwrap says it.
        ///   - milliseconds: To start and end a script that does nothing.
        case ready(version: String, milliseconds: Double)
        case unavailable(SandboxError)
    }

    /// Tries the sandbox once, as a script would meet it. Blocks for some 30 ms.
    package static func probe() -> Probe {
        let runner = BubblewrapRunner()
        do throws(SandboxError) {
            guard let program = runner.program else { throw .programMissing }
            var limits = CommandLimits()
            limits.seconds = 10
            let request = CommandRequest(script: ":", workspace: "/tmp", limits: limits)
            let result = try runner.runBlocking(request, stop: StopSignal()) { _ in }
            guard result.end == .exited(0) else { throw .refused(cause: "a trial ended with \(result.end)") }

            let said = Mutex<[UInt8]>([])
            let version = try ConfinedProcess(limits: limits, input: [], stop: StopSignal()) { output in
                if case .standardOutput(let bytes) = output { said.withLock { $0 += bytes } }
            }
            _ = try version.run(program, ["bwrap", "--version"], makeTree: NamespaceTree.init)
            let text = String(decoding: said.withLock { $0 }.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
            return .ready(version: text, milliseconds: result.seconds * 1000)
        } catch {
            return .unavailable(error)
        }
    }

    // MARK: When root runs Alcove

    /// The machine's own, visible in every sandbox.
    static let devices = ["null", "zero", "full", "random", "urandom", "tty"].map { "/dev/" + $0 }

    private static let deviceRights: [String: mode_t] = {
        var rights: [String: mode_t] = [:]
        for path in devices {
            var info = stat()
            if stat(path, &info) == 0 { rights[path] = info.st_mode & 0o7777 }
        }
        return rights
    }()

    /// Undoes what a script did to the rights of devices. They belong to root, so only a script of root's can; bwrap has
    /// no mount on which they can be used and not changed.
    private static func putDevicesRight() {
        guard geteuid() == 0 else { return }
        for (path, rights) in deviceRights {
            var info = stat()
            guard stat(path, &info) == 0 else { continue }
            if info.st_mode & 0o7777 != rights { chmod(path, rights) }
        }
    }

    private func file(_ bytes: [UInt8]) throws(SandboxError) -> Descriptor {
        guard let file = Descriptor(alcove_memory_file("alcove", bytes, bytes.count)) else {
            throw .noResources(cause: Platform.describe(errno: errno))
        }
        return file
    }

    static func filter(_ allowsNetwork: Bool) throws(SandboxError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 8 * 4096)
        let count = alcove_system_call_filter(allowsNetwork ? 1 : 0, &bytes, bytes.count)
        guard count > 0 else { throw .unsupported(system: "this processor") }
        return Array(bytes[..<count])
    }

    private static func cause(_ error: [UInt8]) -> String {
        let text = String(decoding: error, as: UTF8.self)
        let line = text.split(separator: "\n").last { $0.hasPrefix("bwrap: ") }
        return line.map { String($0.dropFirst("bwrap: ".count)) } ?? "bwrap gave no reason"
    }
}
#endif
