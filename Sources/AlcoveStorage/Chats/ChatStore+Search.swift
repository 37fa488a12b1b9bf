package import AlcoveCore

/// A message, or the title of a chat, in which all words of a query were found.
package struct SearchHit: Sendable, Hashable {
    package struct Piece: Sendable, Hashable {
        package let text: String
        package let isMatch: Bool
    }

    package let chat: ChatID
    package let title: String
    /// The message; nil when the title itself was found.
    package let message: MessageID?
    package let role: String?
    /// When the message was written, or the chat last changed.
    package let date: Timestamp
    /// The place where it was found, with the words marked.
    package let snippet: [Piece]
}

extension ChatStore {
    /// Finds the messages and titles that hold every word of the query, newest first, titles before messages.
    ///
    /// The query is text, never syntax: quotes, stars and operators are searched for as they stand. A word is found inside
    /// other words too. Cancelling the task stops the search.
    package func search(_ query: String, limit: Int = 50) async throws -> [SearchHit] {
        let search = SearchQuery(query)
        if search.words.isEmpty || limit <= 0 { return [] }
        return try await database.read { transaction in
            let titles = try transaction.titles(matching: search, limit: limit)
            let messages = try transaction.messages(matching: search, limit: limit - titles.count)
            return titles + messages
        }
    }
}

/// The words of a query, and how each is looked for.
struct SearchQuery {
    let words: [String]

    /// At most 8 words and 256 characters: more finds nothing that fewer would not, and costs.
    init(_ text: String) {
        let spaced = text.prefix(256).split { $0.isWhitespace || $0.unicodeScalars.contains { $0.value < 0x20 } }
        words = spaced.prefix(8).map { String($0) }
    }

    /// Words the index knows: "Substrings consisting of fewer than 3 unicode characters do not match any rows when used
    /// with a full-text query" (https://www.sqlite.org/fts5.html#the_trigram_tokenizer). Two letters are a word in Chinese.
    private var long: [String] { words.filter { $0.unicodeScalars.count >= 3 } }
    private var short: [String] { words.filter { $0.unicodeScalars.count < 3 } }

    /// The FTS5 expression for the long words; nil when there are none. In double quotes everything is text.
    var expression: String? {
        long.isEmpty ? nil : long.map { "\"" + $0.replacing("\"", with: "\"\"") + "\"" }.joined(separator: " AND ")
    }

    /// LIKE patterns for words the index cannot find.
    var shortPatterns: [String] { short.map(SearchQuery.pattern) }
    var allPatterns: [String] { words.map(SearchQuery.pattern) }

    private static func pattern(_ word: String) -> String {
        "%" + word.replacing("\\", with: "\\\\").replacing("%", with: "\\%").replacing("_", with: "\\_") + "%"
    }

    /// Cuts a text at the words of the query, whatever their case.
    func mark(_ text: String) -> [SearchHit.Piece] {
        let letters = Array(text)
        let folded = letters.map { $0.lowercased() }
        let wanted = words.map { word in word.map { $0.lowercased() } }
        var marked = [Bool](repeating: false, count: letters.count)
        for word in wanted where !word.isEmpty && word.count <= letters.count {
            for start in 0...(letters.count - word.count)
            where folded[start] == word[0] && folded[start..<start + word.count].elementsEqual(word) {
                for index in start..<start + word.count { marked[index] = true }
            }
        }
        var pieces: [SearchHit.Piece] = []
        var start = 0
        while start < letters.count {
            let end = marked[start...].firstIndex { $0 != marked[start] } ?? letters.count
            pieces.append(SearchHit.Piece(text: String(letters[start..<end]), isMatch: marked[start]))
            start = end
        }
        return pieces
    }
}

extension Transaction {
    fileprivate func titles(matching search: SearchQuery, limit: Int) throws -> [SearchHit] {
        let patterns = search.allPatterns
        let condition = patterns.map { _ in "shown LIKE ? ESCAPE '\\'" }.joined(separator: " AND ")
        return try rows(
            """
            SELECT id, shown, updated_at FROM (SELECT id, coalesce(name, title) AS shown, updated_at, number FROM chats
                WHERE EXISTS (SELECT 1 FROM messages WHERE chat = chats.number))
            WHERE \(condition) ORDER BY updated_at DESC, number DESC LIMIT ?
            """, patterns + [limit]
        ) { row in
            SearchHit(
                chat: ChatID(unchecked: row.text(0)), title: row.text(1), message: nil, role: nil,
                date: Timestamp(milliseconds: row.integer(2)), snippet: search.mark(row.text(1)))
        }
    }

    /// Newest first is by row number, which the index gives without sorting what it finds.
    fileprivate func messages(matching search: SearchQuery, limit: Int) throws -> [SearchHit] {
        let patterns = search.shortPatterns
        let condition = patterns.map { _ in "AND messages.content LIKE ? ESCAPE '\\'" }.joined(separator: " ")
        let columns = "chats.id, coalesce(chats.name, chats.title), messages.id, messages.role, messages.created_at"
        let visible = "(messages.role IS NULL OR messages.role IN ('user', 'assistant'))"
        let hit = { (row: Row) in
            SearchHit(
                chat: ChatID(unchecked: row.text(0)), title: row.text(1), message: MessageID(unchecked: row.text(2)),
                role: row.optionalText(3), date: Timestamp(milliseconds: row.integer(4)),
                snippet: search.mark(row.text(5)))
        }
        if let expression = search.expression {
            return try rows(
                """
                SELECT \(columns), snippet(message_index, 0, '', '', '…', 64)
                FROM message_index JOIN messages ON messages.number = message_index.rowid
                    JOIN chats ON chats.number = messages.chat
                WHERE message_index MATCH ? AND \(visible) \(condition)
                ORDER BY message_index.rowid DESC LIMIT ?
                """, [expression] + patterns + [limit], as: hit)
        }
        return try rows(
            """
            SELECT \(columns),
                substr(messages.content, max(1, instr(lower(messages.content), lower(?)) - 30), 120)
            FROM messages JOIN chats ON chats.number = messages.chat
            WHERE messages.content IS NOT NULL AND \(visible) \(condition)
            ORDER BY messages.number DESC LIMIT ?
            """, [search.words[0]] + patterns + [limit], as: hit)
    }
}
