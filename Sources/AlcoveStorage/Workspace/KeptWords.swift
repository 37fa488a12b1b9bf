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

    package private(set) var pieces: [Piece] = []

    /// Longest piece of spaced scripts that is a word; what is longer (a key, an encoded file) is cut there.
    static let longest = 64

    package init(_ text: some StringProtocol) {
        var current = "", isSpaceless = false, count = 0
        func flush(_ pieces: inout [Piece]) {
            if count > 0 { pieces.append(Piece(text: current, isSpaceless: isSpaceless)) }
            current = ""
            count = 0
        }
        for scalar in text.unicodeScalars {
            guard KeptWords.isWordPart(scalar) else {
                flush(&pieces)
                continue
            }
            let spaceless = KeptWords.isSpaceless(scalar)
            let isMark = count > 0 && scalar.value >= 0x300 && scalar.properties.generalCategory.isMark
            if count > 0, spaceless != isSpaceless, !isMark { flush(&pieces) }
            if count >= KeptWords.longest, !isSpaceless { flush(&pieces) }
            if !isMark || count == 0 { isSpaceless = spaceless }
            if scalar.value < 0x80 {
                let value = scalar.value
                current.unicodeScalars.append(
                    (0x41...0x5A).contains(value) ? Unicode.Scalar(UInt8(value) + 0x20) : scalar)
            } else {
                current += scalar.properties.lowercaseMapping
            }
            count += 1
        }
        flush(&pieces)
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

    private static func isWordPart(_ scalar: Unicode.Scalar) -> Bool {
        let value = scalar.value
        if value < 0x80 {
            return (0x30...0x39).contains(value) || (0x41...0x5A).contains(value) || (0x61...0x7A).contains(value)
        }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .nonspacingMark, .spacingMark, .otherSymbol:
            return true
        default: return false
        }
    }

    private static func isSpaceless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x0E00: false
        // Thai, Lao, Myanmar, Khmer, kana, Han, Hangul (whose words carry endings), and what is beyond the first plane.
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3040...0x30FF, 0x31F0...0x31FF, 0x3400...0x4DBF,
            0x4E00...0x9FFF, 0xAC00...0xD7AF, 0xF900...0xFAFF, 0x20000...0x3FFFF:
            true
        default: false
        }
    }
}

extension KeptWords.Piece {
    var characters: [String] { text.map { String($0) } }

    var pairs: [String] {
        let letters = Array(text)
        return letters.count < 2 ? [] : (1..<letters.count).map { String(letters[$0 - 1...$0]) }
    }
}

extension Unicode.GeneralCategory {
    fileprivate var isMark: Bool { self == .nonspacingMark || self == .spacingMark || self == .enclosingMark }
}
