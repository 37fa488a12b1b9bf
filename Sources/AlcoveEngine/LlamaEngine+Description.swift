public import AlcoveCore
internal import AlcoveTemplates
internal import llama

/// What the engine says of a model, and how it would make tokens.
extension LlamaEngine {
    /// Tokens of a conversation or a text as the engine would compute them; for `alcove plumbing tokenize`.
    public func tokenize(
        _ messages: [Message], addsGenerationPrompt: Bool = true
    ) throws -> (tokens: [Int32], controlPositions: [Int]) {
        let prompt = try template.render(
            Conversation(messages: messages, addsGenerationPrompt: addsGenerationPrompt))
        let result = PromptTokenizer(vocabulary: vocabulary).tokens(of: prompt.parts)
        return (result.tokens, result.controlPositions)
    }

    /// Tokens of a text in which every control token's spelling is that token, as in a template's own text.
    public func tokenize(text: String) -> (tokens: [Int32], controlPositions: [Int]) {
        let result = PromptTokenizer(vocabulary: vocabulary).tokens(of: [
            RenderedPrompt.Part(text: text, isInput: false)
        ])
        return (result.tokens, result.controlPositions)
    }

    static func describe(
        _ model: ModelHandle, path: String, contextLength: Int, trained: Int
    ) -> ModelDescription {
        let file = path.split(separator: "/").last.map(String.init) ?? path
        return ModelDescription(
            id: file, name: model.metadata("general.name") ?? file,
            architecture: model.metadata("general.architecture") ?? "unknown", contextLength: contextLength,
            trainedContextLength: trained, parameterCount: llama_model_n_params(model.raw),
            fileBytes: llama_model_size(model.raw), sampling: sampling(model))
    }

    /// What the file says of its own sampling (the `general.sampling` keys of GGUF).
    private static func sampling(_ model: ModelHandle) -> SamplingOptions {
        var options = SamplingOptions()
        func number(_ key: String, _ range: ClosedRange<Float>) -> Float? {
            model.metadata("general.sampling.\(key)").flatMap { Float($0) }.flatMap { range.contains($0) ? $0 : nil }
        }
        if let value = number("temp", 0...5) { options.temperature = value }
        if let value = number("top_k", 0...1000) { options.topK = Int(value) }
        if let value = number("top_p", 0...1) { options.topP = value }
        if let value = number("min_p", 0...1) { options.minP = value }
        return options
    }
}
