internal import AlcoveCore

/// Texts that are to become vectors, as the engine's thread sees them: one text at a time, between the steps of answers.
final class EmbeddingJob {
    private let inputs: [[Token]]
    private let stop: StopSignal
    private let output: (Result<[[Float]], any Error>) -> Void
    private var vectors: [[Float]] = []
    private var context: EmbeddingContext?

    init(inputs: [[Token]], stop: StopSignal, output: @escaping (Result<[[Float]], any Error>) -> Void) {
        self.inputs = inputs
        self.stop = stop
        self.output = output
    }

    /// Computes the next vector.
    ///
    /// - Returns: whether there is more to do; when not, everything was told and the memory is given back.
    func step(_ makeContext: (_ tokens: Int) throws(EngineError) -> EmbeddingContext) -> Bool {
        do throws(EngineError) {
            guard !stop.isSet, vectors.count < inputs.count else { return end() }
            let context: EmbeddingContext
            if let made = self.context {
                context = made
            } else {
                context = try makeContext(inputs.map(\.count).max() ?? 1)
            }
            self.context = context
            guard let vector = try context.vector(of: inputs[vectors.count], stop: stop) else { return end() }
            vectors.append(vector)
            return vectors.count < inputs.count ? true : end()
        } catch {
            fail(error)
            return false
        }
    }

    private func end() -> Bool {
        context = nil
        output(vectors.count == inputs.count ? .success(vectors) : .failure(CancellationError()))
        return false
    }

    func fail(_ error: EngineError) {
        context = nil
        output(.failure(error))
    }
}
