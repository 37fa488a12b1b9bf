internal import AlcoveCore
internal import AlcoveSandbox

/// Python and JavaScript as they run for the agent where no process may be started: confined to one folder.
enum ScriptCommand {
    static let node = command(
        .javascript, "node", summary: "Run JavaScript with Node's globals, confined to a folder.",
        words: "node [-e CODE | -p CODE | FILE | -] [ARGUMENTS]")
    static let python = command(
        .python, "python", summary: "Run Python, confined to a folder.",
        words: "python [-c CODE | -m MODULE | FILE | -] [ARGUMENTS]")

    static let network = Command.Option(
        name: "--network", short: nil, value: nil, help: "Programs may use the network. Default: they may not.")

    private static func command(
        _ language: ScriptRequest.Language, _ name: String, summary: String, words: String
    ) -> Command {
        Command(
            name: name, summary: summary,
            discussion: """
                \(words)
                Programs see the folder as /workspace and nothing outside it. Without words the program comes from the
                standard input. The options here stand before all other words. The exit code is the program's.
                """,
            arguments: [
                Command.Argument(
                    name: "WORD", help: "What \(name) is told.", isOptional: true, repeats: true)
            ],
            options: [
                Command.Option(
                    name: "--root", short: nil, value: "DIR",
                    help: "The only folder programs may use. Default: the current one."),
                network,
            ],
            passesWordsOn: true,
            run: { try run($0, language) })
    }

    private static func run(_ invocation: Invocation, _ language: ScriptRequest.Language) throws -> ExitCode {
        let root = try root(invocation)
        guard let runner = AgentTools.scripts else { throw SandboxError.unsupported(system: "this system") }
        var request = ScriptRequest(language: language, arguments: invocation.arguments)
        request.environment = ShellCommand.environment
        request.environment.merge(["HOME": ConfinedPaths.workspaceName, "PATH": "/usr/bin:/bin"]) { given, _ in given }
        request.limits.seconds = 86_400
        request.allowsNetwork = invocation.has(network.name)
        let running = try runner.start(request, in: ScriptPlace(workspace: root), streams: [0, 1, 2])
        let interrupted = StopSignal()
        Signals.handle { signal in
            if [SIGCONT, SIGUSR1, SIGUSR2].contains(signal) { return }
            interrupted.set()
            running.kill()
        }
        let status = try running.wait()
        exit(interrupted.isSet ? ExitCode.interrupted.rawValue : status)
    }

    /// The folder that `--root` names.
    static func root(_ invocation: Invocation) throws(InputError) -> String {
        let root = Folders.absolute(invocation.text("--root") ?? ".")
        var info = stat()
        guard stat(root, &info) == 0, info.st_mode & S_IFMT == S_IFDIR else {
            throw InputError(code: "workspace_unusable", message: "\(root) is not a folder.", place: .missing)
        }
        return root
    }
}
