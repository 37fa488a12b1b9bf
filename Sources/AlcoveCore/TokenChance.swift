/// How likely a token of an answer was among all tokens there are, as the model computed it: before penalties, cuts,
/// heat and grammar changed the odds.
public struct TokenChance: Sendable, Hashable {
    /// A token by its bytes, which may be part of a character only.
    public struct Candidate: Sendable, Hashable {
        public var bytes: [UInt8]
        /// Natural logarithm of the probability, 0 at most.
        public var logprob: Double

        public init(bytes: [UInt8], logprob: Double) {
            self.bytes = bytes
            self.logprob = logprob
        }
    }

    public var chosen: Candidate
    /// The likeliest tokens, likeliest first; the chosen one is among them if it is one of them.
    public var likeliest: [Candidate]

    public init(chosen: Candidate, likeliest: [Candidate]) {
        self.chosen = chosen
        self.likeliest = likeliest
    }
}
