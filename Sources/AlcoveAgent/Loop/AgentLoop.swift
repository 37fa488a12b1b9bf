package import AlcoveCore

/// What a surface asks for.
package struct TurnRequest: Sendable {
    package var messages: [Message]
    package var thinking: Bool
    package var sampling: SamplingOptions
    package var maxTokens: Int?

    package init(
        messages: [Message], thinking: Bool = false, sampling: SamplingOptions = SamplingOptions(),
        maxTokens: Int? = nil
    ) {
        self.messages = messages
        self.thinking = thinking
        self.sampling = sampling
        self.maxTokens = maxTokens
    }
}

/// The words of any error; one that nobody foresaw names itself.
func sentence(of error: any Error) -> String {
    (error as? any UserFacingError)?.sentence ?? "Something unforeseen went wrong (\(error))."
}

/// What a turn has come to, for the transcript.
package struct TurnResult: Sendable, Hashable {
    package var text = ""
    package var reasoning = ""
    package var end: TurnEnd
}

/// Runs one turn: asks the model and writes down everything that happens.
package struct AgentLoop: Sendable {
    package let model: any LanguageModel

    package init(model: any LanguageModel) { self.model = model }

    /// Runs to the end; what happens is in the turn's events, but for the last one, which the caller writes.
    ///
    /// - Parameter accept: Called before the first event; what it throws refuses the turn.
    /// - Returns: nil when the turn was refused before anything was begun.
    func run(
        _ request: TurnRequest, in turn: Turn, accept: @Sendable () async throws -> Void
    ) async -> TurnResult? {
        let start = Platform.monotonicNanoseconds
        var result = TurnResult(end: TurnEnd(reason: .error, usage: Usage(), elapsedSeconds: 0))
        var failure: (any Error)?
        var began = false
        do {
            for try await event in model.generate(generation(request, stop: turn.stopSignal)) {
                if !began { try await accept() }
                began = true
                switch event {
                case .promptProgress(let done, let total): turn.append(.promptProgress(done: done, total: total))
                case .reasoning(let delta):
                    result.reasoning += delta
                    turn.append(.reasoning(delta))
                case .text(let delta):
                    result.text += delta
                    turn.append(.text(delta))
                case .notice(let sentence): turn.append(.notice(sentence))
                case .toolCallPart, .toolCall, .brokenToolCall: break  // no tools are declared yet
                case .finished(let reason, let usage):
                    result.end.reason = reason
                    result.end.usage = usage
                }
            }
        } catch {
            failure = error
        }
        if let failure, !began {
            turn.refuse(failure)
            return nil
        }
        if let failure {
            result.end.reason = .error
            result.end.error = sentence(of: failure)
        }
        result.end.elapsedSeconds = Double(Platform.monotonicNanoseconds - start) / 1e9
        return result
    }

    private func generation(_ request: TurnRequest, stop: StopSignal) -> GenerationRequest {
        GenerationRequest(
            messages: request.messages, thinking: request.thinking, sampling: request.sampling,
            maxTokens: request.maxTokens, stopSignal: stop)
    }
}
