import AlcoveAgent
import AlcoveCore
import AlcoveStorage
import AlcoveWorkspace
import Synchronization
import Testing

/// Explicit commands: done step by step without a model, or not at all.
struct PlanRunTests {
    private let bench: RunBench

    init() async throws { bench = try await RunBench() }

    private func run(
        _ text: String, broker: Bool = true, tools: [any Tool]? = nil,
        answer: @escaping @Sendable (ApprovalNote) -> ApprovalOutcome? = { _ in .allowed },
        meanwhile: @escaping @Sendable () async throws -> Void = {}
    ) async throws -> (events: [TurnEvent.Body], turn: Turn) {
        let plan = try #require(CommandPlan(text))
        let loop = AgentLoop(
            model: ToolsOnly(), tools: try ToolRegistry(tools ?? KeptTool.all(bench.database)),
            broker: broker ? bench.broker : nil, database: bench.database)
        var request = TurnRequest(messages: [Message(role: .user, content: text)], profile: .assistant)
        request.plan = plan
        let turn = await bench.turns.start(
            key: TurnID().text, loop: loop, request: request, accept: {}, record: { _ in })
        var events: [TurnEvent.Body] = []
        for try await event in turn.events() {
            events.append(event.body)
            if case .approvalAsked(let note) = event.body, let outcome = answer(note) {
                try await meanwhile()
                try await bench.broker.answer(note.id, signature: note.signature, outcome: outcome, turn: turn.id)
            }
        }
        return (events, turn)
    }

    private var tasks: [KeptItem] { get async throws { try await KeptStore(bench.database).list(.task) } }

    @Test func aPlanRunsWithoutAModelAndAnswersFromItsReceipts() async throws {
        let (events, turn) = try await run("Add task Buy milk, then list tasks, then calculate 0.1+0.2")

        let receipts = try await bench.receipts(turn)
        #expect(receipts.map(\.tool) == ["tasks_add", "tasks_list", "calculator"])
        #expect(receipts.allSatisfy { $0.outcome == "succeeded" })
        #expect(events.text == receipts.compactMap(\.observation).joined(separator: "\n\n"))
        #expect(events.text.contains("0.1+0.2 = 0.3"))
        #expect(events.notices == ["Plan: 1. tasks_add, 2. tasks_list, 3. calculator."])
        #expect(events.end?.reason == .stop)
        #expect(events.questions.map(\.tool) == ["tasks_add"])
        let task = try #require(try await tasks.first)
        #expect(task.title == "Buy milk")
        #expect(task.provenance.receipt == receipts[0].id.text)
        #expect(task.provenance.run == turn.id.text)
    }

