/// A model that can turn texts into vectors whose directions compare what the texts mean.
public protocol EmbeddingModel: Sendable {
    /// One vector for each input, in their order, all of one length and of length 1 in space.
    ///
    /// - Throws: `UserFacingError`: when this model makes no such vectors, an input is empty or longer than the model holds;
    ///   `CancellationError` when the signal was set before the end.
    func embeddings(of inputs: [EmbeddingInput], stopSignal: StopSignal) async throws -> Embeddings
}

/// What a vector is made of.
public enum EmbeddingInput: Sendable, Hashable {
    /// Words; spellings of control tokens in them stay words.
    case text(String)
    /// Tokens of the model's own vocabulary, as they stand.
    case tokens([Int32])
}

public struct Embeddings: Sendable, Hashable {
    public var vectors: [[Float]]
    /// Tokens that were read for them.
    public var tokens: Int

    public init(vectors: [[Float]], tokens: Int) {
        self.vectors = vectors
        self.tokens = tokens
    }
}
