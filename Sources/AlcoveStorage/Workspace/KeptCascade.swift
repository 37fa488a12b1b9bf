internal import AlcoveCore

/// What goes when an item is deleted: the item, and what was made of it.
package struct KeptCascade: Sendable, Hashable {
    package let item: KeptItem
    /// Digests and handoffs that name it, and the other half of a memory; in the order they were kept.
    package let linked: [KeptItem]

    /// What a person is shown before deciding.
    package var text: String {
        let head = "Deletes \(KeptCascade.line(item))."
        if linked.isEmpty { return head + " Nothing else goes with it." }
        return head + " With it go:\n" + linked.map { "- " + KeptCascade.line($0) }.joined(separator: "\n")
    }

    private static func line(_ item: KeptItem) -> String {
        let kind = item.kind == .knowledge ? item.type ?? "note" : item.kind.rawValue
        return "the \(kind) \"\(item.title)\" (\(item.id.text.prefix(8)))"
    }
}

extension KeptStore {
    /// - Throws: `KeptError.missing`.
    package func cascade(of id: KeptID) async throws -> KeptCascade {
        try await database.read { try $0.cascade(of: id) }
    }
}

extension Transaction {
    /// - Throws: `KeptError.missing`.
    package func cascade(of id: KeptID) throws -> KeptCascade {
        guard let item = try keptItem(id) else { throw KeptError.missing(kind: nil, name: id.text) }
        let twin = item.kind == .knowledge ? item.extras["memory"]?.string : nil
        // What names it names it by its whole id among its members; a memory and its fact go together.
        let linked = try keptItems(
            """
            id <> ?1 AND (id = ?2 OR extras LIKE '%"' || ?1 || '"%') AND (kind = 'handoff' OR kind = 'memory'
                OR type = 'digest' OR type = 'fact') ORDER BY number
            """, [id.text, twin])
        return KeptCascade(item: item, linked: linked)
    }

    /// Deletes an item with all that was shown, and nothing else.
    ///
    /// - Throws: `KeptError.cascadeChanged` when it would be more or less than that by now.
    package func delete(_ shown: KeptCascade) throws {
        guard try cascade(of: shown.item.id) == shown else { throw KeptError.cascadeChanged(title: shown.item.title) }
        for item in shown.linked + [shown.item] { try deleteKept(item.id) }
    }
}
