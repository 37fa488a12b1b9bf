internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveStorage
internal import AlcoveWorkspace

/// Tasks, on the terminal.
enum TasksCommand {
    static let command = Command(
        name: "tasks", summary: "List, find, add, complete and reopen tasks.",
        discussion: "A host that is running has the root folder; ask it on its page, or end it first.",
        subcommands: [
            KeptCommands.part(
                "list", "List the tasks, newest first.", options: [all]
            ) { invocation, _ in
                let state = invocation.has("--all") ? "all" : "open"
                return KeptCommands.Step(
                    tool: "tasks_list", arguments: ["state": .string(state)],
                    shown: .list(.task, state: state == "all" ? nil : state))
            },
            KeptCommands.part("search", "Find tasks by words in them.", argument: ("WORDS", "What is looked for.")) {
                KeptCommands.search("tasks_search", .task, $1)
            },
            KeptCommands.part("add", "Add a task.", argument: ("TITLE", "What is to be done.")) { _, text in
                KeptCommands.Step(tool: "tasks_add", arguments: ["title": .string(text)], shown: .newest(.task))
            },
            KeptCommands.part("complete", "Complete a task.", argument: named) { _, text in
                KeptCommands.Step(
                    tool: "tasks_complete", arguments: ["task": .string(text)],
                    shown: .named(text, .task, state: .open))
            },
            KeptCommands.part("reopen", "Reopen a task.", argument: named) { _, text in
                KeptCommands.Step(
                    tool: "tasks_reopen", arguments: ["task": .string(text)], shown: .named(text, .task, state: .done))
            },
        ])

    private static let all = Command.Option(name: "--all", short: "a", value: nil, help: "Also those that are done.")
    private static let named = ("TASK", "Its title, a part of it, or its id.")
}

/// Knowledge, on the terminal.
enum KnowledgeCommand {
    static let command = Command(
        name: "knowledge", summary: "List, find, keep and inspect pieces of knowledge.",
        discussion: "A host that is running has the root folder; ask it on its page, or end it first.",
        subcommands: [
            KeptCommands.part("list", "List what is kept, newest first.") { _, _ in
                KeptCommands.Step(tool: nil, arguments: [:], shown: .list(.knowledge, state: nil))
            },
            KeptCommands.part(
                "search", "Find pieces of knowledge by words in them.", argument: ("WORDS", "What is looked for.")
            ) { KeptCommands.search("knowledge_search", .knowledge, $1) },
            KeptCommands.part(
                "capture", "Keep a piece of knowledge.", argument: ("TEXT", "What is kept."),
                options: [type, file, offset]
            ) { invocation, text in
                var arguments: JSONObject = [
                    "type": .string(invocation.text("--type") ?? "note"), "text": .string(text),
                ]
                if let file = invocation.text("--file") { arguments["file"] = .string(file) }
                if let offset = try invocation.int("--offset", in: 0...Int(Int32.max)) {
                    arguments["offset"] = JSONValue(offset)
                }
                return KeptCommands.Step(tool: "knowledge_capture", arguments: arguments, shown: .newest(.knowledge))
            },
            KeptCommands.part(
                "inspect", "Show one item whole, with where it comes from.",
                argument: ("ITEM", "Its title, a part of it, or its id.")
            ) { _, text in
                KeptCommands.Step(
                    tool: "knowledge_inspect", arguments: ["item": .string(text)], shown: .named(text, nil))
            },
        ])

    private static let type = Command.Option(
        name: "--type", short: "t", value: "TYPE",
        help: "One of \(KnowledgeType.allCases.map(\.rawValue).joined(separator: ", ")). Default: note.")
    private static let file = Command.Option(name: "--file", short: nil, value: "PATH", help: "The file it comes from.")
    private static let offset = Command.Option(
        name: "--offset", short: nil, value: "N", help: "Where in that file, in bytes from its beginning.")
}

/// What both have in common: one call of a tool, and its result as words or as JSON.
enum KeptCommands {
    struct Step {
        enum Shown {
            case list(KeptKind, state: String?)
            case newest(KeptKind)
            /// The one item that is meant, as it is now or becomes.
            case named(String, KeptKind?, state: TaskState? = nil)
            case search(String, KeptKind)
        }

        /// Nil when there is no tool and only the items are shown.
        var tool: String?
        var arguments: JSONObject
        /// The items that `--json` prints.
        var shown: Shown
    }

    static func search(_ tool: String, _ kind: KeptKind, _ text: String) -> Step {
        Step(tool: tool, arguments: ["query": .string(text)], shown: .search(text, kind))
    }

    static func part(
        _ name: String, _ summary: String, argument: (name: String, help: String)? = nil,
        options: [Command.Option] = [], _ make: @escaping @Sendable (Invocation, String) throws -> Step
    ) -> Command {
        Command(
            name: name, summary: summary,
            arguments: argument.map { [Command.Argument(name: $0.name, help: $0.help)] } ?? [],
            options: [CommonOptions.root, CommonOptions.json] + options,
            run: { invocation in
                let step = try make(invocation, invocation.arguments.first ?? "")
                let folders = Folders(root: invocation.text("--root"))
                let database = try await Database.open(folder: folders.root)
                let isJSON = invocation.has("--json")
                do {
                    // Found before it changes: afterwards another may have the same name and state.
                    var meant: KeptID?
                    if isJSON, case .named(let name, let kind, let state) = step.shown {
                        meant = try? await KeptStore(database).find(name, kind: kind, state: state?.rawValue).id
                    }
                    let words: String? =
                        if let tool = step.tool {
                            try await KeptAction(database: database).run(tool, step.arguments)
                        } else { nil }
                    if isJSON {
                        Terminal.line(try await json(step.shown, meant, in: database).text(.indented))
                    } else if let words {
                        Terminal.line(words)
                    } else if case .list(let kind, let state) = step.shown {
                        let items = try await KeptStore(database).list(kind, state: state, limit: KeptLines.most + 1)
                        Terminal.line(items.isEmpty ? "Nothing is kept yet." : KeptLines.list(items))
                    }
                } catch {
                    await database.close()
                    throw error
                }
                await database.close()
                return .success
            })
    }

    private static func json(_ shown: Step.Shown, _ meant: KeptID?, in database: Database) async throws -> JSONValue {
        let store = KeptStore(database)
        switch shown {
        case .list(let kind, let state):
            return .array(try await store.list(kind, state: state, limit: 10_000).map { .object($0.object) })
        case .newest(let kind):
            return try await store.list(kind, limit: 1).first.map { .object($0.object) } ?? .null
        case .named:
            guard let meant else { return .null }
            return try await store.item(meant).map { .object($0.object) } ?? .null
        case .search(let query, let kind):
            let hits = try await WorkspaceSearch(database).search(query, kinds: [kind], limit: 10)
            return .array(
                hits.compactMap { hit in
                    guard case .item(let item) = hit.found else { return nil }
                    var json = item.object
                    json["score"] = .double(hit.signals.score)
                    json["why"] = hit.signals.json
                    return .object(json)
                })
        }
    }
}
