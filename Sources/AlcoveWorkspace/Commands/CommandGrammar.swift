internal import AlcoveCore

/// The commands that are understood without a model, in English and Chinese.
///
/// A rule is narrow on purpose: what it does not match wholly is conversation, never a guess.
enum CommandGrammar {
    /// How a command begins, and what becomes of the rest.
    struct Rule: Sendable {
        /// Beginnings in lower case, the longest first.
        let beginnings: [String]
        /// The call of the text after the beginning; nil when the text does not fit.
        let make: @Sendable (_ rest: String) -> (tool: String, arguments: JSONObject)?

        init(
            _ beginnings: [String], _ make: @escaping @Sendable (String) -> (tool: String, arguments: JSONObject)?
        ) {
            self.beginnings = beginnings.sorted { ($0.count, $1) > ($1.count, $0) }
            self.make = make
        }
    }

    static func step(_ part: String) -> CommandPlan.Step? {
        var text = CommandText.trimmed(part)
        for word in ["please ", "请你", "请", "帮我"] where text.lowercased().hasPrefix(word) {
            text = CommandText.trimmed(String(text.dropFirst(word.count)))
        }
        let lowered = text.lowercased()
        // A text in lower case may have another length; then beginnings cannot be counted off.
        guard lowered.count == text.count else { return nil }
        for rule in rules {
            for beginning in rule.beginnings where lowered.hasPrefix(beginning) {
                let rest = String(text.dropFirst(beginning.count))
                guard isWhole(beginning, before: rest), let call = rule.make(cleaned(rest)) else { continue }
                return CommandPlan.Step(tool: call.tool, arguments: call.arguments, words: part)
            }
        }
        return nil
    }

    /// "add task" must not match in "add tasks": a word ends where it ends. Chinese has no such ends.
    private static func isWhole(_ beginning: String, before rest: String) -> Bool {
        guard let last = beginning.last, let next = rest.first else { return true }
        if !last.isASCII || !last.isLetter { return true }
        return !(next.isLetter && next.isASCII) && !next.isNumber && next != "'" && next != "’"
    }

    /// What follows a colon or a space, out of its quotation marks.
    private static func cleaned(_ rest: String) -> String {
        var text = rest[...]
        while let first = text.first, first.isWhitespace || ":：".contains(first) { text.removeFirst() }
        return CommandText.unquoted(String(text))
    }

    static func nothingElse(_ tool: String, _ arguments: JSONObject = JSONObject())
        -> @Sendable (String) -> (tool: String, arguments: JSONObject)?
    {
        { rest in
            let isEnd = rest.allSatisfy { "?？!！了吗呢啊的 ".contains($0) }
            return isEnd ? (tool, arguments) : nil
        }
    }

    static func text(_ tool: String, _ name: String, _ others: JSONObject = JSONObject())
        -> @Sendable (String) -> (tool: String, arguments: JSONObject)?
    {
        { rest in
            if rest.allSatisfy({ $0.isWhitespace || $0.isPunctuation }) { return nil }
            var arguments = others
            arguments[name] = .string(rest)
            return (tool, arguments)
        }
    }

    /// A calculation is one only when it can be read as one: "what is love" is a question.
    private static func calculation(_ rest: String) -> (tool: String, arguments: JSONObject)? {
        var text = rest
        while let last = text.last, "?？=＝ ".contains(last) { text.removeLast() }
        guard text.contains(where: \.isNumber), (try? Calculator.evaluate(text)) != nil else { return nil }
        return ("calculator", ["expression": .string(text)])
    }

    private static func marked(_ before: String, _ after: [String], _ tool: String) -> Rule {
        Rule([before]) { rest in
            let lowered = rest.lowercased()
            guard lowered.count == rest.count else { return nil }
            for end in after where lowered.hasSuffix(end) {
                return text(tool, "task")(CommandText.unquoted(String(rest.dropLast(end.count))))
            }
            return nil
        }
    }

    private static let rules: [Rule] = times + calculations + tasks + memories + knowledge + continuity

    private static let times = [
        Rule(
            [
                "what time is it", "what's the time", "what is the time", "what day is it", "what's the date",
                "what is the date", "what is today's date", "what date is it", "show the date and time",
                "show the time",
                "current time", "current date", "current date and time", "what time is it now", "what day is it today",
                "what is the date today", "what's the date today", "现在几点", "现在是几点", "几点", "今天几号", "今天是几号",
                "今天星期几", "今天是星期几", "当前时间", "现在的时间", "现在时间", "当前日期", "今天的日期", "当前日期和时间", "现在的日期和时间",
            ], nothingElse("date_time"))
    ]

