import AlcoveCore
@testable import AlcoveEngine
import Foundation
import Testing

/// What is reused never shows in an answer: on models of the catalogue's architectures, for every shape of conversation,
/// the greedy answer is that of an engine which has computed nothing before, and how much was reused is as it should be.
@Suite(.serialized) struct ExactnessTests {
    /// Sliding windows and recurrent layers forget; plain attention stands beside them to show that the test is fair.
    struct Model: Sendable, CustomTestStringConvertible {
        let name: String
        /// How far the same logarithm of a probability may be apart when it was computed in pieces of other sizes. A window or
        /// a state that is wrong moves it by ten times that: by 0.5 to 1 here, by 7 in a model that was trained.
        let rounding: Double
        let path: @Sendable () -> (folder: GGUFFolder?, path: String)
        var testDescription: String { name }

        static let all =
            TinyModel.allCases.map { tiny in
                Model(name: "tiny \(tiny.rawValue)", rounding: 0.05) {
                    let (folder, path) = tiny.file()
                    return (folder, path)
                }
            }
            + (SlidingWindowModel.path.map { path in [Model(name: "gemma-3-270m", rounding: 0.5) { (nil, path) }] }
                ?? [])
    }

    /// Beyond a window of 512, and beyond one piece of a prompt.
    private static let rules = Message(
        role: .system,
        content: (1...50).map { "Rule \($0): answer number \($0 * 7) kindly." }.joined(separator: "\n"))

    private static let first = "Tell me who wrote the tragedy of Doctor Faust, please."
    private static let third = "How many days has a year, and how many a leap year?"
    private static let second = "Which city is the capital of France, and which of Italy?"

    /// Most tokens of what opens an answer, which a change of the answer may cost too: `<|im_start|>assistant` in a vocabulary
    /// that has no token for it is many.
    private static let opening = 20

    private func request(_ messages: [Message]) -> GenerationRequest {
        var request = GenerationRequest(messages: messages, sampling: .greedy, maxTokens: 12)
        request.likeliestTokens = 2
        return request
    }

    private func chat(_ question: String, system: Message? = ExactnessTests.rules) -> [Message] {
        [system].compactMap { $0 } + [Message(role: .user, content: question)]
    }

    /// Runs a body on a model's file with a folder for its checkpoints.
    private func with(_ model: Model, _ body: (Bench) async throws -> Void) async throws {
        let (folder, path) = model.path()
        let bench = Bench(path: path, checkpoints: NSTemporaryDirectory() + "alcove-exact-" + TurnID().text)
        defer { try? FileManager.default.removeItem(atPath: bench.checkpoints) }
        try await body(bench)
        withExtendedLifetime(folder) {}
    }

    private struct Bench {
        let path: String
        let checkpoints: String

        func load(keeping: Bool = false, sequences: Int = 3, keptBytes: Int? = nil) async throws -> LlamaEngine {
            var options = LlamaEngine.Options()
            options.contextLength = 4096
            options.threads = 1
            options.sequences = sequences
            options.keptBytes = keptBytes
            options.checkpointFolder = keeping ? checkpoints : nil
            return try await LlamaEngine.load(path: path, options: options)
        }

        func answer(_ engine: LlamaEngine, _ request: GenerationRequest) async throws -> Answer {
            try await Answer.collect(engine.generate(request))
        }

        /// The answer of an engine that has computed nothing before.
        func cold(_ request: GenerationRequest) async throws -> Answer {
            let engine = try await load()
            let answer = try await answer(engine, request)
            await engine.unload()
            #expect(answer.usage.reusedTokens == 0)
            #expect(answer.usage.missReason == "first prompt")
            #expect(answer.usage.completionTokens == 12)
            return answer
        }
    }

    /// The same state was computed in pieces of other sizes, so the last bits differ: the numbers are nearly the same, and the
    /// tokens are until two of them are as likely.
    private func expectNearly(
        _ warm: Answer, as cold: Answer, on model: Model, reusing least: Double,
        _ location: SourceLocation = #_sourceLocation
    ) {
        for (place, (a, b)) in zip(warm.chances, cold.chances).enumerated() {
            let difference = abs(a.likeliest[0].logprob - b.likeliest[0].logprob)
            #expect(difference < model.rounding, "token \(place)", sourceLocation: location)
            if a.chosen.bytes != b.chosen.bytes {
                let lead = b.likeliest[0].logprob - b.likeliest[1].logprob
                #expect(lead < 2 * model.rounding, "token \(place) is another", sourceLocation: location)
                break
            }
        }
        #expect(!warm.chances.isEmpty, sourceLocation: location)
        expectReuse(warm, least, location)
    }

