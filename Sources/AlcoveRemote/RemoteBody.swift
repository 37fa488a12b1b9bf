internal import AlcoveCore

/// The body of one request in OpenAI's form: what a server is asked, without what it said it does not know.
struct RemoteBody: Sendable {
    let model: String
    let request: GenerationRequest
    /// What to leave out (`RemoteManners`).
    var omitted: Set<String> = []

    /// Only these may be left out when a server does not know them: the answer is still the one that was asked for.
    static let optional: Set<String> = [
        "top_k", "min_p", "repeat_penalty", "seed", "stream_options", "parallel_tool_calls", "reasoning_effort",
        "chat_template_kwargs", "temperature", "top_p", "frequency_penalty", "presence_penalty", "max_tokens",
    ]

    var path: String { request.rawPrompt == nil ? "/chat/completions" : "/completions" }

    var json: JSONValue {
        var body: JSONObject = ["model": .string(model), "stream": true, "stream_options": ["include_usage": true]]
        if let prompt = request.rawPrompt {
            body["prompt"] = .string(prompt)
        } else {
            body["messages"] = .array(request.messages.map(RemoteBody.message))
            addTools(to: &body)
            body["chat_template_kwargs"] = ["enable_thinking": .bool(request.thinking)]
            if request.thinking { body["reasoning_effort"] = "medium" }
            if let schema = request.responseSchema {
                body["response_format"] = [
                    "type": "json_schema", "json_schema": ["name": "answer", "schema": schema, "strict": true],
                ]
            }
        }
        addSampling(to: &body)
        if let most = request.maxTokens {
            body[omitted.contains("max_tokens") ? "max_completion_tokens" : "max_tokens"] = JSONValue(most)
        }
        if !request.stop.isEmpty { body["stop"] = .array(request.stop.map { .string($0) }) }
        if let count = request.likeliestTokens {
            body["logprobs"] = request.rawPrompt == nil ? true : JSONValue(count)
            if request.rawPrompt == nil { body["top_logprobs"] = JSONValue(count) }
        }
        for name in omitted { body[name] = nil }
        return .object(body)
    }

    private func addTools(to body: inout JSONObject) {
        guard !request.tools.isEmpty else { return }
        body["tools"] = .array(
            request.tools.map { tool in
                [
                    "type": "function",
                    "function": [
                        "name": .string(tool.name), "description": .string(tool.description),
                        "parameters": tool.parameters,
                    ],
                ]
            })
        body["tool_choice"] =
            switch request.toolChoice {
            case .auto: "auto"
            case .required: "required"
            case .none: "none"
            case .named(let name): ["type": "function", "function": ["name": .string(name)]]
            }
        if !request.parallelToolCalls { body["parallel_tool_calls"] = false }
    }

    /// Where nobody chose anything, the server knows best how its model should be sampled.
    private func addSampling(to body: inout JSONObject) {
        let chosen = request.sampling, usual = SamplingOptions()
        func add(_ name: String, _ value: Float, unless other: Float) {
            // By way of its text: 0.2 is to go out as 0.2.
            if value != other, let number = Double("\(value)") { body[name] = .double(number) }
        }
        if let seed = chosen.seed { body["seed"] = JSONValue(Int(seed)) }
        var unseeded = chosen
        unseeded.seed = nil
        guard unseeded != usual else { return }
        add("temperature", chosen.temperature, unless: -1)
        guard chosen.temperature > 0 else { return addPenalties() }
        add("top_p", chosen.topP, unless: -1)
        if chosen.topK != usual.topK { body["top_k"] = JSONValue(chosen.topK) }
        add("min_p", chosen.minP, unless: usual.minP)
        addPenalties()

        func addPenalties() {
            add("repeat_penalty", chosen.repetitionPenalty, unless: 1)
            add("frequency_penalty", chosen.frequencyPenalty, unless: 0)
            add("presence_penalty", chosen.presencePenalty, unless: 0)
        }
    }

    private static func message(_ message: Message) -> JSONValue {
        // Few servers know the role `developer`; the instructions are the same.
        let role = message.role == .developer ? Role.system : message.role
        var object: JSONObject = ["role": .string(role.rawValue), "content": .string(message.content ?? "")]
        if message.role == .assistant, !message.toolCalls.isEmpty {
            if message.content == nil { object["content"] = .null }
            object["tool_calls"] = .array(
                message.toolCalls.map { call in
                    [
                        "id": .string(call.id), "type": "function",
                        "function": ["name": .string(call.name), "arguments": .string(call.arguments)],
                    ]
                })
        }
        if message.role == .tool { object["tool_call_id"] = .string(message.toolCallID ?? "") }
        return .object(object)
    }
}
