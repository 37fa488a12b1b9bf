internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveStorage

/// Takes turns back: their messages and their files together; and gives them again until the next message is sent.
///
/// What is about to be done is written down first, so that a host that is killed half way finishes it at its next start.
package struct Rewinds: Sendable {
    enum Refusal: UserFacingError {
        case running
        case nothingToUndo
        case nothingToRedo

        var code: String {
            switch self {
            case .running: "turn_running"
            case .nothingToUndo: "nothing_to_undo"
            case .nothingToRedo: "nothing_to_redo"
            }
        }
        var place: ErrorPlace { .request }
        var message: String {
            switch self {
            case .running: "The chat is being answered."
            case .nothingToUndo: "There is no message in this chat that could be taken back."
            case .nothingToRedo: "Nothing was taken back that could be given again."
            }
        }
        var hint: String? { self == .running ? "Stop the answer first." : nil }
    }

    /// What came of it.
    struct Outcome {
        var messages: [StoredMessage]
        /// The words of the message that was taken back.
        var text: String?
        /// Files that were put back or taken away.
        var files: [String]
        /// A sentence when the files stayed as they are.
        var notice: String?
        var canRedo: Bool
    }

    /// What is kept of a chat's rewinds, in the store.
    private struct Record {
        /// Newest last: the messages that were taken away, and the snapshot of the files as they were then.
        var stack: [(messages: [JSONValue], snapshot: String)] = []
        /// Under way: the messages the chat shall have, and the snapshot its files shall be.
        var pending: (messages: [JSONValue], snapshot: String?)?

        init(json: JSONValue?) {
            for item in json?["stack"]?.array ?? [] {
                guard let messages = item["messages"]?.array, let snapshot = item["snapshot"]?.string else { continue }
                stack.append((messages, snapshot))
            }
            if let messages = json?["pending"]?["messages"]?.array {
                pending = (messages, json?["pending"]?["snapshot"]?.string)
            }
        }

        var json: JSONValue {
            if stack.isEmpty, pending == nil { return .null }
            return [
                "stack": .array(stack.map { ["messages": .array($0.messages), "snapshot": .string($0.snapshot)] }),
                "pending": pending.map { ["messages": .array($0.messages), "snapshot": JSONValue($0.snapshot)] }
                    ?? .null,
            ]
        }
    }

    private static let prefix = "rewind."

    let chats: ChatStore
    let log: TurnLog
    let settings: SettingsStore
    let snapshots: WorkspaceSnapshots
    let workspaces: Workspaces
    private let order = AsyncLock()

    init(
        chats: ChatStore, log: TurnLog, settings: SettingsStore, snapshots: WorkspaceSnapshots,
        workspaces: Workspaces
    ) {
        self.chats = chats
        self.log = log
        self.settings = settings
        self.snapshots = snapshots
        self.workspaces = workspaces
    }

    /// Takes the newest message and all that came of it back.
    ///
    /// - Throws: `Refusal.nothingToUndo`, `StorageError`; the files' own trouble is a notice.
    func undo(_ chat: ChatID) async throws -> Outcome {
        try await order.run { try await undoNow(chat) }
    }

    func redo(_ chat: ChatID) async throws -> Outcome {
        try await order.run { try await redoNow(chat) }
    }

    func canRedo(_ chat: ChatID) async -> Bool { !((try? await record(of: chat).stack.isEmpty) ?? true) }

    /// A new message was sent: what was taken back is gone.
    func forgetRedo(_ chat: ChatID) async throws {
        let record = try await record(of: chat)
        guard !record.stack.isEmpty else { return }
        try await settings.set(Rewinds.prefix + chat.text, to: .null)
        for item in record.stack { snapshots.forget(item.snapshot, chat: chat.text) }
    }

    func forget(_ chat: ChatID) async throws {
        try await settings.set(Rewinds.prefix + chat.text, to: .null)
        snapshots.forget(chat: chat.text)
    }

    /// Finishes what a killed host had begun.
    package func recover() async throws {
        for (key, value) in try await settings.values(prefix: Rewinds.prefix).members {
            guard let chat = ChatID(String(key.dropFirst(Rewinds.prefix.count))) else { continue }
            var record = Record(json: value)
            guard record.pending != nil else { continue }
            do { _ = try await finish(&record, of: chat) } catch StorageError.chatMissing { try await forget(chat) }
        }
    }

    // MARK: The work

    private func undoNow(_ chat: ChatID) async throws -> Outcome {
        let messages = try await messages(of: chat)
        guard let last = messages.lastIndex(where: { $0.body.role == Role.user.rawValue }) else {
            throw Refusal.nothingToUndo
        }
        var record = try await record(of: chat)
        let before = try await snapshot(ofTurnsSince: messages[last].createdAt, in: chat)
        var notice: String?
        let now = "undone-\(TurnID().text)"
        if before != nil {
            do { try snapshots.take(of: workspaces.path(of: chat), chat: chat.text, name: now) } catch {
                notice = "\(sentence(of: error)) The files were left as they are."
            }
        }
        record.stack.append((messages[last...].map(\.json), now))
        record.pending = (messages[..<last].map(\.json), notice == nil ? before : nil)
        var outcome = try await finish(&record, of: chat)
        outcome.text = messages[last].body.content
        outcome.notice = notice ?? outcome.notice
        return outcome
    }

    private func redoNow(_ chat: ChatID) async throws -> Outcome {
        var record = try await record(of: chat)
        guard let item = record.stack.popLast() else { throw Refusal.nothingToRedo }
        let messages = try await messages(of: chat).map(\.json) + item.messages
        record.pending = (messages, snapshots.has(item.snapshot, chat: chat.text) ? item.snapshot : nil)
        let outcome = try await finish(&record, of: chat)
        snapshots.forget(item.snapshot, chat: chat.text)
        return outcome
    }

    private func finish(_ record: inout Record, of chat: ChatID) async throws -> Outcome {
        guard let pending = record.pending else { preconditionFailure("there is something to finish") }
        let place = Rewinds.prefix + chat.text
        try await settings.set(place, to: record.json)
        let kept = try await chats.replaceMessages(of: chat, with: pending.messages.map { MessageDraft(json: $0) })
        var files: [String] = [], notice: String?
        if let snapshot = pending.snapshot {
            do { files = try snapshots.restore(snapshot, chat: chat.text, to: workspaces.path(of: chat)) } catch {
                notice = sentence(of: error)
            }
        }
        record.pending = nil
        try await settings.set(place, to: record.json)
        return Outcome(messages: kept, text: nil, files: files, notice: notice, canRedo: !record.stack.isEmpty)
    }

    /// The folder as it was before the first turn since a moment that changed it; nil when none did.
    private func snapshot(ofTurnsSince moment: Timestamp, in chat: ChatID) async throws -> String? {
        let turns = try await log.turns(of: chat, limit: 100).filter { $0.startedAt >= moment }
        return turns.reversed().map(\.id.text).first { snapshots.has($0, chat: chat.text) }
    }

    private func record(of chat: ChatID) async throws -> Record {
        Record(json: try await settings.value(Rewinds.prefix + chat.text))
    }

    private func messages(of chat: ChatID) async throws -> [StoredMessage] {
        guard let transcript = try await chats.transcript(chat) else { throw StorageError.chatMissing(chat) }
        return transcript.messages
    }
}
