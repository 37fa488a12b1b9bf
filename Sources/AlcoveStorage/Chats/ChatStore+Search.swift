package import AlcoveCore

/// A chat in which all words of a query were found.
package struct SearchHit: Sendable, Hashable {
    package struct Piece: Sendable, Hashable {
        package let text: String
        package let isMatch: Bool
    }

    package let chat: ChatID
    package let title: String
    /// The message that holds the most of the words; nil when the title holds them all.
    package let message: MessageID?
    package let role: String?
    /// When the message was written, or the chat last changed.
    package let date: Timestamp
    /// The place where it was found, with the words marked.
    package let snippet: [Piece]
}

extension ChatStore {
    /// Finds the chats that hold every word of the query: in the title, in one message, or spread over several.
    ///
    /// Each chat once. Those whose titles hold every word come first, then those with one message that does, then the
    /// rest; the one changed last before others. The query is text, never syntax: quotes, stars and operators are searched
    /// for as they stand. A word is found inside other words too. Cancelling the task stops the search.
    ///
    /// - Parameter limit: Most chats.
    package func search(_ query: String, limit: Int = 50) async throws -> [SearchHit] {
        let search = SearchQuery(query)
        if search.words.isEmpty || limit <= 0 { return [] }
        return try await database.read { try ChatSearch(search, in: $0).hits(limit: limit) }
    }
}

/// One search under way.
///
/// Words are looked for rarest first, each only in the chats that hold the ones before it. A rare word costs a look into the
/// index. A common one, or one too short for the index, is looked for in the messages of each chat that is left, newest
/// first, up to the first find: that is quick just because it is common.
private struct ChatSearch {
    /// Up to so many finds the index is asked for all of them.
    private static let rare = 2_000
    private static let visible = "(role IS NULL OR role IN ('user', 'assistant'))"

    private struct Candidate {
        let number: Int64
        let id: String
        let title: String
        let updatedAt: Int64
        /// Which words the title holds.
        let inTitle: [Bool]
        /// A message that holds one of the words.
        var message: Int64?
        /// How many words the message that is shown holds.
        var found = 0

        var hasAllInTitle: Bool { inTitle.allSatisfy { $0 } }
    }

    private let search: SearchQuery
    private let transaction: Transaction

    init(_ search: SearchQuery, in transaction: Transaction) {
        self.search = search
        self.transaction = transaction
    }

    func hits(limit: Int) throws -> [SearchHit] {
        var candidates = try titles()
        for word in try rarestFirst() where !candidates.isEmpty { try keep(&candidates, holding: word) }
        // The newest first, those found by their titles before.
        var chosen = Array(
            candidates.sorted {
                ($0.hasAllInTitle ? 1 : 0, $0.updatedAt, $0.number) > (
                    $1.hasAllInTitle ? 1 : 0, $1.updatedAt, $1.number
                )
            }
            .prefix(limit))
        for index in chosen.indices { try chooseMessage(&chosen[index]) }
        let count = search.words.count
        func tier(_ candidate: Candidate) -> Int { candidate.hasAllInTitle ? 2 : candidate.found == count ? 1 : 0 }
        let order = chosen.indices.sorted { (tier(chosen[$0]), $1) > (tier(chosen[$1]), $0) }
        return try order.compactMap { try hit(chosen[$0]) }
    }

    /// Every chat that has messages, with the words of its title.
    private func titles() throws -> [Candidate] {
        let columns = search.words.map { _ in "shown LIKE ? ESCAPE '\\'" }.joined(separator: ", ")
        return try transaction.rows(
            """
            SELECT number, id, shown, updated_at, \(columns)
            FROM (SELECT number, id, coalesce(name, title) AS shown, updated_at FROM chats
                WHERE EXISTS (SELECT 1 FROM messages WHERE chat = chats.number))
            """, search.words.map(SearchQuery.pattern)
        ) { row in
            Candidate(
                number: row.integer(0), id: row.text(1), title: row.text(2), updatedAt: row.integer(3),
                inTitle: search.words.indices.map { row.bool(4 + $0) })
        }
    }

