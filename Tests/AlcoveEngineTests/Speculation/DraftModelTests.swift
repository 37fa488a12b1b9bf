import AlcoveCore
import Foundation
import Testing

@testable import AlcoveEngine

/// A smaller model guesses for a larger one: quicker or not, never another answer.
@Suite(.serialized) struct DraftModelTests {
    private static let prose = "Tell me a story about a lighthouse keeper."
    private static let list =
        "Write the numbers from 1 to 30, each on a line of its own, like \"Number 1 is a number\"."
    /// The starter model as its makers ship it: nearly the same answers, from other numbers.
    private static var shipped: String { StarterModel.folder + "/SmolLM2-135M-Instruct.Q4_1.gguf" }

    private func load(
        _ path: String = StarterModel.path, draft: String?, needed: Bool = true, context: Int = 2048
    ) async throws -> LlamaEngine {
        var options = LlamaEngine.Options()
        options.contextLength = context
        options.threads = 1
        options.alwaysSpeculates = true
        options.draft = draft
        options.needsDraft = needed
        return try await LlamaEngine.load(path: path, options: options)
    }

    private func request(_ text: String, maxTokens: Int = 120, speculates: Bool = true) -> GenerationRequest {
        var request = GenerationRequest.question(text, maxTokens: maxTokens)
        request.stopsRepetition = false
        request.likeliestTokens = 0
        request.speculates = speculates
        return request
    }

    @Test(arguments: [prose, list]) func greedyAnswersAreTheSameTokenByToken(text: String) async throws {
        let engine = try await load(draft: Self.shipped)
        let guessed = try await Answer.collect(engine.generate(request(text)))
        await engine.unload()
        let other = try await load(draft: nil)
        let plain = try await Answer.collect(other.generate(request(text, speculates: false)))
        await other.unload()

        #expect(guessed.text == plain.text)
        #expect(guessed.chances.map(\.chosen.bytes) == plain.chances.map(\.chosen.bytes))
        #expect(guessed.reason == plain.reason)
        #expect(plain.usage.draftedTokens == 0)
        // Words of its own, too: most of what the small one thinks is what the large one says.
        #expect(guessed.usage.draftedTokens > 60)
        #expect(2 * guessed.usage.acceptedTokens > guessed.usage.draftedTokens)
    }

    @Test func drawnAnswersFallFromTheSameDice() async throws {
        var asked = request(Self.prose, maxTokens: 80)
        asked.sampling = SamplingOptions()
        asked.sampling.seed = 11
        asked.sampling.temperature = 0.8
        asked.sampling.repetitionPenalty = 1.05
        let engine = try await load(draft: Self.shipped)
        let guessed = try await Answer.collect(engine.generate(asked))
        asked.speculates = false
        let plain = try await Answer.collect(engine.generate(asked))
        await engine.unload()

        #expect(guessed.text == plain.text)
        #expect(guessed.usage.acceptedTokens > 0)
        #expect(plain.usage.draftedTokens == 0)
    }

    /// Without a seed, over many draws: what is drawn third is drawn as often. Chi-squared of two samples, far below a
    /// chance of one in a million.
    @Test func drawsHaveTheSameDistribution() async throws {
        let (folder, path) = TinyModel.llama.file()
        let engine = try await load(path, draft: path, context: 512)
        var counts: [Bool: [String: Double]] = [true: [:], false: [:]]
        var accepted = 0
        let draws = 1_500
        for speculates in [true, false] {
            for _ in 0..<draws {
                var asked = request("ab", maxTokens: 3, speculates: speculates)
                asked.sampling = SamplingOptions()
                asked.sampling.temperature = 0.7
                asked.sampling.topK = 12
                let answer = try await Answer.collect(engine.generate(asked))
                accepted += answer.usage.acceptedTokens
                let third = answer.chances.last?.chosen.bytes ?? []
                counts[speculates]?[String(decoding: third, as: UTF8.self), default: 0] += 1
            }
        }
        await engine.unload()
        withExtendedLifetime(folder) {}

        let with = counts[true] ?? [:], without = counts[false] ?? [:]
        var statistic = 0.0, kinds = 0.0
        var rest = (0.0, 0.0)
        for word in Set(with.keys).union(without.keys) {
            let (a, b) = (with[word] ?? 0, without[word] ?? 0)
            // Rare ones together: the statistic is one of counts that are not tiny.
            guard a + b >= 20 else {
                rest = (rest.0 + a, rest.1 + b)
                continue
            }
            statistic += (a - b) * (a - b) / (a + b)
            kinds += 1
        }
        if rest.0 + rest.1 > 0 {
            statistic += (rest.0 - rest.1) * (rest.0 - rest.1) / (rest.0 + rest.1)
            kinds += 1
        }
        #expect(accepted > draws / 20, "nothing was guessed, so nothing was compared")
        #expect(kinds > 5)
        // The mean is the number of kinds, the deviation the root of twice that.
        #expect(statistic < kinds + 6 * (2 * kinds).squareRoot(), "\(statistic) of \(kinds) kinds")
    }

