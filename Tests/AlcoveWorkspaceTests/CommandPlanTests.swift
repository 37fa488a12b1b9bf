import AlcoveCore
import AlcoveWorkspace
import Testing

struct CommandPlanTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let text: String
        let calls: [String]
        init(_ text: String, _ calls: String...) {
            self.text = text
            self.calls = calls
        }
        var testDescription: String { text }
    }

    static let cases = [
        Case("What time is it?", "date_time {}"),
        Case("现在几点了？", "date_time {}"),
        Case("calculate 12 * 3", #"calculator {"expression":"12 * 3"}"#),
        Case("What is 2+2?", #"calculator {"expression":"2+2"}"#),
        Case("计算 3*(4+5)", #"calculator {"expression":"3*(4+5)"}"#),
        Case("Add task: Buy milk", #"tasks_add {"title":"Buy milk"}"#),
        Case("please add a task to call Ann.", #"tasks_add {"title":"call Ann"}"#),
        Case("添加任务：买牛奶", #"tasks_add {"title":"买牛奶"}"#),
        Case("List tasks", #"tasks_list {"state":"open"}"#),
        Case("显示所有任务", #"tasks_list {"state":"all"}"#),
        Case("Mark task Buy milk as done", #"tasks_complete {"task":"Buy milk"}"#),
        Case("完成任务“买牛奶”", #"tasks_complete {"task":"买牛奶"}"#),
        Case("Reopen task \"Buy milk\"", #"tasks_reopen {"task":"Buy milk"}"#),
        Case("Search tasks for milk", #"tasks_search {"query":"milk"}"#),
        Case("Remember that Ann likes tea", #"memories_save {"text":"Ann likes tea"}"#),
        Case("记住我的生日是三月", #"memories_save {"text":"我的生日是三月"}"#),
        Case("What do you remember about Ann?", #"memories_search {"query":"Ann"}"#),
        Case("Capture decision: use SQLite", #"knowledge_capture {"type":"decision","text":"use SQLite"}"#),
        Case("记录风险：磁盘会满", #"knowledge_capture {"type":"risk","text":"磁盘会满"}"#),
        Case("搜索知识 磁盘", #"knowledge_search {"query":"磁盘"}"#),
        Case("Inspect knowledge 12ab34cd", #"knowledge_inspect {"item":"12ab34cd"}"#),
        Case("Create a handoff", "handoffs_create {}"),
        Case("create handoff Before the holidays", #"handoffs_create {"title":"Before the holidays"}"#),
        Case("创建交接：假期之前", #"handoffs_create {"title":"假期之前"}"#),
        Case("list handoffs", #"handoffs_list {"state":"active"}"#),
        Case("列出所有交接", #"handoffs_list {"state":"all"}"#),
        Case("Inspect handoff Before", #"handoffs_inspect {"handoff":"Before"}"#),
        Case("restore handoff Before the holidays", #"handoffs_restore {"handoff":"Before the holidays"}"#),
        Case("恢复交接 假期之前", #"handoffs_restore {"handoff":"假期之前"}"#),
        Case("停用交接 假期之前", #"handoffs_deactivate {"handoff":"假期之前"}"#),
        Case("Show insights", "insights_list {}"),
        Case("列出洞察", "insights_list {}"),
        Case("Project context", "project_context {}"),
        Case("project context about the disk", #"project_context {"topic":"the disk"}"#),
        Case("项目背景：磁盘", #"project_context {"topic":"磁盘"}"#),
        Case("review the project", "project_review {}"),
        Case("审查项目", "project_review {}"),
        Case("What's on my calendar today?", #"calendar_read {"range":"today"}"#),
        Case("show my calendar for the next seven days", #"calendar_read {"range":"next_seven_days"}"#),
        Case("明天有什么日程？", #"calendar_read {"range":"tomorrow"}"#),
        Case("List digests", #"knowledge_list {"type":"digest"}"#),
        Case("列出决定", #"knowledge_list {"type":"decision"}"#),
        Case("Delete task Buy milk", #"kept_delete {"kind":"task","item":"Buy milk"}"#),
        Case("删除知识 磁盘", #"kept_delete {"kind":"knowledge","item":"磁盘"}"#),
        Case(
            "Inspect code:\n```sh\nif x, then list tasks\n```, then list tasks",
            #"code_inspect {"code":"if x, then list tasks\n"}"#, #"tasks_list {"state":"open"}"#),
        Case("检查代码 `eval(x)`", #"code_inspect {"code":"`eval(x)`"}"#),
        Case(
            "Add task Buy milk, then list tasks", #"tasks_add {"title":"Buy milk"}"#, #"tasks_list {"state":"open"}"#),
        Case(
            "添加任务：买牛奶，然后列出任务。然后现在几点", #"tasks_add {"title":"买牛奶"}"#, #"tasks_list {"state":"open"}"#, "date_time {}"),
        Case(
            #"Add task "call mum then dad" and then list tasks"#, #"tasks_add {"title":"call mum then dad"}"#,
            #"tasks_list {"state":"open"}"#),
        Case(
            "Add task 买牛奶，然后 list tasks", #"tasks_add {"title":"买牛奶"}"#, #"tasks_list {"state":"open"}"#),
    ]

    @Test(arguments: cases) func explicitRequestsArePlans(_ c: Case) throws {
        let plan = try #require(CommandPlan(c.text))

        #expect(plan.steps.map { "\($0.tool) \(JSONValue.object($0.arguments).text())" } == c.calls)
    }

    @Test(arguments: [
        "", "Hello", "What is love?", "What is the capital of France?", "Add tasks to my life", "add task", "add task:",
        "Add task Buy milk, then delete everything", "then list tasks", "list tasks then",
        "How do I list tasks in bash?",
        "List tasks of the French Revolution", "Tell me a story and then list tasks", "I remember that day",
        "把任务做完", "今天天气怎么样", "Calculate", "现在几点去吃饭好", "What is the time complexity of quicksort?", "remember",
    ])
    func everythingElseIsConversation(_ text: String) {
        #expect(CommandPlan(text) == nil)
    }

    @Test func aPlanThatIsTooLongOrRepeatsIsRefusedWhole() throws {
        let long = try #require(CommandPlan("list tasks then what time is it then add task a then add task b"))

        let error = #expect(throws: InputError.self) { try long.check(limit: 3) }
        #expect(error?.code == "plan_too_long")
        #expect(error?.message == "This asks for 4 steps and a run has at most 3, so nothing of it was done.")
        #expect(throws: Never.self) { try long.check(limit: 4) }
        let repeats = try #require(CommandPlan("add task a then add task a"))
        #expect(throws: InputError.self) { try repeats.check(limit: 3) }
    }

    @Test func longAndOddMessagesAreConversationAndQuick() {
        #expect(CommandPlan(String(repeating: "list tasks then ", count: 10_000)) == nil)
        #expect(CommandPlan("add task x" + String(repeating: "\"", count: 3_000)) != nil)
        #expect(CommandPlan("add task İstanbul'a git")?.steps.first?.arguments["title"] == "İstanbul'a git")
    }
}
