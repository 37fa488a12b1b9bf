internal import AlcoveCore

/// The body of `POST /v1/completions`, read and checked.
struct OpenAITextOrder: Sendable {
    let model: String
    let isStream: Bool
    let includesUsage: Bool
    let likeliestTokens: Int?
    private let body: OpenAIBody
    private let prompt: String
    private let maxTokens: Int

    private static let names: Set<String> = OpenAIBody.samplingNames.union(OpenAIBody.ignoredNames).union([
        "model", "prompt", "stream", "stream_options", "max_tokens", "n", "best_of", "echo", "suffix", "logprobs",
        "logit_bias",
    ])
    /// What this interface has always meant by no number.
    private static let usualTokens = 16
    private static let mostLikeliest = 20

    init(_ object: JSONObject) throws(OpenAIError) {
        body = try OpenAIBody(object, knowing: OpenAITextOrder.names)
        model = try body.modelName()
        (isStream, includesUsage) = try body.streaming()
        try body.onlyOne("n")
        try body.onlyOne("best_of")
        try body.refuse("echo", "the prompt is not told back")
        if body["suffix"]?.string != "" { try body.refuse("suffix", "the model writes forward only") }
        try body.refuse("logit_bias", "the odds of single tokens cannot be changed")
        prompt = try OpenAITextOrder.prompt(body)
        maxTokens = try body.whole("max_tokens", in: 1...1_000_000) ?? OpenAITextOrder.usualTokens
        likeliestTokens = try body.whole("logprobs", in: 0...OpenAITextOrder.mostLikeliest)
        _ = try request(for: SamplingOptions(), stopSignal: StopSignal())
    }

    func request(for makers: SamplingOptions, stopSignal: StopSignal) throws(OpenAIError) -> GenerationRequest {
        var request = GenerationRequest(
            messages: [], sampling: try body.sampling(makers), maxTokens: maxTokens, stop: try body.stops(),
            stopSignal: stopSignal)
        request.rawPrompt = prompt
        request.likeliestTokens = likeliestTokens
        return request
    }

    private static func prompt(_ body: OpenAIBody) throws(OpenAIError) -> String {
        let value = body["prompt"]
        if let text = value?.string { return text }
        guard let list = value?.array, list.count == 1, let text = list[0].string else {
            throw body.wrong(
                "prompt", "should be one text",
                hint: "Send several prompts in several requests; prompts made of tokens are not taken.")
        }
        return text
    }
}
