internal import AlcoveCore
package import AlcoveStorage

/// A digest of what was captured: made after every fifth piece of knowledge, of its words alone.
package enum Digest {
    /// Pieces of knowledge from one digest to the next.
    package static let every = 5
    /// Where a digest names its items among its members.
    package static let itemsKey = "items"
    private static let wordLimit = 8

    static func make(of items: [KeptItem], provenance: Provenance, now: Timestamp) -> KeptItem {
        let oldestFirst = Array(items.reversed())
        let types = KnowledgeType.allCases.compactMap { type -> String? in
            let count = items.count { $0.type == type.rawValue }
            return count == 0 ? nil : "\(count) \(type.rawValue)\(count == 1 ? "" : "s")"
        }
        var lines = oldestFirst.map { "- [\($0.type ?? "note")] \($0.title) (\($0.id.text.prefix(8)))" }
        let shared = sharedWords(oldestFirst)
        if !shared.isEmpty { lines.append("In several of them: \(shared.joined(separator: ", ")).") }
        return KeptItem(
            kind: .knowledge, type: KnowledgeType.digest.rawValue,
            title: "Digest: \(types.joined(separator: ", "))", text: lines.joined(separator: "\n"),
            provenance: provenance, createdAt: now,
            extras: [itemsKey: .array(oldestFirst.map { .string($0.id.text) })])
    }

    /// Words that more than one item has, the most common first, then as the alphabet has them.
    private static func sharedWords(_ items: [KeptItem]) -> [String] {
        var counts: [String: Int] = [:]
        for item in items { for word in KeptTerms(item).words { counts[word, default: 0] += 1 } }
        let shared = counts.filter { $0.value > 1 && $0.key.count > 1 }
        return shared.sorted { (-$0.value, $0.key) < (-$1.value, $1.key) }.prefix(wordLimit).map(\.key)
    }
}

extension Transaction {
    /// Keeps a piece of knowledge; after every fifth one, a digest of the five too.
    ///
    /// - Throws: as `add`. A digest there is no room for is left out.
    package func capture(_ item: KeptItem) throws {
        try add(item)
        let newest = try keptItems(
            "kind = 'knowledge' ORDER BY number DESC LIMIT ?", [Digest.every])
        let isDigest = { (item: KeptItem) in item.type == KnowledgeType.digest.rawValue }
        guard newest.count == Digest.every, !newest.contains(where: isDigest) else { return }
        do {
            try add(Digest.make(of: newest, provenance: item.provenance, now: item.createdAt))
        } catch KeptError.full {}
    }
}
