internal import AlcoveCore
internal import AlcoveSandbox
internal import AlcoveShell

/// The shell of the phone, on the command line: scripts run in this process, confined to one folder.
enum ShellCommand {
    static let command = Command(
        name: "sh", summary: "Run a script in the shell that needs no processes, confined to a folder.",
        discussion: """
            A POSIX shell with its utilities, all within this program. Scripts see the folder as /workspace and nothing
            outside it. With -c the first word is the script, the second $0, the rest $1, $2, ...; else the first word is a
            file in the folder, or - for the standard input. Words after -- are never options. The exit code is the script's.
            """,
        arguments: [
            Command.Argument(
                name: "WORD", help: "The script or its file, and its arguments.", isOptional: true, repeats: true)
        ],
        options: [
            Command.Option(name: "--command", short: "c", value: nil, help: "The first word is the script itself."),
            Command.Option(
                name: "--root", short: nil, value: "DIR",
                help: "The only folder scripts may use. Default: the current one."),
            ScriptCommand.network,
        ],
        run: { try run($0) })

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        let root = try ScriptCommand.root(invocation)
        let paths = ConfinedPaths(workspace: root)
        var words = invocation.arguments[...]
        let script: [UInt8]
        var name = "sh"
        if invocation.has("--command") {
            guard let text = words.popFirst() else {
                throw UsageError("alcove sh -c needs a script.", hint: "Write alcove sh -c 'echo hello'.")
            }
            script = Array(text.utf8)
            name = words.popFirst() ?? name
        } else if let file = words.popFirst(), file != "-" {
            script = try paths.read(file, limit: 64 << 20)
            name = file
        } else {
            guard let text = Terminal.readAll(limit: 64 << 20) else {
                throw UsageError("The script on the standard input is longer than 64 MB.", hint: "Split it.")
            }
            script = text
        }
        var limits = CommandLimits()
        limits.seconds = 86_400
        limits.outputBytes = .max
        let program = ShellSession.Program(script: script, name: name, arguments: words.map { Array($0.utf8) })
        let stop = StopSignal()
        Signals.handle { signal in if signal != SIGCONT { stop.set() } }
        let scripts = AgentTools.scripts.map {
            ScriptUse(
                runner: $0, place: ScriptPlace(workspace: root), allowsNetwork: invocation.has("--network"))
        }
        let session = ShellSession(paths: paths, environment: environment, limits: limits, scripts: scripts)
        let result = try session.run(program, input: .host, stop: stop) { _ in }
        switch result.end {
        case .exited(let code): exit(code)
        case .signalled, .timedOut, .stopped: return .interrupted
        }
    }

    /// What a script may know of the person's environment: nothing that could be a secret.
    static var environment: [String: String] {
        var kept: [String: String] = [:]
        for name in ["LANG", "LC_ALL", "TERM", "TZ"] {
            if let value = getenv(name) { kept[name] = String(cString: value) }
        }
        return kept
    }
}
