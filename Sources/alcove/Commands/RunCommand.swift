internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveServer
internal import AlcoveStorage
internal import AlcoveWorkspace
internal import Synchronization

/// A task for the agent, on the terminal or in a script.
enum RunCommand {
    static let command = Command(
        name: "run", summary: "Give the agent a task: it uses tools, and asks before it changes anything.",
        discussion: """
            The task's files are in the folder given by --workspace (default: a new one below the root folder). Whatever
            needs a decision is asked on the terminal; without one it is not done. The answer goes to standard output, what
            is being done to standard error. Receipts of everything that ran are kept.
            """,
        arguments: [Command.Argument(name: "TASK", help: "What is to be done.")],
        options: [CommonOptions.root] + CommonOptions.engine + [
            Command.Option(
                name: "--profile", short: nil, value: "NAME",
                help: "agent (default): files and code; assistant: at most three steps on what Alcove keeps."),
            Command.Option(
                name: "--workspace", short: "w", value: "FOLDER",
                help: "The folder whose files the agent may see and change."),
            Command.Option(
                name: "--yes-reads", short: nil, value: nil,
                help:
                    "Never ask for reading (it is allowed anyway in both profiles); everything else is refused without a terminal."
            ),
            Command.Option(
                name: "--require-tool", short: nil, value: nil,
                help: "The first answer must call a tool. In the profile assistant the next one is then the answer."),
            Command.Option(
                name: "--script", short: nil, value: "FILE",
                help: "Play a scripted model (JSON) instead of a real one; for trying tools and surfaces."),
            CommonOptions.maxTokens, CommonOptions.temperature, CommonOptions.seed,
        ],
        run: { try await run($0) })

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        guard let profile = RunProfile.named(invocation.text("--profile") ?? "agent") else {
            throw UsageError("--profile is agent or assistant, not \"\(invocation.text("--profile") ?? "")\".")
        }
        let folders = Folders(root: invocation.text("--root")), resources = Resources()
        let loaded: LoadedModel
        let plan = profile == .assistant ? CommandPlan(invocation.arguments[0]) : nil
        if plan != nil {
            loaded = LoadedModel(model: ToolsOnly())
        } else if let script = invocation.text("--script") {
            loaded = LoadedModel(model: try ScriptFile.model(Folders.absolute(script)))
        } else {
            let path = try CommonOptions.modelPath(
                invocation, library: ModelLibrary(folders: folders, resources: resources))
            loaded = try await TerminalLoading.load(
                path, with: try CommonOptions.loader(invocation, folders: nil, resources: resources))
        }
        let database = try await Database.openTold(folder: folders.root)
        // What was set on the page holds here too.
        let board = SettingsBoard(SettingsStore(database))
        try await board.restore()
        let settings = board.current
        let key = TurnID().text
        let workspace = try folder(invocation, folders: folders, key: key)
        let broker = ApprovalBroker()
        let loop = AgentLoop(
            model: loaded.model, tools: try AgentTools.registry(database),
            broker: Terminal.inputIsTerminal ? broker : nil, switches: { settings.switches }, database: database,
            artifacts: ArtifactStore(folder: folders.root + "/artifacts"))
        var request = TurnRequest(
            messages: (plan == nil ? settings.systemPrompt.map { [Message(role: .system, content: $0)] } ?? [] : [])
                + [Message(role: .user, content: invocation.arguments[0])],
            sampling: try CommonOptions.sampling(invocation, default: .greedy),
            maxTokens: try invocation.int("--max-tokens", in: 1...1_000_000),
            toolChoice: invocation.has("--require-tool") ? .required : .auto,
            profile: profile.limited(by: settings.runLimits), workspace: workspace)
        request.plan = plan
        let turn = await Turns(log: TurnLog(database)).start(
            key: key, loop: loop, request: request, accept: {}, record: { _ in })
        Signals.handle { _ in turn.stopSignal.set() }
        let code = try await TerminalRun(broker: broker, turn: turn).show()
        await database.close()
        await loaded.unload()
        return code
    }

    private static func folder(_ invocation: Invocation, folders: Folders, key: String) throws -> String {
        if let given = invocation.text("--workspace") { return try WorkspaceFolder.check(given, folders: folders) }
        mkdir(folders.root + "/workspaces", 0o700)
        let path = folders.root + "/workspaces/run-" + key
        mkdir(path, 0o700)
        return path
    }
}

