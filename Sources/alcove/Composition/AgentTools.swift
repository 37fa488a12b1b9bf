internal import AlcoveAgent
internal import AlcoveCalendar
internal import AlcoveCore
internal import AlcoveSandbox
internal import AlcoveShell
internal import AlcoveStorage

/// The live tools of this program, in the order they are declared.
enum AgentTools {
    static func registry(_ database: Database, _ execution: Execution = .auto) throws -> ToolRegistry {
        try ToolRegistry(
            [
                ShellTool(runner: execution == .inProcess ? InProcessRunner(scripts: scripts) : runner), ReadFileTool(),
                WriteFileTool(), ApplyPatchTool(),
            ] + KeptTool.all(database) + [
                CalendarTool.make(
                    consent: { try await CalendarConsent(in: database) }, source: calendar)
            ])
    }

    /// - Parameter credentials: A file with a name and a password, for a server.
    @Sendable static func calendar(_ path: String, _ credentials: String?) throws -> any CalendarSource {
        path.hasPrefix("/") ? CalendarFiles(path: path) : try CalendarServer(path, credentials: credentials)
    }

    /// How commands are run: by processes in the system's sandbox, or as on a device that forbids processes.
    enum Execution: String {
        case auto
        case inProcess = "in-process"

        static let option = Command.Option(
            name: "--execution", short: nil, value: "auto|in-process",
            help: "How tools run commands: in sandboxed processes, or by the shell within this program. Default: auto.")

        init(_ invocation: Invocation) throws(UsageError) {
            guard let text = invocation.text(Execution.option.name) else {
                self = .auto
                return
            }
            guard let value = Execution(rawValue: text) else {
                throw UsageError("--execution is auto or in-process, not \"\(text)\".")
            }
            self = value
        }
    }

    /// Runs Python and JavaScript, for the shell within this program; nil where there is no way to.
    static let scripts: (any ScriptRunner)? = {
        #if os(Linux)
        let resources = Resources()
        return ScriptSandbox(program: resources.runtime, packages: MediaParts.packages)
        #else
        return nil
        #endif
    }()

    /// Runs commands confined, or says that it cannot: never unconfined.
    static var runner: any CommandRunner {
        #if os(Linux)
        BubblewrapRunner()
        #elseif os(macOS)
        SandboxExecRunner()
        #else
        #error("name the command runner of this system")
        #endif
    }
}
