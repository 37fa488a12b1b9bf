internal import AlcoveAgent
internal import AlcoveCore
internal import Synchronization

/// One question, one answer on standard output.
enum AskCommand {
    static let command = Command(
        name: "ask", summary: "Answer one question on standard output.",
        discussion: """
            What is piped in follows the question: `git diff | alcove ask "Explain this change."`
            Nothing is kept. Notices go to standard error, so that the answer can go on into a pipe.
            """,
        arguments: [
            Command.Argument(
                name: "QUESTION", help: "What to ask; may be left out when something is piped in.", isOptional: true)
        ],
        options: [CommonOptions.root] + CommonOptions.engine + [
            CommonOptions.maxTokens, CommonOptions.temperature, CommonOptions.seed, CommonOptions.system,
            Command.Option(
                name: "--image", short: "i", value: "FILE[,FILE...]",
                help: "Pictures or videos that the question is about, for a model that sees."),
            Command.Option(
                name: "--sound", short: nil, value: "FILE",
                help: "A sound that the question is about, for a model that hears."
            ),
        ],
        run: { try await run($0) })

    /// Longest input of a pipe: more than any model's window holds.
    private static let inputLimit = 16 << 20

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let question = try question(invocation)
        let folders = Folders(root: invocation.text("--root")), resources = Resources()
        let library = ModelLibrary(folders: folders, resources: resources)
        let path = try CommonOptions.modelPath(invocation, library: library)
        let sampling = try CommonOptions.sampling(invocation, default: .greedy)
        let loaded = try await TerminalLoading.load(
            path, with: try CommonOptions.loader(invocation, folders: nil, resources: resources))

        var asked = Message(role: .user, content: question)
        do {
            asked.media = try await TerminalMedia.read(invocation, for: loaded.model.description.media)
        } catch {
            await loaded.unload()
            throw error
        }
        var messages = [asked]
        if let system = invocation.text("--system") { messages.insert(Message(role: .system, content: system), at: 0) }
        let request = GenerationRequest(
            messages: messages, sampling: sampling, maxTokens: try invocation.int("--max-tokens", in: 1...1_000_000))
        Signals.handle { _ in request.stopSignal.set() }
        let answer = TerminalAnswer()
        let reason = try await answer.show(loaded.model.generate(request))
        await loaded.unload()
        if Terminal.outputErrno != nil { return .success }  // `Alcove.main` says what became of the output
        return reason == .cancelled ? .interrupted : reason == .error ? .failure : .success
    }

    private static func question(_ invocation: Invocation) throws -> String {
        let asked = invocation.arguments.first ?? ""
        // Standard input counts when it is piped or a file; a terminal or a closed one is nobody's question.
        guard !Terminal.inputIsTerminal, let bytes = Terminal.readAll(limit: inputLimit) else {
            if Terminal.inputIsTerminal, !asked.isEmpty { return asked }
            throw UsageError(
                asked.isEmpty && Terminal.inputIsTerminal ? "There is no question." : "The input is longer than 16 MB.",
                hint: #"Write alcove ask "Why is the sky blue?""#)
        }
        let piped = String(decoding: bytes, as: UTF8.self)
        let text = [asked, piped].filter { $0.contains { !$0.isWhitespace } }.joined(separator: "\n\n")
        guard !text.isEmpty else {
            throw UsageError("There is no question.", hint: #"Write alcove ask "Why is the sky blue?""#)
        }
        return text
    }
}
