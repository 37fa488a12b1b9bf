extension JSONValue {
    /// How a document is laid out.
    public enum Layout: Sendable {
        /// No white space at all: one line for a stream.
        case compact
        /// Two spaces a level, for people.
        case indented
    }

    /// The document as text. Keys keep their order, `/` is not escaped, and only what JSON demands is.
    public func text(_ layout: Layout = .compact) -> String {
        String(decoding: bytes(layout), as: UTF8.self)
    }

    public func bytes(_ layout: Layout = .compact) -> [UInt8] {
        var out: [UInt8] = []
        write(into: &out, layout: layout, level: 0)
        return out
    }

    private func write(into out: inout [UInt8], layout: Layout, level: Int) {
        switch self {
        case .null: out.append(contentsOf: "null".utf8)
        case .bool(let value): out.append(contentsOf: (value ? "true" : "false").utf8)
        case .integer(let value): out.append(contentsOf: String(value).utf8)
        case .double(let value): out.append(contentsOf: JSONValue.text(of: value).utf8)
        case .string(let value): JSONValue.write(value, into: &out)
        case .array(let items):
            JSONValue.write(items, open: "[", close: "]", into: &out, layout: layout, level: level) { item, out in
                item.write(into: &out, layout: layout, level: level + 1)
            }
        case .object(let object):
            JSONValue.write(object.members, open: "{", close: "}", into: &out, layout: layout, level: level) {
                JSONValue.write($0.key, into: &$1)
                $1.append(UInt8(ascii: ":"))
                if layout == .indented { $1.append(0x20) }
                $0.value.write(into: &$1, layout: layout, level: level + 1)
            }
        }
    }

    /// JSON has no infinity and no NaN; null is what readers of all kinds take for "no number".
    private static func text(of value: Double) -> String {
        guard value.isFinite else { return "null" }
        return "\(value)"
    }

    private static func write<Item>(
        _ items: [Item], open: Unicode.Scalar, close: Unicode.Scalar, into out: inout [UInt8], layout: Layout,
        level: Int, each: (Item, inout [UInt8]) -> Void
    ) {
        out.append(UInt8(ascii: open))
        for (index, item) in items.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            if layout == .indented { newLine(into: &out, level: level + 1) }
            each(item, &out)
        }
        if layout == .indented, !items.isEmpty { newLine(into: &out, level: level) }
        out.append(UInt8(ascii: close))
    }

    private static func newLine(into out: inout [UInt8], level: Int) {
        out.append(0x0A)
        out.append(contentsOf: repeatElement(0x20, count: 2 * level))
    }

    private static func write(_ text: String, into out: inout [UInt8]) {
        let hex = Array("0123456789abcdef".utf8)
        out.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                out.append(UInt8(ascii: "\\"))
                out.append(byte)
            case 0x0A: out.append(contentsOf: #"\n"#.utf8)
            case 0x0D: out.append(contentsOf: #"\r"#.utf8)
            case 0x09: out.append(contentsOf: #"\t"#.utf8)
            case 0..<0x20, 0x7F:
                out.append(contentsOf: #"\u00"#.utf8)
                out.append(hex[Int(byte >> 4)])
                out.append(hex[Int(byte & 15)])
            default: out.append(byte)
            }
        }
        out.append(UInt8(ascii: "\""))
    }
}
