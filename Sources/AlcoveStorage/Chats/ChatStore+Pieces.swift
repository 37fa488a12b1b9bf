internal import AlcoveCore

extension ChatStore {
    /// How much text is deleted in one piece, in bytes: its index entries and the log of it stay within the reserve.
    private static let pieceBytes = 128 << 10

    /// Deletes a chat in pieces of which each gives its room back before the next, the newest words first.
    ///
    /// Nothing is overwritten with zeros, which would take as much room as the words do; the pages that are given back to the
    /// disk go with what was in them.
    func deleteByPieces(_ id: ChatID) async throws -> Bool {
        var isMore = true
        while isMore {
            isMore = try await database.write { try $0.deletePiece(of: id, bytes: ChatStore.pieceBytes) }
            try await database.compact()
        }
        let deleted = try await database.write { transaction in
            try transaction.forgetReceipts(of: id)
            return try transaction.run("DELETE FROM chats WHERE id = ?", id.text)
        }
        try await database.compact()
        return deleted > 0
    }
}

extension Transaction {
    /// Empties the receipts of a chat's turns: that something was done stays true.
    func forgetReceipts(of chat: ChatID) throws {
        try run(
            """
            UPDATE receipts SET arguments = '', observation = NULL, extras = NULL WHERE turn IN (
                SELECT turns.number FROM turns JOIN chats ON chats.number = turns.chat WHERE chats.id = ?)
            """, chat.text)
    }

    /// Deletes events of a chat's turns, or else messages, of about so many bytes, one at least.
    ///
    /// - Returns: false when there is nothing left of them.
    fileprivate func deletePiece(of chat: ChatID, bytes: Int) throws -> Bool {
        var left = bytes
        let turn = try first(
            """
            SELECT turns.number FROM turns WHERE chat = (SELECT number FROM chats WHERE id = ?)
                AND EXISTS (SELECT 1 FROM turn_events WHERE turn = turns.number) LIMIT 1
            """, chat.text
        ) { $0.integer(0) }
        if let turn {
            let newest = try rows(
                "SELECT seq, length(payload) FROM turn_events WHERE turn = ? ORDER BY seq DESC LIMIT 2000", turn
            ) { ($0.integer(0), $0.int(1)) }
            for (number, size) in newest where left > 0 {
                try run("DELETE FROM turn_events WHERE turn = ? AND seq = ?", turn, number)
                left -= size + 50
            }
            return true
        }
        var numbers: [Int64] = []
        let newest = try rows(
            """
            SELECT number, coalesce(length(content), 0) + coalesce(length(thinking), 0) + coalesce(length(extras), 0)
            FROM messages WHERE chat = (SELECT number FROM chats WHERE id = ?) ORDER BY position DESC LIMIT 500
            """, chat.text
        ) { ($0.integer(0), $0.int(1)) }
        for (number, size) in newest where left > 0 {
            numbers.append(number)
            left -= size + 100
        }
        for number in numbers { try run("DELETE FROM messages WHERE number = ?", number) }
        return !numbers.isEmpty
    }
}
