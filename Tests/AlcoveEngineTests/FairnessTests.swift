import AlcoveCore
import AlcoveEngine
import Synchronization
import Testing

/// Several at once, on the real model: who waits for whom.
@Suite(.serialized) struct FairnessTests {
    private func load(sequences: Int = 3, gate: ComputeGate? = nil) async throws -> LlamaEngine {
        var options = LlamaEngine.Options()
        options.contextLength = 4096
        options.threads = 1
        options.sequences = sequences
        options.gate = gate
        return try await LlamaEngine.load(path: StarterModel.path, options: options)
    }

    /// In which order things happened.
    private final class Order: Sendable {
        private let names = Mutex([String]())
        var all: [String] { names.withLock { $0 } }
        func add(_ name: String) { names.withLock { $0.append(name) } }
    }

    private func run(
        _ request: GenerationRequest, on engine: LlamaEngine, as name: String, _ order: Order
    ) -> Task<Answer, any Error> {
        // Asked at once, so that the order of asking is the order of these calls.
        let events = engine.generate(request)
        return Task {
            var answer = Answer()
            for try await event in events {
                if case .promptProgress = event, answer.progress.isEmpty { order.add(name + " begins") }
                answer.take(event)
            }
            order.add(name + " ends")
            return answer
        }
    }

    @Test func threeAnswersRunAtOnceAndTheFourthWaits() async throws {
        let gate = ComputeGate()
        let engine = try await load(gate: gate)
        let order = Order()
        let long = GenerationRequest.question("Tell me a long story.", maxTokens: 1_500)
        var long2 = long, long3 = long
        long2.stopSignal = StopSignal()
        long3.stopSignal = StopSignal()
        let tasks = [long, long2, long3].enumerated().map { run($1, on: engine, as: "\($0)", order) }
        while engine.queue.running.count < 3 || engine.queue.running.contains(where: { $0.completionTokens < 3 }) {
            await Task.yield()
        }
        // Nothing ends while the gate is closed, however long the fourth takes to come.
        gate.close()
        let fourth = run(.question("What is a fox?", maxTokens: 4), on: engine, as: "fourth", order)
        while engine.queue.waiting < 1 { await Task.yield() }
        let queue = engine.queue
        long2.stopSignal.set()
        gate.open()
        let answer = try await fourth.value
        long.stopSignal.set()
        long3.stopSignal.set()
        for task in tasks { #expect(try await task.value.reason == .cancelled) }
        await engine.unload()

        #expect(queue.places == 3)
        #expect(queue.running.map(\.promptDone) == queue.running.map(\.promptTokens))
        #expect(answer.usage.completionTokens > 0)
        let all = order.all
        let ends = ["1 ends", "fourth ends"]
        #expect(all.filter { ends.contains($0) } == ends)
        #expect(engine.queue == ModelQueue(places: 3))
    }

    @Test func whoWaitsIsServedInOrderAndBackgroundLast() async throws {
        let gate = ComputeGate()
        let engine = try await load(sequences: 1, gate: gate)
        let order = Order()
        let first = GenerationRequest.question("Tell me a long story.", maxTokens: 2_000)
        let running = run(first, on: engine, as: "first", order)
        while engine.queue.running.isEmpty { await Task.yield() }
        gate.close()
        var background = GenerationRequest.question("Background", maxTokens: 2)
        background.priority = .background
        let tasks = [
            run(background, on: engine, as: "background", order),
            run(.question("A", maxTokens: 2), on: engine, as: "a", order),
            run(.question("B", maxTokens: 2), on: engine, as: "b", order),
            run(.question("C", maxTokens: 2), on: engine, as: "c", order),
        ]
        while engine.queue.waiting < 4 { await Task.yield() }
        first.stopSignal.set()
        gate.open()
        _ = try await running.value
        for task in tasks { _ = try await task.value }
        await engine.unload()

        let begins = order.all.filter { $0.hasSuffix("begins") }
        #expect(begins.first == "first begins")
        #expect(begins.last == "background begins")
    }

    @Test func backgroundGivesItsPlaceUpAndLosesNothing() async throws {
        let engine = try await load(sequences: 1)
        let order = Order()
        var background = GenerationRequest.question(String(repeating: "the quick brown fox ", count: 600), maxTokens: 2)
        background.priority = .background
        let work = run(background, on: engine, as: "background", order)
        while (engine.queue.running.first?.promptDone ?? 0) < 512 { await Task.yield() }
        let answer = try await Answer.collect(engine.generate(.question("What is a fox?", maxTokens: 4)))
        let stopped = try await work.value
        background.stopSignal = StopSignal()
        let again = try await Answer.collect(engine.generate(background))
        await engine.unload()

        #expect(answer.usage.completionTokens > 0)
        #expect(stopped.reason == .cancelled)
        #expect(again.reason != .cancelled)
        #expect(again.usage.reusedTokens >= 512)
    }

    @Test func backgroundRestsWhileSomebodyWaitsForWords() async throws {
        let engine = try await load()
        let order = Order()
        var background = GenerationRequest.question(String(repeating: "the quick brown fox ", count: 600), maxTokens: 2)
        background.priority = .background
        let story = GenerationRequest.question("Tell me a long story.", maxTokens: 60)
        let foreground = run(story, on: engine, as: "foreground", order)
        while engine.queue.running.isEmpty { await Task.yield() }
        let work = run(background, on: engine, as: "background", order)
        _ = try await foreground.value
        let read = try await work.value
        await engine.unload()

        #expect(read.reason == .length || read.reason == .stop)
        #expect(order.all.filter { $0.hasSuffix("ends") } == ["foreground ends", "background ends"])
    }

    /// A long prompt comes in pieces, and an answer's tokens between them.
    @Test func anAnswerGoesOnWhileALongPromptIsRead() async throws {
        let engine = try await load()
        let order = Order()
        // This model's essay has more than 1,000 words; a story of its own has sixty and may end before the prompt is read.
        let essay = GenerationRequest.question("Write a very long essay about the history of Rome.", maxTokens: 1_500)
        let foreground = run(essay, on: engine, as: "essay", order)
        while (engine.queue.running.first?.completionTokens ?? 0) < 2 { await Task.yield() }
        let before = engine.queue.running.first?.completionTokens ?? 0
        let long = try await Answer.collect(
            engine.generate(.question(String(repeating: "the quick brown fox ", count: 300), maxTokens: 1)))
        essay.stopSignal.set()
        let answer = try await foreground.value
        await engine.unload()

        let pieces = long.progress.count - 1
        #expect(pieces >= 3, "\(long.progress)")
        #expect(answer.reason == .cancelled)
        // One token with every piece.
        #expect(answer.usage.completionTokens - before >= pieces - 1)
    }
}