/// A folder that a person gives to the agent.
enum WorkspaceFolder {
    /// The folder's real path.
    ///
    /// Alcove's own data is never in a workspace: the key of the running host, other chats and the receipts would be the
    /// model's to read. Nor is a whole home or a whole disk, which nobody means.
    static func check(_ given: String, folders: Folders) throws(InputError) -> String {
        let path = Folders.absolute(given)
        var status = stat()
        guard stat(path, &status) == 0, let real = real(path) else {
            throw InputError(
                code: "no_workspace", message: "There is no folder \(path).",
                hint: "Make it first, or leave out --workspace.", place: .missing)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw InputError(code: "no_workspace", message: "\(path) is a file, not a folder.", place: .missing)
        }
        if real == "/" || Folders.environment("HOME").flatMap({ Self.real($0) }) == real {
            throw InputError(
                code: "bad_workspace", message: "\(real) is too much for a workspace.",
                hint: "Name a folder that holds only the task's files.")
        }
        for root in [folders.root, Folders(root: nil).root].compactMap({ Self.real($0) }) {
            let isInside = real.hasPrefix(root + "/workspaces/")
            guard !isInside, real == root || real.hasPrefix(root + "/") || root.hasPrefix(real + "/") else { continue }
            throw InputError(
                code: "bad_workspace",
                message: "The folder \(real) cannot be a workspace: Alcove's own data is in it (\(root)).",
                hint: "Name a folder that holds only the task's files.")
        }
        return real
    }

    private static func real(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }
}

/// Shows a run on the terminal, in lines, and asks there.
struct TerminalRun {
    let broker: ApprovalBroker
    let turn: Turn

    func show() async throws -> ExitCode {
        var code = ExitCode.success
        var endsWithNewline = true
        for try await event in turn.events() {
            switch event.body {
            case .text(let text):
                endsWithNewline = text.hasSuffix("\n")
                Terminal.write(text)
            case .toolStarted(_, let tool, let detail): Terminal.notice("\n▸ \(tool): \(detail)")
            case .toolOutput(_, _, let text, _): Terminal.noticePart(text)
            case .toolFinished(let note):
                Terminal.notice("\(note.succeeded ? "✓" : "✗") \(note.tool) (\(Int(note.seconds * 1000)) ms)")
                if !note.succeeded { Terminal.notice(note.observation) }
            case .artifact(let note): Terminal.notice("  file: \(note.name) (\(note.bytes) bytes)")
            case .notice(let sentence): Terminal.notice(sentence)
            case .approvalAsked(let note): await ask(note)
            case .approvalAnswered(_, _, let outcome) where outcome != .allowed && outcome != .allowedForChat:
                Terminal.notice("  not done: \(outcome.rawValue)")
            case .finished(let end):
                if !endsWithNewline { Terminal.line() }
                if let reason = end.stoppedBy { Terminal.notice("(Stopped: \(reason).)") }
                if let error = end.error { Terminal.notice("alcove: \(error)") }
                code = end.reason == .cancelled ? .interrupted : end.reason == .error ? .failure : .success
            default: continue
            }
        }
        return code
    }

    private func ask(_ note: ApprovalNote) async {
        Terminal.notice("\nMay this run? It \(note.effect).\n")
        Terminal.notice(
            note.shown.split(separator: "\n", omittingEmptySubsequences: false).map { "    " + $0 }.joined(
                separator: "\n"))
        Terminal.noticePart(note.mayBeRemembered ? "\n[y]es, [a]lways in this run, [n]o: " : "\n[y]es, [n]o: ")
        let answer = await Terminal.readAnswer()
        let outcome: ApprovalOutcome =
            switch answer {
            case "y", "yes": .allowed
            case "a", "always": note.mayBeRemembered ? .allowedForChat : .refused
            default: .refused
            }
        try? await broker.answer(note.id, signature: note.signature, outcome: outcome, turn: turn.id)
    }
}

/// A scripted model in a file: `[[{"text": "..."} | {"call": {"name", "arguments"}}, ...], ...]`, one list a round.
enum ScriptFile {
    static func model(_ path: String) throws -> ScriptedModel {
        let bytes = try SmallFile.read(path)
        guard let rounds = try? JSONValue(parsing: bytes).array else {
            throw InputError(
                code: "bad_script", message: "\(path) should hold a list of rounds in JSON.",
                hint: #"Such as [[{"text": "Hello"}]]."#, place: .data)
        }
        var number = 0
        let answers = try rounds.map { round in
            try (round.array ?? []).map { step -> ScriptedModel.Step in
                if let text = step["text"]?.string { return .text(text) }
                if let text = step["reasoning"]?.string { return .reasoning(text) }
                // A call while it is written, what was meant as one, and an end of another kind.
                if let part = step["part"], let text = part["arguments"]?.string {
                    return .part(
                        ToolCallPart(index: part["index"]?.int ?? 0, name: part["name"]?.string, arguments: text))
                }
                if let text = step["broken"]?.string {
                    return .broken(BrokenToolCall(text: text, reason: "This is not written as a tool call."))
                }
                // Says nothing more until the answer is stopped.
                if step["wait"]?.bool == true { return .wait(StopSignal()) }
                if let reason = step["end"]?.string.flatMap({ FinishReason(rawValue: $0) }) { return .end(reason) }
                guard let call = step["call"], let name = call["name"]?.string else {
                    throw InputError(
                        code: "bad_script", message: "A step of \(path) has neither text nor call.", place: .data)
                }
                number += 1
                let arguments = call["arguments"] ?? [:]
                return .call(
                    ToolCall(id: "call_\(number)", name: name, arguments: arguments.string ?? arguments.text()))
            }
        }
        return ScriptedModel(answers: answers)
    }
}
