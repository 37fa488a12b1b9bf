/// White space at the ends of a line of bytes, by Unicode's and Python's common set: U+001C to U+001F count too.
enum Whitespace {
    static func trimmed(_ line: [UInt8]) -> ArraySlice<UInt8> {
        line.withUnsafeBufferPointer { buffer in
            let range = trim(buffer, 0..<buffer.count, leading: true)
            return line[range]
        }
    }

    /// The range without white space at its end, and at its beginning when asked.
    static func trim(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, leading: Bool) -> Range<Int> {
        var start = range.lowerBound, end = range.upperBound
        while end > start {
            if isSpace(bytes[end - 1]) {
                end -= 1
            } else if bytes[end - 1] >= 0x80, end - start >= 2, isSpace(bytes[end - 2], bytes[end - 1]) {
                end -= 2
            } else if bytes[end - 1] >= 0x80, end - start >= 3, isSpace(bytes[end - 3], bytes[end - 2], bytes[end - 1])
            {
                end -= 3
            } else {
                break
            }
        }
        while leading, start < end {
            if isSpace(bytes[start]) {
                start += 1
            } else if bytes[start] >= 0x80, end - start >= 2, isSpace(bytes[start], bytes[start + 1]) {
                start += 2
            } else if bytes[start] >= 0x80, end - start >= 3, isSpace(bytes[start], bytes[start + 1], bytes[start + 2])
            {
                start += 3
            } else {
                break
            }
        }
        return start..<end
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte) || (0x1C...0x1F).contains(byte)
    }

    /// U+0085 and U+00A0.
    private static func isSpace(_ a: UInt8, _ b: UInt8) -> Bool { a == 0xC2 && (b == 0x85 || b == 0xA0) }

    /// U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F, U+3000.
    private static func isSpace(_ a: UInt8, _ b: UInt8, _ c: UInt8) -> Bool {
        switch (a, b) {
        case (0xE1, 0x9A): c == 0x80
        case (0xE2, 0x80): (0x80...0x8A).contains(c) || c == 0xA8 || c == 0xA9 || c == 0xAF
        case (0xE2, 0x81): c == 0x9F
        case (0xE3, 0x80): c == 0x80
        default: false
        }
    }
}
