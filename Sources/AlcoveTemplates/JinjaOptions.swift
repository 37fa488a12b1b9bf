/// White-space rules of a Jinja environment.
///
/// The library knows one set, the one chat templates are written for: `trim_blocks` and `lstrip_blocks` on, one newline
/// at the end dropped. Another set is had by writing into the source what it asks for.
public struct JinjaOptions: Sendable, Hashable {
    /// Drops the newline after a block tag.
    public var trimBlocks: Bool
    /// Drops white space before a block tag that begins its line.
    public var stripsBlocks: Bool
    public var keepsTrailingNewline: Bool

    public init(trimBlocks: Bool = true, stripsBlocks: Bool = true, keepsTrailingNewline: Bool = false) {
        self.trimBlocks = trimBlocks
        self.stripsBlocks = stripsBlocks
        self.keepsTrailingNewline = keepsTrailingNewline
    }

    /// A source that renders under the library's rules as `source` does under these.
    ///
    /// An empty expression beside a block tag keeps the white space there: `{{''}}` is no block tag.
    public func applied(to source: String) -> String {
        var text = source
        if !trimBlocks || !stripsBlocks { text = guarded(text) }
        if keepsTrailingNewline, source.utf8.last == 0x0A { text += "\n" }
        return text
    }

    private func guarded(_ source: String) -> String {
        let bytes = Array(source.utf8)
        let guardBytes = Array("{{''}}".utf8)
        var out: [UInt8] = []
        var position = 0
        while position < bytes.count {
            let opens = position + 1 < bytes.count && bytes[position] == UInt8(ascii: "{")
            let kind = opens ? bytes[position + 1] : 0
            guard kind == UInt8(ascii: "%") || kind == UInt8(ascii: "#") || kind == UInt8(ascii: "{") else {
                out.append(bytes[position])
                position += 1
                continue
            }
            let end = JinjaOptions.end(of: kind, in: bytes, from: position + 2)
            let tag = bytes[position..<end]
            let isBlock = kind != UInt8(ascii: "{")
            let stripsItself = tag.dropFirst(2).first == UInt8(ascii: "-")
            let trimsItself = tag.dropLast(2).last == UInt8(ascii: "-")
            if isBlock, !stripsBlocks, !stripsItself { out += guardBytes }
            out += tag
            if isBlock, !trimBlocks, !trimsItself { out += guardBytes }
            position = end
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// Where a tag ends: after its closing mark, quotes minded.
    private static func end(of kind: UInt8, in bytes: [UInt8], from start: Int) -> Int {
        let close = kind == UInt8(ascii: "{") ? UInt8(ascii: "}") : kind
        var quote: UInt8?
        var position = start
        while position < bytes.count {
            let byte = bytes[position]
            if let open = quote {
                if byte == UInt8(ascii: "\\") { position += 1 } else if byte == open { quote = nil }
            } else if kind != UInt8(ascii: "#"), byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
                quote = byte
            } else if byte == close, position + 1 < bytes.count, bytes[position + 1] == UInt8(ascii: "}") {
                return position + 2
            }
            position += 1
        }
        return bytes.count
    }
}
