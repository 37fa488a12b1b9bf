/// Long things made short without hiding that they were long.
package enum Excerpt {
    /// Head and tail of bytes that are too many, with a line between that says how many are gone.
    package static func middleCut(_ bytes: [UInt8], to limit: Int) -> [UInt8] {
        guard bytes.count > limit else { return bytes }
        let half = limit / 2
        var head = bytes[..<half], tail = bytes[(bytes.count - half)...]
        // Whole characters on both sides of the cut.
        while let last = head.last, last & 0x80 != 0, head.count > half - 4 { head = head.dropLast() }
        while let first = tail.first, first & 0xC0 == 0x80 { tail = tail.dropFirst() }
        let gone = bytes.count - head.count - tail.count
        return Array(head) + Array("\n[... \(gone) bytes left out ...]\n".utf8) + Array(tail)
    }

    package static func middleCut(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        return String(decoding: middleCut(Array(text.utf8), to: limit), as: UTF8.self)
    }

    /// One line of at most `limit` characters.
    package static func line(_ text: String, to limit: Int = 200) -> String {
        let flat = text.split(whereSeparator: \.isNewline).joined(separator: " ↵ ")
        return flat.count > limit ? flat.prefix(limit - 1) + "…" : flat
    }
}
