import AlcoveCore
import AlcoveEngine
import Foundation
import Testing

/// Beginnings that many chats share, on the real model: found again after other prompts and by the next start, and never
/// told from a cold run by the answer.
@Suite(.serialized) struct PrefixReuseTests {
    private let folder = NSTemporaryDirectory() + "alcove-checkpoints-" + TurnID().text

    /// Some 700 tokens of instructions.
    private static let rules = Message(
        role: .system,
        content: (1...60).map { "Rule \($0): answer question number \($0 * 7) politely and briefly." }.joined(
            separator: "\n"))

    private func chat(_ question: String, system: Message? = PrefixReuseTests.rules) -> GenerationRequest {
        var request = GenerationRequest(
            messages: [system].compactMap { $0 } + [Message(role: .user, content: question)], maxTokens: 24)
        request.sampling.temperature = 0
        return request
    }

    private func load(keeping: Bool = false) async throws -> LlamaEngine {
        var options = LlamaEngine.Options()
        options.contextLength = 4096
        options.threads = 1
        options.checkpointFolder = keeping ? folder : nil
        return try await LlamaEngine.load(path: StarterModel.path, options: options)
    }

    private func answer(_ engine: LlamaEngine, _ request: GenerationRequest) async throws -> Answer {
        try await Answer.collect(engine.generate(request))
    }

    private let unrelated = [
        "Write about the sea.", String(repeating: "One two three. ", count: 120), "What is a fox?",
    ]

    @Test func aNewChatIsQuickAlsoAfterOtherPrompts() async throws {
        let cold = try await load()
        let expected = try await answer(cold, chat("What is the capital of France?"))
        #expect(expected.usage.reusedTokens == 0)
        #expect(expected.usage.missReason == "first prompt")
        await cold.unload()

        let engine = try await load()
        _ = try await answer(engine, chat("Who wrote Faust?"))
        for question in unrelated { _ = try await answer(engine, chat(question, system: nil)) }
        let warm = try await answer(engine, chat("What is the capital of France?"))

        #expect(warm.text == expected.text)
        #expect(warm.usage.reusedTokens > 600)
        // All but the message and what stands around it.
        #expect(warm.usage.promptTokens - warm.usage.reusedTokens < 30)
        await engine.unload()
    }

    @Test func aSeedGivesTheSameAnswerWhateverWasAskedBefore() async throws {
        let engine = try await load()
        var request = chat("Invent a name for a cat.", system: nil)
        request.sampling.temperature = 1.5
        request.sampling.seed = 42
        let first = try await answer(engine, request)
        for question in unrelated { _ = try await answer(engine, chat(question, system: nil)) }
        var longer = request
        longer.messages[0].content = "Invent a name for a cat. And one for a dog."
        longer.sampling.seed = nil
        _ = try await answer(engine, longer)
        let again = try await answer(engine, request)

        #expect(again.text == first.text)
        #expect(again.usage.reusedTokens == 0)
        #expect(again.usage.missReason == "a seed was given")
        await engine.unload()
    }

    @Test func aChatThatHadToLeaveComesBackWhole() async throws {
        let engine = try await load()
        var request = chat("Who wrote Faust?")
        let first = try await answer(engine, request)
        for question in unrelated { _ = try await answer(engine, chat(question, system: nil)) }
        request.messages += [
            Message(role: .assistant, content: first.text), Message(role: .user, content: "And when?"),
        ]
        let next = try await answer(engine, request)

        // The whole first turn but perhaps its last token, which was told and not computed.
        #expect(next.usage.reusedTokens >= first.usage.promptTokens)
        #expect(next.usage.missReason == nil)
        await engine.unload()
    }

    @Test func theNextStartBeginsWhereThisOneLeftOff() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let cold = try await load()
        let expected = try await answer(cold, chat("What is the capital of France?"))
        await cold.unload()

        let first = try await load(keeping: true)
        _ = try await answer(first, chat("Who wrote Faust?"))
        await first.unload()
        let files = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(files.count == 1)

        let second = try await load(keeping: true)
        let warm = try await answer(second, chat("What is the capital of France?"))
        #expect(warm.text == expected.text)
        #expect(warm.usage.reusedTokens > 600)
        await second.unload()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == files)
    }

    @Test func aDamagedFileIsDeletedAndNotUsed() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let first = try await load(keeping: true)
        let short = Message(role: .system, content: String(repeating: "Be kind and brief. ", count: 12))
        _ = try await answer(first, chat("Who wrote Faust?", system: short))
        await first.unload()
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
        let whole = try #require(FileManager.default.contents(atPath: folder + "/" + name))
        for damage in [
            Data(), whole.prefix(100), whole.dropLast(1), Data("ALCK".utf8) + whole.dropFirst(8), whole + Data([0]),
        ] {
            try damage.write(to: URL(fileURLWithPath: folder + "/" + name))
            let engine = try await load(keeping: true)
            let again = try await answer(engine, chat("Who wrote Faust?", system: short))
            #expect(again.usage.reusedTokens == 0)
            await engine.unload()
            #expect(FileManager.default.contents(atPath: folder + "/" + name) == whole, "it was not written anew")
        }
    }

    @Test func atMostFourFilesAreKept() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let engine = try await load(keeping: true)
        for number in 0..<6 {
            let system = Message(
                role: .system, content: "Number \(number). " + String(repeating: "Be kind. ", count: 20))
            _ = try await answer(engine, chat("Hello", system: system))
        }
        await engine.unload()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 4)
    }

    @Test func aStoppedAnswerLosesNothing() async throws {
        let engine = try await load()
        var request = chat("Tell me a very long story.")
        request.maxTokens = 400
        var stopped = Answer()
        for try await event in engine.generate(request) {
            stopped.take(event)
            if stopped.pieces.count == 5 { request.stopSignal.set() }
        }
        #expect(stopped.reason == .cancelled)
        var next = chat("Tell me a very long story.")
        next.messages += [
            Message(role: .assistant, content: stopped.text), Message(role: .user, content: "Go on."),
        ]
        let answer = try await answer(engine, next)
        #expect(Double(answer.usage.reusedTokens) >= 0.98 * Double(stopped.usage.promptTokens))
        await engine.unload()
    }
}
