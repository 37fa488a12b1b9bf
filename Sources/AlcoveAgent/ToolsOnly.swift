package import AlcoveCore

/// Stands where a model would when explicit commands run and none is loaded. Whatever asks it to generate is refused.
package struct ToolsOnly: LanguageModel {
    package init() {}

    package let description = ModelDescription(
        id: "none", name: "none", architecture: "none", contextLength: 0, trainedContextLength: 0, parameterCount: 0,
        fileBytes: 0)

    package func generate(_ request: GenerationRequest) -> AsyncThrowingStream<GenerationEvent, any Error> {
        AsyncThrowingStream { $0.finish(throwing: ToolsOnly.refusal) }
    }

    package func promptTokens(of request: GenerationRequest) async throws -> Int { throw ToolsOnly.refusal }

    private static let refusal = InputError(
        code: "no_model", message: "No model is loaded, and this needs one.", hint: "Choose a model.")
}