    @Test func chatsInTurnsAreGuessedForAnew() async throws {
        let engine = try await load(draft: Self.shipped)
        let plain = try await load(draft: nil)
        var conversations = [Self.prose, Self.list].map { [Message(role: .user, content: $0)] }
        for round in 0..<2 {
            for index in conversations.indices {
                var asked = request("", maxTokens: 40)
                asked.messages = conversations[index]
                let guessed = try await Answer.collect(engine.generate(asked))
                asked.speculates = false
                let expected = try await Answer.collect(plain.generate(asked))
                #expect(guessed.text == expected.text, "chat \(index), round \(round)")
                #expect(guessed.usage.acceptedTokens > 0)
                conversations[index] += [
                    Message(role: .assistant, content: guessed.text), Message(role: .user, content: "Go on."),
                ]
            }
        }
        await engine.unload()
        await plain.unload()
    }

    /// A prompt longer than one piece is read by the small model while the large one writes.
    @Test func aLongPromptIsReadBesideTheAnswer() async throws {
        let long = String(repeating: "The harbour is quiet and the boats are tied up. ", count: 120) + Self.prose
        let engine = try await load(draft: Self.shipped, context: 4096)
        let guessed = try await Answer.collect(engine.generate(request(long, maxTokens: 40)))
        let plain = try await Answer.collect(engine.generate(request(long, maxTokens: 40, speculates: false)))
        await engine.unload()

        #expect(guessed.usage.promptTokens > 1_100)
        #expect(guessed.text == plain.text)
        #expect(guessed.usage.draftedTokens > 0)
    }

    @Test func memoryIsGivenBackAndTakenAgain() async throws {
        let engine = try await load(draft: Self.shipped)
        let first = try await Answer.collect(engine.generate(request(Self.prose, maxTokens: 30)))
        let bytes = await engine.giveBackMemory()
        let again = try await Answer.collect(engine.generate(request(Self.prose, maxTokens: 30)))
        await engine.unload()

        #expect(bytes > 1 << 20)
        #expect(again.text == first.text)
        #expect(again.usage.draftedTokens > 0)
    }

    @Test func theDraftCountsInWhatIsNeeded() async throws {
        var options = LlamaEngine.Options()
        options.draft = Self.shipped
        options.spareBytes = { 300_000_000 }  // enough for the model alone
        await #expect {
            _ = try await LlamaEngine.load(path: StarterModel.path, options: options)
        } throws: { error in
            (error as? EngineError)?.code == "model_needs_memory"
        }
    }

    // MARK: Refusals

    @Test func anotherVocabularyIsRefusedOrToldBeforeAnythingIsLoaded() async throws {
        let (folder, path) = TinyModel.llama.file()
        await #expect {
            _ = try await load(draft: path)
        } throws: { error in
            let error = error as? DraftError
            return error?.code == "draft_other_vocabulary"
                && error?.message
                    == "llama.gguf cannot guess for SmolLM2-135M-Instruct.Q8_0.gguf: it cuts words as gpt2 gpt-2, and the model "
                    + "as gpt2 smollm."
        }
        let engine = try await load(draft: path, needed: false)
        let answer = try await Answer.collect(engine.generate(request(Self.prose, maxTokens: 4, speculates: true)))
        let notices = engine.notices
        await engine.unload()
        withExtendedLifetime(folder) {}
        #expect(notices.contains { $0.contains("cannot guess for") })
        #expect(answer.usage.completionTokens == 4)
    }

    @Test func oneOtherTokenIsFound() throws {
        let folder = GGUFFolder()
        var other = GGUFBuilder.tiny()
        other.set("tokenizer.ggml.tokens", .strings(["<s>", "</s>", "a", "c", "é"]))
        let model = try GGUFHeader(path: folder.file(GGUFBuilder.tiny().bytes()))
        #expect {
            try DraftFile.check(folder.file("other.gguf", other.bytes()), for: model)
        } throws: { error in
            (error as? DraftError)?.message
                == "other.gguf cannot guess for tiny.gguf: their tokens differ from number 0 on."
        }
        try DraftFile.check(folder.file("same.gguf", GGUFBuilder.tiny().bytes()), for: model)
    }

    /// As the catalogue has them for Gemma 4: a head without a life of its own.
    @Test func aHeadIsRefusedByItsKind() throws {
        let folder = GGUFFolder()
        var head = GGUFBuilder.tiny()
        head.set("general.architecture", .string("gemma4-assistant"))
        let model = try GGUFHeader(path: folder.file(GGUFBuilder.tiny().bytes()))
        #expect {
            try DraftFile.check(folder.file("mtp.gguf", head.bytes()), for: model)
        } throws: { error in
            (error as? DraftError)?.code == "draft_needs_inner_states"
        }
    }

    @Test(arguments: [TinyModel.gemma3, .qwen35]) func memoriesThatForgetAreNotGuessedFor(tiny: TinyModel) async throws
    {
        let (folder, path) = tiny.file()
        await #expect {
            _ = try await load(path, draft: path, context: 512)
        } throws: { error in
            (error as? DraftError)?.code == "draft_cannot_be_cut"
        }
        let engine = try await load(path, draft: path, needed: false, context: 512)
        #expect(engine.notices.contains { $0.hasPrefix("Guesses of a draft model are not used") })
        await engine.unload()
        withExtendedLifetime(folder) {}
    }
}
