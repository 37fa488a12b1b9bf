/// The words of a text as search knows them: lower case, and for scripts that put no space between words, each
/// character and each pair of neighbours.
///
/// The store's index and the ranking use the same words, so what one finds the other can explain.
package struct KeptWords: Sendable {
    /// A stretch of letters and digits without anything between them.
    package struct Piece: Sendable, Hashable {
        package var text: String
        /// Han, kana, Thai and others, where a stretch is not one word.
        package var isSpaceless: Bool
    }

    package let pieces: [Piece]

    /// Longest piece of spaced scripts that is a word; what is longer (a key, an encoded file) is cut there.
    static let longest = 64

    package init(_ text: some StringProtocol) { self.init(KeptLine(text)) }

    package init(_ line: KeptLine) {
        pieces = line.pieces.map { Piece(text: line.text($0), isSpaceless: $0.isSpaceless) }
    }

    /// What an index holds: every word; of spaceless pieces every character and every pair.
    package var indexed: [String] { pieces.flatMap { $0.isSpaceless ? $0.characters + $0.pairs : [$0.text] } }

    /// What is looked for: every word; of spaceless pieces every pair, or the one character.
    package var wanted: [String] {
        pieces.flatMap { piece -> [String] in
            guard piece.isSpaceless else { return [piece.text] }
            return piece.pairs.isEmpty ? piece.characters : piece.pairs
        }
    }

    /// The text as one line of its pieces, for finding phrases.
    package var line: String { pieces.map(\.text).joined(separator: " ") }
}

extension KeptWords.Piece {
    var characters: [String] { text.map { String($0) } }

    var pairs: [String] {
        let letters = Array(text)
        return letters.count < 2 ? [] : (1..<letters.count).map { String(letters[$0 - 1...$0]) }
    }
}
