/// Why some bytes are not JSON, and where.
public struct JSONError: UserFacingError, Equatable {
    /// Offset of the byte that could not be read.
    public let offset: Int
    public let reason: String

    public init(offset: Int, reason: String) {
        self.offset = offset
        self.reason = reason
    }

    public var code: String { "bad_json" }
    public var place: ErrorPlace { .request }
    public var message: String { "The JSON cannot be read at byte \(offset): \(reason)." }
}

/// How strictly a document is read.
public enum JSONRules: Sendable {
    /// RFC 8259 as most programs read it: of a key that is given twice the last value counts, half of a surrogate pair
    /// becomes U+FFFD. Neither is a reason to lose somebody's document.
    case lenient
    /// I-JSON (RFC 7493) where the two above are refused: for what is signed or digested, since others read them otherwise.
    case interchange
}

extension JSONValue {
    /// Nesting deeper than this is refused: no honest document needs it, and the reader is recursive.
    public static let maximumDepth = 256

    /// Reads one JSON document (RFC 8259) and nothing after it but white space.
    ///
    /// Whole numbers that fit 64 bits with a sign keep every digit; all others become the nearest double, those from 2^63
    /// to 2^64 too: a case of their own would have to be handled wherever a value is looked at, and nothing sends them.
    ///
    /// - Throws: `JSONError` for anything else, invalid UTF-8 and nesting past `maximumDepth` included.
    public init(parsing bytes: some Collection<UInt8>, rules: JSONRules = .lenient) throws(JSONError) {
        let result: Result<JSONValue, JSONError>? = bytes.withContiguousStorageIfAvailable { buffer in
            JSONValue.read(buffer, rules)
        }
        let done = result ?? Array(bytes).withUnsafeBufferPointer { JSONValue.read($0, rules) }
        self = try done.get()
    }

    public init(parsing text: String, rules: JSONRules = .lenient) throws(JSONError) {
        try self.init(parsing: Array(text.utf8), rules: rules)
    }

    private static func read(
        _ buffer: UnsafeBufferPointer<UInt8>, _ rules: JSONRules
    ) -> Result<JSONValue, JSONError> {
        do throws(JSONError) {
            var parser = JSONParser(bytes: buffer, rules: rules)
            return .success(try parser.document())
        } catch {
            return .failure(error)
        }
    }
}

private struct JSONParser {
    let bytes: UnsafeBufferPointer<UInt8>
    let rules: JSONRules
    var position = 0

    init(bytes: UnsafeBufferPointer<UInt8>, rules: JSONRules) {
        self.bytes = bytes
        self.rules = rules
    }

    mutating func document() throws(JSONError) -> JSONValue {
        let value = try self.value(depth: 0)
        skipSpace()
        if position < bytes.count { throw fault("there is more after the end of the document") }
        return value
    }

