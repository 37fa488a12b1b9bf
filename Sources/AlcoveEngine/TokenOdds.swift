internal import AlcoveCore
internal import llama

/// The probabilities of one step, as logarithms: the softmax of what the model computed, over the whole vocabulary.
package struct TokenOdds: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        package var token: Token
        package var logprob: Double
    }

    package var chosen: Entry
    /// Likeliest first; of equals the lower token first.
    package var likeliest: [Entry]

    package init(logits: UnsafeBufferPointer<Float>, chosen: Token, likeliest count: Int) {
        // The largest is taken off first, or the sum would overflow.
        let largest = Double(logits.max() ?? 0)
        let sum = logits.reduce(0.0) { $0 + exp(Double($1) - largest) }
        let total = largest + log(sum)
        self.chosen = Entry(token: chosen, logprob: Double(logits[Int(chosen)]) - total)
        var best: [Int] = []
        for index in logits.indices where count > 0 {
            if best.count == count, logits[index] <= logits[best[count - 1]] { continue }
            let place = best.firstIndex { logits[index] > logits[$0] } ?? best.count
            best.insert(index, at: place)
            if best.count > count { best.removeLast() }
        }
        likeliest = best.map { Entry(token: Token($0), logprob: Double(logits[$0]) - total) }
    }

    /// - Returns: nil when the library has no logits at this index.
    init?(_ context: ContextHandle, at index: Int32, chosen: Token, likeliest: Int, vocabularySize: Int) {
        guard let logits = llama_get_logits_ith(context.raw, index), (0..<vocabularySize).contains(Int(chosen)) else {
            return nil
        }
        self.init(
            logits: UnsafeBufferPointer(start: logits, count: vocabularySize), chosen: chosen, likeliest: likeliest)
    }
}

extension Vocabulary {
    /// Odds with the tokens' bytes in place of their numbers.
    func chance(_ odds: TokenOdds) -> TokenChance {
        func candidate(_ entry: TokenOdds.Entry) -> TokenChance.Candidate {
            var bytes: [UInt8] = []
            appendBytes(of: entry.token, showsControl: true, to: &bytes)
            return TokenChance.Candidate(bytes: bytes, logprob: entry.logprob)
        }
        return TokenChance(chosen: candidate(odds.chosen), likeliest: odds.likeliest.map(candidate))
    }
}
