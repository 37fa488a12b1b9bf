import AlcoveCore
import AlcoveEngine
import Testing

/// Guessing ahead on the real model: quicker or not, never another answer.
@Suite(.serialized) struct SpeculationTests {
    private static let quoting = """
        Repeat the following text word for word, three times:
        The small red boat left the old harbour at nine in the morning and came back in the evening with twelve baskets of fish.
        """
    private static let prose = "Tell me a story about a lighthouse keeper."
    private static let list =
        "Write the numbers from 1 to 30, each on a line of its own, like \"Number 1 is a number\"."

    private func load(always: Bool, cellStep: Int? = nil) async throws -> LlamaEngine {
        var options = LlamaEngine.Options()
        options.contextLength = 2048
        options.threads = 1
        options.alwaysSpeculates = always
        options.cellStep = cellStep
        return try await LlamaEngine.load(path: StarterModel.path, options: options)
    }

    private func request(_ text: String, maxTokens: Int = 160, speculates: Bool = true) -> GenerationRequest {
        var request = GenerationRequest.question(text, maxTokens: maxTokens)
        request.stopsRepetition = false
        request.likeliestTokens = 0
        request.speculates = speculates
        return request
    }

    private func both(_ request: GenerationRequest) async throws -> (plain: Answer, guessed: Answer) {
        let engine = try await load(always: true)
        var plain = request
        plain.speculates = false
        let first = try await Answer.collect(engine.generate(plain))
        await engine.unload()
        let other = try await load(always: true)
        let second = try await Answer.collect(other.generate(request))
        await other.unload()
        return (first, second)
    }

    private func expectSame(_ plain: Answer, _ guessed: Answer) {
        #expect(plain.text == guessed.text)
        #expect(plain.chances.map(\.chosen.bytes) == guessed.chances.map(\.chosen.bytes))
        #expect(plain.reason == guessed.reason)
        #expect(plain.usage.completionTokens == guessed.usage.completionTokens)
        #expect(plain.usage.draftedTokens == 0)
    }

    @Test(arguments: [quoting, prose, list]) func theAnswerIsTheSame(text: String) async throws {
        let (plain, guessed) = try await both(request(text))

        expectSame(plain, guessed)
        #expect(guessed.usage.draftedTokens > 0)
        #expect(guessed.usage.acceptedTokens <= guessed.usage.draftedTokens)
    }

    @Test func aQuotingAnswerAcceptsMostOfItsDrafts() async throws {
        let (_, guessed) = try await both(request(Self.quoting, maxTokens: 90))

        #expect(2 * guessed.usage.acceptedTokens > guessed.usage.draftedTokens)
        #expect(guessed.usage.acceptedTokens >= 10)
    }

    /// Every draw is made by the sampler itself, in the same order, so that even the dice fall alike.
    @Test func drawnAnswersAreTheSame() async throws {
        var request = request(Self.quoting, maxTokens: 100)
        request.sampling = SamplingOptions()
        request.sampling.seed = 7
        request.sampling.temperature = 0.7
        request.sampling.repetitionPenalty = 1.05
        let (plain, guessed) = try await both(request)

        expectSame(plain, guessed)
        #expect(guessed.usage.acceptedTokens > 0)
    }

    @Test func penaltiesAreTheSame() async throws {
        var request = request(Self.list, maxTokens: 120)
        request.sampling.repetitionPenalty = 1.1
        request.sampling.frequencyPenalty = 0.1
        let (plain, guessed) = try await both(request)

        expectSame(plain, guessed)
        #expect(guessed.usage.draftedTokens > 0)
    }

    @Test func aGrammarHoldsTheSame() async throws {
        var request = request("Give a list of three boats named Anna.", maxTokens: 160)
        request.responseSchema = [
            "type": "object",
            "properties": [
                "boats": [
                    "type": "array", "minItems": 4, "maxItems": 6,
                    "items": [
                        "type": "object", "properties": ["name": ["const": "Anna"], "kind": ["const": "a boat"]],
                        "required": ["name", "kind"],
                    ],
                ]
            ], "required": ["boats"],
        ]
        let (plain, guessed) = try await both(request)

        expectSame(plain, guessed)
        #expect(guessed.usage.acceptedTokens > 10)
        #expect((try? JSONValue(parsing: guessed.text)) != nil || guessed.reason == .length)
    }

