internal import AlcoveCore
internal import AlcoveStorage
internal import AlcoveWorkspace

/// The tools for tasks.
struct TaskTools {
    private let database: Database
    private let now: @Sendable () -> Timestamp

    init(_ database: Database, _ now: @escaping @Sendable () -> Timestamp) {
        self.database = database
        self.now = now
    }

    var all: [any Tool] { [list, search, add, change("tasks_complete", .done), change("tasks_reopen", .open)] }

    private var list: KeptTool {
        let database = database
        return KeptTool(
            "tasks_list", "List the person's tasks, newest first.", effect: .reads, shown: "state",
            properties: ["state": ["type": "string", "enum": ["open", "done", "all"]]]
        ) { arguments, _ in
            let wanted = arguments["state"]?.string ?? "open"
            let state = wanted == "all" ? nil : wanted
            let tasks = try await KeptStore(database).list(.task, state: state, limit: KeptLines.most + 1)
            if tasks.isEmpty {
                return ToolResult(
                    succeeded: true, text: wanted == "all" ? "There are no tasks." : "There are no \(wanted) tasks.")
            }
            return ToolResult(succeeded: true, text: KeptLines.list(tasks))
        }
    }

    private var search: KeptTool {
        let database = database
        return KeptTool(
            "tasks_search", "Find tasks by words in them.", effect: .reads, shown: "query",
            properties: ["query": KeptLines.query], required: ["query"]
        ) { arguments, _ in
            try await KeptLines.search(arguments["query"]?.string ?? "", kinds: [.task], in: database)
        }
    }

    private var add: KeptTool {
        let now = now
        return KeptTool(
            "tasks_add", "Add a task to the person's list.", effect: .writesStore, shown: "title",
            properties: [
                "title": ["type": "string", "minLength": 1, "maxLength": JSONValue(Transaction.keptTitleLimit)]
            ], required: ["title"]
        ) { arguments, context in
            let task = KeptItem.task(
                arguments["title"]?.string ?? "", provenance: context.provenance, now: now())
            return ToolResult(succeeded: true, text: "Added the task \"\(task.title)\" (\(KeptLines.short(task.id))).")
            {
                try $0.add(task)
            }
        }
    }

    private func change(_ name: String, _ state: TaskState) -> KeptTool {
        let database = database, now = now
        let verb = state == .done ? "Complete" : "Reopen"
        return KeptTool(
            name, "\(verb) a task, named by its title or its id.", effect: .writesStore, shown: "task",
            properties: [
                "task": ["type": "string", "minLength": 1, "maxLength": JSONValue(Transaction.keptTitleLimit)]
            ],
            required: ["task"]
        ) { arguments, _ in
            let named = arguments["task"]?.string ?? "", store = KeptStore(database)
            // Of two tasks of one name the one that can still be changed is meant.
            let other = state == .done ? TaskState.open : .done
            let task: KeptItem
            do {
                task = try await store.find(named, kind: .task, state: other.rawValue)
            } catch KeptError.missing {
                let found = try await store.find(named, kind: .task)
                throw KeptError.stateUnchanged(title: found.title, state: state.rawValue)
            }
            let words = state == .done ? "Completed" : "Reopened", moment = now()
            return ToolResult(
                succeeded: true, text: "\(words) the task \"\(task.title)\" (\(KeptLines.short(task.id)))."
            ) { try $0.setTask(task.id, state, at: moment) }
        }
    }
}

extension ToolContext {
    /// Where what this call keeps comes from.
    var provenance: Provenance {
        Provenance(chat: chat?.text, message: message, run: turn?.text, receipt: receipt?.text)
    }
}
