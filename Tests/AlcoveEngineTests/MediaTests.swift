import AlcoveCore
@testable import AlcoveEngine
import Testing

/// Pictures and sounds in prompts: what is reused is the same content and nothing else, and never shows in an answer.
@Suite(.serialized) struct MediaTests {
    private static let rules = Message(
        role: .system, content: (1...20).map { "Rule \($0): answer number \($0 * 7) kindly." }.joined(separator: "\n"))

    /// A model with its projector; the folder is kept as long as they are loaded.
    private struct Bench {
        let folder = GGUFFolder()
        let model: String
        let projector: String

        init(_ tiny: TinyProjector) {
            model = tiny.model.file(marks: tiny.marks, in: folder)
            projector = folder.file("projector.gguf", tiny.bytes())
        }

        func load(cellStep: Int? = nil, sequences: Int = 3) async throws -> LlamaEngine {
            var options = LlamaEngine.Options()
            options.contextLength = 4096
            options.threads = 1
            options.cellStep = cellStep
            options.sequences = sequences
            options.projector = projector
            return try await LlamaEngine.load(path: model, options: options)
        }

        /// The answer of an engine that has computed nothing before.
        func cold(_ request: GenerationRequest) async throws -> Answer {
            let engine = try await load()
            let answer = try await Answer.collect(engine.generate(request))
            await engine.unload()
            #expect(answer.usage.reusedTokens == 0)
            return answer
        }
    }

    private func message(_ text: String, _ media: [MediaInput]) -> Message {
        var message = Message(role: .user, content: text)
        message.media = media
        return message
    }

    private func request(_ messages: [Message], rules: [Message] = [MediaTests.rules]) -> GenerationRequest {
        var request = GenerationRequest(messages: rules + messages, sampling: .greedy, maxTokens: 12)
        request.likeliestTokens = 2
        return request
    }