    @Test func aRefusedStepEndsThePlanAndChangesNothing() async throws {
        let (events, turn) = try await run(
            "What time is it then add task Buy milk then list tasks", answer: { _ in .refused })

        #expect(try await tasks.isEmpty)
        #expect(try await bench.receipts(turn).map(\.tool) == ["date_time"])
        #expect(events.end?.reason == .error)
        #expect(events.end?.error == "Step 2 of 3 (tasks_add) was not done.")
        // Said to the person who refused it, so not in the words that a model is told.
        #expect(
            events.text.hasSuffix(
                "Step 2 of 3 (tasks_add) was not done. It was refused. The step after it was not tried."))
        #expect(!events.text.contains("The person"))
    }

    @Test func whereNobodyCanBeAskedOnlyReadingIsDone() async throws {
        let (events, _) = try await run("add task Buy milk then list tasks", broker: false)

        #expect(try await tasks.isEmpty)
        #expect(events.end?.reason == .error)
        let (reading, _) = try await run("list tasks", broker: false)
        #expect(reading.text == "There are no open tasks.")
        #expect(reading.end?.reason == .stop)
    }

    @Test(arguments: [
        ("list tasks then what time is it then add task a then add task b", "plan_too_long"),
        ("add task a then add task a", "plan_repeats"),
    ])
    func aPlanThatMayNotRunIsRefusedBeforeAnything(_ text: String, _ code: String) async throws {
        let error = await #expect(throws: InputError.self) { _ = try await run(text) }

        #expect(error?.code == code)
        #expect(try await tasks.isEmpty)
        #expect(try await TurnLog(bench.database).recentReceipts(limit: 10).isEmpty)
    }

    @Test func aMissingToolOrAWrongArgumentRefusesTheWholePlan() async throws {
        let error = await #expect(throws: InputError.self) {
            _ = try await run("add task a then list tasks", tools: [ProbeTool("tasks_add", effect: .writesStore)])
        }
        #expect(error?.code == "bad_step")
        let long = String(repeating: "x", count: 400)
        let other = await #expect(throws: InputError.self) { _ = try await run("list tasks then add task \(long)") }
        #expect(other?.code == "bad_step")
        #expect(try await TurnLog(bench.database).recentReceipts(limit: 10).isEmpty)
    }

    @Test func aStepThatFailsTellsWhatWasDone() async throws {
        let (events, _) = try await run("add task Buy milk then complete task eggs then list tasks")

        #expect(events.text.hasPrefix("Added the task \"Buy milk\""))
        #expect(events.text.contains("Step 2 of 3 (tasks_complete) was not done. There is no task \"eggs\"."))
        #expect(try await tasks.map(\.state) == ["open"])
        #expect(events.end?.reason == .error)
    }

    /// The change and its receipt are one: where the change cannot be made, nothing says that it was.
    @Test func aChangeThatCannotBeCommittedHasNoReceipt() async throws {
        let tool = ProbeTool("tasks_list", effect: .reads) { _, _ in
            ToolResult(succeeded: true, text: "done") { _ in throw KeptError.full(limit: 1) }
        }
        let (events, turn) = try await run("list tasks", tools: [DeclaredAs(tool, state: true)])

        #expect(try await bench.receipts(turn).isEmpty)
        #expect(events.end?.reason == .error)
        #expect(!events.text.contains("done\n"))
    }

    @Test func theWholeLifeOfATaskInChinese() async throws {
        let (first, _) = try await run("添加任务：买牛奶，然后列出任务，然后完成任务“买牛奶”")
        #expect(first.end?.reason == .stop)
        #expect(try await tasks.map(\.state) == ["done"])
        let (second, _) = try await run("重新打开任务 买牛奶，然后搜索任务 牛奶")
        #expect(second.text.contains("[ ] 买牛奶"))
        let (third, _) = try await run("记住我的生日是三月，然后搜索记忆 生日，然后搜索知识 生日")
        #expect(third.text.contains("[memory] 我的生日是三月"))
        #expect(third.text.contains("[fact] 我的生日是三月"))
    }

    @Test func stoppingWhileAPersonIsAskedDoesNothing() async throws {
        let plan = try #require(CommandPlan("add task a then list tasks"))
        let loop = AgentLoop(
            model: ToolsOnly(), tools: try ToolRegistry(KeptTool.all(bench.database)), broker: bench.broker,
            database: bench.database)
        var request = TurnRequest(messages: [Message(role: .user, content: "-")], profile: .assistant)
        request.plan = plan
        let turn = await bench.turns.start(key: "k", loop: loop, request: request, accept: {}, record: { _ in })
        var end: TurnEnd?
        for try await event in turn.events() {
            if case .approvalAsked = event.body { turn.stopSignal.set() }
            if case .finished(let found) = event.body { end = found }
        }

        #expect(end?.reason == .cancelled)
        #expect(try await tasks.isEmpty)
    }

    // MARK: The model's side

    @Test func aModelOfABoundedRunMayOnlyLook() async throws {
        let tools = KeptTool.all(bench.database)
        let (events, model, turn) = try await bench.run(
            [[.call("tasks_add", ["title": "evil"]), .call("tasks_list")], [.text("ok")]], profile: .assistant,
            tools: tools)

        let declared = Set(model.requests[0].tools.map(\.name))
        #expect(declared.contains("tasks_list") && declared.contains("knowledge_search"))
        #expect(declared.isDisjoint(with: ["tasks_add", "tasks_complete", "memories_save", "knowledge_capture"]))
        #expect(events.questions.isEmpty)
        #expect(try await tasks.isEmpty)
        #expect(try await bench.receipts(turn).map(\.tool) == ["tasks_list"])
    }

    @Test func workWithFilesHasNoneOfTheseTools() async throws {
        let tools = KeptTool.all(bench.database) + [ProbeTool()]
        let (events, model, turn) = try await bench.run(
            [[.call("tasks_list"), .call("tasks_add", ["title": "x"])], [.text("ok")]], tools: tools)

        #expect(model.requests[0].tools.map(\.name) == ["probe"])
        #expect(events.finishedCalls.allSatisfy { !$0.succeeded })
        #expect(try await bench.receipts(turn).isEmpty)
    }

    @Test func theWholeLifeOfAHandoff() async throws {
        _ = try await run("add task Buy milk")
        let (made, turn) = try await run("create handoff Before the holidays, then list handoffs")

        let handoff = try #require(try await KeptStore(bench.database).list(.handoff).first)
        #expect(handoff.provenance.run == turn.id.text)
        #expect(made.questions.map(\.tool) == ["handoffs_create"])
        let restored = try await run("restore handoff Before the holidays").events
        // Context and nothing else: nobody is asked, nothing changes, and the handoff stays.
        #expect(restored.questions.isEmpty && restored.end?.reason == .stop)
        #expect(restored.text.contains("as context only") && restored.text.contains("- Buy milk ("))
        #expect(try await KeptStore(bench.database).item(handoff.id) == handoff)
        #expect(try await tasks.count == 1)
        _ = try await run("停用交接 Before the holidays")
        let refused = try await run("恢复交接 Before the holidays").events
        #expect(refused.text.contains("The handoff \"Before the holidays\" is not in use any more."))
        #expect(try await run("list handoffs").events.text == "There are no active handoffs.")
        #expect(try await run("inspect handoff Before").events.text.contains("[handoff, out of use]"))
    }

    @Test func whatIsDeletedIsShownFirstWithWhatGoesWithIt() async throws {
        for number in 1...5 { _ = try await run("capture note: thing \(number) of five") }
        let store = KeptStore(bench.database)
        let third = try await store.find("thing 3 of five", kind: .knowledge)
        let digest = try #require(try await store.list(.knowledge, type: "digest").first)

        let refused = try await run("delete knowledge thing 3 of five", answer: { _ in .refused }).events
        let shown = try #require(refused.questions.first?.shown)
        #expect(shown.contains("Deletes the note \"thing 3 of five\" (\(third.id.text.prefix(8)))"))
        #expect(shown.contains("- the digest \"\(digest.title)\""))
        #expect(try await store.count(.knowledge) == 6)
        // What is shown is what goes: a handoff that names the item meanwhile is one more than was agreed to.
        let contents = ["decisions": .array([["id": .string(third.id.text), "title": "x"]])] as JSONObject
        let handoff = KeptItem(
            kind: .handoff, title: "h", state: "active", extras: ["handoff": .object(contents)])
        let database = bench.database
        let changed = try await run(
            "delete knowledge thing 3 of five",
            meanwhile: { try await database.write { try $0.add(handoff) } }
        ).events
        #expect(changed.text.contains("is not what was shown, so nothing was deleted"))
        let done = try await run("delete knowledge thing 3 of five").events
        #expect(done.text.contains("and 2 made of it"))
        #expect(try await store.count() == 4)
        let missing = try await run("delete task nothing like it").events
        #expect(missing.questions.isEmpty && missing.text.contains("There is no task"))
    }

    @Test func generatingWithoutAModelIsRefused() async throws {
        let loop = AgentLoop(model: ToolsOnly(), database: bench.database)
        let turn = await bench.turns.start(
            key: "g", loop: loop, request: TurnRequest(messages: [Message(role: .user, content: "hi")]), accept: {},
            record: { _ in })

        let error = await #expect(throws: InputError.self) { for try await _ in turn.events() {} }
        #expect(error?.code == "no_model")
    }

    @Test func descriptionsAreGeneral() {
        let vendors = [
            "openai", "anthropic", "claude", "gpt", "google", "apple", "microsoft", "llama", "qwen", "dolphin",
        ]
        for tool in KeptTool.all(bench.database) {
            let text = (tool.declaration.description + tool.declaration.parameters.text()).lowercased()
            for vendor in vendors { #expect(!text.contains(vendor), "\(tool.declaration.name) names \(vendor)") }
        }
    }
}

/// A probe that also takes a state, as the tool it stands for does.
private struct DeclaredAs: Tool {
    let probe: ProbeTool
    let declaration: ToolDeclaration
    var effect: ToolEffect { probe.effect }

    init(_ probe: ProbeTool, state: Bool) {
        self.probe = probe
        declaration = ToolDeclaration(
            name: probe.name, description: "Lists.",
            parameters: ["type": "object", "properties": ["state": ["type": "string"]], "additionalProperties": false])
    }

    func run(_ arguments: JSONObject, in context: ToolContext) async -> ToolResult {
        await probe.run(arguments, in: context)
    }
}
