package import AlcoveCore

/// Names a receipt.
package struct ReceiptID: RandomIdentifier {
    package let text: String
    package init(unchecked text: String) { self.text = text }
}

/// The evidence of one executed call.
package struct Receipt: Sendable, Hashable {
    package var id: ReceiptID
    /// Nil when no turn made the call, or its chat has been deleted.
    package var turn: TurnID?
    package var tool: String
    /// Normalised.
    package var arguments: String
    /// Of tool and arguments, to tell equal calls.
    package var signature: String
    package var effect: String
    package var outcome: String
    /// What came of it, cut to a bound by whoever wrote it.
    package var observation: String?
    package var startedAt: Timestamp
    package var finishedAt: Timestamp
    package var extras: JSONObject

    package init(
        id: ReceiptID = ReceiptID(), turn: TurnID?, tool: String, arguments: String, signature: String,
        effect: String, outcome: String, observation: String?, startedAt: Timestamp, finishedAt: Timestamp,
        extras: JSONObject = JSONObject()
    ) {
        self.id = id
        self.turn = turn
        self.tool = tool
        self.arguments = arguments
        self.signature = signature
        self.effect = effect
        self.outcome = outcome
        self.observation = observation
        self.startedAt = startedAt
        self.finishedAt = finishedAt
        self.extras = extras
    }
}

extension TurnLog {
    /// Receipts of a turn, in order.
    package func receipts(of turn: TurnID) async throws -> [Receipt] {
        try await receipts("WHERE turns.id = ? ORDER BY receipts.number", [turn.text])
    }

    /// Receipts of all turns, the last first.
    package func recentReceipts(limit: Int) async throws -> [Receipt] {
        try await receipts("ORDER BY receipts.number DESC LIMIT ?", [limit])
    }

    private func receipts(_ condition: String, _ values: [(any SQLBindable)?]) async throws -> [Receipt] {
        try await database.read { transaction in
            try transaction.rows(
                """
                SELECT receipts.id, turns.id, tool, arguments, signature, effect, outcome, observation,
                    receipts.started_at, receipts.finished_at, extras
                FROM receipts LEFT JOIN turns ON turns.number = receipts.turn \(condition)
                """, values
            ) { row in
                Receipt(
                    id: ReceiptID(unchecked: row.text(0)), turn: row.optionalText(1).map { TurnID(unchecked: $0) },
                    tool: row.text(2), arguments: row.text(3), signature: row.text(4), effect: row.text(5),
                    outcome: row.text(6), observation: row.optionalText(7),
                    startedAt: Timestamp(milliseconds: row.integer(8)),
                    finishedAt: Timestamp(milliseconds: row.integer(9)), extras: row.object(10))
            }
        }
    }
}

extension Transaction {
    /// Keeps a receipt in the same transaction as the change it is the evidence of: both are there, or neither.
    ///
    /// - Throws: `StorageError.turnMissing` when it names a turn that is not there.
    package func add(_ receipt: Receipt) throws {
        var turn: Int64?
        if let id = receipt.turn {
            turn = try first("SELECT number FROM turns WHERE id = ?", id.text) { $0.integer(0) }
            if turn == nil { throw StorageError.turnMissing(id) }
        }
        try run(
            """
            INSERT INTO receipts (id, turn, tool, arguments, signature, effect, outcome, observation, started_at,
                finished_at, extras)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, receipt.id.text, turn, receipt.tool, receipt.arguments, receipt.signature, receipt.effect,
            receipt.outcome, receipt.observation, receipt.startedAt.milliseconds, receipt.finishedAt.milliseconds,
            receipt.extras.storedText)
    }
}
