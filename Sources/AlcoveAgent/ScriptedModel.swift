package import AlcoveCore
internal import Synchronization

/// A model whose answers are written beforehand, played piece by piece. Stands at the engine's door in tests, and wherever
/// a surface is to be tried without weights.
package final class ScriptedModel: LanguageModel {
    package enum Step: Sendable {
        case reasoning(String)
        case text(String)
        case notice(String)
        case promptProgress(done: Int, total: Int)
        case chance(TokenChance)
        /// Waits until the signal is set, or the answer is to stop.
        case wait(StopSignal)
        case part(ToolCallPart)
        case call(ToolCall)
        case broken(BrokenToolCall)
        case fail(any Error)
        /// Ends the answer for this reason.
        case end(FinishReason)
    }

    package let description: ModelDescription
    private let state: Mutex<State>

    private struct State {
        var answers: [[Step]]
        var requests: [GenerationRequest] = []
    }

    /// - Parameter answers: One for each request, in order; the last one is played again when there are more.
    package init(answers: [[Step]], contextLength: Int = 4096) {
        state = Mutex(State(answers: answers))
        description = ModelDescription(
            id: "scripted", name: "Scripted", architecture: "scripted", contextLength: contextLength,
            trainedContextLength: contextLength, parameterCount: 0, fileBytes: 0)
    }

    /// A token is four bytes here; what counts is that more text is more tokens.
    package func promptTokens(of request: GenerationRequest) async throws -> Int {
        let texts =
            request.rawPrompt.map { [$0] }
            ?? request.messages.map { ($0.content ?? "") + $0.toolCalls.map(\.arguments).joined() }
        return (texts + request.tools.map { $0.description + $0.parameters.text() }).reduce(0) { $0 + $1.utf8.count }
            / 4
    }

    /// What was asked so far.
    package var requests: [GenerationRequest] { state.withLock { $0.requests } }

    package func generate(_ request: GenerationRequest) -> AsyncThrowingStream<GenerationEvent, any Error> {
        let steps = state.withLock { state in
            state.requests.append(request)
            return state.answers.count > 1 ? state.answers.removeFirst() : state.answers.first ?? []
        }
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: GenerationEvent.self)
        let stop = request.stopSignal
        continuation.onTermination = { if case .cancelled = $0 { stop.set() } }
        Task {
            var usage = Usage()
            var hasCalls = false
            var reason: FinishReason?
            for step in steps {
                if stop.isSet { break }
                switch step {
                case .reasoning(let text): continuation.yield(.reasoning(text))
                case .text(let text): continuation.yield(.text(text))
                case .notice(let text): continuation.yield(.notice(text))
                case .promptProgress(let done, let total):
                    usage.promptTokens = total
                    continuation.yield(.promptProgress(done: done, total: total))
                    continue
                case .chance(let chance):
                    if request.likeliestTokens != nil { continuation.yield(.chance(chance)) }
                    continue
                case .part(let part): continuation.yield(.toolCallPart(part))
                case .call(let call):
                    continuation.yield(.toolCall(call))
                    hasCalls = true
                case .broken(let broken): continuation.yield(.brokenToolCall(broken))
                case .wait(let signal): await signal.wait(or: stop)
                case .end(let given): reason = given
                case .fail(let error): return continuation.finish(throwing: error)
                }
                usage.completionTokens += 1
            }
            continuation.yield(.finished(stop.isSet ? .cancelled : reason ?? (hasCalls ? .toolCalls : .stop), usage))
            continuation.finish()
        }
        return stream
    }
}
