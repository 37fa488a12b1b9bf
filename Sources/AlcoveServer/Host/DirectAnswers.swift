internal import AlcoveAgent
internal import AlcoveCore
internal import Synchronization

/// Answers that programs ask of the model itself: no chat, no turn, no tools of the host.
///
/// An answer counts from the request to the engine's last word, so that what is counted no more really costs nothing.
package final class DirectAnswers: Sendable {
    private let state = Mutex((running: 0, started: 0))
    /// Told of failures: an answer to a program is not gone on with, but the next one finds an engine.
    private let repair: EngineRepair?
    /// Called when the last of them has ended.
    private let whenIdle: @Sendable () -> Void

    init(repair: EngineRepair? = nil, whenIdle: @escaping @Sendable () -> Void = {}) {
        self.repair = repair
        self.whenIdle = whenIdle
    }

    var runningCount: Int { state.withLock { $0.running } }
    var startedCount: Int { state.withLock { $0.started } }

    /// The model's events. Once the request's stop signal is set, or nobody reads them any more, the model stops; its
    /// last words are read here either way.
    func events(of request: GenerationRequest, from model: any LanguageModel) -> AsyncThrowingStream<
        GenerationEvent, any Error
    > {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: GenerationEvent.self)
        continuation.onTermination = { if case .cancelled = $0 { request.stopSignal.set() } }
        state.withLock { ($0.running, $0.started) = ($0.running + 1, $0.started + 1) }
        Task { [self] in
            let closures = repair?.gate.closures ?? 0
            do {
                for try await event in model.generate(request) { continuation.yield(event) }
                finish()
                continuation.finish()
            } catch {
                finish()
                continuation.finish(throwing: error)
                await repair?.mend(after: error, of: model, closuresBefore: closures)
            }
        }
        return stream
    }

    /// Counts other work of the same kind.
    func counting<Value: Sendable>(_ body: () async throws -> Value) async rethrows -> Value {
        state.withLock { ($0.running, $0.started) = ($0.running + 1, $0.started + 1) }
        defer { finish() }
        return try await body()
    }

    private func finish() {
        let isIdle = state.withLock { state in
            state.running -= 1
            return state.running == 0
        }
        if isIdle { whenIdle() }
    }
}
