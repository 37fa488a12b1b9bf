package import AlcoveCore

extension ChatStore {
    /// Makes the chat's messages those handed in, and gives them as they are kept.
    ///
    /// Messages that stay the same keep their ids and rows. `choices`, when given, are recorded with them: a model and a
    /// thinking switch when present, the skills always.
    ///
    /// - Throws: `StorageError.chatMissing`.
    @discardableResult
    package func replaceMessages(
        of id: ChatID, with drafts: [MessageDraft], choices: ChatChoices? = nil
    ) async throws -> [StoredMessage] {
        let moment = now()
        return try await database.write { transaction in
            guard let (number, chat) = try transaction.chat(id) else { throw StorageError.chatMissing(id) }
            if let choices { try transaction.record(choices, of: number) }
            return try transaction.replaceMessages(of: number, chat, with: drafts, at: moment)
        }
    }

    /// Adds one message at the end.
    ///
    /// - Throws: `StorageError.chatMissing`.
    package func append(_ draft: MessageDraft, to id: ChatID) async throws -> StoredMessage {
        try await change(id) { $0.append(draft) }
    }

    /// Puts a turn's answer at the end, in the place of an answer that is there already: the page may have written a part
    /// of it before the turn ended.
    ///
    /// - Throws: `StorageError.chatMissing`.
    package func recordAnswer(_ draft: MessageDraft, in id: ChatID) async throws -> StoredMessage {
        try await change(id) { drafts in
            if drafts.last?.body.role == Role.assistant.rawValue { drafts.removeLast() }
            drafts.append(draft)
        }
    }

    /// Changes the end of a chat's messages; gives the last one.
    private func change(
        _ id: ChatID, _ edit: @Sendable (inout [MessageDraft]) -> Void
    ) async throws -> StoredMessage {
        let moment = now()
        return try await database.write { transaction in
            guard let (number, chat) = try transaction.chat(id) else { throw StorageError.chatMissing(id) }
            var drafts = try transaction.messages(of: number).map {
                MessageDraft(id: $0.id, createdAt: $0.createdAt, $0.body)
            }
            edit(&drafts)
            guard let last = try transaction.replaceMessages(of: number, chat, with: drafts, at: moment).last else {
                preconditionFailure("an edit leaves at least the message it adds")
            }
            return last
        }
    }

    /// Saves a chat that came as a file. One with a known id takes the place of that chat, unless ours has changed since.
    ///
    /// - Returns: the chat as it is now kept.
    package func importChat(_ document: ChatDocument) async throws -> Chat {
        let moment = now()
        return try await database.write { transaction in
            let id = document.id ?? ChatID()
            let createdAt = document.createdAt ?? document.updatedAt ?? moment
            let updatedAt = document.updatedAt ?? createdAt
            let made = ChatTitle.derive(from: document.messages.lazy.map(\.body), createdAt: createdAt)
            let chat = Chat(
                id: id, title: made, createdAt: createdAt, updatedAt: updatedAt, modelID: document.modelID,
                think: document.think, skills: document.skills, skillsExplicit: document.skillsExplicit,
                extras: document.extras)
            let title = ChatTitle.cleaned(document.title ?? "")
            let name = title.isEmpty || title == made ? nil : title
            let number: Int64
            if let (known, ours) = try transaction.chat(id) {
                if ours.updatedAt > updatedAt { return ours }
                try transaction.update(known, to: chat, name: name)
                number = known
            } else {
                number = try transaction.insert(chat, name: name)
            }
            let drafts = document.messages.map { draft in
                MessageDraft(id: draft.id, createdAt: draft.createdAt ?? createdAt, draft.body)
            }
            try transaction.replaceMessages(of: number, chat, with: drafts, at: updatedAt)
            guard let (_, saved) = try transaction.chat(id) else { throw StorageError.chatMissing(id) }
            return saved
        }
    }
}

extension Transaction {
    /// All messages of a chat, in order.
    func messages(of chat: Int64) throws -> [StoredMessage] {
        try rows(
            """
            SELECT id, created_at, role, content, thinking, extras FROM messages WHERE chat = ? ORDER BY position
            """, chat, as: StoredMessage.init(row:))
    }

