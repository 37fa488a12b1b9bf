import AlcoveCore
import Synchronization
import Testing

@testable import AlcoveEngine

/// The engine's thread before a gate that is closed, with the real model.
@Suite(.serialized) struct EngineGateTests {
    private func load(_ gate: ComputeGate) async throws -> LlamaEngine {
        var options = LlamaEngine.Options()
        options.contextLength = 2048
        options.threads = 1
        options.gate = gate
        return try await LlamaEngine.load(path: StarterModel.path, options: options)
    }

    @Test func anAnswerWaitsInTheMiddleAndGoesOnWithTheSameToken() async throws {
        let gate = ComputeGate()
        let engine = try await load(gate)
        let question = GenerationRequest.question("Name three animals and what they eat.", maxTokens: 40)
        let whole = try await Answer.collect(engine.generate(question))

        var answer = Answer(), hasParked = false
        // An engine that had written everything before the gate was closed is asked once more.
        while !hasParked {
            answer = Answer()
            for try await event in engine.generate(question) {
                answer.take(event)
                guard answer.pieces.count == 3, !hasParked else { continue }
                gate.close()
                while !hasParked, !engine.queue.running.isEmpty {
                    hasParked = gate.waiting > 0
                    await Task.yield()
                }
                gate.open()
            }
        }
        await engine.unload()

        #expect(gate.closures > 0 && gate.waiting == 0)
        #expect(answer.text == whole.text && answer.reason == whole.reason)
        #expect(answer.usage.completionTokens == whole.usage.completionTokens)
    }

    @Test func neitherAStopNorAnUnloadWaitsForTheGate() async throws {
        let gate = ComputeGate()
        let engine = try await load(gate)
        gate.close()
        let stopped = GenerationRequest.question("Hello"), left = GenerationRequest.question("Good evening")
        let first = Task { try await Answer.collect(engine.generate(stopped)) }
        while gate.waiting == 0 { await Task.yield() }
        let second = Task { try await Answer.collect(engine.generate(left)) }
        while engine.queue.waiting < 2 { await Task.yield() }

        stopped.stopSignal.set()
        #expect(try await first.value.reason == .cancelled)
        await engine.unload()
        #expect(try await second.value.reason == .cancelled)
        #expect(gate.isClosed && gate.waiting == 0)
    }

    @Test func vectorsThatNobodyWantsAnyMoreEndWithoutBeingComputed() {
        let stop = StopSignal()
        let ends = Mutex([String]())
        let job = EmbeddingJob(
            EmbeddingOrder(inputs: [[1]], stop: stop) { result in
                if case .failure(let error) = result { ends.withLock { $0.append("\(type(of: error))") } }
            })
        let before = (ended: job.endsWhenStopped(), told: ends.withLock { $0 })
        stop.set()

        #expect(!before.ended && before.told.isEmpty)
        #expect(job.endsWhenStopped())
        #expect(ends.withLock { $0 } == ["CancellationError"])
    }
}
