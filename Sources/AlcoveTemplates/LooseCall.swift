internal import AlcoveCore

/// A call found by its shape alone: an object with a name and arguments.
enum LooseCall {
    /// The first object of the text, when it is a call and little but markers stands before it: an object with name and
    /// arguments, or arguments behind a line that is the name.
    static func first(in bytes: [UInt8]) -> (name: String, arguments: String, end: Int)? {
        guard let start = bytes.firstIndex(of: UInt8(ascii: "{")), start < 96,
            let end = end(of: start, in: bytes), let value = try? JSONValue(parsing: bytes[start..<end]),
            value.object != nil
        else { return nil }
        if let name = value["name"]?.string, !name.isEmpty, let arguments = value["arguments"] ?? value["parameters"],
            arguments.object != nil
        {
            return (name, arguments.text(), end)
        }
        let before = bytes[..<start]
        guard before.last == 0x0A else { return nil }
        let name = before.dropLast().reversed().prefix { $0.isNameByte }.reversed()
        guard !name.isEmpty else { return nil }
        return (String(decoding: name, as: UTF8.self), String(decoding: bytes[start..<end], as: UTF8.self), end)
    }

    private static func end(of start: Int, in bytes: [UInt8]) -> Int? {
        var depth = 0
        var isText = false
        var position = start
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\\") where isText: position += 1
            case UInt8(ascii: "\""): isText.toggle()
            case UInt8(ascii: "{") where !isText: depth += 1
            case UInt8(ascii: "}") where !isText:
                depth -= 1
                if depth == 0 { return position + 1 }
            default: break
            }
            position += 1
        }
        return nil
    }
}

extension UInt8 {
    fileprivate var isNameByte: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) || self == UInt8(ascii: "_")
            || self == UInt8(ascii: "-") || self == UInt8(ascii: ".")
    }
}
