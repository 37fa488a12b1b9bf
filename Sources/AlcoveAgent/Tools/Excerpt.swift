/// Long things made short without hiding that they were long.
package enum Excerpt {
    /// Head and tail of bytes that are too many, with a line between that says how many are gone.
    package static func middleCut(_ bytes: [UInt8], to limit: Int) -> [UInt8] {
        guard bytes.count > limit else { return bytes }
        let half = limit / 2
        // Whole characters on both sides of the cut.
        var end = half, start = bytes.count - half
        while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        while start < bytes.count, bytes[start] & 0xC0 == 0x80 { start += 1 }
        return bytes[..<end] + Array("\n[... \(start - end) bytes left out ...]\n".utf8) + bytes[start...]
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