    /// Places of words, with how often the index has each; words it does not know come last.
    private func rarestFirst() throws -> [(place: Int, isRare: Bool)] {
        let counts = try search.words.map { word -> Int in
            guard SearchQuery.isIndexed(word) else { return .max }
            return try transaction.first(
                """
                SELECT count(*) FROM (SELECT rowid FROM message_index WHERE message_index MATCH ?
                    LIMIT \(ChatSearch.rare))
                """, SearchQuery.quoted(word)
            ) { $0.int(0) } ?? 0
        }
        let order = counts.indices.sorted { (counts[$0], $0) < (counts[$1], $1) }
        return order.map { ($0, counts[$0] < ChatSearch.rare) }
    }

    private func keep(_ candidates: inout [Candidate], holding word: (place: Int, isRare: Bool)) throws {
        let text = search.words[word.place]
        // LIKE folds the case of ASCII letters only; the index folds every script's.
        let usesIndex = SearchQuery.isIndexed(text) && (word.isRare || !text.utf8.allSatisfy { $0 < 0x80 })
        var holders: [Int64: Int64] = [:]
        if usesIndex {
            let rows = try transaction.rows(
                """
                SELECT messages.chat, max(messages.number) FROM message_index
                    CROSS JOIN messages ON messages.number = message_index.rowid
                WHERE message_index MATCH ? AND \(ChatSearch.visible) GROUP BY messages.chat
                """, SearchQuery.quoted(text)
            ) { ($0.integer(0), $0.integer(1)) }
            holders = Dictionary(uniqueKeysWithValues: rows)
        }
        candidates = try candidates.compactMap { candidate in
            var candidate = candidate
            if candidate.inTitle[word.place] { return candidate }
            let message = usesIndex ? holders[candidate.number] : try newest(in: candidate.number, holding: [text])
            guard let message else { return nil }
            if candidate.message == nil { candidate.message = message }
            return candidate
        }
    }

    /// The newest message of a chat that holds all of the words.
    private func newest(in chat: Int64, holding words: [String]) throws -> Int64? {
        let condition = words.map { _ in "AND content LIKE ? ESCAPE '\\'" }.joined(separator: " ")
        return try transaction.first(
            """
            SELECT number FROM messages WHERE chat = ? AND \(ChatSearch.visible) \(condition)
            ORDER BY position DESC LIMIT 1
            """, [chat] + words.map(SearchQuery.pattern)
        ) { $0.integer(0) }
    }

    /// The newest message with all words, else the newest one with the most of them.
    private func chooseMessage(_ candidate: inout Candidate) throws {
        if candidate.hasAllInTitle { return }
        if let whole = try newest(in: candidate.number, holding: search.words) {
            candidate.message = whole
            candidate.found = search.words.count
            return
        }
        guard search.words.count > 1 else {
            candidate.found = 1
            return
        }
        let sum = search.words.map { _ in "(content LIKE ? ESCAPE '\\')" }.joined(separator: " + ")
        let best = try transaction.first(
            """
            SELECT number, \(sum) AS found FROM messages
            WHERE chat = ? AND content IS NOT NULL AND \(ChatSearch.visible)
            ORDER BY found DESC, position DESC LIMIT 1
            """, search.words.map(SearchQuery.pattern) + [candidate.number]
        ) { ($0.integer(0), $0.int(1)) }
        if let best, best.1 > 0 { (candidate.message, candidate.found) = best }
    }

    private func hit(_ candidate: Candidate) throws -> SearchHit? {
        guard !candidate.hasAllInTitle, let message = candidate.message else {
            return SearchHit(
                chat: ChatID(unchecked: candidate.id), title: candidate.title, message: nil, role: nil,
                date: Timestamp(milliseconds: candidate.updatedAt), snippet: search.mark(candidate.title))
        }
        return try transaction.first("SELECT id, role, created_at, content FROM messages WHERE number = ?", message) {
            SearchHit(
                chat: ChatID(unchecked: candidate.id), title: candidate.title,
                message: MessageID(unchecked: $0.text(0)), role: $0.optionalText(1),
                date: Timestamp(milliseconds: $0.integer(2)), snippet: search.mark(search.excerpt(of: $0.text(3))))
        }
    }
}
