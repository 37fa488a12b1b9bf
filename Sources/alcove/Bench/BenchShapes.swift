internal import AlcoveCore

/// The shapes of a conversation that decide how quick a first word is, on one model.
///
/// All share a beginning of some 2,000 tokens, as an agent's instructions and tools are. Answers are greedy and short:
/// what is measured is how long the person waits.
struct BenchShapes {
    /// One measured answer.
    struct Shape: Sendable {
        var name: String
        /// Seconds from the question to the first token.
        var firstToken: Double
        var promptTokens: Int
        var reusedTokens: Int
        var text: String
        var calls: [ToolCall] = []
    }

    let load: @Sendable (_ checkpoints: String?) async throws -> LoadedEngine
    let checkpoints: String
    let prefixTokens: Int

    /// An engine, and how to give it back.
    struct LoadedEngine: Sendable {
        var model: any LanguageModel
        var unload: @Sendable () async -> Void
    }

    private static let tool = ToolDeclaration(
        name: "read_file", description: "Reads a file.",
        parameters: [
            "type": "object", "properties": ["path": ["type": "string", "enum": ["a.txt"]]], "required": ["path"],
        ])
    private static let question = "What is the capital of France? Answer in one word."

    func run(_ report: (Shape) -> Void) async throws {
        var engine = try await load(nil)
        let rules = try await rules(for: engine.model)
        try report(await measure("first chat, cold", engine.model, chat(rules, Self.question)))
        await engine.unload()

        // As the host does a second after it has loaded a model: the instructions are read, and thrown away with the answer.
        engine = try await load(nil)
        _ = try await measure("", engine.model, chat(rules, "Hello"), tokens: 1)
        try report(await measure("first chat, warmed", engine.model, chat(rules, Self.question)))
        await engine.unload()

        engine = try await load(checkpoints)
        let first = try await measure("", engine.model, chat(rules, "Who wrote Faust?"))
        var messages = chat(rules, "Who wrote Faust?")
        messages += [Message(role: .assistant, content: first.text), Message(role: .user, content: "And when?")]
        try report(await measure("follow-up", engine.model, messages))
        try report(await measure("new chat", engine.model, chat(rules, Self.question)))
        for words in ["Write about the sea.", String(repeating: "One two three. ", count: 200), "What is a fox?"] {
            _ = try await measure("", engine.model, [Message(role: .user, content: words)])
        }
        try report(await measure("new chat after unrelated prompts", engine.model, chat(rules, Self.question)))

        var story = chat(rules, "Tell me a long story.")
        let stopped = try await measure("", engine.model, story, tokens: 200, stopAfter: 12)
        story += [Message(role: .assistant, content: stopped.text), Message(role: .user, content: "Go on.")]
        try report(await measure("after Stop", engine.model, story))

        // The model's own call, held to its form: what follows goes on from the tokens it wrote.
        var work = chat(rules, "What is in a.txt?")
        let call = try await measure("", engine.model, work, tokens: 64, tools: .required)
        work.append(Message(role: .assistant, content: call.text.isEmpty ? nil : call.text, toolCalls: call.calls))
        work += call.calls.map {
            Message(role: .tool, content: "    1 | hello", toolCallID: $0.id, toolName: $0.name)
        }
        try report(await measure("after a tool round", engine.model, work, tools: .auto))
        try report(await measure("thinking toggled", engine.model, chat(rules, "Why is the sky blue?"), thinking: true))
        await engine.unload()

        engine = try await load(checkpoints)
        try report(await measure("next launch", engine.model, chat(rules, Self.question)))
        await engine.unload()
    }

    private func chat(_ rules: String, _ question: String) -> [Message] {
        [Message(role: .system, content: rules), Message(role: .user, content: question)]
    }

    /// Instructions of about as many tokens as wanted.
    private func rules(for model: any LanguageModel) async throws -> String {
        var rules = ""
        var number = 1
        while true {
            for _ in 0..<10 {
                rules += "Rule \(number): answer question number \(number * 7) politely, briefly and truthfully.\n"
                number += 1
            }
            let request = GenerationRequest(messages: chat(rules, "?"))
            if try await model.promptTokens(of: request) >= prefixTokens { return rules }
        }
    }

    private func measure(
        _ name: String, _ model: any LanguageModel, _ messages: [Message], tokens: Int = 16, stopAfter: Int? = nil,
        thinking: Bool = false, tools: ToolChoice? = nil
    ) async throws -> Shape {
        var request = GenerationRequest(messages: messages, thinking: thinking, maxTokens: tokens)
        if let tools {
            request.tools = [Self.tool]
            request.toolChoice = tools
            request.parallelToolCalls = false
        }
        request.sampling.temperature = 0
        let start = Platform.monotonicNanoseconds
        var shape = Shape(name: name, firstToken: 0, promptTokens: 0, reusedTokens: 0, text: "")
        var pieces = 0
        for try await event in model.generate(request) {
            switch event {
            case .text(let piece):
                if pieces == 0, shape.firstToken == 0 { shape.firstToken = seconds(since: start) }
                shape.text += piece
                pieces += 1
                if pieces == stopAfter { request.stopSignal.set() }
            case .toolCall(let call): shape.calls.append(call)
            case .reasoning, .toolCallPart: if shape.firstToken == 0 { shape.firstToken = seconds(since: start) }
            case .finished(_, let usage):
                if shape.firstToken == 0 { shape.firstToken = usage.promptSeconds }
                shape.promptTokens = usage.promptTokens
                shape.reusedTokens = usage.reusedTokens
            default: continue
            }
        }
        return shape
    }

    private func seconds(since start: UInt64) -> Double { Double(Platform.monotonicNanoseconds - start) / 1e9 }
}
