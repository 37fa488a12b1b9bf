/// Text as a person must see it before deciding: nothing in it can hide, turn around or imitate.
///
/// What an approval shows is what runs. Bidi controls can show a command backwards, zero-width characters can hide a path,
/// a Cyrillic letter can imitate a Latin one, a line end can push the dangerous part out of sight (T37).
package enum VisibleText {
    /// The text with everything deceptive spelled out, like `‹U+202E right-to-left override›`.
    package static func make(_ text: String) -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            if scalar == "\n" {
                out += "↵\n"
            } else if let name = hidden(scalar) {
                out += mark(scalar, name)
            } else {
                out.unicodeScalars.append(scalar)
            }
        }
        return markMixedWords(out)
    }

    /// The same for a terminal's lines: what would move, colour or turn around what stands there is spelled out, and the rest,
    /// line ends and tabs too, is left as it is.
    package static func forTerminal(_ text: String) -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x09, 0x0A: out.unicodeScalars.append(scalar)
            case 0x00..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069:
                out += mark(scalar, hidden(scalar) ?? "control")
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }

    private static func mark(_ scalar: Unicode.Scalar, _ name: String) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "‹U+\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits) \(name)›"
    }

    private static func hidden(_ scalar: Unicode.Scalar) -> String? {
        switch scalar.value {
        case 0x09: "tab"
        case 0x0D: "carriage return"
        case 0x1B: "escape"
        case 0x00..<0x20, 0x7F: "control"
        case 0x80..<0xA0: "control"
        case 0x00A0, 0x2000...0x200A, 0x202F, 0x205F, 0x3000, 0x1680: "unusual space"
        case 0x00AD: "soft hyphen"
        case 0x061C, 0x200E, 0x200F: "direction mark"
        case 0x202A: "left-to-right embedding"
        case 0x202B: "right-to-left embedding"
        case 0x202C: "pop directional formatting"
        case 0x202D: "left-to-right override"
        case 0x202E: "right-to-left override"
        case 0x2066...0x2069: "directional isolate"
        case 0x2028: "line separator"
        case 0x2029: "paragraph separator"
        case 0x200B...0x200D, 0x2060...0x2064, 0xFEFF, 0x180E, 0x115F, 0x1160, 0x3164, 0xFFA0: "invisible"
        case 0xFE00...0xFE0F, 0xE0100...0xE01EF: "variation selector"
        case 0xE0000...0xE007F: "tag"
        case 0xE000...0xF8FF, 0xF0000...0x10FFFF: "private use"
        default: nil
        }
    }

    /// A word of Latin letters with a Greek, Cyrillic or full-width look-alike in it has those letters spelled out.
    private static func markMixedWords(_ text: String) -> String {
        var out = "", word: [Unicode.Scalar] = []
        func flush() {
            let isMixed = word.contains(where: isLatin) && word.contains(where: imitatesLatin)
            for scalar in word {
                if isMixed, imitatesLatin(scalar) {
                    out += mark(scalar, "looks like another letter")
                } else {
                    out.unicodeScalars.append(scalar)
                }
            }
            word = []
        }
        for scalar in text.unicodeScalars {
            if isLatin(scalar) || imitatesLatin(scalar) {
                word.append(scalar)
            } else {
                flush()
                out.unicodeScalars.append(scalar)
            }
        }
        flush()
        return out
    }

    private static func isLatin(_ scalar: Unicode.Scalar) -> Bool {
        (0x41...0x5A).contains(scalar.value) || (0x61...0x7A).contains(scalar.value)
    }

    private static func imitatesLatin(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0370...0x03FF, 0x0400...0x052F, 0x0530...0x058F, 0x13A0...0x13FF, 0xFF21...0xFF3A, 0xFF41...0xFF5A,
            0x1D400...0x1D7FF:
            true
        default: false
        }
    }
}