    private static let calculations = [
        Rule(["calculate", "compute", "work out", "计算", "算一下", "算算"], text("calculator", "expression")),
        Rule(["what is", "what's", "how much is"], calculation),
    ]

    private static let tasks = [
        Rule(
            [
                "list tasks", "list my tasks", "list open tasks", "list my open tasks", "show tasks", "show my tasks",
                "show open tasks", "show my open tasks", "show me my tasks", "what are my tasks", "列出任务", "列出我的任务",
                "列出未完成的任务", "显示任务", "显示我的任务", "我的任务", "查看任务列表", "任务列表",
            ], nothingElse("tasks_list", ["state": "open"])),
        Rule(
            [
                "list all tasks", "list all my tasks", "show all tasks", "show all my tasks", "列出所有任务", "显示所有任务",
                "列出全部任务",
                "显示全部任务",
            ], nothingElse("tasks_list", ["state": "all"])),
        Rule(
            [
                "list done tasks", "list completed tasks", "show done tasks", "show completed tasks", "列出已完成的任务",
                "显示已完成的任务", "列出完成的任务",
            ], nothingElse("tasks_list", ["state": "done"])),
        Rule(
            [
                "search tasks for", "search my tasks for", "search for tasks about", "find tasks about", "find task",
                "find tasks", "搜索任务", "查找任务", "找任务",
            ], text("tasks_search", "query")),
        Rule(
            [
                "add task", "add a task", "add the task", "add a task to", "add task to", "create task",
                "create a task",
                "create a task to", "new task", "添加任务", "新建任务", "新增任务", "加一个任务", "添加一个任务", "新建一个任务", "创建任务", "创建一个任务",
            ], text("tasks_add", "title")),
        marked("mark task", [" as done", " as completed", " as complete", " done"], "tasks_complete"),
        Rule(
            [
                "complete task", "complete the task", "finish task", "finish the task", "close task", "完成任务", "结束任务",
            ], text("tasks_complete", "task")),
        Rule(
            ["reopen task", "reopen the task", "open task again", "重新打开任务", "重开任务", "恢复任务"],
            text("tasks_reopen", "task")),
    ]

    private static let memories = [
        Rule(
            [
                "search memories for", "search my memories for", "search memory for", "what do you remember about",
                "搜索记忆",
                "查找记忆",
            ],
            { rest in
                var rest = rest
                while let last = rest.last, "?？".contains(last) { rest.removeLast() }
                return text("memories_search", "query")(rest)
            }),
        Rule(
            ["remember that", "remember:", "save memory", "save a memory", "save the memory", "记住", "保存记忆"],
            text("memories_save", "text")),
    ]

    private static let knowledge: [Rule] = {
        let types: [(String, [String])] = [
            ("note", ["note", "笔记"]), ("decision", ["decision", "决定", "决策"]),
            ("requirement", ["requirement", "要求", "需求"]), ("risk", ["risk", "风险"]),
            ("question", ["question", "问题"]), ("fact", ["fact", "事实"]), ("reference", ["reference", "参考", "参考资料"]),
            ("idea", ["idea", "想法"]), ("insight", ["insight", "洞察"]),
        ]
        let captures = types.map { type, names in
            let english = names.filter { $0.first?.isASCII == true }.flatMap { name in
                ["capture", "capture a", "capture an", "capture the", "record a", "record the", "record"].map {
                    "\($0) \(name)"
                }
            }
            let chinese = names.filter { $0.first?.isASCII == false }.flatMap { name in
                ["记录", "记录一个", "保存"].map { $0 + name }
            }
            return Rule(english + chinese, text("knowledge_capture", "text", ["type": .string(type)]))
        }
        return captures + [
            Rule(
                ["search knowledge for", "search my knowledge for", "search the knowledge for", "搜索知识", "查找知识"],
                text("knowledge_search", "query")),
            Rule(
                ["inspect knowledge", "inspect item", "show knowledge", "查看知识", "显示知识"],
                text("knowledge_inspect", "item")),
        ]
    }()
}
