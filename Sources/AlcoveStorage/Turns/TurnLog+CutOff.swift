package import AlcoveCore

// Turns that ended with the program. Their state says so from the next start on; their log tells no end until `close` has
// been done for them, so that a start that is killed half way is finished by the one after it.

extension TurnLog {
    /// Turns that ended with the program and have not been closed, the oldest first.
    package func cutOffTurns() async throws -> [TurnRecord] {
        try await turns(
            """
            WHERE state = 'interrupted' AND coalesce((
                SELECT kind FROM turn_events WHERE turn = turns.number ORDER BY seq DESC LIMIT 1), '') <> ?
            ORDER BY turns.number
            """, [TurnLog.lastKind])
    }

    /// Writes the end of a cut-off turn into its log and what it had said into its chat, together or not at all.
    ///
    /// The chat stays as it is when it holds an answer already, or when another turn came after this one. The answer has
    /// the time of the turn's last event.
    ///
    /// - Parameters:
    ///   - answer: What it had said; nil when that was nothing.
    ///   - end: The payload of the event that ends the log.
    /// - Returns: whether the answer was put into the chat.
    @discardableResult
    package func close(_ id: TurnID, answer: MessageDraft?, end: JSONValue) async throws -> Bool {
        let now = now()
        return try await database.write { transaction in
            let found = try transaction.first(
                """
                SELECT turns.number, turns.chat, last.seq, last.at, last.kind FROM turns
                LEFT JOIN turn_events AS last ON last.turn = turns.number
                    AND last.seq = (SELECT max(seq) FROM turn_events WHERE turn = turns.number)
                WHERE turns.id = ? AND state = 'interrupted'
                """, id.text
            ) { row in
                (
                    number: row.integer(0), chat: row.optionalInteger(1), seq: row.optionalInteger(2) ?? -1,
                    at: row.optionalInteger(3).map { Timestamp(milliseconds: $0) } ?? now, kind: row.optionalText(4)
                )
            }
            guard let found, found.kind != TurnLog.lastKind else { return false }
            var kept = false
            if let answer, let chat = found.chat {
                kept = try transaction.recordCutOff(answer, of: found.number, in: chat, at: found.at)
            }
            let event = LoggedEvent(seq: found.seq + 1, at: now, kind: TurnLog.lastKind, payload: end.text())
            try transaction.append([event], to: id)
            return kept
        }
    }

    /// The kind of the event that ends a log.
    private static let lastKind = "finished"
}
