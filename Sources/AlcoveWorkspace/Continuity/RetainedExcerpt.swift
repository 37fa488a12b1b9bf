package import AlcoveCore
package import AlcoveStorage

/// A message of a chat of which a handoff holds a copy.
package struct RetainedExcerpt: Sendable, Hashable {
    package var handoff: KeptID
    package var title: String
    package var excerpt: HandoffContents.Excerpt
    /// Whether the chat it comes from is still there.
    package var hasChat: Bool

    package var json: JSONValue {
        [
            "handoff": .string(handoff.text), "title": .string(title), "conversation": .string(excerpt.chat),
            "message": .string(excerpt.message), "role": .string(excerpt.role), "text": .string(excerpt.text),
            "chatIsThere": .bool(hasChat),
        ]
    }

    /// All of them, of the newest handoff first.
    package static func all(in transaction: Transaction) throws -> [RetainedExcerpt] {
        var found: [RetainedExcerpt] = []
        for (item, contents) in try handoffs(in: transaction) {
            for excerpt in contents.excerpts {
                let hasChat = try transaction.first("SELECT 1 FROM chats WHERE id = ?", excerpt.chat) { _ in true }
                found.append(
                    RetainedExcerpt(handoff: item.id, title: item.title, excerpt: excerpt, hasChat: hasChat ?? false))
            }
        }
        return found
    }

    /// Removes copies; the handoffs and the messages themselves stay.
    ///
    /// - Parameters:
    ///   - handoff: Of this one only; nil is of all.
    ///   - message: Of this message only; nil is of all.
    /// - Returns: how many went.
    package static func remove(
        handoff: KeptID? = nil, message: String? = nil, at moment: Timestamp, in transaction: Transaction
    ) throws -> Int {
        var removed = 0
        try transaction.erasing {
            for (item, contents) in try handoffs(in: transaction) where handoff == nil || item.id == handoff {
                var contents = contents, item = item
                let before = contents.excerpts.count
                contents.excerpts.removeAll { message == nil || $0.message == message }
                guard contents.excerpts.count < before else { continue }
                removed += before - contents.excerpts.count
                item.text = contents.text
                item.extras[KeptItem.handoffKey] = .object(contents.json)
                item.updatedAt = moment
                try transaction.rewriteKept(item)
            }
            if removed == 0 { return }
            // The index forgets by adding; merging it is what removes the words themselves.
            for index in ["kept_words", "kept_letters"] {
                try transaction.run("INSERT INTO \(index) (\(index)) VALUES ('optimize')")
            }
        }
        return removed
    }

    private static func handoffs(in transaction: Transaction) throws -> [(item: KeptItem, contents: HandoffContents)] {
        try transaction.keptItems("kind = ? ORDER BY number DESC", [KeptKind.handoff.rawValue]).compactMap { item in
            guard let contents = item.handoff, !contents.excerpts.isEmpty else { return nil }
            return (item, contents)
        }
    }
}
