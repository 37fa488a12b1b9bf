import AlcoveCore
import AlcoveEngine
import Foundation
import Testing

/// Turns of all kinds for long, on the real model: nothing fails, nothing grows, and the end answers as the beginning did.
///
/// `ALCOVE_SOAK_TURNS` says how many; 200 by hand, fewer where it is run each time.
@Suite(.serialized) struct SoakTests {
    private static let turns = ProcessInfo.processInfo.environment["ALCOVE_SOAK_TURNS"].flatMap { Int($0) } ?? 48

    /// The same turns each time.
    private struct Dice: RandomNumberGenerator {
        var state: UInt64 = 0x5EED

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    private enum Kind: CaseIterable { case short, long, followUp, stopped, stoppedEarly, left, tools, schema, several }

    private static let words = [
        "sea", "boat", "fox", "tree", "rain", "stone", "bread", "lamp", "river", "clock", "house", "bird",
    ]

    private func text(_ count: Int, _ dice: inout Dice) -> String {
        (0..<count).map { _ in Self.words.randomElement(using: &dice) ?? "" }.joined(separator: " ")
    }

    private func request(_ text: String, _ dice: inout Dice) -> GenerationRequest {
        var request = GenerationRequest.question(text, maxTokens: Int.random(in: 1...14, using: &dice))
        if Bool.random(using: &dice) { request.sampling = SamplingOptions() }
        return request
    }

    @Test func theEndIsAsTheBeginning() async throws {
        var options = LlamaEngine.Options()
        options.contextLength = 2048
        options.threads = 1
        options.cellStep = 512
        options.alwaysSpeculates = true
        // What is kept for speed alone would hide what is lost.
        options.keptBytes = 48 << 20
        let engine = try await LlamaEngine.load(path: StarterModel.path, options: options)
        let capital = GenerationRequest.question("What is the capital of France? Answer in one word.")
        let first = try await Answer.collect(engine.generate(capital))

        var dice = Dice()
        var chat: [Message] = []
        var sizes: [UInt64] = []
        for turn in 0..<Self.turns {
            let kind = Kind.allCases[turn % Kind.allCases.count]
            try await play(kind, turn, on: engine, &chat, &dice)
            if turn % 6 == 5 { sizes.append(Platform.residentBytes) }
        }
        var fresh = capital
        fresh.stopSignal = StopSignal()
        let last = try await Answer.collect(engine.generate(fresh))

        #expect(last.text == first.text)
        #expect(first.text.contains("Paris"))
        #expect(engine.queue == ModelQueue(places: 3))
        let middle = sizes[sizes.count / 2], end = sizes[sizes.count - 1]
        let bound = middle + 96_000_000
        #expect(end < bound, "\(sizes)")
        await engine.unload()
    }

    private func play(
        _ kind: Kind, _ turn: Int, on engine: LlamaEngine, _ chat: inout [Message], _ dice: inout Dice
    ) async throws {
        switch kind {
        case .short: try await ask(request("Say something about the \(text(1, &dice)).", &dice), of: engine, turn)
        case .long:
            try await ask(
                request(text(Int.random(in: 60...420, using: &dice), &dice) + ". What was that?", &dice), of: engine,
                turn)
        case .followUp:
            chat.append(Message(role: .user, content: "And the \(text(2, &dice))?"))
            var request = request("", &dice)
            request.messages = chat
            let answer = try await ask(request, of: engine, turn)
            chat.append(Message(role: .assistant, content: answer.text.isEmpty ? "Well." : answer.text))
            if chat.count > 12 { chat = [] }
        case .stopped, .stoppedEarly:
            var request = request(text(200, &dice), &dice)
            request.maxTokens = 200
            var answer = Answer()
            for try await event in engine.generate(request) {
                answer.take(event)
                if kind == .stoppedEarly || answer.pieces.count == 3 { request.stopSignal.set() }
            }
            expectEnd(answer, turn)
        case .left:
            for try await event in engine.generate(request("Tell me of the \(text(3, &dice)).", &dice)) {
                if case .text = event { break }
            }
        case .tools:
            var request = request("What is the weather in Rome?", &dice)
            request.tools = [ToolCallTests.weather, ToolCallTests.add]
            request.toolChoice = .required
            request.maxTokens = 96
            request.sampling = .greedy
            let asked = try await ask(request, of: engine, turn)
            guard let call = asked.calls.first else { return }
            request.toolChoice = .none
            request.maxTokens = 8
            request.messages.append(Message(role: .assistant, content: nil, toolCalls: [call]))
            request.messages.append(
                Message(role: .tool, content: "It rains.", toolCallID: call.id, toolName: call.name))
            try await ask(request, of: engine, turn)
        case .schema:
            var request = request("A boat, please.", &dice)
            request.responseSchema = [
                "type": "object", "properties": ["boat": ["type": "boolean"]], "required": ["boat"],
            ]
            request.maxTokens = 24
            try await ask(request, of: engine, turn)
        case .several:
            let requests = (0..<4).map { _ in request(text(30, &dice), &dice) }
            try await withThrowingTaskGroup(of: Answer.self) { group in
                for request in requests {
                    group.addTask { try await Answer.collect(engine.generate(request)) }
                }
                for try await answer in group { expectEnd(answer, turn) }
            }
        }
    }

    private func expectEnd(_ answer: Answer, _ turn: Int) {
        #expect(answer.reason != nil, "turn \(turn)")
        #expect(answer.reason != .error, "turn \(turn)")
    }

    @discardableResult
    private func ask(_ request: GenerationRequest, of engine: LlamaEngine, _ turn: Int) async throws -> Answer {
        let answer = try await Answer.collect(engine.generate(request))
        expectEnd(answer, turn)
        #expect(answer.reason != .cancelled, "turn \(turn)")
        let most = request.maxTokens ?? 0
        #expect(answer.usage.completionTokens <= most)
        return answer
    }
}
