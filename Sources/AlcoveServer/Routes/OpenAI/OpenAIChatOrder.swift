internal import AlcoveCore

/// The body of `POST /v1/chat/completions`, read and checked.
struct OpenAIChatOrder: Sendable {
    let model: String
    let isStream: Bool
    let includesUsage: Bool
    /// nil: nobody asked for chances.
    let likeliestTokens: Int?
    private let body: OpenAIBody
    private var messages: [Message]
    /// Pictures and sounds that are still to be decoded.
    private let media: [(message: Int, media: OpenAIMedia)]
    private let tools: [ToolDeclaration]
    private let toolChoice: ToolChoice
    private let schema: JSONValue?
    private let maxTokens: Int?
    private let thinks: Bool

    private static let names: Set<String> = OpenAIBody.samplingNames.union(OpenAIBody.ignoredNames).union([
        "model", "messages", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls",
        "response_format", "max_tokens", "max_completion_tokens", "n", "logprobs", "top_logprobs", "reasoning_effort",
        "logit_bias", "modalities", "audio", "functions", "function_call", "web_search_options", "store",
    ])
    private static let mostTools = 128
    private static let mostLikeliest = 20

    init(_ object: JSONObject) throws(OpenAIError) {
        body = try OpenAIBody(object, knowing: OpenAIChatOrder.names)
        model = try body.modelName()
        guard let list = try body.list("messages") else {
            throw OpenAIError(
                code: "missing_required_parameter", "\"messages\" should be a list of messages.", param: "messages")
        }
        let read = try OpenAIMessages(list)
        (messages, media) = (read.messages, read.media)
        (isStream, includesUsage) = try body.streaming()
        try OpenAIChatOrder.refuseWhatIsNotThere(body)
        tools = try OpenAIChatOrder.tools(body)
        toolChoice = try OpenAIChatOrder.choice(body, among: tools)
        schema = try OpenAIChatOrder.schema(body)
        if schema != nil, !tools.isEmpty, toolChoice != .none {
            throw OpenAIError(
                code: "invalid_value", "An answer cannot both follow \"response_format\" and call tools.",
                hint: "Set \"tool_choice\" to none, or leave one of the two out.", param: "response_format")
        }
        let newer = try body.whole("max_completion_tokens", in: 1...1_000_000)
        let older = try body.whole("max_tokens", in: 1...1_000_000)
        maxTokens = newer ?? older
        thinks = try OpenAIChatOrder.thinks(body)
        let top = try body.whole("top_logprobs", in: 0...OpenAIChatOrder.mostLikeliest)
        let asksForChances = try body.flag("logprobs") ?? false
        guard top == nil || asksForChances else {
            throw body.wrong("top_logprobs", "needs \"logprobs\"", hint: "Set \"logprobs\" to true.")
        }
        likeliestTokens = asksForChances ? top ?? 0 : nil
        _ = try request(for: SamplingOptions(), stopSignal: StopSignal())
    }

    /// Decodes the pictures and sounds of the messages, in the sandbox, for a model that takes them.
    mutating func decodeMedia(for abilities: MediaAbilities, with decoder: any MediaDecoder) async throws {
        for (index, medium) in media {
            messages[index].media.append(try await medium.decoded(for: abilities, with: decoder))
        }
    }

    /// What the request does not say of sampling, the model's makers do.
    func request(for makers: SamplingOptions, stopSignal: StopSignal) throws(OpenAIError) -> GenerationRequest {
        var request = GenerationRequest(
            messages: messages, tools: tools, toolChoice: toolChoice,
            parallelToolCalls: try body.flag("parallel_tool_calls") ?? true, responseSchema: schema, thinking: thinks,
            sampling: try body.sampling(makers), maxTokens: maxTokens, stop: try body.stops(), stopSignal: stopSignal)
        request.likeliestTokens = likeliestTokens
        return request
    }

