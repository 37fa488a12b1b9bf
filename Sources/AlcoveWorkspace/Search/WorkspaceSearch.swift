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

    /// Most chats that are ranked.
    static let chatLimit = 40

    private let database: Database

    package init(_ database: Database) { self.database = database }

    /// - Parameters:
    ///   - kinds: What is searched; all kinds when it is empty.
    ///   - chats: Whether chats are searched too, for those that hold every word.
    package func search(_ query: String, kinds: Set<KeptKind> = [], chats: Bool = false, limit: Int = 10) async throws
        -> [Hit]
    {
        let ranking = Ranking(query)
        if ranking.isEmpty || limit <= 0 { return [] }
        let wanted = kinds.isEmpty ? Set(KeptKind.allCases) : kinds
        let messages = chats ? try await ChatStore(database).search(query, limit: WorkspaceSearch.chatLimit) : []
        return try await database.read { transaction in
            var finder = KeptCandidates(ranking.words, kinds: wanted, in: transaction)
            let candidates = try finder.find()
            let documents = candidates.map(\.document) + messages.map(WorkspaceSearch.document)
            return try ranking.hits(in: documents, corpus: try finder.corpus(), limit: limit).compactMap { hit in
                guard hit.index < candidates.count else {
                    return Hit(found: .message(messages[hit.index - candidates.count]), signals: hit.signals)
                }
                let number = candidates[hit.index].number
                return try transaction.keptItems("number = ?", [number]).first.map {
                    Hit(found: .item($0), signals: hit.signals)
                }
            }
        }
    }

    private static func document(_ hit: SearchHit) -> Ranking.Document {
        Ranking.Document(
            id: hit.message?.text ?? hit.chat.text, title: hit.title,
            text: hit.message == nil ? "" : hit.snippet.map(\.text).joined())
    }
}
