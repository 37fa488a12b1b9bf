import AlcoveCore
import AlcoveEngine
import Foundation
import Testing

@testable import AlcoveEngine

/// Keys and values in fewer bits, on the real model.
@Suite(.serialized) struct CacheTypeTests {
    private static let rules = Message(
        role: .system, content: (1...20).map { "Rule \($0): be kind on day \($0 * 7)." }.joined(separator: " "))

    private func load(
        _ type: CacheType, folder: String? = nil, always: Bool = false, path: String = StarterModel.path
    ) async throws -> LlamaEngine {
        var options = LlamaEngine.Options()
        options.contextLength = 2048
        options.threads = 1
        options.cacheType = type
        options.checkpointFolder = folder
        options.alwaysSpeculates = always
        return try await LlamaEngine.load(path: path, options: options)
    }

    private func capital(_ system: Message? = nil) -> GenerationRequest {
        GenerationRequest(
            messages: [system].compactMap { $0 } + [
                Message(role: .user, content: "What is the capital of France? Answer in one word.")
            ], sampling: .greedy, maxTokens: 24)
    }

    @Test(arguments: CacheType.allCases) func everyStorageAnswers(type: CacheType) async throws {
        let engine = try await load(type)
        let answer = try await Answer.collect(engine.generate(capital()))
        let again = try await Answer.collect(engine.generate(capital()))
        await engine.unload()

        #expect(answer.text.contains("Paris"))
        #expect(engine.notices.isEmpty)
        #expect(again.text == answer.text)
        #expect(again.usage.reusedTokens > 0)
    }

    @Test func fewerBitsTakeLessMemory() async throws {
        var sizes: [Int] = []
        for type in CacheType.allCases {
            let handle = try ModelHandle(path: StarterModel.path) { _ in true }
            let context = try ContextHandle(
                model: handle, shape: ContextHandle.Shape(cells: 512, sequences: 1), cacheType: type,
                threads: ComputeThreads(count: 1),
                cancellation: Cancellation())
            for position in 0..<256 { _ = context.add(5, position: position, sequence: 0, wantsLogits: false) }
            #expect(context.decode() == 0)
            sizes.append(context.state(of: 0).count)
        }
        // 16, 8.5 and 4.5 bits of each number.
        let shares = sizes.map { Double($0) / Double(sizes[0]) }
        #expect((0.51...0.55).contains(shares[1]))
        #expect((0.26...0.30).contains(shares[2]))
    }

    @Test(arguments: [CacheType.eightBits, .fourBits]) func guessingAheadChangesNoAnswer(type: CacheType) async throws {
        var texts: [String] = []
        for speculates in [false, true] {
            let engine = try await load(type, always: true)
            var request = GenerationRequest.question(
                "Write the numbers from 1 to 30, each on a line, like \"Number 1 is a number\".", maxTokens: 100)
            request.speculates = speculates
            let answer = try await Answer.collect(engine.generate(request))
            #expect((answer.usage.acceptedTokens > 0) == speculates)
            texts.append(answer.text)
            await engine.unload()
        }
        #expect(texts[0] == texts[1])
    }

    /// Heads of 24 numbers do not fill the blocks of 32 in which fewer bits are stored.
    @Test func aModelThatCannotKeepThemSoSaysItAndAnswers() async throws {
        var file = try Data(contentsOf: URL(fileURLWithPath: StarterModel.path))
        // The same tensors read as 24 heads of 24, of which 8 have keys, in place of 9 heads of 64, of which 3 have.
        for (key, value) in [
            ("llama.attention.head_count", 24), ("llama.attention.head_count_kv", 8),
            ("llama.rope.dimension_count", 24),
        ] {
            let wanted = Data(key.utf8) + Data([4, 0, 0, 0])
            let place = try #require(file.range(of: wanted))
            file[place.upperBound] = UInt8(value)
        }
        let path = NSTemporaryDirectory() + "alcove-heads-" + TurnID().text + ".gguf"
        try file.write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }

        let engine = try await load(.eightBits, path: path)
        let answer = try await Answer.collect(engine.generate(capital()))
        await engine.unload()

        #expect(engine.notices.count == 1)
        #expect(engine.notices.first?.hasPrefix("Keys and values cannot be kept as q8_0 with this model (") == true)
        #expect(answer.usage.completionTokens > 0)
    }

    @Test func aCheckpointOfAnotherStorageIsNotRead() async throws {
        let folder = NSTemporaryDirectory() + "alcove-cache-type-" + TurnID().text
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var reused: [Int] = []
        for type in [CacheType.f16, .f16, .eightBits, .eightBits] {
            let engine = try await load(type, folder: folder)
            let answer = try await Answer.collect(engine.generate(capital(Self.rules)))
            #expect(answer.text.contains("Paris"))
            reused.append(answer.usage.reusedTokens)
            await engine.unload()
        }
        #expect(reused.map { $0 > 100 } == [false, true, false, true], "\(reused)")
    }
}
