internal import AlcoveCore
internal import AlcoveEngine
internal import AlcoveStorage

/// The program: reads the command line and runs one command.
@main
enum Alcove {
    static let version = "0.1.0"

    static let command = Command(
        name: "alcove",
        summary: "A private AI agent that runs wholly on this device.",
        options: [
            Command.Option(name: "--version", short: nil, value: nil, help: "Show the version.")
        ],
        subcommands: [
            ServeCommand.command, ChatCommand.command, AskCommand.command, RunCommand.command, OpenCommand.command,
            ShareCommand.command,
            TasksCommand.command, KnowledgeCommand.command, HandoffCommand.command, ActivityCommand.command,
            SettingsCommand.command,
            ModelsCommand.command,
            PullCommand.command, BenchCommand.command, WorkerCommand.command, InspectCommand.command,
            DoctorCommand.command,
            ShellCommand.command, ScriptCommand.node, ScriptCommand.python, PlumbingCommand.command,
        ])

    static func main() async {
        Terminal.openWhatIsClosed()
        Signals.explainFaults()
        Signals.prepare()
        let code = await run(Array(CommandLine.arguments.dropFirst()))
        if code == .success, let fault = Terminal.lostOutput {
            Terminal.notice("alcove: The output could not be written: \(Platform.describe(errno: fault)).")
            exit(ExitCode.failure.rawValue)
        }
        exit(code.rawValue)
    }

    static func run(_ words: [String]) async -> ExitCode {
        do {
            return try await run(words[...], command: command, path: ["alcove"])
        } catch let error as any UserFacingError {
            Terminal.notice("alcove: \(error.sentence)")
            return exitCode(of: error)
        } catch {
            Terminal.notice("alcove: Something unforeseen went wrong (\(error)).")
            return .failure
        }
    }

    private static func run(_ words: ArraySlice<String>, command: Command, path: [String]) async throws -> ExitCode {
        if let word = words.first, !word.hasPrefix("-"), !command.subcommands.isEmpty {
            guard let next = command.subcommands.first(where: { $0.name == word }) else {
                throw UsageError(
                    "\(path.joined(separator: " ")) has no command \"\(word)\".",
                    hint: didYouMean(word, among: command.subcommands.map(\.name))
                        ?? "\(path.joined(separator: " ")) --help lists them.")
            }
            return try await run(words.dropFirst(), command: next, path: path + [word])
        }
        var invocation = Invocation(path: path, command: command)
        try invocation.read(words)
        if invocation.has("--version") {
            Terminal.line("alcove \(version)")
            return .success
        }
        if invocation.wantsHelp || !(command.subcommands.isEmpty || command.runsAlone) {
            Terminal.write(HelpText.text(for: command, path: path))
            return invocation.wantsHelp ? .success : .usage
        }
        return try await command.run(invocation)
    }

    private static func exitCode(of error: any UserFacingError) -> ExitCode {
        if error is UsageError { return .usage }
        switch error.place {
        case .missing: return .noInput
        case .data: return .badData
        case .busy: return .unavailable
        case .request, .space, .host: return .failure
        }
    }
}
