internal import AlcoveCore
internal import llama

/// A small model that guesses what a large one will say. Used on the engine's thread only.
///
/// It keeps one sequence: what it read last. A guess goes on from what that has in common with the answer, so that what the
/// large model rejected is cut off, and another chat is read anew. Reading is done a piece a step, so that nobody waits long.
final class DraftModel {
    let model: ModelHandle
    private let threads: ComputeThreads
    private let cancellation: Cancellation
    private var context: ContextHandle?
    private var held: [Token] = []

    /// How long guessing took, for whoever decides whether it is worth it.
    struct Cost {
        var nanoseconds: UInt64
        var tokens: Int
    }

    init(model: ModelHandle, threads: ComputeThreads, cancellation: Cancellation) {
        self.model = model
        self.threads = threads
        self.cancellation = cancellation
    }

    /// The likeliest tokens after a sequence, one after the other.
    ///
    /// - Parameters:
    ///   - tokens: The sequence without its last token.
    ///   - last: The last token.
    ///   - count: Tokens to guess.
    ///   - cells: Tokens that the large model has room for now.
    ///   - vocabularySize: of the large model; other tokens are none to it.
    ///   - stop: the wish to stop; nothing is guessed then.
    /// - Returns: nil while it still reads, or cannot.
    func draft(
        after tokens: [Token], _ last: Token, count: Int, cells: Int, vocabularySize: Int, stop: StopSignal
    ) -> (tokens: [Token], cost: Cost?)? {
        guard count > 0, let context = context(cells: cells), tokens.count + 1 + count <= context.shape.cells else {
            return nil
        }
        var common = 0
        let most = min(held.count, tokens.count)
        while common < most, held[common] == tokens[common] { common += 1 }
        guard context.cut(0, to: common) else {
            forget()
            return nil
        }
        held.removeSubrange(common...)
        let missing = tokens[common...] + [last]
        if missing.count > ContextHandle.batchTokens {
            _ = read(missing.prefix(ContextHandle.batchTokens), context, stop)
            return nil
        }
        let begun = Platform.monotonicNanoseconds
        guard var next = read(missing, context, stop) else { return nil }
        // What was missed while it rested is read once, and no part of what a guess costs.
        let isCaughtUp = missing.count <= (SpeculationGovernor.lengths.max() ?? 0) + 1
        var guesses: [Token] = []
        while true {
            guard next < Token(vocabularySize) else { break }
            guesses.append(next)
            guard guesses.count < count, let following = read([next], context, stop) else { break }
            next = following
        }
        if guesses.isEmpty { return nil }
        let time = Platform.monotonicNanoseconds - begun
        return (guesses, isCaughtUp ? Cost(nanoseconds: time, tokens: guesses.count) : nil)
    }

    /// Gives its memory back; the next guess reads anew.
    ///
    /// - Returns: about how many bytes that were.
    func giveBack() -> Int {
        let bytes = context?.stateBytes(of: 0) ?? 0
        context = nil
        held = []
        return bytes
    }

    private func forget() {
        _ = context?.cut(0, to: 0)
        held = []
    }

    /// Reads tokens behind what it holds; the likeliest token after them, or nil when it was stopped or failed.
    private func read(_ tokens: some Collection<Token>, _ context: ContextHandle, _ stop: StopSignal) -> Token? {
        context.clearBatch()
        var index: Int32 = -1
        for (offset, token) in tokens.enumerated() {
            index = context.add(
                token, position: held.count + offset, sequence: 0, wantsLogits: offset == tokens.count - 1)
        }
        guard cancellation.watching(stop, { context.decode() }) == 0 else {
            forget()
            return nil
        }
        held += tokens
        return likeliest(context, at: index)
    }

    private func likeliest(_ context: ContextHandle, at index: Int32) -> Token? {
        guard let logits = llama_get_logits_ith(context.raw, index), let vocabulary = llama_model_get_vocab(model.raw)
        else {
            return nil
        }
        var best = 0
        for token in 1..<Int(llama_vocab_n_tokens(vocabulary)) where logits[token] > logits[best] { best = token }
        return Token(best)
    }

    /// A context as long as the large model's, made when it is first needed.
    private func context(cells: Int) -> ContextHandle? {
        if let context, context.shape.cells >= cells { return context }
        context = nil
        held = []
        context = try? ContextHandle(
            model: model, shape: ContextHandle.Shape(cells: cells, sequences: 1), cacheType: .f16, threads: threads,
            cancellation: cancellation)
        return context
    }
}
