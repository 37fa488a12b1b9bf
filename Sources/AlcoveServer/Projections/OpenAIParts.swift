internal import AlcoveCore

/// What the head of every chunk and every whole completion says, and pieces that both kinds are built from.
struct OpenAIHead: Sendable {
    var id: String
    var model: String
    /// Seconds since 1970.
    var created: Int

    func object(_ kind: String) -> JSONObject {
        [
            "id": .string(id), "object": .string(kind), "created": JSONValue(created), "model": .string(model),
            "system_fingerprint": .null,
        ]
    }
}

enum OpenAIParts {
    static func usage(_ usage: Usage) -> JSONValue {
        [
            "prompt_tokens": JSONValue(usage.promptTokens), "completion_tokens": JSONValue(usage.completionTokens),
            "total_tokens": JSONValue(usage.promptTokens + usage.completionTokens),
            "prompt_tokens_details": ["cached_tokens": JSONValue(usage.reusedTokens)],
        ]
    }

    /// Why an answer ended, in one of the three words there are for it.
    ///
    /// - Throws: for an answer that did not end by itself.
    static func finishReason(_ reason: FinishReason) throws(OpenAIError) -> JSONValue {
        switch reason {
        case .stop: return "stop"
        case .toolCalls: return "tool_calls"
        case .length, .repetition, .thinkingBudget: return "length"
        case .cancelled:
            throw OpenAIError(
                503, code: "answer_stopped", "The answer was stopped: the model was unloaded, or Alcove is stopping.",
                hint: "Send the request again.", headers: ["Retry-After": "2"])
        case .error:
            throw OpenAIError(500, code: "answer_failed", "The engine failed in the middle of the answer.")
        }
    }

    static func call(_ call: ToolCall, index: Int?) -> JSONValue {
        var object = JSONObject()
        if let index { object["index"] = JSONValue(index) }
        object["id"] = .string(call.id)
        object["type"] = "function"
        object["function"] = ["name": .string(call.name), "arguments": .string(call.arguments)]
        return .object(object)
    }

    /// `logprobs` of a chat completion.
    static func chances(_ chances: [TokenChance]) -> JSONValue {
        guard !chances.isEmpty else { return .null }
        return [
            "content": .array(
                chances.map { chance in
                    var object = candidate(chance.chosen)
                    object["top_logprobs"] = .array(chance.likeliest.map { .object(candidate($0)) })
                    return .object(object)
                }), "refusal": .null,
        ]
    }

    private static func candidate(_ candidate: TokenChance.Candidate) -> JSONObject {
        [
            "token": .string(text(candidate)), "logprob": number(candidate),
            "bytes": .array(candidate.bytes.map { JSONValue(Int($0)) }),
        ]
    }

    /// OpenAI's own number for a token that cannot come, where JSON has no infinity.
    static func number(_ candidate: TokenChance.Candidate) -> JSONValue {
        .double(candidate.logprob.isFinite ? candidate.logprob : -9999)
    }

    static func text(_ candidate: TokenChance.Candidate) -> String { String(decoding: candidate.bytes, as: UTF8.self) }
}

/// Chances wait for the text they belong to: a token may be shown with the tokens behind it, and one that becomes
/// reasoning, a call or a stop text is never shown as content.
struct WaitingChances: Sendable {
    private var waiting: [TokenChance] = []

    mutating func add(_ chance: TokenChance) { waiting.append(chance) }
    mutating func drop() { waiting = [] }
    mutating func take() -> [TokenChance] {
        defer { waiting = [] }
        return waiting
    }
}