    private func expectReuse(_ warm: Answer, _ least: Double, _ location: SourceLocation) {
        let share = Double(warm.usage.reusedTokens) / Double(warm.usage.promptTokens)
        #expect(
            share >= least, "\(warm.usage.reusedTokens) of \(warm.usage.promptTokens) were reused",
            sourceLocation: location)
        #expect(warm.usage.missReason == nil, sourceLocation: location)
    }

    private func expect(
        _ warm: Answer, as cold: Answer, reusing least: Double, _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(warm.text == cold.text, sourceLocation: location)
        expectReuse(warm, least, location)
    }

    @Test(arguments: Model.all) func newChatsGoOnFromWhatTheyShare(model: Model) async throws {
        try await with(model) { bench in
            let asked = request(chat(Self.second))
            let cold = try await bench.cold(asked)

            let engine = try await bench.load(keeping: true)
            let warmUp = try await bench.answer(engine, request(chat("hi")))
            #expect(warmUp.usage.reusedTokens == 0)
            let one = try await bench.answer(engine, request(chat(Self.first)))
            #expect(one.usage.reusedTokens > 600)
            let two = try await bench.answer(engine, asked)
            expect(two, as: cold, reusing: 0.85)
            #expect(two.usage.reusedTokens == one.usage.reusedTokens)
            // Another conversation in between, longer than any window, in every sequence.
            for word in ["sea ", "fox ", "tree ", "stone "] {
                _ = try await bench.answer(engine, request(chat(String(repeating: word, count: 150), system: nil)))
            }
            let third = request(chat(Self.third))
            let coldThird = try await bench.cold(third)
            let three = try await bench.answer(engine, third)
            expect(three, as: coldThird, reusing: 0.85)
            #expect(three.usage.reusedTokens == one.usage.reusedTokens)
            // What was asked before is there up to its answer.
            let again = try await bench.answer(engine, asked)
            expectNearly(again, as: cold, on: model, reusing: 0.97)
            await engine.unload()

            // The next launch: one file was written, and its tokens are the same again.
            let files = try FileManager.default.contentsOfDirectory(atPath: bench.checkpoints)
            #expect(files.count == 1)
            let next = try await bench.load(keeping: true)
            let fromDisk = try await bench.answer(next, asked)
            expect(fromDisk, as: cold, reusing: 0.85)
            #expect(fromDisk.usage.reusedTokens == one.usage.reusedTokens)
            await next.unload()
            #expect(try FileManager.default.contentsOfDirectory(atPath: bench.checkpoints) == files)
        }
    }

    @Test(arguments: Model.all) func aFollowUpGoesOnFromItsChat(model: Model) async throws {
        try await with(model) { bench in
            let engine = try await bench.load()
            var messages = chat(Self.first)
            let answer = try await bench.answer(engine, request(messages))
            messages += [Message(role: .assistant, content: answer.text), Message(role: .user, content: Self.second)]
            let followUp = try await bench.answer(engine, request(messages))
            let cold = try await bench.cold(request(messages))
            expectNearly(followUp, as: cold, on: model, reusing: 0.88)
            #expect(followUp.usage.reusedTokens >= answer.usage.promptTokens - Self.opening)

            // And once more after other chats took its place.
            messages += [Message(role: .assistant, content: followUp.text), Message(role: .user, content: "Why?")]
            for word in ["sea ", "fox ", "tree "] {
                _ = try await bench.answer(engine, request(chat(String(repeating: word, count: 150), system: nil)))
            }
            let late = try await bench.answer(engine, request(messages))
            let coldLate = try await bench.cold(request(messages))
            expectNearly(late, as: coldLate, on: model, reusing: 0.88)
            #expect(late.usage.reusedTokens >= followUp.usage.promptTokens - Self.opening)
            await engine.unload()
        }
    }

    /// The words of the answer come back otherwise than they were computed, as after a stop in the middle of one, or where a
    /// template leaves the reasoning away.
    @Test(arguments: Model.all) func whatWasChangedInTheAnswerCostsOnlyTheAnswer(model: Model) async throws {
        try await with(model) { bench in
            let engine = try await bench.load()
            var messages = chat(Self.first)
            let answer = try await bench.answer(engine, request(messages))
            messages += [
                Message(role: .assistant, content: "No" + answer.text.dropFirst()),
                Message(role: .user, content: Self.second),
            ]
            let followUp = try await bench.answer(engine, request(messages))
            let cold = try await bench.cold(request(messages))
            expectNearly(followUp, as: cold, on: model, reusing: 0.85)
            #expect(Double(followUp.usage.reusedTokens) >= 0.97 * Double(answer.usage.promptTokens))
            await engine.unload()
        }
    }

    @Test(arguments: Model.all) func afterAStopTheChatGoesOn(model: Model) async throws {
        try await with(model) { bench in
            let engine = try await bench.load()
            var messages = chat(Self.first)
            var asked = request(messages)
            asked.maxTokens = 400
            var stopped = Answer()
            for try await event in engine.generate(asked) {
                stopped.take(event)
                if stopped.pieces.count == 5 { asked.stopSignal.set() }
            }
            messages += [Message(role: .assistant, content: stopped.text), Message(role: .user, content: Self.second)]
            let next = try await bench.answer(engine, request(messages))
            let cold = try await bench.cold(request(messages))
            expectNearly(next, as: cold, on: model, reusing: 0.5)
            #expect(Double(next.usage.reusedTokens) >= 0.97 * Double(stopped.usage.promptTokens))
            await engine.unload()
        }
    }

    /// A computation that is given up leaves a recurrent state half changed; what goes on from there must not see it.
    @Test(arguments: Model.all) func afterAStopWhileReadingThePromptIsReadOn(model: Model) async throws {
        try await with(model) { bench in
            let long = request([
                Message(
                    role: .user, content: (1...90).map { "Line \($0) is number \($0 * 3)." }.joined(separator: "\n"))
            ])
            let cold = try await bench.cold(long)
            let engine = try await bench.load()
            for pieces in 1...3 {
                var stopped = long
                stopped.stopSignal = StopSignal()
                var answer = Answer()
                for try await event in engine.generate(stopped) {
                    answer.take(event)
                    if answer.progress.count == pieces { stopped.stopSignal.set() }
                }
            }
            let whole = try await bench.answer(engine, long)
            expectNearly(whole, as: cold, on: model, reusing: 0)
            await engine.unload()
        }
    }

    @Test(arguments: Model.all) func afterAToolTheRunGoesOn(model: Model) async throws {
        try await with(model) { bench in
            let engine = try await bench.load()
            var messages = chat(Self.first)
            let answer = try await bench.answer(engine, request(messages))
            // The model wrote a call and its answer came back; the template shows both.
            messages += [
                Message(role: .assistant, content: answer.text),
                Message(role: .tool, content: "{\"author\": \"Goethe\"}", toolCallID: "1", toolName: "lookup"),
            ]
            let after = try await bench.answer(engine, request(messages))
            let cold = try await bench.cold(request(messages))
            expectNearly(after, as: cold, on: model, reusing: 0.9)
            #expect(Double(after.usage.reusedTokens) >= 0.98 * Double(answer.usage.promptTokens))
            await engine.unload()
        }
    }

    /// The same prompt again computes what opens the answer, no more.
    @Test(arguments: Model.all) func theSamePromptAgainIsTheSame(model: Model) async throws {
        try await with(model) { bench in
            let engine = try await bench.load(sequences: 1)
            let asked = request(chat(Self.first))
            let one = try await bench.answer(engine, asked)
            let two = try await bench.answer(engine, asked)
            expect(two, as: one, reusing: 0.97)
            await engine.unload()
        }
    }

    @Test(arguments: Model.all.filter { $0.name != "tiny llama" })
    func withNoRoomForStatesTheAnswerIsStillRight(model: Model) async throws {
        try await with(model) { bench in
            let engine = try await bench.load(sequences: 1, keptBytes: 1_000)
            var messages = chat(Self.first)
            let answer = try await bench.answer(engine, request(messages))
            messages += [
                Message(role: .assistant, content: "No" + answer.text.dropFirst()),
                Message(role: .user, content: Self.second),
            ]
            let next = try await bench.answer(engine, request(messages))
            let cold = try await bench.cold(request(messages))
            #expect(next.text == cold.text)
            #expect(next.usage.reusedTokens == 0)
            #expect(next.usage.missReason == "no exact state")
            await engine.unload()
        }
    }

    @Test func aMemoryThatForgetsIsNeverCutWhereItForgot() throws {
        for tiny in [TinyModel.gemma3, .gemma4, .qwen35] {
            let (folder, path) = tiny.file()
            let model = try ModelHandle(path: path) { _ in true }
            let context = try ContextHandle(
                model: model, shape: ContextHandle.Shape(cells: 2048, sequences: 1), cacheType: .f16,
                threads: ComputeThreads(count: 1),
                cancellation: Cancellation())
            for start in [0, 300] {
                context.clearBatch()
                for position in start..<start + 300 {
                    _ = context.add(70, position: position, sequence: 0, wantsLogits: false)
                }
                #expect(context.decode() == 0)
                if start == 0 { continue }
                #expect(!model.cutsExactly)
                #expect(!context.cut(0, to: 400))
                #expect(context.end(of: 0) == 600)
            }
            withExtendedLifetime(folder) {}
        }
    }
}
