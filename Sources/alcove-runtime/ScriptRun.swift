internal import AlcoveCore
internal import AlcoveSandbox
internal import AlcoveScript
internal import CPosixShim

/// One program, in a process of its own that ends with it.
enum ScriptRun {
    static func read(_ file: Int32) -> ScriptRequest? {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = pread(file, &piece, piece.count, off_t(bytes.count))
            guard count > 0 else { break }
            bytes += piece[..<count]
        }
        return (try? JSONValue(parsing: bytes)).flatMap(ScriptRequest.init)
    }

    /// What every run of a language can have from the process it is copied from.
    static func prepare(_ language: ScriptRequest.Language) {
        if language == .python { _ = PythonInterpreter.start(packages: packages) }
    }

    /// Packages that came with Alcove, where it has any.
    private static let packages: [String] = access("/run/packages", R_OK) == 0 ? ["/run/packages"] : []

    /// A copy of this process for the run: 0 in the copy.
    static func fork(_ language: ScriptRequest.Language) -> Int32 {
        language == .python ? PythonInterpreter.fork(alcove_fork) : alcove_fork()
    }

    static func run(_ request: ScriptRequest) -> Never {
        confine(request)
        switch request.language {
        case .javascript: onEnginesThread { javaScript().run(request) }
        case .python: python(request)
        }
    }

    /// Gets a JavaScript engine ready, then waits for what it is to run.
    ///
    /// - Parameter socket: Brings the three streams and the request; it ends when none will come.
    static func wait(at socket: Int32, allowsNetwork: Bool) -> Never {
        // Before the engine has threads: each has the filter of the one that started it. The limits follow.
        guard alcove_confine_run(10_000_000, 0, .max, allowsNetwork ? 1 : 0) == 0 else { _exit(126) }
        onEnginesThread {
            let program = javaScript()
            guard (try? program.prepare()) != nil else { return 70 }
            var descriptors = [Int32](repeating: -1, count: 8)
            guard alcove_receive_descriptors(socket, &descriptors, 8) == 4, let request = read(descriptors[3]) else {
                return 0
            }
            for number in 0..<3 { dup2(descriptors[number], Int32(number)) }
            for descriptor in descriptors.prefix(4) { close(descriptor) }
            close(socket)
            confine(request)
            return program.run(request)
        }
    }

    private static func confine(_ request: ScriptRequest) {
        if chdir(request.folder) != 0 { fail("\(request.folder): \(Platform.describe(errno: errno))") }
        // Before an engine asks for the first time; this process is the run's own.
        if let zone = request.environment["TZ"] {
            setenv("TZ", zone, 1)
            tzset()
        }
        let limits = request.limits
        let seconds = UInt64(min(limits.seconds, 1e6).rounded(.up)) * UInt64(Platform.processorCount) + 1
        // JavaScriptCore reserves 70 GB of writable memory at its start. Its programs are only watched (`Waiting`).
        let memory = request.language == .javascript ? 0 : request.residentBytes
        let code = alcove_confine_run(seconds, memory, limits.fileBytes, request.allowsNetwork ? 1 : 0)
        guard code == 0 else { fail("the limits of a run cannot be set (\(Platform.describe(errno: code)))") }
    }

    /// The engine asks for the ends of a thread's stack, and those of the first are only told in /proc.
    private static func onEnginesThread(_ body: @escaping @Sendable () -> Int32) -> Never {
        signal(SIGPIPE, SIG_IGN)
        guard startThread(name: "javascript", stackBytes: 64 << 20, { _exit(body()) }) else {
            fail("there is no memory for a thread")
        }
        while true { pause() }
    }

    private static func javaScript() -> JavaScriptProgram {
        JavaScriptProgram(
            paths: ConfinedPaths(workspace: place.workspace, readOnly: place.readOnly), streams: [0, 1, 2],
            exit: { status in _exit(status) })
    }

    private static func python(_ request: ScriptRequest) -> Never {
        signal(SIGPIPE, SIG_IGN)
        guard PythonInterpreter.start(packages: packages) else { fail("Python cannot be started") }
        _exit(PythonProgram.run(request, in: place, packages: packages, streams: [0, 1, 2], isAlone: true))
    }

    /// The workspace, and what else may be read, as they are in the sandbox.
    private static var place: ScriptPlace {
        let mounts = (getenv("ALCOVE_READ_ONLY").map { String(cString: $0) } ?? "").split(separator: ":").map(
            String.init)
        return ScriptPlace(
            workspace: ConfinedPaths.workspaceName,
            readOnly: mounts.map { ConfinedPaths.Mount(folder: $0, shownAs: $0) })
    }

    private static func fail(_ words: String) -> Never {
        let bytes = Array("alcove: \(words).\n".utf8)
        _ = write(2, bytes, bytes.count)
        _exit(126)
    }
}
