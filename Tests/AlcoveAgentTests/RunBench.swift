import AlcoveAgent
import AlcoveCore
import AlcoveStorage
import Foundation
import Synchronization
import TestFolder

/// What the tests of runs share: a store in memory, a workspace of their own, a scripted model, a person who answers.
final class RunBench: Sendable {
    let database: Database
    let broker = ApprovalBroker()
    let workspace: String
    var folder: String { place.path }
    private let place: TemporaryFolder
    let switches = Mutex(Switches())
    let grants = Grants()
    let turns: Turns

    init() async throws {
        database = try await Database.inMemory()
        turns = Turns(log: TurnLog(database))
        place = try TemporaryFolder()
        workspace = try place.folder("workspace")
    }

    /// Runs a turn to its end; `answer` decides on each question.
    func run(
        _ answers: [[ScriptedModel.Step]], profile: RunProfile? = .agent, tools: [any Tool],
        contextLength: Int = 4096, messages: [Message] = [Message(role: .user, content: "Do it.")],
        toolChoice: ToolChoice = .auto,
        answer: @escaping @Sendable (ApprovalNote) -> ApprovalOutcome? = { _ in .allowed }
    ) async throws -> (events: [TurnEvent.Body], model: ScriptedModel, turn: Turn) {
        let model = ScriptedModel(answers: answers, contextLength: contextLength)
        let turn = try await start(
            model, profile: profile, tools: tools, messages: messages, toolChoice: toolChoice)
        var events: [TurnEvent.Body] = []
        for try await event in turn.events() {
            events.append(event.body)
            if case .approvalAsked(let note) = event.body, let outcome = answer(note) {
                try await broker.answer(note.id, signature: note.signature, outcome: outcome, turn: turn.id)
            }
        }
        return (events, model, turn)
    }

    func start(
        _ model: ScriptedModel, profile: RunProfile? = .agent, tools: [any Tool],
        messages: [Message] = [Message(role: .user, content: "Do it.")], thinking: Bool = false,
        toolChoice: ToolChoice = .auto
    ) async throws -> Turn {
        let loop = AgentLoop(
            model: model, tools: try ToolRegistry(tools), broker: broker,
            switches: { [self] in switches.withLock { $0 } }, grants: grants, database: database,
            artifacts: ArtifactStore(folder: folder + "/artifacts"))
        return await turns.start(
            key: "chat", loop: loop,
            request: TurnRequest(
                messages: messages, thinking: thinking, toolChoice: toolChoice, profile: profile,
                workspace: workspace),
            accept: {},
            record: { _ in })
    }

    func receipts(_ turn: Turn) async throws -> [Receipt] { try await TurnLog(database).receipts(of: turn.id) }
}

/// A tool that does what the test says and remembers what it was asked.
final class ProbeTool: Tool {
    let name: String
    let effect: ToolEffect
    let observationLimit: Int
    private let result: @Sendable (JSONObject, ToolContext) async -> ToolResult
    private let asked = Mutex([JSONObject]())

    init(
        _ name: String = "probe", effect: ToolEffect = .reads, observationLimit: Int = 16_000,
        result: @escaping @Sendable (JSONObject, ToolContext) async -> ToolResult = { _, _ in
            ToolResult(succeeded: true, text: "fine")
        }
    ) {
        self.name = name
        self.effect = effect
        self.observationLimit = observationLimit
        self.result = result
    }

    var calls: [JSONObject] { asked.withLock { $0 } }

    var declaration: ToolDeclaration {
        ToolDeclaration(
            name: name, description: "Tells something.",
            parameters: [
                "type": "object", "properties": ["q": ["type": "string"]], "additionalProperties": false,
            ])
    }

    func run(_ arguments: JSONObject, in context: ToolContext) async -> ToolResult {
        asked.withLock { $0.append(arguments) }
        return await result(arguments, context)
    }
}

extension ScriptedModel.Step {
    /// A call whose id is made of its name and text.
    static func call(_ name: String, _ arguments: JSONValue = [:], id: String = TurnID().text) -> ScriptedModel.Step {
        .call(ToolCall(id: id, name: name, arguments: arguments.text()))
    }
}

extension [TurnEvent.Body] {
    var finishedCalls: [ToolNote] { compactMap { if case .toolFinished(let note) = $0 { note } else { nil } } }
    var questions: [ApprovalNote] { compactMap { if case .approvalAsked(let note) = $0 { note } else { nil } } }
    var outcomes: [ApprovalOutcome] {
        compactMap { if case .approvalAnswered(_, _, let outcome) = $0 { outcome } else { nil } }
    }
    var notices: [String] { compactMap { if case .notice(let text) = $0 { text } else { nil } } }
    var text: String { compactMap { if case .text(let text) = $0 { text } else { nil } }.joined() }
    var reasoning: String { compactMap { if case .reasoning(let text) = $0 { text } else { nil } }.joined() }
    var end: TurnEnd? { if case .finished(let end)? = last { end } else { nil } }
}