    @Test(arguments: [1, 2, 3, 5, 8, 14, 21]) func theTokenLimitIsTheSame(limit: Int) async throws {
        let (plain, guessed) = try await both(request(Self.quoting, maxTokens: limit))

        expectSame(plain, guessed)
        #expect(guessed.usage.completionTokens == limit)
    }

    @Test func aStopStringInsideADraftEndsTheAnswerThere() async throws {
        var request = request(Self.quoting, maxTokens: 200)
        request.stop = ["old harbour at nine in the morn"]
        let (plain, guessed) = try await both(request)

        expectSame(plain, guessed)
        #expect(guessed.reason == .stop)
    }

    @Test func repetitionEndsAtTheSameToken() async throws {
        var request = request("Laugh!", maxTokens: 400)
        request.responseSchema = ["const": .string(String(repeating: "ha ", count: 1_000))]
        request.stopsRepetition = true
        let (plain, guessed) = try await both(request)

        expectSame(plain, guessed)
        #expect(guessed.reason == .repetition)
        #expect(guessed.usage.acceptedTokens > 50)
    }

    /// What a failed guess left must not be read by the next turn.
    @Test func theNextTurnReadsNothingThatWasRejected() async throws {
        var texts: [String] = []
        for speculates in [false, true] {
            let engine = try await load(always: true)
            var next = request(Self.list, maxTokens: 60, speculates: speculates)
            let first = try await Answer.collect(engine.generate(next))
            next.messages += [
                Message(role: .assistant, content: first.text), Message(role: .user, content: "Now say it again."),
            ]
            let second = try await Answer.collect(engine.generate(next))
            #expect(second.usage.reusedTokens >= first.usage.promptTokens + first.usage.completionTokens - 2)
            texts += [first.text, second.text]
            await engine.unload()
        }
        #expect(texts[0] == texts[2])
        #expect(texts[1] == texts[3])
    }

    @Test func severalAnswersGuessInOneBatch() async throws {
        let questions = [Self.quoting, Self.list]
        var alone: [String] = []
        for question in questions { alone.append(try await both(request(question, maxTokens: 80)).plain.text) }
        let engine = try await load(always: true)
        async let first = Answer.collect(engine.generate(request(questions[0], maxTokens: 80)))
        async let second = Answer.collect(engine.generate(request(questions[1], maxTokens: 80)))
        let answers = try await [first, second]
        await engine.unload()

        #expect(answers.map(\.usage.acceptedTokens).allSatisfy { $0 > 0 })
        // Rounding depends on what is computed together, so only the beginnings are compared.
        for (text, answer) in zip(alone, answers) { #expect(answer.text.prefix(40) == text.prefix(40)) }
    }

    @Test func memoryGrowsUnderTwoGuessingAnswers() async throws {
        let plain = try await both(request(Self.list, maxTokens: 280)).plain
        let engine = try await load(always: true, cellStep: 256)
        async let first = Answer.collect(engine.generate(request(Self.list, maxTokens: 280)))
        async let second = Answer.collect(engine.generate(request(Self.prose, maxTokens: 280)))
        let answers = try await [first, second]
        await engine.unload()

        #expect(answers[0].text.prefix(40) == plain.text.prefix(40))
        for answer in answers { #expect([.stop, .length].contains(answer.reason)) }
        #expect(answers.contains { $0.usage.promptTokens + $0.usage.completionTokens > 256 })
    }

    @Test func withoutTheWishNothingIsGuessed() async throws {
        let engine = try await load(always: true)
        let answer = try await Answer.collect(
            engine.generate(request(Self.quoting, maxTokens: 60, speculates: false)))
        await engine.unload()

        #expect(answer.usage.draftedTokens == 0)
    }
}
