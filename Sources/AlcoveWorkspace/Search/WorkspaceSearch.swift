internal import AlcoveCore
package import AlcoveStorage

/// Searches what is kept: knowledge, memories, tasks, handoffs, and the chats.
///
/// The index gives candidates, never more than a bound, rarest words first; `Ranking` orders them.
package struct WorkspaceSearch: Sendable {
    /// What was found.
    package struct Hit: Sendable {
        package enum Found: Sendable, Hashable {
            case item(KeptItem)
            case message(SearchHit)
        }

        package var found: Found
        package var signals: Ranking.Signals
    }

    /// Most candidates of what is kept that are ranked.
    package static let candidateLimit = 160
    /// Most messages of chats that are ranked.
    static let messageLimit = 40
    /// How far a word's frequency is counted.
    static let frequencyLimit = 4_000
    /// Most characters of a text that ranking reads.
    static let readLength = 1_200

    private let database: Database

    package init(_ database: Database) { self.database = database }

    /// - Parameters:
    ///   - kinds: What is searched; all kinds when it is empty.
    ///   - chats: Whether messages are searched too.
    package func search(_ query: String, kinds: Set<KeptKind> = [], chats: Bool = false, limit: Int = 10) async throws
        -> [Hit]
    {
        let ranking = Ranking(query)
        if ranking.isEmpty || limit <= 0 { return [] }
        let wanted = kinds.isEmpty ? Set(KeptKind.allCases) : kinds
        let (items, corpus) = try await database.read { transaction in
            try transaction.keptCandidates(for: ranking.words, kinds: wanted)
        }
        let messages =
            chats ? try await ChatStore(database).search(query, limit: WorkspaceSearch.messageLimit) : []
        let documents =
            items.map {
                Ranking.Document(
                    id: $0.id.text, title: $0.title, text: String($0.text.prefix(WorkspaceSearch.readLength)))
            }
            + messages.map { hit in
                Ranking.Document(
                    id: hit.message?.text ?? hit.chat.text, title: hit.message == nil ? hit.title : "",
                    text: hit.message == nil ? "" : hit.snippet.map(\.text).joined())
            }
        return ranking.hits(in: documents, corpus: corpus, limit: limit).map { hit in
            let found =
                hit.index < items.count ? Hit.Found.item(items[hit.index]) : .message(messages[hit.index - items.count])
            return Hit(found: found, signals: hit.signals)
        }
    }
}

extension Transaction {
    /// Items that may answer a query, newest first among equals.
    fileprivate func keptCandidates(for words: [String], kinds: Set<KeptKind>) throws -> ([KeptItem], Ranking.Corpus) {
        let limit = WorkspaceSearch.candidateLimit
        var frequencies: [String: Int] = [:]
        for word in words {
            frequencies[word] =
                try first(
                    """
                    SELECT count(*) FROM (SELECT rowid FROM kept_words WHERE kept_words MATCH ?
                        LIMIT \(WorkspaceSearch.frequencyLimit))
                    """, quoted(word)
                ) { $0.int(0) } ?? 0
        }
        let count = try first("SELECT max(number) FROM kept") { $0.int(0) } ?? 0
        let corpus = Ranking.Corpus(count: count, frequencies: frequencies)
        let rarest = words.filter { (frequencies[$0] ?? 0) > 0 }.sorted {
            (frequencies[$0] ?? 0, $0) < (frequencies[$1] ?? 0, $1)
        }
        var rows: [Int64] = []
        var seen = Set<Int64>()
        let isAll = kinds.count == KeptKind.allCases.count
        let marks = "(" + kinds.map { quoted($0.mark) }.sorted().joined(separator: " OR ") + ")"
        let names = kinds.map(\.rawValue).sorted()
        func take(_ found: [Int64]) {
            for row in found where rows.count < limit && seen.insert(row).inserted { rows.append(row) }
        }
        func takeWords(_ words: some Sequence<String>) throws {
            guard rows.count < limit else { return }
            let all = words.map(quoted).joined(separator: " AND ")
            take(
                try self.rows(
                    "SELECT rowid FROM kept_words WHERE kept_words MATCH ? ORDER BY rowid DESC LIMIT ?",
                    isAll ? all : "\(all) AND \(marks)", limit / 2
                ) { $0.integer(0) })
        }
        func takeLetters(_ letters: String) throws {
            guard rows.count < limit else { return }
            let places = names.map { _ in "?" }.joined(separator: ", ")
            // CROSS JOIN keeps the order: the index first, then one look for each hit.
            let filter = "CROSS JOIN kept ON kept.number = kept_letters.rowid AND kept.kind IN (\(places))"
            take(
                try self.rows(
                    """
                    SELECT kept_letters.rowid FROM kept_letters \(isAll ? "" : filter) WHERE kept_letters MATCH ?
                    ORDER BY kept_letters.rowid DESC LIMIT ?
                    """, (isAll ? [] : names.map { $0 as (any SQLBindable)? }) + [quoted(letters), limit / 4]
                ) { $0.integer(0) })
        }

        // All words together first, then as many of the rarest as still leave nothing out.
        if rarest.count > 1 {
            for size in stride(from: rarest.count, through: 2, by: -1) {
                try takeWords(rarest.prefix(size))
            }
        }
        for word in rarest { try takeWords([word]) }
        // Inside other words; and where a word is nowhere, its beginning and its end, for what was mistyped.
        for word in words where word.unicodeScalars.count >= 3 {
            let isUnknown = frequencies[word] == 0
            if isUnknown || rows.count < limit / 2 { try takeLetters(word) }
            guard isUnknown, word.count >= 5 else { continue }
            let part = max(3, word.count / 2)
            try takeLetters(String(word.prefix(part)))
            try takeLetters(String(word.suffix(part)))
        }
        if rows.isEmpty { return ([], corpus) }
        let places = rows.map { _ in "?" }.joined(separator: ", ")
        return (
            try keptItems("number IN (\(places)) ORDER BY number DESC", rows.map { $0 as (any SQLBindable)? }), corpus
        )
    }

    /// In double quotes everything is text.
    private func quoted(_ word: String) -> String { "\"" + word.replacing("\"", with: "\"\"") + "\"" }
}
