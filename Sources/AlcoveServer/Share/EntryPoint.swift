internal import AlcoveCore

/// A way into the page with words in the box, where a person reads them. Nothing is sent, loaded or run by it.
package enum EntryPoint: String, Sendable, CaseIterable {
    case ask
    /// In a chat that is there already.
    case `continue`
    /// Words to be kept as knowledge: the page makes an explicit command of them.
    case capture

    /// Most characters; the rest is cut off. A command made of them is none too long for a plan.
    package static let lengthLimit = 3_900

    /// Words as they may stand in a box: nothing in them can hide, turn around, or end the line of a terminal.
    ///
    /// Control and format characters, private ones and tags are left out, but for line ends, and for the joiners that
    /// scripts and emoji are written with.
    package static func clean(_ text: String) -> String {
        var out = String.UnicodeScalarView()
        for scalar in text.replacing("\r\n", with: "\n").unicodeScalars {
            switch scalar {
            case "\n", "\u{200C}", "\u{200D}": out.append(scalar)
            case "\r", "\u{2028}", "\u{2029}": out.append("\n")
            case "\t": out.append(" ")
            default:
                let kind = scalar.properties.generalCategory
                if ![.control, .format, .surrogate, .privateUse, .unassigned].contains(kind) { out.append(scalar) }
            }
        }
        var words = Substring(String(out).prefix(lengthLimit))
        while words.first?.isWhitespace ?? false { words = words.dropFirst() }
        while words.last?.isWhitespace ?? false { words = words.dropLast() }
        return String(words)
    }
}