    @discardableResult
    fileprivate func replaceMessages(
        of number: Int64, _ chat: Chat, with drafts: [MessageDraft], at moment: Timestamp
    ) throws -> [StoredMessage] {
        let stored = try messages(of: number)
        let diff = MessageDiff(stored: stored, drafts: drafts)
        if diff.changesNothing { return stored }
        for index in diff.removed {
            try run("DELETE FROM messages WHERE chat = ? AND id = ?", number, stored[index].id.text)
        }
        try move(stored, by: diff, in: number)
        var taken = Set(stored.indices.filter { !diff.removed.contains($0) }.map { stored[$0].id })
        var result: [StoredMessage] = []
        for (position, (draft, step)) in zip(drafts, diff.steps).enumerated() {
            switch step {
            case .keep(let index): result.append(stored[index])
            case .change(let index):
                let old = stored[index]
                let new = StoredMessage(id: old.id, createdAt: draft.createdAt ?? old.createdAt, body: draft.body)
                try update(new, in: number)
                result.append(new)
            case .insert:
                // Two messages with one id, from a faulty sender, are two messages.
                let id = draft.id.flatMap { taken.contains($0) ? nil : $0 } ?? MessageID()
                taken.insert(id)
                let new = StoredMessage(id: id, createdAt: draft.createdAt ?? moment, body: draft.body)
                try insert(new, at: position, in: number)
                result.append(new)
            }
        }
        let title = ChatTitle.derive(from: result.lazy.map(\.body), createdAt: chat.createdAt)
        try run("UPDATE chats SET title = ?, updated_at = ? WHERE number = ?", title, moment.milliseconds, number)
        return result
    }

    /// Puts what a turn had said when the program ended behind the message it was answering.
    ///
    /// - Returns: false when the chat has gone on since, by an answer or another turn, or is empty.
    func recordCutOff(_ answer: MessageDraft, of turn: Int64, in chat: Int64, at moment: Timestamp) throws -> Bool {
        let newest = try first("SELECT coalesce(max(number), 0) FROM turns WHERE chat = ?", chat) { $0.integer(0) }
        let stored = try messages(of: chat)
        guard newest == turn, let last = stored.last, last.body.role != Role.assistant.rawValue,
            let id = try first("SELECT id FROM chats WHERE number = ?", chat, as: { ChatID(unchecked: $0.text(0)) }),
            let (_, kept) = try self.chat(id)
        else { return false }
        var drafts = stored.map { MessageDraft(id: $0.id, createdAt: $0.createdAt, $0.body) }
        drafts.append(MessageDraft(createdAt: moment, answer.body))
        try replaceMessages(of: chat, kept, with: drafts, at: max(moment, kept.updatedAt))
        return true
    }

    /// Gives the rows that stay their new positions, by way of negative ones, so that no two ever meet.
    private func move(_ stored: [StoredMessage], by diff: MessageDiff, in chat: Int64) throws {
        var moved = false
        for (position, step) in diff.steps.enumerated() {
            switch step {
            case .keep(let index), .change(let index):
                if index == position { continue }
                moved = true
                try run(
                    "UPDATE messages SET position = ? WHERE chat = ? AND id = ?", -1 - position, chat,
                    stored[index].id.text)
            case .insert: break
            }
        }
        if moved { try run("UPDATE messages SET position = -1 - position WHERE chat = ? AND position < 0", chat) }
    }

    private func insert(_ message: StoredMessage, at position: Int, in chat: Int64) throws {
        try run(
            """
            INSERT INTO messages (chat, position, id, role, content, thinking, created_at, extras)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """, chat, position, message.id.text, message.body.role, message.body.content, message.body.thinking,
            message.createdAt.milliseconds, message.body.extras.storedText)
    }

    private func update(_ message: StoredMessage, in chat: Int64) throws {
        try run(
            """
            UPDATE messages SET role = ?, content = ?, thinking = ?, created_at = ?, extras = ? WHERE chat = ? AND id = ?
            """, message.body.role, message.body.content, message.body.thinking, message.createdAt.milliseconds,
            message.body.extras.storedText, chat, message.id.text)
    }

    fileprivate func update(_ number: Int64, to chat: Chat, name: String?) throws {
        try run(
            """
            UPDATE chats SET name = ?, title = ?, created_at = ?, updated_at = ?, model = ?, think = ?, skills = ?,
                skills_explicit = ?, extras = ? WHERE number = ?
            """, name, chat.title, chat.createdAt.milliseconds, chat.updatedAt.milliseconds, chat.modelID, chat.think,
            chat.skills.storedText, chat.skillsExplicit, chat.extras.storedText, number)
    }

    fileprivate func record(_ choices: ChatChoices, of chat: Int64) throws {
        try run(
            """
            UPDATE chats SET model = coalesce(?, model), think = coalesce(?, think), skills = ?, skills_explicit = ?
            WHERE number = ?
            """, choices.modelID, choices.think, (choices.skills ?? []).storedText, choices.skills != nil, chat)
    }
}

extension StoredMessage {
    /// Columns: id, created_at, role, content, thinking, extras.
    init(row: Row) {
        self.init(
            id: MessageID(unchecked: row.text(0)), createdAt: Timestamp(milliseconds: row.integer(1)),
            body: MessageBody(
                role: row.optionalText(2), content: row.optionalText(3), thinking: row.optionalText(4),
                extras: row.object(5)))
    }
}
