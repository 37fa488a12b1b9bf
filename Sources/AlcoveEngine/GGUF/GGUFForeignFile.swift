/// Recognises what people mistake for a model, so that the refusal says what it is and not only what it is not.
enum GGUFForeignFile {
    /// The refusal for a file that does not begin with `GGUF`.
    static func refusal(name: String, size: UInt64, head: [UInt8]) -> GGUFError {
        if size == 0 { return GGUFError(.empty, "\(name) is empty.") }
        let text = String(decoding: head, as: UTF8.self).drop { $0.isWhitespace || $0 == "\u{FEFF}" }.lowercased()
        if text.hasPrefix("<!doctype html") || text.hasPrefix("<html") || text.hasPrefix("<?xml") {
            return GGUFError(.webPage, "\(name) is a web page and not a model.")
        }
        if text.hasPrefix("version https://git-lfs") {
            return GGUFError(.lfsPointer, "\(name) is a Git LFS pointer that stands for a model, not the model.")
        }
        if isSafetensors(head) {
            return GGUFError(.safetensors, "\(name) is a safetensors file, which llama.cpp cannot load.")
        }
        if text.hasPrefix("{") {
            return GGUFError(.webPage, "\(name) is a JSON text and not a model, perhaps a server's error message.")
        }
        if let kind = archiveKind(head) { return GGUFError(.archive, "\(name) is \(kind) and not a model.") }
        if head.starts(with: Array("FUGG".utf8)) {
            return GGUFError(.bigEndian, "\(name) was written for a big-endian machine: its first bytes are \"FUGG\".")
        }
        if let old = ["lmgg", "fmgg", "tjgg", "algg"].first(where: { head.starts(with: Array($0.utf8)) }) {
            let kind = String(old.reversed())
            return GGUFError(.oldFormat, "\(name) is a model in the old \"\(kind)\" format that came before GGUF.")
        }
        if size < 4, Array("GGUF".utf8).starts(with: head) {
            return GGUFError(.truncated, "\(name) ends at byte \(size), inside the word \"GGUF\" that it begins with.")
        }
        return GGUFError(
            .badMagic, "\(name) is not a GGUF file: it begins with \(shownBytes(head.prefix(4))), not with \"GGUF\".")
    }

    /// Bytes as people look them up: hexadecimal, two digits each.
    static func shownBytes(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
    }

    /// Eight bytes of length and then a JSON object.
    private static func isSafetensors(_ head: [UInt8]) -> Bool {
        head.count >= 10 && head[8] == UInt8(ascii: "{") && head[6] == 0 && head[7] == 0
    }

    private static func archiveKind(_ head: [UInt8]) -> String? {
        if head.starts(with: [0x50, 0x4B, 3, 4]) { return "a ZIP archive (PyTorch's .bin and .pt are such, too)" }
        if head.starts(with: [0x1F, 0x8B]) { return "a gzip archive" }
        if head.starts(with: [0xFD, 0x37, 0x7A, 0x58, 0x5A]) { return "an xz archive" }
        if head.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) { return "a zstd archive" }
        if head.starts(with: [0x37, 0x7A, 0xBC, 0xAF]) { return "a 7-Zip archive" }
        return nil
    }

    /// Whether the name is one that browsers and hub clients give to what is still coming.
    static func isUnfinishedDownload(name: String) -> Bool {
        [".part", ".crdownload", ".incomplete", ".download", ".partial"].contains { name.lowercased().hasSuffix($0) }
    }
}

/// A name of the form `big-00002-of-00003.gguf`.
package struct SplitFileName: Sendable, Hashable {
    package let prefix: String
    package let number: Int
    package let count: Int

    package init?(_ name: String) {
        let bytes = Array(name.utf8)
        let tail = Array("-00001-of-00001.gguf".utf8)
        guard bytes.count > tail.count else { return nil }
        let part = Array(bytes.suffix(tail.count))
        for (byte, pattern) in zip(part, tail) {
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(pattern)
            guard isDigit ? (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) : byte == pattern else { return nil }
        }
        guard let number = Int(String(decoding: part[1..<6], as: UTF8.self)),
            let count = Int(String(decoding: part[10..<15], as: UTF8.self)), count > 1, (1...count).contains(number)
        else { return nil }
        prefix = String(decoding: bytes.dropLast(tail.count), as: UTF8.self)
        self.number = number
        self.count = count
    }

    package func part(_ number: Int) -> String {
        "\(prefix)-\(SplitFileName.padded(number))-of-\(SplitFileName.padded(count)).gguf"
    }

    /// "a, b and c", or the first and the last when there are many.
    package var allParts: String {
        guard count <= 4 else { return "\(part(1)) to \(part(count))" }
        return (1..<count).map(part).joined(separator: ", ") + " and " + part(count)
    }

    private static func padded(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 5 - digits.count)) + digits
    }
}
