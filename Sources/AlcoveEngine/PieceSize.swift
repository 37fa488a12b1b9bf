internal import AlcoveCore

/// How much of a prompt is read between two tokens of an answer, so that the next word is never late for long.
///
/// From what tokens of prompts and steps of answers cost here; the last times count, so that a busy machine gets smaller
/// pieces.
struct PieceSize {
    /// How late the next token of an answer may be because of a prompt.
    static let mostNanoseconds = 150_000_000.0
    /// Before anything was measured.
    private static let unmeasured = 64
    /// Smaller pieces cost more in steps than they save in waiting.
    private static let fewest = 16

    private var perToken: Double?
    private var step: Double?

    /// Tokens of the next piece, at most so many.
    func tokens(atMost most: Int) -> Int {
        guard let perToken, perToken > 0 else { return min(PieceSize.unmeasured, most) }
        let room = PieceSize.mostNanoseconds - (step ?? 0)
        // Whole groups of rows.
        let tokens = Int(min(max(room / perToken, 0), 65_536)) / 16 * 16
        return min(max(tokens, PieceSize.fewest), most)
    }

    /// A step was computed.
    ///
    /// - Parameters:
    ///   - prompt: Tokens of a prompt in it.
    ///   - answers: Tokens of answers in it.
    mutating func took(_ nanoseconds: UInt64, prompt: Int, answers: Int) {
        let time = Double(nanoseconds)
        if prompt == 0 {
            if answers > 0 { step = mean(step, time) }
        } else if prompt >= PieceSize.fewest {
            perToken = mean(perToken, max(time - (answers > 0 ? step ?? 0 : 0), 1) / Double(prompt))
        }
    }

    private func mean(_ before: Double?, _ now: Double) -> Double { before.map { 0.7 * $0 + 0.3 * now } ?? now }
}
