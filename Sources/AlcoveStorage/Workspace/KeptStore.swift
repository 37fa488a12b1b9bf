package import AlcoveCore

/// What Alcove keeps beside the chats, for reading; it is changed only through `Transaction`, with its receipt.
package struct KeptStore: Sendable {
    package let database: Database

    package init(_ database: Database) { self.database = database }

    package func item(_ id: KeptID) async throws -> KeptItem? {
        try await database.read { try $0.keptItem(id) }
    }

    /// The newest of a kind.
    package func list(_ kind: KeptKind, state: String? = nil, type: String? = nil, limit: Int = 200) async throws
        -> [KeptItem]
    {
        try await database.read { transaction in
            try transaction.keptItems(
                "kind = ? AND (?2 IS NULL OR state = ?2) AND (?3 IS NULL OR type = ?3) ORDER BY number DESC LIMIT ?4",
                [kind.rawValue, state, type, limit])
        }
    }

    package func count(_ kind: KeptKind? = nil) async throws -> Int {
        try await database.read { try $0.keptCount(kind) }
    }

    /// Finds the one item that a person means: by its id, the beginning of its id (six digits or more), its whole title,
    /// or words that stand in one title only.
    ///
    /// - Throws: `KeptError` that names what it could have been.
    package func find(_ name: String, kind: KeptKind?, state: String? = nil) async throws -> KeptItem {
        try await database.read { try $0.findKept(name, kind: kind, state: state) }
    }
}

/// Why nothing was changed or found.
package enum KeptError: UserFacingError, Equatable {
    case missing(kind: KeptKind?, name: String)
    /// - Parameter titles: Some of them, quoted, with their ids.
    case ambiguous(name: String, count: Int, titles: [String])
    case stateUnchanged(title: String, state: String)
    case full(limit: Int)
    case tooLong(field: String, limit: Int)
    case empty(field: String)
    case cascadeChanged(title: String)

    package var code: String {
        switch self {
        case .missing: "kept_missing"
        case .ambiguous: "kept_ambiguous"
        case .stateUnchanged: "kept_unchanged"
        case .full: "kept_full"
        case .tooLong: "kept_too_long"
        case .empty: "kept_empty"
        case .cascadeChanged: "kept_cascade_changed"
        }
    }

    package var message: String {
        switch self {
        case .missing(let kind, let name): "There is no \(kind?.rawValue ?? "item") \"\(name)\"."
        case .ambiguous(let name, let count, let titles):
            "\"\(name)\" fits \(count) items: \(titles.joined(separator: ", "))"
                + (count > titles.count ? ", ..." : "") + "."
        case .stateUnchanged(let title, let state): "\"\(title)\" is \(state) already."
        case .full(let limit): "\(limit) items are kept, which is the most."
        case .tooLong(let field, let limit): "The \(field) is longer than \(limit) characters."
        case .empty(let field): "The \(field) is empty."
        case .cascadeChanged(let title): "What goes with \"\(title)\" is not what was shown, so nothing was deleted."
        }
    }

    package var hint: String? {
        switch self {
        case .missing: "Name it by its title or its id; a list shows both."
        case .ambiguous: "Name it by its whole title or its id."
        case .full: "Delete some first."
        case .tooLong: "Say it shorter, or keep it as a file."
        case .cascadeChanged: "Look at it once more, and decide again."
        case .stateUnchanged, .empty: nil
        }
    }

    package var place: ErrorPlace {
        switch self {
        case .missing: .missing
        case .full: .space
        default: .request
        }
    }
}

extension Transaction {
    /// Most items that are kept.
    package static var keptLimit: Int { 200_000 }
    package static var keptTitleLimit: Int { 300 }
    package static var keptTextLimit: Int { 20_000 }

