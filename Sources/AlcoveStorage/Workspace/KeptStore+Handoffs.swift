package import AlcoveCore

/// Whether a handoff may still be restored.
package enum HandoffState: String, Sendable, Hashable, CaseIterable {
    case active, inactive
}

extension Transaction {
    /// Takes a handoff out of use, or back into it. Nothing of it is deleted.
    ///
    /// - Throws: `KeptError.stateUnchanged` when it is so already, `.missing` when it is gone.
    package func setHandoff(_ id: KeptID, _ state: HandoffState, at moment: Timestamp) throws {
        guard let item = try keptItem(id), item.kind == .handoff else {
            throw KeptError.missing(kind: .handoff, name: id.text)
        }
        if item.state == state.rawValue { throw KeptError.stateUnchanged(title: item.title, state: state.rawValue) }
        try run(
            "UPDATE kept SET state = ?, updated_at = ? WHERE id = ?", state.rawValue, moment.milliseconds, id.text)
    }

    /// Puts another text and other members in the place of a kept item's; its words in the index follow.
    package func rewriteKept(_ item: KeptItem) throws {
        try run(
            "UPDATE kept SET content = ?, words = ?, extras = ?, updated_at = ? WHERE id = ?", item.text,
            item.indexedWords, item.extras.storedText, item.updatedAt.milliseconds, item.id.text)
    }

    /// The last messages of a chat that a person sees, oldest first.
    package func lastMessages(of chat: ChatID, limit: Int) throws -> [(id: String, role: String, text: String)] {
        try rows(
            """
            SELECT id, role, content FROM messages
            WHERE chat = (SELECT number FROM chats WHERE id = ?) AND content IS NOT NULL AND content <> ''
                AND role IN ('user', 'assistant')
            ORDER BY position DESC LIMIT ?
            """, chat.text, limit
        ) { ($0.text(0), $0.text(1), $0.text(2)) }.reversed()
    }
}

extension KeptItem {
    /// What the index of words holds of it.
    var indexedWords: String {
        ([kind.mark] + Set(KeptWords(title).indexed + KeptWords(text).indexed).sorted()).joined(separator: " ")
    }
}