    private func fault(_ reason: String) -> JSONError { JSONError(offset: position, reason: reason) }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        skipSpace()
        guard let byte = next else { throw fault("it ends where a value should be") }
        if depth > JSONValue.maximumDepth { throw fault("it is nested deeper than \(JSONValue.maximumDepth)") }
        switch byte {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw fault("no value begins like this")
        }
    }

    private mutating func word(_ text: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        let length = text.utf8CodeUnitCount
        guard position + length <= bytes.count else { throw fault("an unfinished word") }
        for index in 0..<length where bytes[position + index] != text.utf8Start[index] {
            throw fault("an unknown word")
        }
        position += length
        return value
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSONValue {
        position += 1
        var object = JSONObject()
        skipSpace()
        if next == UInt8(ascii: "}") {
            position += 1
            return .object(object)
        }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw fault("a key in double quotes should be here") }
            let start = position
            let key = try string()
            if rules == .interchange, object[key] != nil {
                throw JSONError(offset: start, reason: "the key \(JSONValue.string(key).text()) is given twice")
            }
            skipSpace()
            guard next == UInt8(ascii: ":") else { throw fault("a colon should be here") }
            position += 1
            object[key] = try value(depth: depth + 1)
            skipSpace()
            switch next {
            case UInt8(ascii: ","): position += 1
            case UInt8(ascii: "}"):
                position += 1
                return .object(object)
            default: throw fault("a comma or } should be here")
            }
        }
    }

    private mutating func array(depth: Int) throws(JSONError) -> JSONValue {
        position += 1
        var items: [JSONValue] = []
        skipSpace()
        if next == UInt8(ascii: "]") {
            position += 1
            return .array(items)
        }
        while true {
            items.append(try value(depth: depth + 1))
            skipSpace()
            switch next {
            case UInt8(ascii: ","): position += 1
            case UInt8(ascii: "]"):
                position += 1
                return .array(items)
            default: throw fault("a comma or ] should be here")
            }
        }
    }

    private mutating func digits() -> Int {
        let start = position
        while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
        return position - start
    }

    private mutating func number() throws(JSONError) -> JSONValue {
        let start = position
        if next == UInt8(ascii: "-") { position += 1 }
        let leadingZero = next == UInt8(ascii: "0")
        let whole = digits()
        if whole == 0 { throw fault("a digit should be here") }
        if leadingZero && whole > 1 { throw fault("a number does not begin with 0") }
        var isInteger = true
        if next == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            if digits() == 0 { throw fault("a digit should follow the point") }
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            isInteger = false
            position += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
            if digits() == 0 { throw fault("a digit should be in the exponent") }
        }
        let text = String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<position]), as: UTF8.self)
        if isInteger, let value = Int64(text), !(value == 0 && text.hasPrefix("-")) { return .integer(value) }
        guard let value = Double(text), value.isFinite else { throw fault("the number is out of range") }
        return .double(value)
    }

    private mutating func string() throws(JSONError) -> String {
        position += 1
        let start = position
        // The common case: no escape; one look, one copy.
        while let byte = next {
            if byte == UInt8(ascii: "\"") {
                let text = try decoded(UnsafeBufferPointer(rebasing: bytes[start..<position]), at: start)
                position += 1
                return text
            }
            if byte == UInt8(ascii: "\\") { break }
            if byte < 0x20 { throw fault("a control character must be escaped in a string") }
            position += 1
        }
        var out = Array(bytes[start..<position])
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                let text = try out.withUnsafeBufferPointer { buffer in
                    Result { () throws(JSONError) in try decoded(buffer, at: start) }
                }.get()
                position += 1
                return text
            case UInt8(ascii: "\\"):
                position += 1
                try escape(into: &out)
            case 0..<0x20: throw fault("a control character must be escaped in a string")
            default:
                out.append(byte)
                position += 1
            }
        }
        throw fault("a string does not end")
    }

    private func decoded(_ buffer: UnsafeBufferPointer<UInt8>, at offset: Int) throws(JSONError) -> String {
        guard let text = String(validating: buffer, as: UTF8.self) else {
            throw JSONError(offset: offset, reason: "the string is not UTF-8")
        }
        return text
    }

    private mutating func escape(into out: inout [UInt8]) throws(JSONError) {
        guard let byte = next else { throw fault("a string does not end") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): out.append(byte)
        case UInt8(ascii: "b"): out.append(0x08)
        case UInt8(ascii: "f"): out.append(0x0C)
        case UInt8(ascii: "n"): out.append(0x0A)
        case UInt8(ascii: "r"): out.append(0x0D)
        case UInt8(ascii: "t"): out.append(0x09)
        case UInt8(ascii: "u"):
            var unit = try hex4()
            if (0xD800..<0xDC00).contains(unit), next == UInt8(ascii: "\\"), position + 1 < bytes.count,
                bytes[position + 1] == UInt8(ascii: "u")
            {
                let back = position
                position += 2
                let low = try hex4()
                if (0xDC00..<0xE000).contains(low) {
                    unit = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
                } else {
                    position = back
                }
            }
            if rules == .interchange, Unicode.Scalar(unit) == nil {
                throw fault("half of a surrogate pair stands alone")
            }
            // It has no UTF-8; a reader that crashes on one loses the whole document.
            let scalar = Unicode.Scalar(unit) ?? "\u{FFFD}"
            out.append(contentsOf: UTF8.encode(scalar)!)  // every scalar has an encoding
        default: throw fault("an unknown escape")
        }
    }

    private mutating func hex4() throws(JSONError) -> UInt32 {
        guard position + 4 <= bytes.count else { throw fault("\\u needs four hexadecimal digits") }
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = bytes[position].hexDigit else { throw fault("\\u needs four hexadecimal digits") }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}

extension UInt8 {
    /// The value of an ASCII hexadecimal digit, either case.
    public var hexDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
