import AlcoveCore
import Foundation
import Testing

@testable import AlcoveEngine

/// What only serves speed can be had back, and no answer shows it.
@Suite(.serialized) struct MemoryReliefTests {
    private static let rules = Message(
        role: .system, content: (1...40).map { "Rule \($0): be kind on day \($0 * 7)." }.joined(separator: "\n"))

    private func load(folder: String? = nil, own: UInt64? = nil) async throws -> LlamaEngine {
        var options = LlamaEngine.Options()
        options.contextLength = 2048
        options.threads = 1
        options.checkpointFolder = folder
        options.ownBytes = own
        return try await LlamaEngine.load(path: StarterModel.path, options: options)
    }

    private func chat(_ question: String, system: Message? = MemoryReliefTests.rules) -> GenerationRequest {
        GenerationRequest(
            messages: [system].compactMap { $0 } + [Message(role: .user, content: question)], sampling: .greedy,
            maxTokens: 16)
    }

    @Test func whatIsGivenBackIsReadAgainFromDisk() async throws {
        let folder = NSTemporaryDirectory() + "alcove-relief-" + TurnID().text
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let engine = try await load(folder: folder)
        let first = try await Answer.collect(engine.generate(chat("What is the capital of France?")))
        let before = MemoryReading.current.chargedBytes

        let bytes = await engine.giveBackMemory()
        let after = MemoryReading.current.chargedBytes
        #expect(bytes > 10 << 20)
        #expect(
            before > after + UInt64(bytes) / 2, "\(before >> 20) MB before, \(after >> 20) after, \(bytes >> 20) told")
        #expect(await engine.giveBackMemory() == 0)

        let again = try await Answer.collect(engine.generate(chat("What is the capital of France?")))
        #expect(again.text == first.text)
        #expect(again.usage.reusedTokens > 400)
        #expect(again.usage.missReason == nil)
        await engine.unload()
        #expect(await engine.giveBackMemory() == 0)
    }

    @Test func anAnswerUnderWayIsNotTouched() async throws {
        let engine = try await load()
        var asked = chat("Tell me a story.")
        asked.maxTokens = 40
        let expected = try await Answer.collect(engine.generate(asked))
        _ = try await Answer.collect(engine.generate(chat("Who wrote Faust?", system: nil)))
        await engine.unload()

        let other = try await load()
        asked.stopSignal = StopSignal()
        var answer = Answer(), given: [Int] = []
        for try await event in other.generate(asked) {
            answer.take(event)
            if answer.pieces.count == 3, given.isEmpty { given.append(await other.giveBackMemory()) }
        }
        await other.unload()
        #expect(given.first ?? 0 > 0)
        #expect(answer.text == expected.text)
        #expect(answer.usage.completionTokens == expected.usage.completionTokens)
    }

    @Test func aSmallDeviceKeepsOneOfEach() async throws {
        let small = PrefixStore.Limits(memory: 4 << 30), large = PrefixStore.Limits(memory: 64 << 30)
        #expect((small.checkpoints, small.endStates) == (1, 1))
        #expect(small.bytes == 256 << 20)
        #expect((large.checkpoints, large.endStates) == (4, 4))
        #expect(large.bytes == 512 << 20)

        var store = PrefixStore(limits: small)
        for number in 0..<3 {
            let tokens = [Token](repeating: Token(number), count: 40)
            store.keep(tokens, [UInt8](repeating: 0, count: 64), .checkpoint)
            store.keep(tokens + [9], [UInt8](repeating: 0, count: 64), .endState)
        }
        #expect(store.entries.map(\.tokens.count).sorted() == [40, 41])
        #expect(store.entries.allSatisfy { $0.tokens.first == 2 })

        // And it still answers, with the chat before the last gone from memory.
        let engine = try await load(own: 2 << 30)
        let first = try await Answer.collect(engine.generate(chat("What is the capital of France?")))
        for word in ["sea", "fox", "tree", "stone"] {
            let long = Message(role: .system, content: String(repeating: "\(word) is a word. ", count: 30))
            _ = try await Answer.collect(engine.generate(chat("Hello", system: long)))
        }
        let again = try await Answer.collect(engine.generate(chat("What is the capital of France?")))
        #expect(again.text == first.text)
        await engine.unload()
    }
}
