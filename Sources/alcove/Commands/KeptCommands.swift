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
                    shown: .named(text, .task, state: TaskState.open.rawValue))
            },
            KeptCommands.part("reopen", "Reopen a task.", argument: named) { _, text in
                KeptCommands.Step(
                    tool: "tasks_reopen", arguments: ["task": .string(text)],
                    shown: .named(text, .task, state: TaskState.done.rawValue))
            }, KeptCommands.delete(.task, named),
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
            KeptCommands.part("list", "List what is kept, newest first.", options: [type]) { invocation, _ in
                let type = invocation.text("--type")
                return KeptCommands.Step(
                    tool: "knowledge_list", arguments: type.map { ["type": .string($0)] } ?? [:],
                    shown: .list(.knowledge, state: nil, type: type))
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
            KeptCommands.part(
                "insights", "Tell open questions, stale tasks, contradictions and decisions without evidence."
            ) { _, _ in KeptCommands.Step(tool: "insights_list", arguments: [:], shown: .insights) },
            KeptCommands.part(
                "context", "Put together what is kept, or what is kept about a topic.", options: [topic]
            ) { invocation, _ in
                let topic = invocation.text("--topic")
                return KeptCommands.Step(
                    tool: "project_context", arguments: topic.map { ["topic": .string($0)] } ?? [:], shown: .words)
            },
            KeptCommands.part(
                "review", "Tell what decisions rest on, and what is done about risks and requirements."
            ) { _, _ in KeptCommands.Step(tool: "project_review", arguments: [:], shown: .words) },
            KeptCommands.delete(nil, ("ITEM", "Its title, a part of it, or its id.")),
        ])

    private static let topic = Command.Option(
        name: "--topic", short: nil, value: "WORDS", help: "Only what is about these words.")
    private static let type = Command.Option(
        name: "--type", short: "t", value: "TYPE",
        help:
            "One of \(KnowledgeType.allCases.map(\.rawValue).joined(separator: ", ")). Default: note; of a list, all.")
    private static let file = Command.Option(name: "--file", short: nil, value: "PATH", help: "The file it comes from.")
    private static let offset = Command.Option(
        name: "--offset", short: nil, value: "N", help: "Where in that file, in bytes from its beginning.")
}

/// Handoffs, on the terminal.
enum HandoffCommand {
    static let command = Command(
        name: "handoff",
        summary: "Create, list, inspect, restore and deactivate handoffs from one session to the next.",
        discussion: "A host that is running has the root folder; ask it on its page, or end it first.",
        subcommands: [
            KeptCommands.part(
                "create", "Keep what is open and settled now.", options: [title, note]
            ) { invocation, _ in
                var arguments = JSONObject()
                if let title = invocation.text("--title") { arguments["title"] = .string(title) }
                if let note = invocation.text("--note") { arguments["note"] = .string(note) }
                return KeptCommands.Step(tool: "handoffs_create", arguments: arguments, shown: .newest(.handoff))
            },
            KeptCommands.part("list", "List handoffs, newest first.", options: [all]) { invocation, _ in
                let state = invocation.has("--all") ? "all" : HandoffState.active.rawValue
                return KeptCommands.Step(
                    tool: "handoffs_list", arguments: ["state": .string(state)],
                    shown: .list(.handoff, state: state == "all" ? nil : state))
            },
            part("inspect", "Show one whole.", "handoffs_inspect"),
            part("restore", "Print what it holds, as context. Nothing of it is done again.", "handoffs_restore"),
            part("deactivate", "Take one out of use; it is kept.", "handoffs_deactivate"),
            KeptCommands.delete(.handoff, named), ExcerptCommands.list, ExcerptCommands.forget,
        ])

    private static func part(_ name: String, _ summary: String, _ tool: String) -> Command {
        KeptCommands.part(name, summary, argument: named) { _, text in
            KeptCommands.Step(tool: tool, arguments: ["handoff": .string(text)], shown: .named(text, .handoff))
        }
    }

    private static let named = ("HANDOFF", "Its title, a part of it, or its id.")
    private static let all = Command.Option(name: "--all", short: "a", value: nil, help: "Also those out of use.")
    private static let title = Command.Option(
        name: "--title", short: nil, value: "TEXT", help: "Its name. Default: the date and time.")
    private static let note = Command.Option(
        name: "--note", short: nil, value: "TEXT", help: "What the next session should know first.")
}