    /// Keeps something new.
    ///
    /// - Throws: `KeptError` when it is empty, too long, or one too many.
    package func add(_ item: KeptItem) throws {
        if item.title.allSatisfy(\.isWhitespace) { throw KeptError.empty(field: "title") }
        if item.title.count > Transaction.keptTitleLimit {
            throw KeptError.tooLong(field: "title", limit: Transaction.keptTitleLimit)
        }
        if item.text.count > Transaction.keptTextLimit {
            throw KeptError.tooLong(field: "text", limit: Transaction.keptTextLimit)
        }
        // Counting reads all rows; the highest number is at least the count and costs nothing.
        let highest = try first("SELECT max(number) FROM kept") { $0.int(0) } ?? 0
        if highest >= Transaction.keptLimit, try keptCount(nil) >= Transaction.keptLimit {
            throw KeptError.full(limit: Transaction.keptLimit)
        }
        try run(
            """
            INSERT INTO kept (id, kind, type, title, content, state, provenance, created_at, updated_at, finished_at, words,
                extras)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, item.id.text, item.kind.rawValue, item.type, item.title, item.text, item.state,
            item.provenance.json.storedText, item.createdAt.milliseconds, item.updatedAt.milliseconds,
            item.finishedAt?.milliseconds, item.indexedWords, item.extras.storedText)
    }

    /// Completes or reopens a task.
    ///
    /// - Throws: `KeptError.stateUnchanged` when it is so already, `.missing` when it is gone.
    package func setTask(_ id: KeptID, _ state: TaskState, at moment: Timestamp) throws {
        guard let item = try keptItem(id), item.kind == .task else {
            throw KeptError.missing(kind: .task, name: id.text)
        }
        if item.state == state.rawValue { throw KeptError.stateUnchanged(title: item.title, state: state.rawValue) }
        try run(
            "UPDATE kept SET state = ?, updated_at = ?, finished_at = ? WHERE id = ?", state.rawValue,
            moment.milliseconds, state == .done ? moment.milliseconds : nil, id.text)
    }

    /// - Throws: `KeptError.missing` when it is gone already.
    package func deleteKept(_ id: KeptID) throws {
        let changed = try erasing { try run("DELETE FROM kept WHERE id = ?", id.text) }
        if changed == 0 { throw KeptError.missing(kind: nil, name: id.text) }
    }

    package func keptItem(_ id: KeptID) throws -> KeptItem? { try keptItems("id = ?", [id.text]).first }

    package func keptCount(_ kind: KeptKind?) throws -> Int {
        try first("SELECT count(*) FROM kept WHERE ?1 IS NULL OR kind = ?1", kind?.rawValue) { $0.int(0) } ?? 0
    }

    /// Items of a condition on `kept`.
    package func keptItems(_ condition: String, _ values: [(any SQLBindable)?]) throws -> [KeptItem] {
        try rows(
            """
            SELECT id, kind, type, title, content, state, provenance, created_at, updated_at, finished_at, extras FROM kept
            WHERE \(condition)
            """, values
        ) { row in
            KeptItem(
                id: KeptID(unchecked: row.text(0)), kind: KeptKind(rawValue: row.text(1)) ?? .knowledge,
                type: row.optionalText(2), title: row.text(3), text: row.text(4), state: row.optionalText(5),
                provenance: Provenance(json: row.object(6)), createdAt: Timestamp(milliseconds: row.integer(7)),
                updatedAt: Timestamp(milliseconds: row.integer(8)),
                finishedAt: row.optionalInteger(9).map { Timestamp(milliseconds: $0) }, extras: row.object(10))
        }
    }

    fileprivate func findKept(_ name: String, kind: KeptKind?, state: String?) throws -> KeptItem {
        let chosen = "(?1 IS NULL OR kind = ?1) AND (?2 IS NULL OR state = ?2)"
        func look(_ condition: String, _ value: String) throws -> [KeptItem] {
            try keptItems("\(chosen) AND \(condition) ORDER BY number DESC LIMIT 50", [kind?.rawValue, state, value])
        }
        if name.utf8.count == 32, let id = KeptID(name), let item = try look("id = ?3", id.text).first { return item }
        var found: [KeptItem] = []
        if (6..<32).contains(name.utf8.count), name.utf8.allSatisfy({ $0.hexDigit != nil }) {
            found = try look("id >= ?3 AND id < ?3 || 'g'", name.lowercased())
        }
        if found.isEmpty { found = try look("lower(title) = lower(?3)", name) }
        if found.isEmpty {
            let pattern = name.replacing("\\", with: "\\\\").replacing("%", with: "\\%").replacing("_", with: "\\_")
            found = try look("title LIKE ?3 ESCAPE '\\'", "%" + pattern + "%")
        }
        switch found.count {
        case 0: throw KeptError.missing(kind: kind, name: name)
        case 1: return found[0]
        default:
            throw KeptError.ambiguous(
                name: name, count: found.count, titles: found.prefix(5).map { "\"\($0.title)\" (\($0.id))" })
        }
    }
}