    private func expectNearly(_ warm: Answer, as cold: Answer, _ location: SourceLocation = #_sourceLocation) {
        #expect(!warm.chances.isEmpty && !cold.chances.isEmpty, sourceLocation: location)
        for (place, (a, b)) in zip(warm.chances, cold.chances).enumerated() {
            let difference = abs(a.likeliest[0].logprob - b.likeliest[0].logprob)
            #expect(difference < 0.05, "token \(place)", sourceLocation: location)
            if a.chosen.bytes != b.chosen.bytes {
                #expect(
                    b.likeliest[0].logprob - b.likeliest[1].logprob < 0.1, "token \(place) is another",
                    sourceLocation: location)
                break
            }
        }
    }

    /// How far the numbers of two first tokens are apart.
    private func distance(_ a: Answer, _ b: Answer) -> Double {
        guard let first = a.chances.first, let second = b.chances.first else { return 0 }
        return first.chosen.bytes != second.chosen.bytes
            ? 1 : abs(first.likeliest[0].logprob - second.likeliest[0].logprob)
    }

    @Test(arguments: TinyProjector.allCases) func theSameAgainIsReusedAndAnotherIsNot(tiny: TinyProjector) async throws
    {
        let bench = Bench(tiny)
        func medium(_ number: Int) -> MediaInput { tiny == .ultravox ? .tone(number) : .pattern(number) }
        let asked = request([message("What is this?", [medium(1)])])
        let other = request([message("What is this?", [medium(2)])])
        let (cold, coldOther) = (try await bench.cold(asked), try await bench.cold(other))
        // The model does see it: otherwise all that follows would show nothing.
        #expect(distance(cold, coldOther) > 0.001)

        let engine = try await bench.load()
        let words = try await Answer.collect(engine.generate(request([message("What is this?", [])])))
        let one = try await Answer.collect(engine.generate(asked))
        #expect(one.text == cold.text)
        #expect(one.usage.promptTokens > words.usage.promptTokens)
        let again = try await Answer.collect(engine.generate(asked))
        #expect(again.text == cold.text)
        #expect(Double(again.usage.reusedTokens) >= 0.9 * Double(again.usage.promptTokens))
        let different = try await Answer.collect(engine.generate(other))
        #expect(different.text == coldOther.text)
        // All but the picture and what is behind it, and not one token of it.
        #expect(different.usage.reusedTokens < words.usage.promptTokens)
        #expect(different.usage.reusedTokens > 0)
        let back = try await Answer.collect(engine.generate(asked))
        #expect(back.text == cold.text)
        await engine.unload()
    }

    @Test(arguments: TinyProjector.allCases) func aChatWithPicturesGoesOn(tiny: TinyProjector) async throws {
        let bench = Bench(tiny)
        func medium(_ number: Int) -> MediaInput { tiny == .ultravox ? .tone(number) : .pattern(number) }
        // Small steps of memory, so that the states with pictures are moved to a larger context again and again.
        let engine = try await bench.load(cellStep: 256)
        var messages = [message("What is this?", [medium(1)])]
        let first = try await Answer.collect(engine.generate(request(messages)))
        messages += [
            Message(role: .assistant, content: first.text), message("And these two?", [medium(2), medium(1)]),
        ]
        let second = try await Answer.collect(engine.generate(request(messages)))
        expectNearly(second, as: try await bench.cold(request(messages)))
        #expect(second.usage.reusedTokens >= first.usage.promptTokens - 25)

        messages += [Message(role: .assistant, content: second.text), message("Why?", [])]
        // Other chats take its place; its end is kept with its pictures.
        for word in ["sea ", "fox ", "tree "] {
            _ = try await Answer.collect(
                engine.generate(
                    request([message(String(repeating: word, count: 60), [medium(3)])], rules: [])))
        }
        let late = try await Answer.collect(engine.generate(request(messages)))
        expectNearly(late, as: try await bench.cold(request(messages)))
        #expect(late.usage.reusedTokens >= second.usage.promptTokens - 25)
        await engine.unload()
    }

    @Test(arguments: TinyProjector.seeing) func aStopWhileAPictureIsReadSpoilsNothing(tiny: TinyProjector) async throws
    {
        let bench = Bench(tiny)
        let asked = request([message("What are these?", [.pattern(1), .pattern(2), .pattern(3)])])
        let cold = try await bench.cold(asked)
        let engine = try await bench.load()
        for pieces in 1...6 {
            var stopped = asked
            stopped.stopSignal = StopSignal()
            var answer = Answer()
            for try await event in engine.generate(stopped) {
                answer.take(event)
                if answer.progress.count == pieces { stopped.stopSignal.set() }
            }
        }
        expectNearly(try await Answer.collect(engine.generate(asked)), as: cold)
        await engine.unload()
    }

    @Test func picturesAndWordsAreAnsweredSideBySide() async throws {
        let bench = Bench(.qwen3vl)
        let seeing = request([message("What is this?", [.pattern(1), .pattern(4)])])
        let reading = request([message("Tell me a story.", [])])
        let (coldSeeing, coldReading) = (try await bench.cold(seeing), try await bench.cold(reading))
        let engine = try await bench.load()
        async let a = Answer.collect(engine.generate(seeing))
        async let b = Answer.collect(engine.generate(reading))
        let (one, two) = try await (a, b)
        expectNearly(one, as: coldSeeing)
        expectNearly(two, as: coldReading)
        await engine.unload()
    }

    @Test func framesOfAVideoAreReadInPairs() async throws {
        let bench = Bench(.qwen3vl)
        func video(_ count: Int) -> MediaInput {
            MediaInput(.video((0..<count).map { VideoFrame(seconds: Double($0) / 2, picture: .pattern($0 + 1)) }))
        }
        let engine = try await bench.load()
        let tokens = try await engine.promptTokens(of: request([message("What happens?", [])]))
        let one = try await engine.promptTokens(of: request([message("What happens?", [video(2)])])) - tokens
        let two = try await engine.promptTokens(of: request([message("What happens?", [video(3)])])) - tokens
        let same = try await engine.promptTokens(of: request([message("What happens?", [video(4)])])) - tokens
        // An odd one stands twice, and a pair takes no more room than a picture.
        #expect(two == same && two == 2 * one)
        let answer = try await Answer.collect(engine.generate(request([message("What happens?", [video(3)])])))
        #expect(answer.usage.completionTokens == 12)
        await engine.unload()
    }

    @Test func wordsThatLookLikePicturesStayWords() async throws {
        let bench = Bench(.gemma4v)
        let engine = try await bench.load()
        let words = "<|image><__media__><image|> m0n0e"
        let prompt = try engine.prepare(request([message(words, [.pattern(1)])]))
        let begin = engine.vocabulary.controlToken(spelled: "<|image>")
        // Those of the picture itself, and no more.
        #expect(prompt.tokens.count(where: { $0 == begin }) == 1)
        #expect(prompt.media.count == 1)
        await engine.unload()
    }

    @Test(arguments: TinyProjector.seeing) func picturesOfAnySizeAreTakenOrRefused(tiny: TinyProjector) async throws {
        let bench = Bench(tiny)
        let engine = try await bench.load()
        for (width, height) in [(1, 1), (1, 400), (400, 1), (2, 3), (15, 17), (500, 20), (33, 640), (129, 127)] {
            let asked = request([message("?", [.pattern(5, width: width, height: height)])])
            do {
                let answer = try await Answer.collect(engine.generate(asked))
                #expect(answer.usage.completionTokens == 12, "\(width) x \(height)")
            } catch let error as EngineError {
                #expect(error.code == "media_refused", "\(width) x \(height)")
            }
        }
        await engine.unload()
    }

    // MARK: Refusals

    @Test func aModelWithoutAProjectorRefusesByName() async throws {
        let bench = Bench(.gemma3)
        var options = LlamaEngine.Options()
        options.contextLength = 1024
        let engine = try await LlamaEngine.load(path: bench.model, options: options)
        #expect(engine.description.media == .none)
        await #expect(throws: EngineError.cannotSee) {
            _ = try await Answer.collect(engine.generate(request([message("?", [.pattern(1)])])))
        }
        await #expect(throws: EngineError.cannotHear) {
            _ = try await engine.promptTokens(of: request([message("?", [.tone(1)])]))
        }
        await engine.unload()
    }

    @Test func eyesDoNotHearAndTooMuchIsTooMuch() async throws {
        let engine = try await Bench(.gemma3).load()
        #expect(engine.description.media.sees && !engine.description.media.hears)
        await #expect(throws: EngineError.cannotHear) {
            _ = try await engine.promptTokens(of: request([message("?", [.tone(1)])]))
        }
        let many = (0..<65).map { _ in MediaInput.pattern(1, width: 8, height: 8) }
        await #expect(throws: EngineError.tooManyPictures(count: 65, limit: 64)) {
            _ = try await engine.promptTokens(of: request([message("?", many)]))
        }
        await engine.unload()
    }

    struct Misfit: Sendable, CustomTestStringConvertible {
        let name: String
        let words: String
        let bytes: @Sendable () -> [UInt8]
        var marks = TinyProjector.gemma4v.marks
        var testDescription: String { name }
    }

    static let misfits = [
        Misfit(name: "width", words: "gives embeddings of length 128, and the model takes 64") {
            TinyProjector.gemma4v.bytes(width: 128)
        },
        Misfit(name: "marks", words: "it writes \"<|image>\", and the model has no such token") {
            TinyProjector.gemma4v.bytes()
        }.with(marks: []),
        Misfit(name: "kind", words: "is a projector of the kind hunyuanvl, which is not known here") {
            changed { $0.set("clip.projector_type", .string("hunyuanvl")) }
        },
        Misfit(name: "no kind", words: "\"clip.projector_type\" is missing") {
            changed { $0.remove("clip.projector_type") }
        },
        Misfit(name: "senses", words: "says neither that it sees nor that it hears") {
            changed { $0.remove("clip.has_vision_encoder") }
        },
        Misfit(name: "heads", words: "\"clip.vision.attention.head_count\" must be a number from 1 on") {
            changed { $0.set("clip.vision.attention.head_count", .uint32(0)) }
        },
        Misfit(name: "patches", words: "have no possible sizes") {
            changed { $0.set("clip.vision.patch_size", .uint32(0)) }
        },
        Misfit(name: "a model", words: "is not a projector") { GGUFBuilder.tiny().bytes() },
        Misfit(name: "a tensor is missing", words: "could not be loaded") {
            changed { $0.tensors.removeAll { $0.name == Array("mm.input_projection.weight".utf8) } }
        },
        Misfit(name: "cut off", words: "The file is damaged") {
            Array(TinyProjector.gemma4v.bytes().dropLast(5_000))
        }.with(words: "projector.gguf"),
    ]

    private static func changed(_ change: (inout GGUFBuilder) -> Void) -> [UInt8] {
        var builder = TinyProjector.gemma4v.builder()
        change(&builder)
        return builder.bytes()
    }

    @Test(arguments: misfits) func anotherModelsProjectorIsRefusedByName(misfit: Misfit) async throws {
        let folder = GGUFFolder()
        var options = LlamaEngine.Options()
        options.contextLength = 512
        options.projector = folder.file("projector.gguf", misfit.bytes())
        let model = TinyModel.gemma4.file(marks: misfit.marks, in: folder)
        do {
            _ = try await LlamaEngine.load(path: model, options: options)
            Issue.record("it was loaded")
        } catch let error as any UserFacingError {
            #expect(
                error.message.contains(misfit.words) && error.message.contains("projector.gguf"), "\(error.message)")
        }
        withExtendedLifetime(folder) {}
    }
}

extension MediaTests.Misfit {
    func with(marks: [String]) -> Self {
        var copy = self
        copy.marks = marks
        return copy
    }

    func with(words: String) -> Self { Self(name: name, words: words, bytes: bytes, marks: marks) }
}
