import AlcoveCore

/// What a request asks for: the path cut into decoded segments, and the query.
///
/// The path is percent-decoded once, then cut at `/`; empty segments are dropped. Refused outright is all that only an
/// attack needs: `.` and `..` segments however they are spelt, backslashes, control characters, bad escapes, and bytes
/// that are not well-formed UTF-8 (overlong forms too).
package struct HTTPTarget: Sendable, Equatable {
    package struct Item: Sendable, Equatable {
        package var name: String
        package var value: String
    }

    package var segments: [String]
    package var query: [Item]
    /// The authority of a target in absolute form, which outranks the Host field.
    package var authority: String?

    /// The first query item of this name.
    package func query(_ name: String) -> String? { query.first { $0.name == name }?.value }

    /// The decoded path, for logs and for comparing.
    package var path: String { "/" + segments.joined(separator: "/") }

    package init(parsing text: String) throws(HTTPError) {
        var rest = Substring(text)
        if rest.utf8.first != UInt8(ascii: "/") {
            guard text != "*" else {
                (segments, query, authority) = ([], [], nil)
                return
            }
            guard rest.prefix(7).equalsIgnoringCase("http://") else {
                throw .badRequest("The request's target is neither a path nor an http address.")
            }
            rest = rest.dropFirst(7)
            let host = rest.prefix { $0 != "/" && $0 != "?" }
            authority = String(host)
            rest = rest.dropFirst(host.count)
        }
        if rest.utf8.contains(UInt8(ascii: "#")) { throw .badRequest("The request's target has a fragment.") }
        let path = rest.utf8.prefix { $0 != UInt8(ascii: "?") }
        segments = try HTTPTarget.segments(path)
        query = try HTTPTarget.query(rest.utf8.dropFirst(path.count).dropFirst())
    }

    private static func segments(_ path: Substring.UTF8View) throws(HTTPError) -> [String] {
        let decoded = try decode(path, plusIsSpace: false)
        guard decoded.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") }) else {
            throw .badRequest("The address holds a backslash or a control character.")
        }
        let segments = decoded.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        if segments.contains(where: { $0 == "." || $0 == ".." }) {
            throw .badRequest("The address holds a relative path segment.")
        }
        return segments
    }

    private static func query(_ text: Substring.UTF8View) throws(HTTPError) -> [Item] {
        var items: [Item] = []
        for part in text.split(separator: UInt8(ascii: "&")) {
            let name = part.prefix { $0 != UInt8(ascii: "=") }
            let value = part.dropFirst(name.count).dropFirst()
            items.append(
                Item(name: try decode(name, plusIsSpace: true), value: try decode(value, plusIsSpace: true)))
        }
        return items
    }

    private static func decode(_ text: Substring.UTF8View, plusIsSpace: Bool) throws(HTTPError) -> String {
        if !text.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") || $0 >= 0x80 }) {
            return String(Substring(text))
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var index = text.startIndex
        while index < text.endIndex {
            let byte = text[index]
            text.formIndex(after: &index)
            if byte == UInt8(ascii: "+") && plusIsSpace {
                bytes.append(0x20)
            } else if byte == UInt8(ascii: "%") {
                let digits = text[index...].prefix(2)
                let values = digits.compactMap(\.hexDigit)
                guard values.count == 2 else { throw .badRequest("The address holds a broken percent escape.") }
                bytes.append(values[0] << 4 | values[1])
                index = digits.endIndex
            } else {
                bytes.append(byte)
            }
        }
        guard !bytes.contains(0), let decoded = String(validating: bytes, as: UTF8.self) else {
            throw .badRequest("The address is not well-formed UTF-8 once it is percent-decoded.")
        }
        return decoded
    }
}
