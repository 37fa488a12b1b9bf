import AlcoveCore
import AlcoveEngine
import Synchronization
import Testing

/// The engine on a real model.
struct LlamaEngineTests {
    private static let capital = "What is the capital of France? Answer in one word."

    @Test func theCapitalOfFranceIsParis() async throws {
        let engine = try await StarterModel.engine.value

        let answer = try await Answer.collect(engine.generate(.question(Self.capital)))

        #expect(answer.text.contains("Paris"))
        #expect(answer.reason == .stop)
        #expect(answer.usage.promptTokens == 42)
        #expect(answer.usage.completionTokens >= answer.pieces.count)
        #expect(answer.progress.last == 42)
    }

    @Test func twoGenerationsAtOnceAreBothServed() async throws {
        let engine = try await StarterModel.load()
        let alone = try await Answer.collect(engine.generate(.question("Count from one to ten.")))

        async let first = Answer.collect(engine.generate(.question("Count from one to ten.")))
        async let second = Answer.collect(engine.generate(.question(Self.capital)))
        async let third = Answer.collect(engine.generate(.question("Name a colour.", maxTokens: 12)))
        let answers = try await [first, second, third]

        #expect(answers.map(\.reason).allSatisfy { $0 == .stop || $0 == .length })
        #expect(answers[1].text.contains("Paris"))
        #expect(answers[0].text.prefix(8) == alone.text.prefix(8))
        await engine.unload()
    }

    @Test func aFollowUpComputesOnlyWhatIsNew() async throws {
        let engine = try await StarterModel.load()
        let first = try await Answer.collect(engine.generate(.question(Self.capital)))
        let request = GenerationRequest(
            messages: [
                Message(role: .user, content: Self.capital), Message(role: .assistant, content: first.text),
                Message(role: .user, content: "And of Italy?"),
            ], sampling: .greedy, maxTokens: 8)

        let second = try await Answer.collect(engine.generate(request))

        #expect(first.usage.reusedTokens == 0)
        #expect(second.usage.reusedTokens >= first.usage.promptTokens)
        #expect(second.usage.reusedTokens < second.usage.promptTokens)
        await engine.unload()
    }

    @Test func theTokenLimitEndsTheAnswer() async throws {
        let engine = try await StarterModel.engine.value

        let answer = try await Answer.collect(engine.generate(.question("Tell me a long story.", maxTokens: 7)))

        #expect(answer.reason == .length)
        #expect(answer.usage.completionTokens == 7)
    }

    @Test func aStopStringEndsTheAnswerBeforeItself() async throws {
        let engine = try await StarterModel.engine.value
        var request = GenerationRequest.question(Self.capital)
        request.stop = ["France is", "Paris"]

        let answer = try await Answer.collect(engine.generate(request))

        #expect(answer.text == "The capital of ")
        #expect(answer.reason == .stop)
    }

    @Test func theSameSeedGivesTheSameAnswer() async throws {
        // An engine of its own: what is computed beside other answers is rounded otherwise.
        let engine = try await StarterModel.load()
        var request = GenerationRequest.question("Invent a name for a cat.", maxTokens: 16)
        request.sampling = SamplingOptions()
        request.sampling.temperature = 1.5
        request.sampling.seed = 42

        let first = try await Answer.collect(engine.generate(request))
        let second = try await Answer.collect(engine.generate(request))
        request.sampling.seed = 43
        let third = try await Answer.collect(engine.generate(request))

        #expect(first.text == second.text)
        #expect(first.text != third.text)
        await engine.unload()
    }

    @Test func aRepetitionPenaltyChangesWhatRepeats() async throws {
        let engine = try await StarterModel.engine.value
        var request = GenerationRequest.question("Say the word tree twenty times.", maxTokens: 60)
        let plain = try await Answer.collect(engine.generate(request))
        request.sampling.repetitionPenalty = 1.5
        request.sampling.frequencyPenalty = 1

        let penalised = try await Answer.collect(engine.generate(request))

        #expect(plain.text != penalised.text)
        #expect(Self.longestRun(penalised.text) <= Self.longestRun(plain.text))
    }

    @Test func aStopInTheMiddleKeepsWhatWasSaid() async throws {
        let engine = try await StarterModel.engine.value
        let request = GenerationRequest.question("Tell me a long story.", maxTokens: 2000)
        var answer = Answer()
        for try await event in engine.generate(request) {
            answer.take(event)
            if answer.pieces.count == 5 { request.stopSignal.set() }
        }

        #expect(answer.reason == .cancelled)
        #expect(!answer.text.isEmpty)
        #expect(answer.usage.completionTokens < 2000)
    }

    @Test func aStopWhileThePromptIsReadComesBeforeItsEnd() async throws {
        let engine = try await StarterModel.load()
        let request = GenerationRequest.question(String(repeating: "the quick brown fox ", count: 800))
        var answer = Answer()
        for try await event in engine.generate(request) {
            answer.take(event)
            if answer.progress.count == 2 { request.stopSignal.set() }
        }
        #expect(answer.reason == .cancelled)
        #expect(answer.progress.prefix(2) == [0, 512])
        #expect(answer.progress[answer.progress.count - 1] < answer.usage.promptTokens)
        #expect(answer.text.isEmpty)

        let next = try await Answer.collect(engine.generate(.question(Self.capital)))
        #expect(next.text.contains("Paris"))
        await engine.unload()
    }

