internal import AlcoveCore

/// A completion of a raw text, streamed or whole: a pure function of the model's events.
struct OpenAITextChunks: Sendable {
    let head: OpenAIHead
    let includesUsage: Bool
    private var waiting = WaitingChances()
    private var text = ""
    private var chances: [TokenChance] = []
    /// Characters (Unicode scalars) of the answer before the chances that come next.
    private var offset = 0
    private var end: (reason: FinishReason, usage: Usage)?

    init(head: OpenAIHead, includesUsage: Bool) {
        self.head = head
        self.includesUsage = includesUsage
    }

    mutating func chunks(_ event: GenerationEvent) throws(OpenAIError) -> [JSONValue] {
        switch event {
        case .promptProgress, .notice: return []
        case .chance(let chance):
            waiting.add(chance)
            return []
        // A raw answer is all text; whatever else a model behind the door tells is text as well.
        case .text(let delta), .reasoning(let delta): return [piece(delta)]
        case .brokenToolCall(let broken): return [piece(broken.text)]
        case .toolCallPart, .toolCall: return []
        case .finished(let reason, let usage):
            end = (reason, usage)
            var chunks = [chunk("", finishReason: try OpenAIParts.finishReason(reason))]
            if includesUsage {
                var last = head.object("text_completion")
                last["choices"] = []
                last["usage"] = OpenAIParts.usage(usage)
                chunks.append(.object(last))
            }
            return chunks
        }
    }

    /// Everything that came, in one piece.
    func json() throws(OpenAIError) -> JSONValue {
        let end = end ?? (.error, Usage())
        var object = head.object("text_completion")
        object["choices"] = [
            [
                "text": .string(text), "index": 0,
                "logprobs": OpenAITextChunks.logprobs(chances, from: 0),
                "finish_reason": try OpenAIParts.finishReason(end.reason),
            ]
        ]
        object["usage"] = OpenAIParts.usage(end.usage)
        return .object(object)
    }

    private mutating func piece(_ delta: String) -> JSONValue {
        let new = waiting.take()
        defer { offset += new.reduce(0) { $0 + OpenAIParts.text($1.chosen).unicodeScalars.count } }
        text += delta
        chances += new
        return chunk(delta, logprobs: OpenAITextChunks.logprobs(new, from: offset))
    }

    private func chunk(_ text: String, logprobs: JSONValue = .null, finishReason: JSONValue = .null) -> JSONValue {
        var object = head.object("text_completion")
        object["choices"] = [
            ["text": .string(text), "index": 0, "logprobs": logprobs, "finish_reason": finishReason]
        ]
        if includesUsage { object["usage"] = .null }
        return .object(object)
    }

    /// The form this older interface has: a list for each thing. Of two candidates that read alike the likelier counts.
    private static func logprobs(_ chances: [TokenChance], from start: Int) -> JSONValue {
        guard !chances.isEmpty else { return .null }
        var offsets: [JSONValue] = []
        var offset = start
        for chance in chances {
            offsets.append(JSONValue(offset))
            offset += OpenAIParts.text(chance.chosen).unicodeScalars.count
        }
        let top = chances.map { chance -> JSONValue in
            var object = JSONObject()
            for candidate in chance.likeliest where object[OpenAIParts.text(candidate)] == nil {
                object[OpenAIParts.text(candidate)] = OpenAIParts.number(candidate)
            }
            return .object(object)
        }
        return [
            "tokens": .array(chances.map { .string(OpenAIParts.text($0.chosen)) }),
            "token_logprobs": .array(chances.map { OpenAIParts.number($0.chosen) }), "top_logprobs": .array(top),
            "text_offset": .array(offsets),
        ]
    }
}
