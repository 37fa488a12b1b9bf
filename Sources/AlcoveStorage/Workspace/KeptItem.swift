package import AlcoveCore

/// Names something that is kept.
package struct KeptID: RandomIdentifier {
    package let text: String
    package init(unchecked text: String) { self.text = text }
}

/// What sort of thing is kept.
package enum KeptKind: String, Sendable, Hashable, CaseIterable {
    case knowledge
    /// A short sentence to remember; also kept as a fact.
    case memory
    case task
    /// What one session leaves for the next.
    case handoff

    /// Stands among the words of an item in the index, so that a search of one kind costs no more than one of all. No
    /// text has it: the dot in it parts words.
    package var mark: String { "kind\u{B7}\(rawValue)" }
}

/// What a piece of knowledge is.
package enum KnowledgeType: String, Sendable, Hashable, CaseIterable {
    case note, decision, requirement, risk, question, fact, reference, idea, insight, digest
}

/// Where something that is kept comes from, as exactly as it is known.
package struct Provenance: Sendable, Hashable {
    package var chat: String?
    package var message: String?
    package var run: String?
    package var receipt: String?
    package var file: String?
    /// Bytes from the file's beginning.
    package var offset: Int?
    /// Members a later Alcove wrote.
    package var extras = JSONObject()

    package init(
        chat: String? = nil, message: String? = nil, run: String? = nil, receipt: String? = nil, file: String? = nil,
        offset: Int? = nil
    ) {
        self.chat = chat
        self.message = message
        self.run = run
        self.receipt = receipt
        self.file = file
        self.offset = offset
    }

    package init(json: JSONObject) {
        chat = json["chat"]?.string
        message = json["message"]?.string
        run = json["run"]?.string
        receipt = json["receipt"]?.string
        file = json["file"]?.string
        offset = json["offset"]?.int
        for (key, value) in json.members
        where !["chat", "message", "run", "receipt", "file", "offset"].contains(key) {
            extras[key] = value
        }
    }

    package var json: JSONObject {
        var json = JSONObject()
        let texts = [
            ("chat", chat), ("message", message), ("run", run), ("receipt", receipt), ("file", file),
        ]
        for (key, text) in texts { if let text { json[key] = .string(text) } }
        if let offset { json["offset"] = JSONValue(offset) }
        for (key, value) in extras.members { json[key] = value }
        return json
    }
}

/// Something Alcove keeps for the person: a piece of knowledge, a memory, a task or a handoff.
package struct KeptItem: Sendable, Hashable {
    package var id: KeptID
    package var kind: KeptKind
    /// Of knowledge; text, because a later Alcove may know more types.
    package var type: String?
    package var title: String
    package var text: String
    /// A task is `open` or `done`, a handoff `active` or `inactive`.
    package var state: String?
    package var provenance: Provenance
    package var createdAt: Timestamp
    package var updatedAt: Timestamp
    /// When a task was done.
    package var finishedAt: Timestamp?
    package var extras: JSONObject

    package init(
        id: KeptID = KeptID(), kind: KeptKind, type: String? = nil, title: String, text: String = "",
        state: String? = nil, provenance: Provenance = Provenance(), createdAt: Timestamp = .now,
        updatedAt: Timestamp? = nil, finishedAt: Timestamp? = nil, extras: JSONObject = JSONObject()
    ) {
        self.id = id
        self.kind = kind
        self.type = type
        self.title = title
        self.text = text
        self.state = state
        self.provenance = provenance
        self.createdAt = createdAt
        self.updatedAt = updatedAt ?? createdAt
        self.finishedAt = finishedAt
        self.extras = extras
    }

    /// A task that is to be done.
    package static func task(_ title: String, provenance: Provenance = Provenance(), now: Timestamp = .now) -> KeptItem
    {
        KeptItem(kind: .task, title: title, state: TaskState.open.rawValue, provenance: provenance, createdAt: now)
    }

    /// The first line of a text, cut to what a list shows.
    package static func title(of text: String) -> String {
        let line = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? text
        return line.count <= 80 ? line : String(line.prefix(79)) + "…"
    }

    /// For programs.
    package var object: JSONObject {
        var json: JSONObject = ["id": .string(id.text), "kind": .string(kind.rawValue)]
        if let type { json["type"] = .string(type) }
        json["title"] = .string(title)
        if !text.isEmpty { json["text"] = .string(text) }
        if let state { json["state"] = .string(state) }
        json["createdAt"] = .string(createdAt.iso8601)
        json["updatedAt"] = .string(updatedAt.iso8601)
        if let finishedAt { json["finishedAt"] = .string(finishedAt.iso8601) }
        if !provenance.json.isEmpty { json["provenance"] = .object(provenance.json) }
        return json
    }
}

/// Whether a task is to be done.
package enum TaskState: String, Sendable, Hashable, CaseIterable {
    case open, done
}
