package import AlcoveCore
internal import AlcoveSandbox
internal import Synchronization

/// Runs commands in the chat's workspace, confined.
package struct ShellTool: Tool {
    /// Seconds a command has when it does not say.
    static let mostSeconds = 600.0
    /// Bytes of output the model is shown, the middle left out.
    static let shownBytes = 32 << 10

    private let runner: any CommandRunner

    package init(runner: any CommandRunner) { self.runner = runner }

    package let effect = ToolEffect.runsCode
    package let aliases = ["bash", "sh", "run_shell", "execute", "run_command", "terminal"]
    package let observationLimit = ShellTool.shownBytes + 2_000

    package var declaration: ToolDeclaration {
        ToolDeclaration(
            name: "shell",
            description: """
                Run a shell command. The working folder and its files persist between calls; variables do not. There is \
                no network unless it has been switched on. Use the file tools to read, create and change files. Files \
                that a command makes can be downloaded by the person. Exit status, output and errors come back.
                """,
            parameters: [
                "type": "object",
                "properties": [
                    "command": ["type": "string", "description": "The command, as it would be typed.", "minLength": 1],
                    "workdir": ["type": "string", "description": "A folder below the working folder to run it in."],
                    "timeout_ms": [
                        "type": "integer", "description": "Milliseconds it may take; 120000 when not given.",
                        "minimum": 1, "maximum": 600_000,
                    ],
                ],
                "required": ["command"], "additionalProperties": false,
            ])
    }

    package func declaration(attached names: [String]) -> ToolDeclaration {
        AttachedFiles.note(names, on: declaration, parameter: "command")
    }

    private static let names = ToolAliases.names([
        "command": ["cmd", "script", "shell", "input"], "workdir": ["work_dir", "cwd", "directory"],
    ])

    package func rewrite(_ arguments: JSONObject) -> JSONObject {
        var out = ToolAliases.renamed(arguments, ShellTool.names)
        if let words = out["command"]?.array?.compactMap(\.string), !words.isEmpty {
            // ["bash", "-c", text] is that text; any other list is words to be quoted.
            if words.count == 3, ["bash", "sh", "/bin/bash", "/bin/sh"].contains(words[0]), words[1].hasSuffix("c") {
                out["command"] = .string(words[2])
            } else {
                out["command"] = .string(words.map(ShellTool.quoted).joined(separator: " "))
            }
        }
        return out
    }

    static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty
            && word.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || "-_./:=@%+,".utf8.contains(byte)
            }
        return isPlain
            ? word : "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    package func detail(of arguments: JSONObject) -> String { arguments["command"]?.string ?? "" }

    package func run(_ arguments: JSONObject, in context: ToolContext) async -> ToolResult {
        guard let workspace = context.workspace else {
            return .failed("This conversation has no files of its own, so no command can run.")
        }
        guard var script = arguments["command"]?.string else { return .failed("There is no command.") }
        if let folder = arguments["workdir"]?.string, !folder.isEmpty, folder != "." {
            script = "cd -- \(ShellTool.quoted(folder)) || exit 125\n" + script
        }
        var limits = CommandLimits()
        limits.seconds = min(
            arguments["timeout_ms"]?.double.map { $0 / 1000 } ?? context.switches.commandSeconds, ShellTool.mostSeconds)
        let collected = Mutex(CollectedOutput())
        let paths = ConfinedPaths(workspace: workspace)
        let before = WorkspaceScan.files(paths)
        do {
            let result = try await runner.run(
                CommandRequest(
                    script: script, workspace: workspace, limits: limits,
                    allowsNetwork: context.switches.network, stop: context.stop)
            ) { piece in
                let text = collected.withLock { $0.take(piece) }
                if !text.isEmpty { context.output(text) }
            }
            var answer = report(result, limits: limits, output: collected.withLock { $0.finish() })
            answer.files = WorkspaceScan.changed(since: before, in: paths)
            return answer
        } catch {
            return .failed("The command did not run: \(sentence(of: error))")
        }
    }

    private func report(_ result: CommandResult, limits: CommandLimits, output: [UInt8]) -> ToolResult {
        let seconds = String(Double(Int(result.seconds * 10)) / 10)
        var head: String
        var succeeded = false
        switch result.end {
        case .exited(let code):
            head = "Exit status \(code) after \(seconds) s."
            succeeded = code == 0
        case .signalled(let number): head = "Ended by signal \(number) after \(seconds) s."
        case .timedOut:
            head = "Stopped after \(Int(limits.seconds)) s. Give a larger timeout_ms if it needs longer, up to 600000."
        case .stopped: head = "Stopped."
        }
        if result.outputBytes > limits.outputBytes {
            head += " It wrote \(result.outputBytes) bytes; only the first \(limits.outputBytes) were kept."
        }
        let text = String(decoding: Excerpt.middleCut(output, to: ShellTool.shownBytes), as: UTF8.self)
        var answer = ToolResult(succeeded: succeeded, text: head + "\n" + (text.isEmpty ? "(no output)" : text))
        answer.hasTimedOut = result.end == .timedOut
        return answer
    }
}

/// What a command wrote, in order.
private struct CollectedOutput {
    private var bytes: [UInt8] = []
    private var text = UTF8Assembler()

    /// The new text, whole characters only.
    mutating func take(_ piece: CommandOutput) -> String {
        switch piece {
        case .standardOutput(let new), .standardError(let new):
            bytes += new
            return text.append(new)
        }
    }

    mutating func finish() -> [UInt8] { bytes }
}
