internal import AlcoveCore

/// A text file as characters, whatever it was written in.
struct PlainText: Sendable, Hashable {
    var text: String
    /// Whether this is all of it.
    var isComplete: Bool

    /// Reads the beginning of a file; nil when it cannot be read or is no text. Blocks.
    ///
    /// - Parameter limit: Most bytes of UTF-8.
    init?(path: String, limit: Int) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0, let file = OpenFile(descriptor) else { return nil }
        // UTF-16 takes two bytes where UTF-8 takes one.
        guard let bytes = FileRange(file: file, offset: 0, count: min(file.stamp.size, 2 * limit + 4)).bytes(),
            let text = PlainText.decode(bytes, isCut: bytes.count < file.stamp.size)
        else { return nil }
        self.init(text, isComplete: bytes.count == file.stamp.size, limit: limit)
    }

    /// Cuts a text to a number of bytes, between characters.
    init(_ text: String, isComplete: Bool = true, limit: Int) {
        guard text.utf8.count > limit else {
            (self.text, self.isComplete) = (text, isComplete)
            return
        }
        var end = text.utf8.index(text.startIndex, offsetBy: limit)
        while end > text.startIndex, end.samePosition(in: text.unicodeScalars) == nil {
            end = text.utf8.index(before: end)
        }
        (self.text, self.isComplete) = (String(text[..<end]), false)
    }

    /// UTF-8, UTF-16 with a mark, else the one byte a letter that older programs write.
    ///
    /// - Parameter isCut: Whether there is more, so that the last character may not be whole.
    static func decode(_ bytes: [UInt8], isCut: Bool = false) -> String? {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return String(decoding: bytes.dropFirst(3), as: UTF8.self) }
        let isLittle = bytes.starts(with: [0xFF, 0xFE])
        if isLittle || bytes.starts(with: [0xFE, 0xFF]) {
            let units = stride(from: 2, to: bytes.count - 1, by: 2).map { index -> UInt16 in
                let (a, b) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
                return isLittle ? b << 8 | a : a << 8 | b
            }
            return String(decoding: units, as: UTF16.self)
        }
        if bytes.contains(0) { return nil }
        for cut in 0...(isCut ? min(3, bytes.count) : 0) {
            if let text = String(validating: bytes.dropLast(cut), as: UTF8.self) { return text }
        }
        return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}
