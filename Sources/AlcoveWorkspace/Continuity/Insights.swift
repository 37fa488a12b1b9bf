package import AlcoveCore
package import AlcoveStorage

/// Something that what is kept gives away by itself; every one names the items it rests on.
package struct Insight: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case openQuestion = "open_question"
        case staleTask = "stale_task"
        case contradiction
        case decisionWithoutEvidence = "decision_without_evidence"
    }

    package var kind: Kind
    package var text: String
    package var items: [KeptItem]

    package var object: JSONObject {
        [
            "kind": .string(kind.rawValue), "text": .string(text),
            "items": .array(items.map { ["id": .string($0.id.text), "title": .string($0.title)] }),
        ]
    }
}

/// Derives insights from words and dates alone: the same store gives the same ones in the same order.
package struct Insights {
    /// Days without a change after which an open task is stale.
    package static let staleDays = 14
    /// Most of each kind that are told.
    package static let limit = 10
    /// The newest items of each type that are compared.
    private static let reach = 200
    /// From which share of a question's words on something is an answer to it.
    private static let answers = 0.6
    /// From which likeness on two sentences speak of the same thing.
    private static let sameThing = 0.6
    /// From which share of a decision's words on something is evidence for it.
    static let evidence = 0.4

    private let transaction: Transaction
    private let now: Timestamp

    package init(_ transaction: Transaction, now: Timestamp) {
        self.transaction = transaction
        self.now = now
    }

    package func all() throws -> [Insight] {
        let facts = try transaction.terms(of: .fact, limit: Insights.reach)
        let references = try transaction.terms(of: .reference, limit: Insights.reach)
        let decisions = try transaction.terms(of: .decision, limit: Insights.reach)
        let requirements = try transaction.terms(of: .requirement, limit: Insights.reach)
        return try openQuestions(answeredBy: decisions + facts + references + requirements) + staleTasks()
            + contradictions(decisions + facts + requirements)
            + withoutEvidence(decisions, evidence: facts + references + requirements)
    }

    private func openQuestions(answeredBy answers: [KeptTerms]) throws -> [Insight] {
        let questions = try transaction.terms(of: .question, limit: Insights.reach)
        let index = TermIndex(answers)
        let open = questions.filter { question in
            !index.overlaps(of: question).contains {
                $0.terms.item.createdAt >= question.item.createdAt && $0.coverage >= Insights.answers
            }
        }
        return open.prefix(Insights.limit).map {
            Insight(kind: .openQuestion, text: "Nothing kept answers \(Cited.one($0.item)).", items: [$0.item])
        }
    }

    private func staleTasks() throws -> [Insight] {
        let before = now.milliseconds - Int64(Insights.staleDays) * 86_400_000
        let stale = try transaction.keptItems(
            "kind = 'task' AND state = 'open' AND updated_at < ? ORDER BY updated_at, number LIMIT ?",
            [before, Insights.limit])
        return stale.map { task in
            let days = (now.milliseconds - task.updatedAt.milliseconds) / 86_400_000
            return Insight(
                kind: .staleTask, text: "Nothing happened to the task \(Cited.one(task)) for \(days) days.",
                items: [task])
        }
    }

    /// Two sentences about the same thing of which one says not, or that name different numbers.
    private func contradictions(_ said: [KeptTerms]) -> [Insight] {
        let index = TermIndex(said)
        var found: [Insight] = []
        for first in said where first.words.count > 1 {
            for overlap in index.overlaps(of: first) where overlap.likeness >= Insights.sameThing {
                let second = overlap.terms
                // Each pair is met twice.
                let isLater = (first.item.createdAt, first.item.id.text) < (second.item.createdAt, second.item.id.text)
                let differs =
                    first.isNegated != second.isNegated
                    || !first.numbers.isEmpty && !second.numbers.isEmpty && first.numbers != second.numbers
                guard isLater, differs, found.count < Insights.limit else { continue }
                let pair = [first.item, second.item]
                found.append(
                    Insight(kind: .contradiction, text: "These do not go together: \(Cited.list(pair)).", items: pair))
            }
        }
        return found
    }

    private func withoutEvidence(_ decisions: [KeptTerms], evidence: [KeptTerms]) -> [Insight] {
        let index = TermIndex(evidence)
        let bare = decisions.filter { $0.item.provenance.file == nil && Insights.support(for: $0, in: index).isEmpty }
        return bare.prefix(Insights.limit).map {
            Insight(
                kind: .decisionWithoutEvidence, text: "Nothing kept supports the decision \(Cited.one($0.item)).",
                items: [$0.item])
        }
    }

    /// Items that speak for another: those it names by their ids, and those that share enough of its words.
    static func support(for terms: KeptTerms, in index: TermIndex) -> [KeptItem] {
        let named = index.all.filter { terms.item.text.contains($0.item.id.text.prefix(8)) }.map(\.item)
        let alike = index.overlaps(of: terms).filter { $0.shared > 1 && $0.coverage >= evidence }.map(\.terms.item)
        return named + alike.filter { item in !named.contains { $0.id == item.id } }
    }
}

extension [Insight] {
    /// For people, a line each.
    package var text: String {
        isEmpty ? "Nothing stands out." : map { "- \($0.text)" }.joined(separator: "\n")
    }
}
