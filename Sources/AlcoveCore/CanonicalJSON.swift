/// Why a document has no canonical form.
public enum CanonicalJSONError: UserFacingError, Equatable {
    /// NaN or an infinity: JSON has neither.
    case notANumber

    public var code: String { "not_canonical" }
    public var place: ErrorPlace { .request }
    public var message: String { "The document holds a number that JSON cannot write (NaN or an infinity)." }
}

extension JSONValue {
    /// The bytes of RFC 8785 (JSON Canonicalization Scheme): equal documents give equal bytes, everywhere.
    ///
    /// Keys are sorted by UTF-16 code units, numbers are written as ECMAScript's `Number::toString` writes them, strings
    /// have no escape they can do without, and nothing is normalised. A canonical number is the number of a *double*, so
    /// an integer past 2^53 comes out as its nearest double does: 9007199254740993 as `9007199254740992`. Whoever signs
    /// such numbers asks `exactInDoubles` first; the session contract (section 27) refuses them.
    ///
    /// Half of a surrogate pair cannot stand in a Swift string: read the document with `.interchange` to have one
    /// refused, as the RFC demands, and not replaced.
    public func canonicalBytes() throws(CanonicalJSONError) -> [UInt8] {
        var out: [UInt8] = []
        try writeCanonical(into: &out)
        return out
    }

    /// True when every integer in the document is one that a double can hold: then the canonical form loses nothing.
    public var exactInDoubles: Bool {
        switch self {
        case .integer(let value): Int64(exactly: Double(value)) == value
        case .array(let items): items.allSatisfy(\.exactInDoubles)
        case .object(let object): object.members.allSatisfy { $0.value.exactInDoubles }
        default: true
        }
    }

    private func writeCanonical(into out: inout [UInt8]) throws(CanonicalJSONError) {
        switch self {
        case .null: out.append(contentsOf: "null".utf8)
        case .bool(let value): out.append(contentsOf: (value ? "true" : "false").utf8)
        case .integer(let value):
            let isSafe = value.magnitude <= 1 << 53
            out.append(contentsOf: (isSafe ? String(value) : CanonicalJSON.text(of: Double(value))).utf8)
        case .double(let value):
            guard value.isFinite else { throw .notANumber }
            out.append(contentsOf: CanonicalJSON.text(of: value).utf8)
        case .string(let text): CanonicalJSON.write(text, into: &out)
        case .array(let items):
            out.append(UInt8(ascii: "["))
            for (index, item) in items.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                try item.writeCanonical(into: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .object(let object):
            out.append(UInt8(ascii: "{"))
            let members = object.members.sorted { CanonicalJSON.isBefore($0.key, $1.key) }
            for (index, member) in members.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                CanonicalJSON.write(member.key, into: &out)
                out.append(UInt8(ascii: ":"))
                try member.value.writeCanonical(into: &out)
            }
            out.append(UInt8(ascii: "}"))
        }
    }
}

/// The three rules of RFC 8785: numbers, strings, order.
public enum CanonicalJSON {
    /// ECMAScript's `Number::toString(value, 10)` (ECMA-262, 6.1.6.1.20) of a finite number.
    ///
    /// Swift's own text has the right digits (the shortest that read back, nearest to the value) in another layout.
    public static func text(of value: Double) -> String {
        if value == 0 { return "0" }  // -0 too
        let (digits, point) = decimal(value.magnitude.description)
        let sign = value < 0 ? "-" : ""
        let count = digits.count
        let body: String
        switch point {
        case count...21 where count <= 21: body = digits + String(repeating: "0", count: point - count)
        case 1...21: body = digits.prefix(point) + "." + digits.dropFirst(point)
        case -5...0: body = "0." + String(repeating: "0", count: -point) + digits
        default:
            let fraction = count > 1 ? "." + digits.dropFirst() : ""
            body = digits.prefix(1) + fraction + "e" + (point > 0 ? "+" : "-") + String((point - 1).magnitude)
        }
        return sign + body
    }

    /// Digits without zeros at either end, and where the point stands before them: 0.digits times 10 to that power.
    private static func decimal(_ description: String) -> (digits: String, point: Int) {
        var digits: [UInt8] = []
        var point: Int?
        var exponent = 0
        for (index, byte) in description.utf8.enumerated() {
            if byte == UInt8(ascii: ".") {
                point = digits.count
            } else if byte == UInt8(ascii: "e") {
                exponent = Int(description.utf8.dropFirst(index + 1).map { String(UnicodeScalar($0)) }.joined()) ?? 0
                break
            } else {
                digits.append(byte)
            }
        }
        let zeros = digits.prefix { $0 == UInt8(ascii: "0") }.count
        let place = (point ?? digits.count) + exponent - zeros
        digits.removeFirst(zeros)
        while digits.last == UInt8(ascii: "0") { digits.removeLast() }
        return (String(decoding: digits, as: UTF8.self), place)
    }

    /// A string in quotes with the least escapes: the two-letter ones where there are, `\u00xx` for the other controls.
    static func write(_ text: String, into out: inout [UInt8]) {
        let hex = Array("0123456789abcdef".utf8)
        out.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): out += [UInt8(ascii: "\\"), byte]
            case 0x08: out.append(contentsOf: #"\b"#.utf8)
            case 0x09: out.append(contentsOf: #"\t"#.utf8)
            case 0x0A: out.append(contentsOf: #"\n"#.utf8)
            case 0x0C: out.append(contentsOf: #"\f"#.utf8)
            case 0x0D: out.append(contentsOf: #"\r"#.utf8)
            case 0..<0x20:
                out.append(contentsOf: #"\u00"#.utf8)
                out += [hex[Int(byte >> 4)], hex[Int(byte & 15)]]
            default: out.append(byte)
            }
        }
        out.append(UInt8(ascii: "\""))
    }

    /// The order of UTF-16 code units, found in UTF-8.
    ///
    /// The two differ in one thing: scalars past U+FFFF (lead byte F0 or more) begin with D800...DBFF in UTF-16, which is
    /// before U+E000...U+FFFF (lead bytes EE and EF).
    public static func isBefore(_ a: String, _ b: String) -> Bool {
        var left = a.utf8.makeIterator(), right = b.utf8.makeIterator()
        while true {
            guard let y = right.next() else { return false }
            guard let x = left.next() else { return true }
            if x == y { continue }
            if x >= 0xEE, y >= 0xEE, (x >= 0xF0) != (y >= 0xF0) { return x >= 0xF0 }
            return x < y
        }
    }
}
