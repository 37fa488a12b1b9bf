internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveStorage

extension TurnResult {
    /// What a turn has come to as a message of its chat; nil when it has come to nothing.
    var answer: MessageDraft? {
        if text.isEmpty, reasoning.isEmpty, steps.isEmpty { return nil }
        return MessageDraft(
            role: .assistant, content: text, thinking: reasoning.isEmpty ? nil : reasoning, extras: facts)
    }

    /// What is kept with an answer beside its words.
    private var facts: JSONObject {
        let usage = end.usage
        var facts: JSONObject = [
            "tokenCount": JSONValue(usage.completionTokens), "promptTokens": JSONValue(usage.promptTokens),
            "kvReusedTokens": JSONValue(usage.reusedTokens), "tokPerSec": .double(usage.tokensPerSecond),
            "aborted": .bool(end.reason == .cancelled), "truncated": .bool(end.reason.isTruncation),
        ]
        if isCutOff { facts["interrupted"] = true }
        if !steps.isEmpty {
            facts["steps"] = .array(
                zip(steps, places).map { step, place in
                    [
                        "at": JSONValue(place), "tool": .string(step.tool), "detail": .string(step.detail),
                        "ok": .bool(step.succeeded),
                        "seconds": .double(step.seconds), "receipt": JSONValue(step.receipt),
                    ]
                })
        }
        if !artifacts.isEmpty { facts["artifacts"] = .array(artifacts.map(PageFrames.file)) }
        if let reason = end.stoppedBy { facts["stoppedBy"] = .string(reason) }
        return facts
    }
}
