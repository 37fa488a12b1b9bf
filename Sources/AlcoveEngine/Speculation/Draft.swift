/// Tokens that may follow, to be computed in one go and taken as far as they are what the sampler chooses itself.
struct Draft: Equatable {
    /// Where a guess comes from; each kind fares by itself (`SpeculationGovernor`).
    enum Source: Int, CaseIterable {
        /// What followed the last two tokens before.
        case twoTokens
        /// What followed the last three.
        case threeTokens
        /// What a smaller model would say.
        case model
    }

    var tokens: [Token]
    var source: Source
}