    @Test func leavingTheStreamStopsTheWork() async throws {
        let engine = try await StarterModel.load()
        let request = GenerationRequest.question("Tell me a long story.", maxTokens: 3000)
        for try await event in engine.generate(request) { if case .text = event { break } }

        let next = try await Answer.collect(engine.generate(.question(Self.capital)))

        #expect(request.stopSignal.isSet)
        #expect(next.text.contains("Paris"))
        await engine.unload()
    }

    @Test func aPromptThatIsTooLongNamesBothNumbers() async throws {
        let engine = try await StarterModel.load(contextLength: 256)
        let words = String(repeating: "word ", count: 400)

        await #expect(throws: EngineError.promptTooLong(tokens: 431, limit: 256)) {
            _ = try await Answer.collect(engine.generate(.question(words)))
        }
        #expect(
            EngineError.promptTooLong(tokens: 431, limit: 256).sentence
                == "The chat needs 431 tokens and the model holds 256. Begin a new chat, shorten the message, or give the "
                + "model a larger context (Settings, or --context).")
        await engine.unload()
    }

    @Test func anAnswerFillsTheWindowAndEnds() async throws {
        let engine = try await StarterModel.load(contextLength: 96)

        let answer = try await Answer.collect(engine.generate(.question("Tell me a long story.", maxTokens: nil)))

        #expect(answer.reason == .length)
        #expect(answer.usage.promptTokens + answer.usage.completionTokens == 96)
        await engine.unload()
    }

    @Test func memoryGrowsInStepsWithoutChangingTheAnswer() async throws {
        let small = try await StarterModel.load()
        // Longer than one step of 2,048 tokens: the first chat's memory has to move on the way.
        let first = try await Answer.collect(small.generate(.question(Self.capital)))
        let long = String(repeating: "One two three four five six seven eight nine ten. ", count: 200)
        let big = try await Answer.collect(small.generate(.question(long, maxTokens: 4)))
        let again = try await Answer.collect(small.generate(.question(Self.capital)))

        #expect(big.usage.promptTokens > 2048)
        #expect(again.text == first.text)
        #expect(again.usage.reusedTokens == first.usage.promptTokens - 1)
        await small.unload()
    }

    @Test(arguments: [true, false]) func anAnswerThatGoesRoundInACircleIsEnded(stops: Bool) async throws {
        let engine = try await StarterModel.engine.value
        // Held to these words, so that it does repeat itself.
        var request = GenerationRequest.question("Laugh!", maxTokens: 400)
        request.sampling.temperature = 0
        request.responseSchema = ["const": .string(String(repeating: "ha ", count: 1_000))]
        request.stopsRepetition = stops
        let answer = try await Answer.collect(engine.generate(request))

        #expect(answer.reason == (stops ? .repetition : .length))
        #expect((answer.usage.completionTokens < 400) == stops)
    }

    @Test func unloadingEndsWhatIsRunningAndGivesMemoryBack() async throws {
        var sizes: [UInt64] = []
        for _ in 0..<4 {
            let engine = try await StarterModel.load()
            let running = engine.generate(.question("Tell me a long story.", maxTokens: 2000))
            var answer = Answer()
            for try await event in running {
                answer.take(event)
                if answer.pieces.count == 1 { await engine.unload() }
            }
            #expect(answer.reason == .cancelled)
            await #expect(throws: EngineError.unloaded) {
                _ = try await Answer.collect(engine.generate(.question("Hello")))
            }
            sizes.append(Platform.residentBytes)
        }
        // The first round touches what stays for good: code, the library's tables.
        #expect(sizes[3] < sizes[1] + 40_000_000, "\(sizes)")
    }

    @Test func loadingReportsProgressAndCanBeCancelled() async throws {
        let seen = Mutex([Double]())
        let engine = try await LlamaEngine.load(path: StarterModel.path) { value in seen.withLock { $0.append(value) } }
        await engine.unload()
        let values = seen.withLock { $0 }
        #expect(values.last == 1)
        #expect(values == values.sorted())

        let loading = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await LlamaEngine.load(path: StarterModel.path)
        }
        await #expect(throws: EngineError.loadCancelled(path: StarterModel.path)) { _ = try await loading.value }
    }

    @Test func filesThatAreNoModelsAreRefusedByName() async throws {
        await #expect(throws: EngineError.modelMissing(path: "/nowhere/model.gguf")) {
            _ = try await LlamaEngine.load(path: "/nowhere/model.gguf")
        }
        #expect(throws: EngineError.modelMissing(path: "/nowhere/model.gguf")) {
            try ModelFile.check("/nowhere/model.gguf")
        }
        #expect(throws: GGUFError.self) { try ModelFile.check(#filePath) }
    }

    /// Length of the longest run of one word.
    private static func longestRun(_ text: String) -> Int {
        var longest = 0, run = 0
        var last = ""
        for word in text.lowercased().split(whereSeparator: { !$0.isLetter }).map(String.init) {
            run = word == last ? run + 1 : 1
            last = word
            longest = max(longest, run)
        }
        return longest
    }
}
