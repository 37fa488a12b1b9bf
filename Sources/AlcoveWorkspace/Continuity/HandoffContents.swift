package import AlcoveCore
package import AlcoveStorage

/// What a handoff carries from one session to the next: what is open, what was settled, and the last words of the chat.
///
/// It is made from what is kept, the same each time, and only ever adds context: it holds no action, no approval, and
/// nothing that could be run again.
package struct HandoffContents: Sendable, Hashable {
    /// A kept item that is named in it.
    package struct Line: Sendable, Hashable {
        package var id: String
        package var title: String
    }

    /// Words copied from a chat.
    package struct Excerpt: Sendable, Hashable {
        package var chat: String
        package var message: String
        package var role: String
        package var text: String
    }

    /// Most items of each kind, most messages, most characters of a message.
    package static let lineLimit = 8, excerptLimit = 6, excerptLength = 240

    package var note = ""
    package var tasks: [Line] = []
    package var decisions: [Line] = []
    package var requirements: [Line] = []
    package var questions: [Line] = []
    package var risks: [Line] = []
    package var excerpts: [Excerpt] = []

    /// Gathers what is kept now.
    ///
    /// - Parameter chat: Whose last words are copied; nil for none.
    package init(note: String, chat: ChatID?, in transaction: Transaction) throws {
        self.note = note
        func newest(_ condition: String, _ value: String) throws -> [Line] {
            try transaction.keptItems("\(condition) ORDER BY number DESC LIMIT ?", [value, HandoffContents.lineLimit])
                .map { Line(id: $0.id.text, title: $0.title) }
        }
        tasks = try newest("kind = 'task' AND state = ?", TaskState.open.rawValue)
        decisions = try newest("kind = 'knowledge' AND type = ?", KnowledgeType.decision.rawValue)
        requirements = try newest("kind = 'knowledge' AND type = ?", KnowledgeType.requirement.rawValue)
        questions = try newest("kind = 'knowledge' AND type = ?", KnowledgeType.question.rawValue)
        risks = try newest("kind = 'knowledge' AND type = ?", KnowledgeType.risk.rawValue)
        guard let chat else { return }
        // Of a chat that asks for the handoff the request is the last message, and says nothing that is not said here.
        var last = try transaction.lastMessages(of: chat, limit: HandoffContents.excerptLimit + 1)
        if last.last?.role == "user" { last.removeLast() }
        excerpts = last.suffix(HandoffContents.excerptLimit).map {
            Excerpt(chat: chat.text, message: $0.id, role: $0.role, text: HandoffContents.excerpt($0.text))
        }
    }

    private static func excerpt(_ text: String) -> String {
        let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return line.count <= excerptLength ? line : String(line.prefix(excerptLength - 1)) + "…"
    }

    private var sections: [(key: String, title: String, lines: [Line])] {
        [
            ("tasks", "Open tasks", tasks), ("decisions", "Decisions", decisions),
            ("requirements", "Requirements", requirements), ("questions", "Questions", questions),
            ("risks", "Risks", risks),
        ]
    }

    /// What a person reads, and what a restore adds to a chat.
    package var text: String {
        var parts: [String] = note.isEmpty ? [] : [note]
        for section in sections where !section.lines.isEmpty {
            parts.append(
                section.title + ":\n"
                    + section.lines.map { "- \($0.title) (\($0.id.prefix(8)))" }.joined(separator: "\n")
            )
        }
        if !excerpts.isEmpty {
            parts.append("Last said:\n" + excerpts.map { "- \($0.role): \($0.text)" }.joined(separator: "\n"))
        }
        return parts.isEmpty ? "Nothing was open." : parts.joined(separator: "\n\n")
    }

    /// Items that are named in it.
    package var items: [String] { sections.flatMap { $0.lines.map(\.id) } }

    package init(json: JSONObject) {
        note = json["note"]?.string ?? ""
        func lines(_ key: String) -> [Line] {
            (json[key]?.array ?? []).compactMap { line in
                guard let id = line["id"]?.string, let title = line["title"]?.string else { return nil }
                return Line(id: id, title: title)
            }
        }
        tasks = lines("tasks")
        decisions = lines("decisions")
        requirements = lines("requirements")
        questions = lines("questions")
        risks = lines("risks")
        excerpts = (json["excerpts"]?.array ?? []).compactMap { excerpt in
            guard let text = excerpt["text"]?.string else { return nil }
            return Excerpt(
                chat: excerpt["chat"]?.string ?? "", message: excerpt["message"]?.string ?? "",
                role: excerpt["role"]?.string ?? "", text: text)
        }
    }

    package var json: JSONObject {
        var json: JSONObject = ["note": .string(note)]
        for section in sections {
            json[section.key] = .array(
                section.lines.map { ["id": .string($0.id), "title": .string($0.title)] })
        }
        json["excerpts"] = .array(
            excerpts.map {
                [
                    "chat": .string($0.chat), "message": .string($0.message), "role": .string($0.role),
                    "text": .string($0.text),
                ]
            })
        return json
    }
}

extension KeptItem {
    /// Where a handoff's contents are kept among its members.
    package static let handoffKey = "handoff"

    /// What a handoff carries; nil for other items, and for one that a later Alcove wrote in another way.
    package var handoff: HandoffContents? {
        guard kind == .handoff, let json = extras[KeptItem.handoffKey]?.object else { return nil }
        return HandoffContents(json: json)
    }

    /// A handoff that can be restored.
    package static func handoff(
        _ title: String, _ contents: HandoffContents, provenance: Provenance, now: Timestamp
    ) -> KeptItem {
        KeptItem(
            kind: .handoff, title: title, text: contents.text, state: HandoffState.active.rawValue,
            provenance: provenance, createdAt: now, extras: [KeptItem.handoffKey: .object(contents.json)])
    }
}
