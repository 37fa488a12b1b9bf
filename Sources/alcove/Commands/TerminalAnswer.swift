internal import AlcoveAgent
internal import AlcoveCore
internal import Synchronization

/// Shows an answer on the terminal while it comes.
struct TerminalAnswer {
    /// - Returns: why the answer ended.
    func show(_ events: AsyncThrowingStream<GenerationEvent, any Error>) async throws -> FinishReason {
        var reason = FinishReason.stop
        var endsWithNewline = false
        var isReasoning = false
        for try await event in events {
            // Nobody can read the rest: leaving the stream stops the model.
            if Terminal.outputErrno != nil { return .cancelled }
            switch event {
            case .promptProgress(let done, let total):
                if Terminal.errorIsTerminal, total > 512, done < total {
                    Terminal.noticePart("\rReading the prompt: \(100 * done / total) % ")
                } else if Terminal.errorIsTerminal, total > 512 {
                    Terminal.noticePart("\r\u{1B}[K")
                }
            case .reasoning(let text):
                isReasoning = true
                let shown = Terminal.harmless(text)
                Terminal.noticePart(Terminal.errorIsTerminal ? "\u{1B}[2m\(shown)\u{1B}[0m" : shown)
            case .text(let text):
                if isReasoning { Terminal.notice("") }
                isReasoning = false
                endsWithNewline = text.hasSuffix("\n")
                Terminal.write(text)
            case .notice(let sentence): Terminal.notice(sentence)
            case .chance, .toolCallPart, .toolCall: break
            case .brokenToolCall(let call): Terminal.notice(call.text)
            case .finished(let end, _): reason = end
            }
        }
        if !endsWithNewline { Terminal.line() }
        switch reason {
        case .length: Terminal.notice("(The answer was cut at the token limit.)")
        case .repetition: Terminal.notice("(The answer repeated itself and was ended.)")
        case .thinkingBudget: Terminal.notice("(The model thought so long that no room was left for an answer.)")
        case .cancelled: Terminal.notice("(Stopped.)")
        case .error: Terminal.notice("(The answer could not be finished.)")
        case .stop, .toolCalls: break
        }
        return reason
    }
}

/// Loads a model and says so on standard error when a person is watching.
enum TerminalLoading {
    static func load(_ path: String, with loader: ModelLoader) async throws -> LoadedModel {
        let shown = Mutex(-1)
        let name = path.split(separator: "/").last.map(String.init) ?? path
        let isWatched = Terminal.errorIsTerminal
        let loaded = try await loader.load(path) { fraction in
            let percent = Int(100 * fraction)
            let isNew = shown.withLock { last in
                defer { last = percent }
                return last != percent
            }
            if isWatched, isNew { Terminal.noticePart("\rLoading \(name) \(percent) % ") }
        }
        if isWatched { Terminal.noticePart("\r\u{1B}[K") }
        for notice in loaded.notices { Terminal.notice(notice) }
        return loaded
    }
}
