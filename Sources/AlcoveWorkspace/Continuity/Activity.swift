package import AlcoveCore
package import AlcoveStorage

/// What was said and done: chats, runs, receipts, and what handoffs copied of it. What is kept is no part of it.
package struct Activity: Sendable, Hashable {
    package var chats = 0
    package var messages = 0
    package var runs = 0
    package var receipts = 0
    /// Messages of which handoffs hold copies.
    package var excerpts = 0

    package init(in transaction: Transaction) throws {
        func count(_ sql: String) throws -> Int { try transaction.first(sql) { $0.int(0) } ?? 0 }
        chats = try count("SELECT count(*) FROM chats WHERE EXISTS (SELECT 1 FROM messages WHERE chat = chats.number)")
        messages = try count("SELECT count(*) FROM messages")
        runs = try count("SELECT count(*) FROM turns")
        receipts = try count("SELECT count(*) FROM receipts WHERE \(Activity.ofRuns)")
        excerpts = try RetainedExcerpt.all(in: transaction).count
    }

    /// Receipts of runs, those included whose chat is gone; what a person did by hand is evidence of what is kept.
    private static let ofRuns = "turn IS NOT NULL OR arguments = ''"

    /// Removes runs, their receipts, and the copies in handoffs; the handoffs stay. Chats go before, with their files.
    package static func clearRuns(at moment: Timestamp, in transaction: Transaction) throws {
        try transaction.erasing {
            try transaction.run("DELETE FROM receipts WHERE \(ofRuns)")
            try transaction.run("DELETE FROM turns WHERE state <> 'running'")
        }
        _ = try RetainedExcerpt.remove(at: moment, in: transaction)
    }

    package var json: JSONObject {
        [
            "chats": JSONValue(chats), "messages": JSONValue(messages), "runs": JSONValue(runs),
            "receipts": JSONValue(receipts), "excerpts": JSONValue(excerpts),
        ]
    }

    /// What clearing would remove, for the person who decides.
    package var text: String {
        """
        Clears \(Activity.some(chats, "chat")) with \(Activity.some(messages, "message")), \(Activity.some(runs, "run")) with \
        \(Activity.some(receipts, "receipt")), and \(Activity.some(excerpts, "message")) copied into handoffs. Knowledge, \
        memories, tasks and the handoffs themselves stay.
        """
    }

    private static func some(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}
