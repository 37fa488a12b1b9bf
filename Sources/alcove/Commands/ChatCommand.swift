internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveStorage
internal import Synchronization

/// A conversation on the terminal.
enum ChatCommand {
    static let command = Command(
        name: "chat", summary: "Talk with the model on the terminal.",
        discussion: """
            Ctrl-C stops an answer; Ctrl-C when nothing is being answered, or Ctrl-D, leaves. The chat is kept with the
            page's chats, unless a host has the root folder open. A line that ends in \\ goes on on the next one.
            """,
        options: [CommonOptions.root] + CommonOptions.engine + [
            CommonOptions.maxTokens, CommonOptions.temperature, CommonOptions.seed, CommonOptions.system,
            Command.Option(name: "--no-save", short: nil, value: nil, help: "Keep nothing of this chat."),
        ],
        run: { try await run($0) })

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let folders = Folders(root: invocation.text("--root")), resources = Resources()
        let path = try CommonOptions.modelPath(
            invocation, library: ModelLibrary(folders: folders, resources: resources))
        let maxTokens = try invocation.int("--max-tokens", in: 1...1_000_000)
        let record = await TerminalChat.open(folders, isWanted: !invocation.has("--no-save"))
        let loaded = try await TerminalLoading.load(
            path, with: try CommonOptions.loader(invocation, folders: folders, resources: resources))
        let sampling = try CommonOptions.sampling(invocation, default: loaded.model.description.sampling)
        let answering = Answering()
        Signals.handle { _ in if !answering.stop() { exit(ExitCode.interrupted.rawValue) } }

        var messages: [Message] = []
        if let system = invocation.text("--system") { messages.append(Message(role: .system, content: system)) }
        var lines = InputLines()
        if Terminal.inputIsTerminal { Terminal.notice("\(loaded.model.description.name). Ctrl-D leaves.") }
        while let question = nextQuestion(&lines) {
            if question.allSatisfy(\.isWhitespace) { continue }
            messages.append(Message(role: .user, content: question))
            let request = GenerationRequest(messages: messages, sampling: sampling, maxTokens: maxTokens)
            answering.begin(request.stopSignal)
            defer { answering.end() }
            do {
                let (shown, text) = TerminalChat.collecting(loaded.model.generate(request))
                _ = try await TerminalAnswer().show(shown)
                messages.append(Message(role: .assistant, content: text.withLock { $0 }))
            } catch let error as any UserFacingError {
                // What was refused is not part of the conversation.
                messages.removeLast()
                Terminal.notice(error.sentence)
            }
            await record?.save(messages)
        }
        await loaded.unload()
        await record?.close()
        return .success
    }

    private static func nextQuestion(_ lines: inout InputLines) -> String? {
        var text = ""
        if Terminal.inputIsTerminal { Terminal.noticePart("\n> ") }
        while let line = lines.next() {
            text += String(decoding: line, as: UTF8.self)
            guard text.hasSuffix("\\") else { return text }
            text.removeLast()
            text += "\n"
            if Terminal.inputIsTerminal { Terminal.noticePart("| ") }
        }
        return text.isEmpty ? nil : text
    }

    /// The answer under way, if any.
    private final class Answering: Sendable {
        private let signal = Mutex<StopSignal?>(nil)

        func begin(_ signal: StopSignal) { self.signal.withLock { $0 = signal } }
        func end() { signal.withLock { $0 = nil } }

        /// Stops it; false when there is none, or it was stopped already.
        func stop() -> Bool {
            guard let signal = signal.withLock({ $0 }), !signal.isSet else { return false }
            signal.set()
            return true
        }
    }
}

/// Where a terminal chat is kept.
struct TerminalChat: Sendable {
    private let database: Database
    private let chats: ChatStore
    private let id: ChatID

    /// nil when nothing is to be kept, or cannot be: then a sentence says why.
    static func open(_ folders: Folders, isWanted: Bool) async -> TerminalChat? {
        guard isWanted else { return nil }
        do {
            let database = try await Database.openTold(folder: folders.root)
            let chats = ChatStore(database)
            return TerminalChat(database: database, chats: chats, id: try await chats.create().id)
        } catch {
            Terminal.notice("This chat is not kept: \((error as? any UserFacingError)?.sentence ?? "\(error)")")
            return nil
        }
    }

    func save(_ messages: [Message]) async {
        let drafts = messages.map { MessageDraft(role: $0.role, content: $0.content) }
        do {
            try await chats.replaceMessages(of: id, with: drafts)
        } catch {
            Terminal.notice("The chat could not be saved: \((error as? any UserFacingError)?.sentence ?? "\(error)")")
        }
    }

    func close() async { await database.close() }

    /// The same events, and the text they have brought so far.
    static func collecting(
        _ events: AsyncThrowingStream<GenerationEvent, any Error>
    ) -> (AsyncThrowingStream<GenerationEvent, any Error>, CollectedText) {
        let collected = CollectedText()
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: GenerationEvent.self)
        Task {
            do {
                for try await event in events {
                    if case .text(let text) = event { collected.withLock { $0 += text } }
                    continuation.yield(event)
                }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        return (stream, collected)
    }
}

/// Text that one task writes and another reads.
final class CollectedText: Sendable {
    private let text = Mutex("")
    func withLock<Result: Sendable>(_ body: (inout sending String) -> sending Result) -> Result { text.withLock(body) }
}
