internal import AlcoveCore

// Handoffs, what is put together of what is kept, and code.

extension CommandGrammar {
    static let continuity: [Rule] = handoffs + deletions + reports + calendar

    private static let handoffs = [
        Rule(
            [
                "create handoff", "create a handoff", "make a handoff", "new handoff", "create a handoff called",
                "create a handoff named", "创建交接", "新建交接", "创建一个交接", "生成交接",
            ], perhaps("handoffs_create", "title")),
        Rule(
            [
                "list handoffs", "list my handoffs", "show handoffs", "show my handoffs", "列出交接", "显示交接", "我的交接",
            ], nothingElse("handoffs_list", ["state": "active"])),
        Rule(
            ["list all handoffs", "show all handoffs", "列出所有交接", "显示所有交接", "列出全部交接"],
            nothingElse("handoffs_list", ["state": "all"])),
        Rule(
            ["inspect handoff", "inspect the handoff", "show handoff", "show the handoff", "查看交接"],
            text("handoffs_inspect", "handoff")),
        Rule(
            ["restore handoff", "restore the handoff", "continue from handoff", "恢复交接", "从交接继续"],
            text("handoffs_restore", "handoff")),
        Rule(
            ["deactivate handoff", "deactivate the handoff", "停用交接", "关闭交接"],
            text("handoffs_deactivate", "handoff")),
    ]

    private static let calendar: [Rule] = [
        ("today", ["today"], ["今天"]), ("tomorrow", ["tomorrow"], ["明天"]),
        ("next_seven_days", ["the next seven days", "the next 7 days", "this week"], ["未来七天", "接下来七天", "未来7天"]),
    ].map { range, english, chinese in
        let beginnings = [
            "what is on my calendar", "what's on my calendar", "what is in my calendar", "what's in my calendar",
            "read my calendar for", "read calendar for", "show my calendar for", "check my calendar for",
            "what is on my calendar for", "what's on my calendar for",
        ]
        return Rule(
            beginnings.flatMap { start in english.map { "\(start) \($0)" } }
                + chinese.flatMap { ["\($0)的日程", "\($0)有什么日程", "\($0)有什么安排", "查看\($0)的日程", "读取\($0)的日历"] },
            nothingElse("calendar_read", ["range": .string(range)]))
    }

    private static let deletions = [
        ("knowledge", ["knowledge", "knowledge item"], ["知识"]), ("task", ["task"], ["任务"]),
        ("memory", ["memory"], ["记忆"]), ("handoff", ["handoff"], ["交接"]),
    ].map { kind, english, chinese in
        Rule(
            english.flatMap { ["delete \($0)", "delete the \($0)"] } + chinese.map { "删除" + $0 },
            text("kept_delete", "item", ["kind": .string(kind)]))
    }

    private static let reports =
        [
            Rule(
                [
                    "show insights", "list insights", "show me the insights", "what are the open questions",
                    "显示洞察", "列出洞察", "有什么洞察",
                ], nothingElse("insights_list")),
            Rule(
                ["project context", "show the project context", "show project context", "项目背景", "显示项目背景"],
                nothingElse("project_context")),
            Rule(
                [
                    "project context about", "project context for", "show the project context for",
                    "show project context about", "project context:", "项目背景：", "项目背景:",
                ], text("project_context", "topic")),
            Rule(
                ["review the project", "review project", "project review", "审查项目", "项目审查", "回顾项目"],
                nothingElse("project_review")),
            Rule(
                [
                    "inspect code", "inspect this code", "inspect the code", "检查代码", "检查这段代码",
                ]
            ) { rest in
                let code = CommandText.unfenced(rest)
                return code.allSatisfy(\.isWhitespace) ? nil : ("code_inspect", ["code": .string(code)])
            },
            Rule(["list knowledge", "show my knowledge", "列出知识", "显示知识列表"], nothingElse("knowledge_list")),
        ]
        + [
            ("digest", "digests", "摘要"), ("decision", "decisions", "决定"), ("requirement", "requirements", "要求"),
            ("risk", "risks", "风险"), ("question", "questions", "问题"), ("note", "notes", "笔记"), ("fact", "facts", "事实"),
            ("idea", "ideas", "想法"), ("reference", "references", "参考资料"),
        ].map { type, plural, chinese in
            Rule(
                [
                    "list \(plural)", "list my \(plural)", "show \(plural)", "show my \(plural)", "列出" + chinese,
                    "显示" + chinese,
                ],
                nothingElse("knowledge_list", ["type": .string(type)]))
        }

    /// With or without a text.
    private static func perhaps(_ tool: String, _ name: String)
        -> @Sendable (String) -> (tool: String, arguments: JSONObject)?
    {
        { rest in
            if rest.allSatisfy({ $0.isWhitespace || $0.isPunctuation }) { return (tool, JSONObject()) }
            return (tool, [name: .string(rest)])
        }
    }
}