    private static func refuseWhatIsNotThere(_ body: OpenAIBody) throws(OpenAIError) {
        try body.onlyOne("n")
        try body.refuse("logit_bias", "the odds of single tokens cannot be changed")
        try body.refuse("audio", "the model writes text only")
        try body.refuse("functions", "it is the old form of \"tools\"", hint: "Use \"tools\".")
        try body.refuse("function_call", "it is the old form of \"tool_choice\"", hint: "Use \"tool_choice\".")
        try body.refuse("web_search_options", "this interface runs no tools of the host")
        try body.refuse("store", "nothing of these requests is kept")
        if let kinds = try body.list("modalities"), kinds != ["text"] {
            throw body.wrong("modalities", "should be [\"text\"], which is all the model writes")
        }
    }

    private static func thinks(_ body: OpenAIBody) throws(OpenAIError) -> Bool {
        guard let effort = try body.text("reasoning_effort") else { return false }
        guard ["none", "minimal", "low", "medium", "high", "xhigh"].contains(effort) else {
            throw body.wrong("reasoning_effort", "should be none, minimal, low, medium, high or xhigh")
        }
        return !["none", "minimal"].contains(effort)
    }

    private static func tools(_ body: OpenAIBody) throws(OpenAIError) -> [ToolDeclaration] {
        let list = try body.list("tools") ?? []
        guard list.count <= mostTools else { throw body.wrong("tools", "should hold at most \(mostTools) tools") }
        var tools: [ToolDeclaration] = []
        for (index, item) in list.enumerated() {
            let place = "tools[\(index)]"
            guard item["type"]?.string == "function", let function = item["function"]?.object else {
                throw body.wrong("\(place).type", "should be function, with \"function\" beside it")
            }
            let one = try OpenAIBody(
                function, knowing: ["name", "description", "parameters", "strict"], at: "\(place).function.")
            guard let name = try one.text("name"), isName(name) else {
                throw one.wrong("name", "should be 1 to 64 letters, digits, _ or -")
            }
            guard !tools.contains(where: { $0.name == name }) else {
                throw one.wrong("name", "is \"\(name)\", like a tool before")
            }
            let parameters = one["parameters"] ?? ["type": "object", "properties": [:]]
            guard parameters.object != nil else { throw one.wrong("parameters", "should be a JSON schema") }
            _ = try one.flag("strict")  // arguments are always held to the schema
            tools.append(
                ToolDeclaration(name: name, description: try one.text("description") ?? "", parameters: parameters))
        }
        return tools
    }

    static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                let letter = Unicode.Scalar(byte)
                return letter.properties.isASCIIHexDigit || ("A"..."Z").contains(letter)
                    || ("a"..."z").contains(letter) || letter == "_" || letter == "-"
            }
    }

    private static func choice(_ body: OpenAIBody, among tools: [ToolDeclaration]) throws(OpenAIError) -> ToolChoice {
        guard let value = body["tool_choice"] else { return .auto }
        let choice: ToolChoice
        switch value.string {
        case "auto"?: return .auto
        case "none"?: return .none
        case "required"?: choice = .required
        case _?, nil:
            guard value["type"]?.string == "function", let name = value["function"]?["name"]?.string else {
                throw body.wrong("tool_choice", "should be auto, none, required, or name a function")
            }
            guard tools.contains(where: { $0.name == name }) else {
                throw body.wrong("tool_choice", "names \"\(name.prefix(64))\", and there is no such tool")
            }
            choice = .named(name)
        }
        guard !tools.isEmpty else { throw body.wrong("tool_choice", "asks for a call, and there are no \"tools\"") }
        return choice
    }

    private static func schema(_ body: OpenAIBody) throws(OpenAIError) -> JSONValue? {
        guard let format = try body.object("response_format", knowing: ["type", "json_schema"]) else { return nil }
        switch try format.text("type") {
        case "text"?: return nil
        case "json_object"?: return ["type": "object"]
        case "json_schema"?:
            let names: Set<String> = ["name", "description", "schema", "strict"]
            guard let form = try format.object("json_schema", knowing: names) else {
                throw format.wrong("json_schema", "should be there")
            }
            guard let name = try form.text("name"), isName(name) else {
                throw form.wrong("name", "should be 1 to 64 letters, digits, _ or -")
            }
            _ = (try form.text("description"), try form.flag("strict"))
            guard let schema = form["schema"], schema.object != nil else {
                throw form.wrong("schema", "should be a JSON schema")
            }
            return schema
        default: throw format.wrong("type", "should be text, json_object or json_schema")
        }
    }
}
