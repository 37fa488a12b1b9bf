internal import AlcoveCore
package import AlcoveStorage

/// What is kept about a project, put together in a bounded text: by rules alone, each sentence with the item it rests on.
package enum ProjectReport {
    /// Most items of a section.
    private static let sectionLimit = 6
    private static let reach = 200

    /// What one would tell somebody who comes new to it: by type, the newest first; or what fits a topic best.
    package static func context(topic: String, in database: Database) async throws -> String {
        let items: [KeptItem]
        if topic.isEmpty {
            items = try await database.read { transaction in
                try sections.flatMap { section in
                    try transaction.keptItems(
                        "kind = ? AND (?2 IS NULL OR type = ?2) AND (?1 <> 'task' OR state = 'open') "
                            + "ORDER BY number DESC LIMIT ?3",
                        [section.kind.rawValue, section.type?.rawValue, sectionLimit])
                }
            }
        } else {
            let kinds: Set<KeptKind> = [.knowledge, .memory, .task]
            let hits = try await WorkspaceSearch(database).search(topic, kinds: kinds, limit: 24)
            items = hits.compactMap { hit in if case .item(let item) = hit.found { item } else { nil } }
        }
        let parts = sections.compactMap { section -> String? in
            let mine = items.filter {
                $0.kind == section.kind && (section.type == nil || $0.type == section.type?.rawValue)
            }
            if mine.isEmpty { return nil }
            return "\(section.title):\n" + mine.prefix(sectionLimit).map(line).joined(separator: "\n")
        }
        if parts.isEmpty { return topic.isEmpty ? "Nothing is kept yet." : "Nothing is kept about \"\(topic)\"." }
        return parts.joined(separator: "\n\n")
    }

    private static let sections: [(title: String, kind: KeptKind, type: KnowledgeType?)] = [
        ("Decisions", .knowledge, .decision), ("Requirements", .knowledge, .requirement), ("Risks", .knowledge, .risk),
        ("Questions", .knowledge, .question), ("Facts", .knowledge, .fact), ("References", .knowledge, .reference),
        ("Notes", .knowledge, .note), ("Ideas", .knowledge, .idea), ("Tasks", .task, nil), ("Memories", .memory, nil),
    ]

    private static func line(_ item: KeptItem) -> String {
        let mark = item.kind == .task ? item.state == TaskState.done.rawValue ? "[x] " : "[ ] " : ""
        return "- \(mark)\(item.title) (\(item.id.text.prefix(8)))"
    }

    /// What stands on what: each decision with its evidence, each risk and requirement with what is done about it, and what
    /// stands on nothing.
    package static func review(now: Timestamp, in transaction: Transaction) throws -> String {
        let decisions = try transaction.terms(of: .decision, limit: sectionLimit)
        let evidence = TermIndex(
            try [.fact, .reference, .requirement].flatMap { try transaction.terms(of: $0, limit: reach) })
        let risks = try transaction.terms(of: .risk, limit: sectionLimit)
        let requirements = try transaction.terms(of: .requirement, limit: sectionLimit)
        let tasks = try transaction.keptItems("kind = 'task' ORDER BY number DESC LIMIT ?", [reach])
        let acts = TermIndex(tasks.map(KeptTerms.init) + (try transaction.terms(of: .decision, limit: reach)))
        var parts: [String] = []
        func add(_ title: String, _ subjects: [KeptTerms], _ support: (KeptTerms) -> String) {
            if subjects.isEmpty { return }
            parts.append("\(title):\n" + subjects.map { "\(line($0.item)): \(support($0))" }.joined(separator: "\n"))
        }
        add("Decisions", decisions) { decision in
            var support = Insights.support(for: decision, in: evidence).prefix(3).map(Cited.one)
            if let file = decision.item.provenance.file {
                support.append(decision.item.provenance.offset.map { "\(file) at byte \($0)" } ?? file)
            }
            return support.isEmpty ? "no evidence is kept" : "rests on \(support.joined(separator: ", "))"
        }
        add("Risks", risks) { answered($0, by: acts) ?? "nothing is kept against it" }
        add("Requirements", requirements) { answered($0, by: acts) ?? "nothing is kept that meets it" }
        let insights = try Insights(transaction, now: now).all()
        if !insights.isEmpty { parts.append("What stands out:\n" + insights.text) }
        if parts.isEmpty { return "There is nothing to review: no decisions, risks or requirements are kept." }
        return parts.joined(separator: "\n\n")
    }

    private static func answered(_ subject: KeptTerms, by acts: TermIndex) -> String? {
        let found = Insights.support(for: subject, in: acts).prefix(3)
        if found.isEmpty { return nil }
        return found.map { act in
            act.kind == .task ? "task \(Cited.one(act)), \(act.state ?? "open")" : "decision \(Cited.one(act))"
        }.joined(separator: "; ")
    }
}
