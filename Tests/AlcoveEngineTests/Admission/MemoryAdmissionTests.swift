import AlcoveCore
import Synchronization
import Testing

@testable import AlcoveEngine

/// What does not fit is refused, made smaller or made to wait, with a simulated limit.
@Suite(.serialized) struct MemoryAdmissionTests {
    /// Memory that may still be taken, as the test likes.
    private final class Spare: Sendable {
        private let bytes: Mutex<UInt64>
        init(_ bytes: UInt64) { self.bytes = Mutex(bytes) }
        var value: UInt64 {
            get { bytes.withLock { $0 } }
            set { bytes.withLock { $0 = newValue } }
        }
    }

    private func options(_ spare: Spare, context: Int = 8192) -> LlamaEngine.Options {
        var options = LlamaEngine.Options()
        options.contextLength = context
        options.threads = 1
        options.spareBytes = { spare.value }
        return options
    }

    private func load(_ spare: Spare, context: Int = 8192, step: Int? = nil) async throws -> LlamaEngine {
        var options = options(spare, context: context)
        options.cellStep = step
        return try await LlamaEngine.load(path: StarterModel.path, options: options)
    }

    private func long(_ words: Int) -> GenerationRequest {
        .question(String(repeating: "one two three four ", count: words / 4), maxTokens: 4)
    }

    @Test func theNeedIsWhatTheLibraryTakes() async throws {
        let need = try MemoryNeed(GGUFHeader(path: StarterModel.path), cacheType: .f16)
        #expect(need.cacheBytesPerToken == 30 * 3 * 64 * 2 * 2)
        #expect(need.weightBytes == 143_025_408)

        let engine = try await load(Spare(.max / 2), context: 4096)
        let before = MemoryReading.current.chargedBytes
        _ = try await Answer.collect(engine.generate(.question("Hello", maxTokens: 2)))
        let taken = MemoryReading.current.chargedBytes - before
        let shape = ContextHandle.Shape(cells: 2048, sequences: 3)
        await engine.unload()

        #expect(taken >= UInt64(need.cacheBytesPerToken) * 2048 * 3)
        #expect(taken <= need.contextBytes(shape) + 16 << 20)
    }

