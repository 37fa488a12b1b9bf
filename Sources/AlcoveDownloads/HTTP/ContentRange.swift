/// A `Content-Range` of bytes: which part was sent, of how many.
package struct ContentRange: Sendable, Hashable {
    /// Nil when none could be sent (`bytes */N`, with status 416).
    package let bytes: ClosedRange<UInt64>?
    /// Nil when the server does not know (`*`).
    package let total: UInt64?

    /// Nil for what is not of that form or contradicts itself.
    package init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let sides = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        if sides[1] == "*" {
            total = nil
        } else {
            guard let number = ContentRange.number(sides[1]) else { return nil }
            total = number
        }
        if sides[0] == "*" {
            bytes = nil
            return
        }
        let ends = sides[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = ContentRange.number(ends[0]), let last = ContentRange.number(ends[1]),
            first <= last, total.map({ last < $0 }) ?? true
        else { return nil }
        bytes = first...last
    }

    /// A length or a position in digits; nil for anything else and for what no file can have.
    static func number(_ text: some StringProtocol) -> UInt64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let value = UInt64(text),
            value < 1 << 60
        else { return nil }
        return value
    }
}
