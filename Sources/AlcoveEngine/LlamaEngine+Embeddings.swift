public import AlcoveCore
internal import llama

extension LlamaEngine: EmbeddingModel {
    /// Most texts of one request.
    private static let mostInputs = 2_048

    public func embeddings(of inputs: [EmbeddingInput], stopSignal: StopSignal) async throws -> Embeddings {
        guard let pooling = embeddingPooling else { throw EngineError.noEmbeddings(model: description.id) }
        guard pooling != LLAMA_POOLING_TYPE_RANK else { throw EngineError.ranksOnly(model: description.id) }
        guard inputs.count <= LlamaEngine.mostInputs else {
            throw InputError(
                code: "too_many_inputs",
                message: "There are \(inputs.count) texts; \(LlamaEngine.mostInputs) is the most.",
                hint: "Send them in several requests.")
        }
        let limit = embeddingLimit
        let tokens: [[Token]] = try await onPrompts { [self] in
            try inputs.enumerated().map { index, input in
                let tokens = try self.tokens(of: input, at: index)
                guard tokens.count <= limit else {
                    throw EngineError.inputTooLong(index: index, tokens: tokens.count, limit: limit)
                }
                return tokens
            }
        }
        stopSignal.whenSet { [weak loop] in loop?.wake() }
        let vectors = try await withCheckedThrowingContinuation { continuation in
            loop.submit(EmbeddingOrder(inputs: tokens, stop: stopSignal) { continuation.resume(with: $0) })
        }
        return Embeddings(vectors: vectors, tokens: tokens.reduce(0) { $0 + $1.count })
    }

    /// Most tokens of one text.
    private var embeddingLimit: Int {
        description.trainedContextLength > 0
            ? min(description.contextLength, description.trainedContextLength) : description.contextLength
    }

    private func tokens(of input: EmbeddingInput, at index: Int) throws -> [Token] {
        switch input {
        case .text(let text):
            let tokens = vocabulary.wholeText(Array(text.utf8))
            guard !text.isEmpty, !tokens.isEmpty else { throw EngineError.emptyInput(index: index) }
            return tokens
        case .tokens(let tokens):
            guard !tokens.isEmpty else { throw EngineError.emptyInput(index: index) }
            guard let odd = tokens.first(where: { !(0..<Token(vocabulary.count)).contains($0) }) else { return tokens }
            throw InputError(
                code: "bad_token", message: "Input \(index) has the token \(odd), which the model's vocabulary has not."
            )
        }
    }
}