    @Test func aModelThatDoesNotFitIsRefusedWithBothNumbers() async throws {
        await #expect {
            _ = try await load(Spare(150_000_000))
        } throws: { error in
            let error = error as? EngineError
            return error?.code == "model_needs_memory" && error?.place == .space
                && error?.message
                    == "SmolLM2-135M-Instruct.Q8_0.gguf needs 265 MB of memory (143 MB of weights, 122 MB for the shortest "
                    + "chat), and 150 MB are free."
        }
    }

    @Test func aChatIsMadeShorterThanWantedAndThatIsSaid() async throws {
        let engine = try await load(Spare(400_000_000))
        let length = engine.description.contextLength
        let notices = engine.notices
        await engine.unload()

        #expect((1_024...6_000).contains(length))
        #expect(length % 256 == 0)
        #expect(
            notices.contains { $0.hasPrefix("There is memory for chats of \(length) of 8192 tokens: 8192 would need ") }
        )
        #expect(notices.contains { $0.hasSuffix(" MB with the weights, and 400 MB are free.") })
    }

    @Test func aLongerChatGetsItsRoomFromTheOthers() async throws {
        let spare = Spare(.max / 2)
        let engine = try await load(spare)
        let short = try await Answer.collect(engine.generate(.question("What is the capital of France?", maxTokens: 8)))
        #expect(engine.queue.places == 3)

        spare.value = 30_000_000
        let answer = try await Answer.collect(engine.generate(long(2_080)))
        #expect(answer.usage.promptTokens > 2_048)
        #expect(engine.queue.places == 1)

        // One by one now, and all are answered.
        async let first = Answer.collect(engine.generate(.question("What is the capital of France?", maxTokens: 8)))
        async let second = Answer.collect(engine.generate(.question("What is the capital of France?", maxTokens: 8)))
        let both = try await [first, second]
        #expect(both.map(\.text) == [short.text, short.text])
        #expect(engine.queue.places == 1)

        // With memory there are places again.
        spare.value = .max / 2
        async let third = Answer.collect(engine.generate(.question("Who wrote Faust?", maxTokens: 8)))
        async let fourth = Answer.collect(engine.generate(.question("What is a fox?", maxTokens: 8)))
        async let fifth = Answer.collect(engine.generate(.question("What is a tree?", maxTokens: 8)))
        _ = try await [third, fourth, fifth]
        await engine.unload()
    }

    @Test func aChatThatDoesNotFitIsRefusedAndTheNextIsAnswered() async throws {
        let spare = Spare(.max / 2)
        let engine = try await load(spare)
        _ = try await Answer.collect(engine.generate(.question("Hello", maxTokens: 2)))

        spare.value = 26_000_000
        await #expect {
            _ = try await Answer.collect(engine.generate(long(6_600)))
        } throws: { error in
            let error = error as? EngineError
            let message = error?.message ?? ""
            return error?.code == "context_needs_memory"
                && message.hasPrefix("A chat of 8192 tokens needs ") && message.hasSuffix(" MB are free.")
        }
        let answer = try await Answer.collect(engine.generate(.question("Hello", maxTokens: 2)))
        await engine.unload()
        #expect(answer.usage.completionTokens > 0)
    }

    @Test func anAnswerThatOutgrowsMemoryEndsAndSaysWhy() async throws {
        let spare = Spare(.max / 2)
        let engine = try await load(spare, context: 2048, step: 256)
        var request = GenerationRequest.question("Laugh!", maxTokens: 1_000)
        request.responseSchema = ["const": .string(String(repeating: "ha ", count: 1_000))]
        request.stopsRepetition = false
        var answer = Answer()
        for try await event in engine.generate(request) {
            answer.take(event)
            spare.value = 0
        }
        await engine.unload()

        #expect(answer.reason == .length)
        #expect((100...260).contains(answer.usage.promptTokens + answer.usage.completionTokens))
        #expect(answer.notices.contains { $0.hasPrefix("A chat of 512 tokens needs ") })
    }

    @Test func whatTheSystemDoesNotSayLimitsNothing() {
        var need = MemoryAdmissionTests.need
        let silent = MemoryAdmission(need: need) { nil }
        let full = MemoryAdmission(need: need) { 0 }
        let shape = ContextHandle.Shape(cells: 2048, sequences: 3)

        #expect(silent.allows(shape, insteadOf: nil))
        #expect(!full.allows(shape, insteadOf: nil))
        #expect(!full.allows(shape, insteadOf: shape))  // the reserve is not there
        #expect(silent.tokens(wanted: 8192) == 8192)
        need.cacheBytesPerToken = 0
        #expect(MemoryAdmission(need: need) { 0 }.tokens(wanted: 8192) == 8192)
    }

    private static let need: MemoryNeed = {
        let folder = GGUFFolder()
        let header = try? GGUFHeader(path: folder.file(GGUFBuilder.tiny().bytes()))
        guard let header, let need = try? MemoryNeed(header, cacheType: .f16) else {
            fatalError("the builder's file is sound")
        }
        return need
    }()

    /// Layers that forget do not grow with a chat.
    @Test(arguments: TinyModel.allCases) func layersThatForgetAreNotCountedPerToken(tiny: TinyModel) throws {
        let (folder, path) = tiny.file()
        let header = try GGUFHeader(path: path), summary = try ModelFileSummary(header)
        let layers = CacheLayers(summary, header)
        withExtendedLifetime(folder) {}

        let expected: (Double, Double) =
            switch tiny {
            case .llama: (1, 0)
            case .qwen35: (0.25, 0)
            case .gemma3: (1 / 3, 2 / 3)
            case .gemma4: (0.2, 0.8)
            }
        #expect(abs(layers.growing - expected.0) < 1e-9)
        #expect(abs(layers.windowed - expected.1) < 1e-9)
    }
}
