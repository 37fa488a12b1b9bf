package import AlcoveCore
package import AlcoveSandbox

/// Runs the agent's commands in this process, as on a device that forbids others.
package struct InProcessRunner: CommandRunner {
    private let readOnly: [ConfinedPaths.Mount]
    private let scripts: (any ScriptRunner)?

    /// - Parameter scripts: Who runs `python3` and `node`; without, they are not there.
    package init(readOnly: [ConfinedPaths.Mount] = [], scripts: (any ScriptRunner)? = nil) {
        self.readOnly = readOnly
        self.scripts = scripts
    }

    package func run(
        _ request: CommandRequest, output: @escaping @Sendable (CommandOutput) -> Void
    ) async throws -> CommandResult {
        try request.check()
        let session = ShellSession(
            paths: ConfinedPaths(workspace: request.workspace, readOnly: readOnly), environment: request.environment,
            limits: request.limits,
            scripts: scripts.map {
                ScriptUse(
                    runner: $0, place: ScriptPlace(workspace: request.workspace, readOnly: readOnly),
                    allowsNetwork: request.allowsNetwork)
            })
        let result: Result<CommandResult, SandboxError> = await withCheckedContinuation { continuation in
            let hasStarted = startThread(name: "alcove.shell") {
                continuation.resume(
                    returning: Result { () throws(SandboxError) in
                        try session.run(
                            .init(script: Array(request.script.utf8)), input: .bytes(request.input), stop: request.stop,
                            output: output)
                    })
            }
            if !hasStarted {
                continuation.resume(returning: .failure(.noResources(cause: "the system has no thread to give")))
            }
        }
        return try result.get()
    }
}
