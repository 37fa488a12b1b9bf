internal import AlcoveCore

/// What the page sees of a turn: one frame an event, told apart by which key is present.
enum PageFrames {
    /// - Parameter session: Echoed in the last frame.
    static func frame(_ event: TurnEvent, session: String?) -> JSONValue {
        switch event.body {
        case .promptProgress(let done, let total):
            ["prompt_progress": ["done": JSONValue(done), "total": JSONValue(total)]]
        case .reasoning(let delta): ["thinking": .string(delta)]
        case .text(let delta): ["token": .string(delta)]
        case .notice(let sentence): ["notice": .string(sentence)]
        case .finished(let end): done(end, session: session)
        }
    }

    private static func done(_ end: TurnEnd, session: String?) -> JSONValue {
        let usage = end.usage
        let reused = usage.promptTokens > 0 ? 100 * Double(usage.reusedTokens) / Double(usage.promptTokens) : 0
        return [
            "done": true, "tokenCount": JSONValue(usage.completionTokens), "elapsed": .double(end.elapsedSeconds),
            "tokPerSec": .double(usage.tokensPerSecond), "aborted": .bool(end.reason == .cancelled),
            "truncated": .bool(end.reason == .length), "error": JSONValue(end.error), "sessionId": JSONValue(session),
            "promptTokens": JSONValue(usage.promptTokens), "kvReusedTokens": JSONValue(usage.reusedTokens),
            "kvReusePercent": .double(reused),
        ]
    }
}
