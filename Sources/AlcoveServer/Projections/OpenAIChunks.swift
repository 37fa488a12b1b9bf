internal import AlcoveCore

/// The chunks of a streamed chat completion: a pure function of the model's events, one after another.
///
/// A call is told while it is written (`OpenAICallStream`); what turns out to be none before anything of it was told is
/// content, so that nothing is lost.
struct OpenAIChunks: Sendable {
    let head: OpenAIHead
    let includesUsage: Bool
    private var hasBegun = false
    private var calls = OpenAICallStream()
    private var chances = WaitingChances()
    private var notices: [String] = []

    init(head: OpenAIHead, includesUsage: Bool) {
        self.head = head
        self.includesUsage = includesUsage
    }

    /// - Throws: when the answer ended in a way that no chunk tells.
    mutating func chunks(_ event: GenerationEvent) throws(OpenAIError) -> [JSONValue] {
        var chunks: [JSONValue] = []
        if !hasBegun {
            hasBegun = true
            chunks.append(chunk(["role": "assistant", "content": ""]))
        }
        switch event {
        case .promptProgress: break
        case .chance(let chance): chances.add(chance)
        case .reasoning(let text):
            chances.drop()
            chunks.append(chunk(["reasoning_content": .string(text)]))
        case .text(let text):
            chunks.append(chunk(["content": .string(text)], logprobs: OpenAIParts.chances(chances.take())))
        case .brokenToolCall(let broken):
            chances.drop()
            if let pieces = calls.take(broken) {
                chunks += pieces.map { chunk(["tool_calls": [$0]]) }
            } else {
                chunks.append(chunk(["content": .string(broken.text)]))
            }
        case .toolCallPart(let part):
            chances.drop()
            chunks += calls.take(part).map { chunk(["tool_calls": [$0]]) }
        case .toolCall(let call):
            chances.drop()
            chunks += try calls.take(call).map { chunk(["tool_calls": [$0]]) }
        case .notice(let sentence): notices.append(sentence)
        case .finished(let reason, let usage):
            try calls.finish(reason)
            notices += calls.notices
            chunks.append(chunk([:], finishReason: try OpenAIParts.finishReason(reason)))
            if includesUsage {
                var last = head.object("chat.completion.chunk")
                last["choices"] = []
                last["usage"] = OpenAIParts.usage(usage)
                chunks.append(.object(last))
            }
        }
        return chunks
    }

    private func chunk(
        _ delta: JSONObject, logprobs: JSONValue = .null, finishReason: JSONValue = .null
    ) -> JSONValue {
        var object = head.object("chat.completion.chunk")
        object["choices"] = [
            ["index": 0, "delta": .object(delta), "logprobs": logprobs, "finish_reason": finishReason]
        ]
        if includesUsage { object["usage"] = .null }
        if !finishReason.isNull, !notices.isEmpty { object["notices"] = .array(notices.map { .string($0) }) }
        return .object(object)
    }
}

/// A chat completion in one piece, collected from the same events.
struct OpenAICompletion: Sendable {
    let head: OpenAIHead
    private var text = ""
    private var reasoning = ""
    private var calls: [ToolCall] = []
    private var chances: [TokenChance] = []
    private var waiting = WaitingChances()
    private var notices: [String] = []
    private var end: (reason: FinishReason, usage: Usage)?

    init(head: OpenAIHead) { self.head = head }

    mutating func take(_ event: GenerationEvent) {
        switch event {
        case .promptProgress: break
        case .chance(let chance): waiting.add(chance)
        case .reasoning(let delta):
            waiting.drop()
            reasoning += delta
        case .text(let delta):
            chances += waiting.take()
            text += delta
        case .brokenToolCall(let broken):
            waiting.drop()
            text += broken.text
        case .toolCallPart: waiting.drop()
        case .toolCall(let call):
            waiting.drop()
            calls.append(call)
        case .notice(let sentence): notices.append(sentence)
        case .finished(let reason, let usage): end = (reason, usage)
        }
    }

    func json() throws(OpenAIError) -> JSONValue {
        let end = end ?? (.error, Usage())
        var message: JSONObject = [
            "role": "assistant", "content": text.isEmpty && !calls.isEmpty ? .null : .string(text), "refusal": .null,
        ]
        if !reasoning.isEmpty { message["reasoning_content"] = .string(reasoning) }
        if !calls.isEmpty { message["tool_calls"] = .array(calls.map { OpenAIParts.call($0, index: nil) }) }
        var object = head.object("chat.completion")
        object["choices"] = [
            [
                "index": 0, "message": .object(message), "logprobs": OpenAIParts.chances(chances),
                "finish_reason": try OpenAIParts.finishReason(end.reason),
            ]
        ]
        object["usage"] = OpenAIParts.usage(end.usage)
        if !notices.isEmpty { object["notices"] = .array(notices.map { .string($0) }) }
        return .object(object)
    }
}
