internal import AlcoveCore
internal import AlcoveStorage
internal import AlcoveWorkspace

/// The tools for handoffs: what one session leaves for the next.
struct HandoffTools {
    private let database: Database
    private let now: @Sendable () -> Timestamp

    init(_ database: Database, _ now: @escaping @Sendable () -> Timestamp) {
        self.database = database
        self.now = now
    }

    var all: [any Tool] { [create, list, inspect, restore, deactivate] }

    private static let named: JSONObject = [
        "handoff": ["type": "string", "minLength": 1, "maxLength": JSONValue(Transaction.keptTitleLimit)]
    ]

    private var create: KeptTool {
        let database = database, now = now
        return KeptTool(
            "handoffs_create",
            "Keep what is open and settled now, and the last words of this chat, for a later session.",
            effect: .writesStore, shown: "title",
            properties: [
                "title": ["type": "string", "minLength": 1, "maxLength": JSONValue(Transaction.keptTitleLimit)],
                "note": ["type": "string", "maxLength": 2_000],
            ]
        ) { arguments, context in
            let moment = now()
            let contents = try await database.read {
                try HandoffContents(note: arguments["note"]?.string ?? "", chat: context.chat, in: $0)
            }
            let title = arguments["title"]?.string ?? "Handoff of \(LocalTime.words(moment))"
            let item = KeptItem.handoff(title, contents, provenance: context.provenance, now: moment)
            return ToolResult(
                succeeded: true, text: "Kept the handoff \"\(title)\" (\(KeptLines.short(item.id))).\n\n\(item.text)"
            ) { try $0.add(item) }
        }
    }

    private var list: KeptTool {
        let database = database
        return KeptTool(
            "handoffs_list", "List handoffs, newest first.", effect: .reads, shown: "state",
            properties: ["state": ["type": "string", "enum": ["active", "inactive", "all"]]]
        ) { arguments, _ in
            let wanted = arguments["state"]?.string ?? HandoffState.active.rawValue
            let items = try await KeptStore(database).list(
                .handoff, state: wanted == "all" ? nil : wanted, limit: KeptLines.most + 1)
            let none = wanted == "all" ? "There are no handoffs." : "There are no \(wanted) handoffs."
            return ToolResult(succeeded: true, text: items.isEmpty ? none : KeptLines.list(items))
        }
    }

    private var inspect: KeptTool {
        let database = database
        return KeptTool(
            "handoffs_inspect", "Show one handoff whole; named by its id or title.", effect: .reads, shown: "handoff",
            properties: Self.named, required: ["handoff"]
        ) { arguments, _ in
            let item = try await KeptStore(database).find(arguments["handoff"]?.string ?? "", kind: .handoff)
            return ToolResult(succeeded: true, text: KeptLines.whole(item))
        }
    }

    /// Reads: what it adds to the chat is its own answer. Nothing is done again, and the handoff stays as it is.
    private var restore: KeptTool {
        let database = database
        return KeptTool(
            "handoffs_restore",
            "Bring what a handoff holds into this chat as context. Nothing of it is done again.", effect: .reads,
            shown: "handoff", properties: Self.named, required: ["handoff"]
        ) { arguments, _ in
            let item = try await KeptStore(database).find(arguments["handoff"]?.string ?? "", kind: .handoff)
            return ToolResult(succeeded: true, text: try HandoffTools.context(of: item))
        }
    }

    /// The words that a restore adds.
    ///
    /// - Throws: `InputError` for a handoff that is out of use.
    static func context(of item: KeptItem) throws(InputError) -> String {
        guard item.state != HandoffState.inactive.rawValue else {
            throw InputError(
                code: "handoff_inactive", message: "The handoff \"\(item.title)\" is not in use any more.",
                hint: "Inspect it to read it.")
        }
        return "From the handoff \"\(item.title)\" of \(item.createdAt.iso8601), as context only:\n\n\(item.text)"
    }

    private var deactivate: KeptTool {
        let database = database, now = now
        return KeptTool(
            "handoffs_deactivate", "Take a handoff out of use; it is kept.", effect: .writesStore, shown: "handoff",
            properties: Self.named, required: ["handoff"]
        ) { arguments, _ in
            let item = try await KeptStore(database).find(arguments["handoff"]?.string ?? "", kind: .handoff)
            if item.state == HandoffState.inactive.rawValue {
                throw KeptError.stateUnchanged(title: item.title, state: HandoffState.inactive.rawValue)
            }
            let moment = now()
            return ToolResult(
                succeeded: true,
                text: "The handoff \"\(item.title)\" (\(KeptLines.short(item.id))) is out of use. It is kept."
            ) { try $0.setHandoff(item.id, .inactive, at: moment) }
        }
    }
}
