/// Notices an answer that goes round in a circle: the same unit of up to 64 tokens, at least 8 times and for at least 128
/// tokens (the rule of the product this grew from).
///
/// One counter a period says for how many tokens now each has equalled the one that far back, so that a token costs 64
/// comparisons and no memory.
struct RepetitionGuard {
    static let longestUnit = 64
    static let fewestCopies = 8
    static let fewestTokens = 128

    /// The newest tokens; the one at `count % longestUnit` is written next.
    private var ring = [Token](repeating: -1, count: longestUnit)
    /// At index p - 1: tokens in a row that equal the one p back.
    private var equals = [Int](repeating: 0, count: longestUnit)
    private var count = 0

    /// - Returns: whether the newest tokens are one unit over and over.
    mutating func isLoop(with token: Token) -> Bool {
        var isLoop = false
        for period in 1...min(RepetitionGuard.longestUnit, max(count, 1)) {
            let index = (count - period + 2 * RepetitionGuard.longestUnit) % RepetitionGuard.longestUnit
            if count >= period, ring[index] == token {
                equals[period - 1] += 1
                let span = max(RepetitionGuard.fewestTokens, RepetitionGuard.fewestCopies * period)
                if equals[period - 1] + period >= span { isLoop = true }
            } else {
                equals[period - 1] = 0
            }
        }
        ring[count % RepetitionGuard.longestUnit] = token
        count += 1
        return isLoop
    }
}
