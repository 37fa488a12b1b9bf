internal import AlcoveCore

/// Texts that are to become vectors, and whom to tell.
struct EmbeddingOrder: Sendable {
    let inputs: [[Token]]
    let stop: StopSignal
    let output: @Sendable (Result<[[Float]], any Error>) -> Void
}

/// An order as the engine's thread works on it: one text at a time, between the steps of answers.
///
/// Made by that thread, so that nothing with a context crosses threads.
final class EmbeddingJob {
    private let order: EmbeddingOrder
    private var inputs: [[Token]] { order.inputs }
    private var vectors: [[Float]] = []
    private var context: EmbeddingContext?

    init(_ order: EmbeddingOrder) { self.order = order }

    /// Computes the next vector.
    ///
    /// - Returns: whether there is more to do; when not, everything was told and the memory is given back.
    func step(_ makeContext: (_ tokens: Int) throws(EngineError) -> EmbeddingContext) -> Bool {
        do throws(EngineError) {
            guard !order.stop.isSet, vectors.count < inputs.count else { return end() }
            let context: EmbeddingContext
            if let made = self.context {
                context = made
            } else {
                context = try makeContext(inputs.map(\.count).max() ?? 1)
            }
            self.context = context
            guard let vector = try context.vector(of: inputs[vectors.count], stop: order.stop) else { return end() }
            vectors.append(vector)
            return vectors.count < inputs.count ? true : end()
        } catch {
            fail(error)
            return false
        }
    }

    /// - Returns: whether the job was to stop, and has.
    func endsWhenStopped() -> Bool { order.stop.isSet && !end() }

    private func end() -> Bool {
        context = nil
        order.output(vectors.count == inputs.count ? .success(vectors) : .failure(CancellationError()))
        return false
    }

    func fail(_ error: EngineError) {
        context = nil
        order.output(.failure(error))
    }
}
