package import AlcoveCore

/// The saved chats.
///
/// A change is on the disk when its call returns. Lists and loads never wait for a change.
package struct ChatStore: Sendable {
    package let database: Database
    let now: @Sendable () -> Timestamp

    package init(_ database: Database, now: @escaping @Sendable () -> Timestamp = { .now }) {
        self.database = database
        self.now = now
    }

    /// Begins an empty chat.
    package func create(_ choices: ChatChoices = ChatChoices()) async throws -> Chat {
        let moment = now()
        let chat = Chat(
            id: ChatID(), title: ChatTitle.derive(from: [], createdAt: moment), createdAt: moment, updatedAt: moment,
            modelID: choices.modelID, think: choices.think, skills: choices.skills ?? [],
            skillsExplicit: choices.skills != nil, extras: JSONObject())
        try await database.write { try $0.insert(chat, name: nil) }
        return chat
    }

    /// Chats, the one changed last first.
    package func summaries(includingEmpty: Bool = false, limit: Int = .max) async throws -> [ChatSummary] {
        try await database.read { transaction in
            try transaction.rows(
                """
                SELECT id, coalesce(name, title), created_at, updated_at, model,
                    (SELECT count(*) FROM messages WHERE chat = chats.number)
                FROM chats
                WHERE ? OR EXISTS (SELECT 1 FROM messages WHERE chat = chats.number)
                ORDER BY updated_at DESC, number DESC LIMIT ?
                """, includingEmpty, limit
            ) { row in
                ChatSummary(
                    id: ChatID(unchecked: row.text(0)), title: row.text(1),
                    createdAt: Timestamp(milliseconds: row.integer(2)),
                    updatedAt: Timestamp(milliseconds: row.integer(3)), modelID: row.optionalText(4),
                    messageCount: row.int(5))
            }
        }
    }

    /// A whole chat; nil when there is none.
    package func transcript(_ id: ChatID) async throws -> ChatTranscript? {
        try await database.read { transaction in
            guard let (number, chat) = try transaction.chat(id) else { return nil }
            return ChatTranscript(chat: chat, messages: try transaction.messages(of: number))
        }
    }

    /// How many messages a chat holds, and the words of the last of them; 0 and nil when there is no such chat.
    package func end(of id: ChatID) async throws -> (count: Int, content: String?) {
        try await database.read { transaction in
            let count = try transaction.first(
                "SELECT count(*) FROM messages WHERE chat = (SELECT number FROM chats WHERE id = ?)", id.text
            ) { $0.int(0) }
            let content = try transaction.first(
                """
                SELECT content FROM messages WHERE chat = (SELECT number FROM chats WHERE id = ?)
                ORDER BY position DESC LIMIT 1
                """, id.text
            ) { $0.optionalText(0) }
            return (count ?? 0, content ?? nil)
        }
    }

    /// A chat without its messages; nil when there is none.
    package func chat(_ id: ChatID) async throws -> Chat? {
        try await database.read { try $0.chat(id)?.chat }
    }

    /// The empty chat changed last, to be used again rather than begin another.
    package func mostRecentEmpty() async throws -> Chat? {
        try await database.read { transaction in
            let id = try transaction.first(
                """
                SELECT id FROM chats WHERE NOT EXISTS (SELECT 1 FROM messages WHERE chat = chats.number)
                ORDER BY updated_at DESC, number DESC LIMIT 1
                """
            ) { ChatID(unchecked: $0.text(0)) }
            return try id.flatMap { try transaction.chat($0)?.chat }
        }
    }

    /// How many chats have messages, and how many messages there are.
    package func counts() async throws -> (chats: Int, messages: Int) {
        try await database.read { transaction in
            try transaction.first("SELECT count(DISTINCT chat), count(*) FROM messages") { ($0.int(0), $0.int(1)) }
                ?? (0, 0)
        }
    }

    /// Gives the chat a name of the person's own, cleaned as `ChatTitle` does; a blank one gives it back the title made from its messages.
    ///
    /// - Throws: `StorageError.chatMissing`.
    package func rename(_ id: ChatID, to name: String) async throws -> Chat {
        let cleaned = ChatTitle.cleaned(name)
        return try await database.write { transaction in
            try transaction.run("UPDATE chats SET name = ? WHERE id = ?", cleaned.isEmpty ? nil : cleaned, id.text)
            guard let (_, chat) = try transaction.chat(id) else { throw StorageError.chatMissing(id) }
            return chat
        }
    }

    /// Deletes a chat, its messages and its turns; false when there was none. The receipts of its turns stay, without
    /// what was in them: that something was done remains true.
    ///
    /// Where there is no room to do it at once it is done piece by piece; a kill then may leave a part of the chat.
    package func delete(_ id: ChatID) async throws -> Bool {
        guard DiskReserve.isSpendable, let reserve = database.reserve else { return try await deleteAtOnce(id) }
        if reserve.isGivenUp { return try await deleteByPieces(id) }
        do {
            // Not with the reserve: one that failed would use it up.
            return try await DiskReserve.$isSpendable.withValue(false) { try await deleteAtOnce(id) }
        } catch let error as StorageError {
            guard case .diskFull = error else { throw error }
            return try await deleteByPieces(id)
        }
    }

    private func deleteAtOnce(_ id: ChatID) async throws -> Bool {
        let deleted = try await database.write { transaction in
            try transaction.erasing {
                try transaction.forgetReceipts(of: id)
                return try transaction.run("DELETE FROM chats WHERE id = ?", id.text)
            }
        }
        return deleted > 0
    }

    /// Deletes all chats, the empty ones too, and gives their space back; tells how many they were.
    package func deleteAll() async throws -> Int {
        let deleted = try await database.write { transaction in
            try transaction.erasing {
                try transaction.run(
                    """
                    UPDATE receipts SET arguments = '', observation = NULL, extras = NULL
                    WHERE turn IN (SELECT number FROM turns WHERE chat IS NOT NULL)
                    """)
                let count = try transaction.run("DELETE FROM chats")
                // The index forgets by adding; merging it is what removes the words themselves.
                try transaction.run("INSERT INTO message_index (message_index) VALUES ('optimize')")
                return count
            }
        }
        try await database.compact()
        return deleted
    }
}

