internal import AlcoveCore
internal import AlcoveStorage
internal import AlcoveWorkspace

/// The tools for knowledge and memories.
struct KnowledgeTools {
    private let database: Database
    private let now: @Sendable () -> Timestamp

    init(_ database: Database, _ now: @escaping @Sendable () -> Timestamp) {
        self.database = database
        self.now = now
    }

    var all: [any Tool] { [capture, list, searchKnowledge, inspect, saveMemory, searchMemories] }

    private static let text: JSONValue = [
        "type": "string", "minLength": 1, "maxLength": JSONValue(Transaction.keptTextLimit),
    ]

    private var capture: KeptTool {
        let now = now
        return KeptTool(
            "knowledge_capture", "Keep a piece of knowledge of a type, with where it comes from.", effect: .writesStore,
            shown: "text",
            properties: [
                "type": ["type": "string", "enum": .array(KnowledgeType.allCases.map { .string($0.rawValue) })],
                "title": ["type": "string", "maxLength": JSONValue(Transaction.keptTitleLimit)], "text": Self.text,
                "file": ["type": "string", "maxLength": 1_024], "offset": ["type": "integer", "minimum": 0],
            ], required: ["type", "text"]
        ) { arguments, context in
            let text = arguments["text"]?.string ?? "", type = arguments["type"]?.string ?? "note"
            var provenance = context.provenance
            provenance.file = arguments["file"]?.string
            provenance.offset = arguments["offset"]?.int
            let title = arguments["title"]?.string ?? KeptItem.title(of: text)
            let item = KeptItem(
                kind: .knowledge, type: type, title: title, text: text, provenance: provenance, createdAt: now())
            return ToolResult(succeeded: true, text: "Kept the \(type) \"\(title)\" (\(KeptLines.short(item.id))).") {
                try $0.capture(item)
            }
        }
    }

    private var list: KeptTool {
        let database = database
        return KeptTool(
            "knowledge_list", "List pieces of knowledge, newest first; of one type, or all.", effect: .reads,
            shown: "type",
            properties: [
                "type": ["type": "string", "enum": .array(KnowledgeType.allCases.map { .string($0.rawValue) })]
            ]
        ) { arguments, _ in
            let items = try await KeptStore(database).list(
                .knowledge, type: arguments["type"]?.string, limit: KeptLines.most + 1)
            return ToolResult(succeeded: true, text: items.isEmpty ? "Nothing is kept yet." : KeptLines.list(items))
        }
    }

    private var searchKnowledge: KeptTool {
        let database = database
        return KeptTool(
            "knowledge_search", "Find pieces of knowledge by words in them.", effect: .reads, shown: "query",
            properties: ["query": KeptLines.query], required: ["query"]
        ) { arguments, _ in
            try await KeptLines.search(arguments["query"]?.string ?? "", kinds: [.knowledge], in: database)
        }
    }

    private var inspect: KeptTool {
        let database = database
        return KeptTool(
            "knowledge_inspect", "Show one kept item whole, with where it comes from; named by its id or title.",
            effect: .reads, shown: "item",
            properties: [
                "item": ["type": "string", "minLength": 1, "maxLength": JSONValue(Transaction.keptTitleLimit)]
            ],
            required: ["item"]
        ) { arguments, _ in
            let item = try await KeptStore(database).find(arguments["item"]?.string ?? "", kind: nil)
            return ToolResult(succeeded: true, text: KeptLines.whole(item))
        }
    }

    private var saveMemory: KeptTool {
        let now = now
        return KeptTool(
            "memories_save", "Remember a sentence for later conversations.", effect: .writesStore, shown: "text",
            properties: ["text": ["type": "string", "minLength": 1, "maxLength": 2_000]], required: ["text"]
        ) { arguments, context in
            let text = arguments["text"]?.string ?? "", moment = now()
            let memory = KeptItem(
                kind: .memory, title: KeptItem.title(of: text), text: text, provenance: context.provenance,
                createdAt: moment)
            let fact = KeptItem(
                kind: .knowledge, type: KnowledgeType.fact.rawValue, title: memory.title, text: text,
                provenance: context.provenance, createdAt: moment, extras: ["memory": .string(memory.id.text)])
            return ToolResult(succeeded: true, text: "Remembered \"\(memory.title)\" (\(KeptLines.short(memory.id))).")
            {
                try $0.add(memory)
                // The same as a fact, where there is still room for one.
                do { try $0.capture(fact) } catch KeptError.full {}
            }
        }
    }

    private var searchMemories: KeptTool {
        let database = database
        return KeptTool(
            "memories_search", "Find remembered sentences by words in them.", effect: .reads, shown: "query",
            properties: ["query": KeptLines.query], required: ["query"]
        ) { arguments, _ in
            try await KeptLines.search(arguments["query"]?.string ?? "", kinds: [.memory], in: database)
        }
    }
}
