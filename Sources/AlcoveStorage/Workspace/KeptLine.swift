/// A text cut into the pieces that search compares, as numbers instead of strings: what is done for a hundred and sixty
/// texts of one search has no time for strings.
package struct KeptLine: Sendable {
    /// A stretch of letters and digits without anything between them.
    package struct Piece: Sendable, Hashable {
        package var start: Int
        package var end: Int
        /// Han, kana, Thai and others, where a stretch is not one word.
        package var isSpaceless: Bool
    }

    /// Lower-case Unicode scalars of all pieces, one piece after the other.
    package private(set) var scalars: [UInt32] = []
    package private(set) var pieces: [Piece] = []
    /// Whether each scalar is a character of its own that can be spelt in one way only, so that equal scalars are equal
    /// text and different ones are not.
    package private(set) var isPlain = true

    package init(_ text: some StringProtocol) {
        scalars.reserveCapacity(text.utf8.count)
        var start = 0, isSpaceless = false, count = 0
        for scalar in text.unicodeScalars {
            guard KeptLine.isWordPart(scalar) else {
                if count > 0 { pieces.append(Piece(start: start, end: scalars.count, isSpaceless: isSpaceless)) }
                (start, count) = (scalars.count, 0)
                continue
            }
            let value = scalar.value
            let spaceless = KeptLine.isSpaceless(value)
            let isMark =
                count > 0 && value >= 0x300 && !KeptLine.isCaseless(value) && scalar.properties.generalCategory.isMark
            let changes = count > 0 && spaceless != isSpaceless && !isMark
            if changes || count >= KeptWords.longest && !isSpaceless {
                if count > 0 { pieces.append(Piece(start: start, end: scalars.count, isSpaceless: isSpaceless)) }
                (start, count) = (scalars.count, 0)
            }
            if !isMark || count == 0 { isSpaceless = spaceless }
            append(scalar)
            count += 1
        }
        if count > 0 { pieces.append(Piece(start: start, end: scalars.count, isSpaceless: isSpaceless)) }
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        let value = scalar.value
        if value < 0x80 {
            scalars.append((0x41...0x5A).contains(value) ? value + 0x20 : value)
        } else if KeptLine.isCaseless(value) {
            scalars.append(value)
        } else {
            for lowered in scalar.properties.lowercaseMapping.unicodeScalars {
                scalars.append(lowered.value)
                if isPlain, !KeptLine.isPlain(lowered.value) { isPlain = false }
            }
        }
    }

    /// The text of a piece.
    package func text(_ piece: Piece) -> String {
        var text = ""
        for value in scalars[piece.start..<piece.end] {
            // They come out of a text, so each is one.
            if let scalar = Unicode.Scalar(value) { text.unicodeScalars.append(scalar) }
        }
        return text
    }
}

// What scalars are.
extension KeptLine {
    /// Han and Hangul: letters without case, each a character of its own, asked for most often.
    private static func isCaseless(_ value: UInt32) -> Bool {
        (0x4E00...0x9FEF).contains(value) || (0xAC00...0xD7A3).contains(value)
    }

    /// Latin, Cyrillic and kana as they are usually written; every other one has to be asked about as text.
    private static func isPlain(_ value: UInt32) -> Bool {
        switch value {
        case 0..<0x300, 0x400...0x481, 0x48A...0x52F, 0x3041...0x3096, 0x30A1...0x30FA: true
        default: isCaseless(value)
        }
    }

    private static func isWordPart(_ scalar: Unicode.Scalar) -> Bool {
        let value = scalar.value
        if value < 0x80 {
            return (0x30...0x39).contains(value) || (0x41...0x5A).contains(value) || (0x61...0x7A).contains(value)
        }
        if isCaseless(value) { return true }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .nonspacingMark, .spacingMark, .otherSymbol:
            return true
        default: return false
        }
    }

    private static func isSpaceless(_ value: UInt32) -> Bool {
        switch value {
        case 0..<0x0E00: false
        // Thai, Lao, Myanmar, Khmer, kana, Han, Hangul (whose words carry endings), and what is beyond the first plane.
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3040...0x30FF, 0x31F0...0x31FF, 0x3400...0x4DBF,
            0x4E00...0x9FFF, 0xAC00...0xD7AF, 0xF900...0xFAFF, 0x20000...0x3FFFF:
            true
        default: false
        }
    }
}

extension Unicode.GeneralCategory {
    fileprivate var isMark: Bool { self == .nonspacingMark || self == .spacingMark || self == .enclosingMark }
}