extension Transaction {
    /// A chat and its row number.
    func chat(_ id: ChatID) throws -> (number: Int64, chat: Chat)? {
        try first(
            """
            SELECT number, coalesce(name, title), created_at, updated_at, model, think, skills, skills_explicit, extras
            FROM chats WHERE id = ?
            """, id.text
        ) { row in
            let skills = try? row.optionalText(6).map { try JSONValue(parsing: $0) }
            let chat = Chat(
                id: id, title: row.text(1), createdAt: Timestamp(milliseconds: row.integer(2)),
                updatedAt: Timestamp(milliseconds: row.integer(3)), modelID: row.optionalText(4),
                think: row.optionalBool(5), skills: skills?.array.flatMap { Chat.names($0) } ?? [],
                skillsExplicit: row.bool(7), extras: row.object(8))
            return (row.integer(0), chat)
        }
    }

    /// - Parameter name: what the person called it; the chat's title is then the made one.
    @discardableResult
    func insert(_ chat: Chat, name: String?) throws -> Int64 {
        try run(
            """
            INSERT INTO chats (id, name, title, created_at, updated_at, model, think, skills, skills_explicit, extras)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, chat.id.text, name, chat.title, chat.createdAt.milliseconds, chat.updatedAt.milliseconds, chat.modelID,
            chat.think, chat.skills.storedText, chat.skillsExplicit, chat.extras.storedText)
        return lastInsertedRow
    }
}

extension Row {
    /// A JSON object; an empty one when the column holds none that can be read.
    func object(_ column: Int) -> JSONObject {
        optionalText(column).flatMap { try? JSONValue(parsing: $0) }?.object ?? JSONObject()
    }
}

extension JSONObject {
    /// For a column; nil when there is nothing to keep.
    var storedText: String? { isEmpty ? nil : JSONValue.object(self).text() }
}

extension [String] {
    var storedText: String? { isEmpty ? nil : JSONValue.array(map { .string($0) }).text() }
}

extension String {
    /// Without the white space around it.
    var trimmed: String {
        let start = firstIndex { !$0.isWhitespace } ?? endIndex
        let end = lastIndex { !$0.isWhitespace }.map { index(after: $0) } ?? start
        return String(self[start..<end])
    }
}
