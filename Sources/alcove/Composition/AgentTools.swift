internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveSandbox
internal import AlcoveStorage

/// The live tools of this program, in the order they are declared.
enum AgentTools {
    static func registry(_ database: Database) throws -> ToolRegistry {
        try ToolRegistry(
            [ShellTool(runner: runner), ReadFileTool(), WriteFileTool(), ApplyPatchTool()] + KeptTool.all(database))
    }

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
