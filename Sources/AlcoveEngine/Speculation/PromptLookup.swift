internal import AlcoveCore

/// Guesses how a sequence goes on from what it said before: answers quote what they were asked about.
enum PromptLookup {
    /// What followed the newest earlier place that reads like the end of the sequence; nil when there is none.
    ///
    /// - Parameters:
    ///   - tokens: The sequence without its last token.
    ///   - last: The last token, which is not computed yet.
    ///   - count: Tokens of the draft. Where the sequence ends before, the draft goes on from its own beginning.
    static func draft(after tokens: [Token], _ last: Token, count: Int) -> Draft? {
        guard count > 0, tokens.count >= 2, let place = place(in: tokens, last) else { return nil }
        var draft: [Token] = []
        for offset in 0..<count {
            let source = place.end + offset
            if source < tokens.count {
                draft.append(tokens[source])
            } else {
                draft.append(source == tokens.count ? last : draft[source - tokens.count - 1])
            }
        }
        return Draft(tokens: draft, source: place.matched >= 3 ? .threeTokens : .twoTokens)
    }

    /// Where the newest place ends that reads like the last 3 tokens, else the last 2.
    private static func place(in tokens: [Token], _ last: Token) -> (end: Int, matched: Int)? {
        tokens.withUnsafeBufferPointer { tokens in
            let before = tokens[tokens.count - 1]
            var pair: Int?
            var end = tokens.count
            while end >= 2 {
                defer { end -= 1 }
                guard tokens[end - 1] == last, tokens[end - 2] == before else { continue }
                if end >= 3, tokens[end - 3] == tokens[tokens.count - 2] { return (end, 3) }
                if pair == nil { pair = end }
            }
            return pair.map { ($0, 2) }
        }
    }
}
