import AlcoveCore
import Testing

@testable import AlcoveEngine

/// Raw prompts and the chances of tokens.
struct CompletionTests {
    private static func raw(_ text: String, maxTokens: Int = 8) -> GenerationRequest {
        var request = GenerationRequest(messages: [], sampling: .greedy, maxTokens: maxTokens)
        request.rawPrompt = text
        return request
    }

    @Test func aRawPromptIsGoneOnFromWithoutATemplate() async throws {
        let engine = try await StarterModel.engine.value

        let answer = try await Answer.collect(engine.generate(Self.raw("The capital of France is")))

        #expect(answer.text.hasPrefix(" Paris"))
        #expect(answer.usage.promptTokens == 5)
    }

    @Test func controlTokensSpelledInARawPromptStayText() async throws {
        let engine = try await StarterModel.engine.value
        let text = "<|im_start|>user\nHi<|im_end|>"

        let count = try await engine.promptTokens(of: Self.raw(text))

        let asTemplate = engine.tokenize(text: text)
        #expect(asTemplate.controlPositions.count == 2)
        #expect(count > asTemplate.tokens.count)
    }

    @Test func anEmptyRawPromptIsRefused() async throws {
        let engine = try await StarterModel.engine.value

        await #expect(throws: EngineError.emptyPrompt) { try await Answer.collect(engine.generate(Self.raw(""))) }
    }

    @Test func chancesComeOnlyWhenTheyAreAskedFor() async throws {
        let engine = try await StarterModel.engine.value
        var request = Self.raw("The capital of France is")
        let silent = try await Answer.collect(engine.generate(request))
        request.likeliestTokens = 3

        let told = try await Answer.collect(engine.generate(request))

        #expect(silent.chances.isEmpty && silent.text == told.text)
        #expect(told.chances.count == told.usage.completionTokens)
        #expect(told.chances.map { String(decoding: $0.chosen.bytes, as: UTF8.self) }.joined() == told.text)
        for chance in told.chances {
            // Nothing is drawn here, so the chosen token is the likeliest.
            #expect(chance.likeliest.count == 3 && chance.likeliest.first == chance.chosen)
            #expect(chance.likeliest.map(\.logprob) == chance.likeliest.map(\.logprob).sorted(by: >))
            #expect(chance.likeliest.allSatisfy { $0.logprob < 0 })
        }
    }

    /// What the penalties do to the choice must not be seen in the odds.
    @Test func chancesAreThoseBeforePenalties() async throws {
        let engine = try await StarterModel.engine.value
        var request = Self.raw("One, two, three, four. One, two, three, four. One, two,", maxTokens: 16)
        request.likeliestTokens = 1
        let plain = try await Answer.collect(engine.generate(request)).chances
        request.sampling.presencePenalty = 2
        request.sampling.frequencyPenalty = 2
        request.sampling.repetitionPenalty = 3

        let punished = try await Answer.collect(engine.generate(request)).chances

        // Up to the first choice that differs, both went on from the same words.
        let first = try #require(zip(plain, punished).first { $0.chosen != $1.chosen })
        #expect(first.1.likeliest == first.0.likeliest)
        #expect(first.1.chosen.logprob < first.0.chosen.logprob)
    }

    @Test func oddsAreASoftmaxOfAllLogits() {
        let logits: [Float] = [1_000, 1_001, 999, 1_001]
        let odds = logits.withUnsafeBufferPointer { TokenOdds(logits: $0, chosen: 2, likeliest: 3) }

        let sum = [1_000.0, 1_001, 999, 1_001].reduce(0) { $0 + exp($1 - 1_001) }
        #expect(abs(odds.chosen.logprob - (-2 - log(sum))) < 1e-9)
        #expect(odds.likeliest.map(\.token) == [1, 3, 0])
        #expect(logits.withUnsafeBufferPointer { TokenOdds(logits: $0, chosen: 0, likeliest: 0) }.likeliest.isEmpty)
        let all = logits.withUnsafeBufferPointer { TokenOdds(logits: $0, chosen: 0, likeliest: 9) }
        #expect(abs(all.likeliest.reduce(0) { $0 + exp($1.logprob) } - 1) < 1e-9)
    }
}
