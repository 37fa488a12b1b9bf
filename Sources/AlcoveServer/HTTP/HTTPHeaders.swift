/// Header fields in the order they came; names compare without case.
package struct HTTPHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    package struct Field: Sendable, Equatable {
        package var name: String
        package var value: String
    }

    package private(set) var fields: [Field] = []

    package init() {}

    package init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// The first field of this name. Setting replaces all of them; nil removes them.
    package subscript(name: String) -> String? {
        get { fields.first { $0.name.equalsIgnoringCase(name) }?.value }
        set {
            fields.removeAll { $0.name.equalsIgnoringCase(name) }
            if let newValue { fields.append(Field(name: name, value: newValue)) }
        }
    }

    package func values(_ name: String) -> [String] {
        fields.filter { $0.name.equalsIgnoringCase(name) }.map(\.value)
    }

    package mutating func add(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    package mutating func add(_ others: HTTPHeaders) { fields += others.fields }

    /// Whether a field that is a comma-separated list names this word.
    func lists(_ word: String, in name: String) -> Bool {
        values(name).contains { value in
            value.utf8.split(separator: UInt8(ascii: ",")).contains {
                Substring($0).trimmingBlanks().equalsIgnoringCase(word)
            }
        }
    }
}

extension StringProtocol {
    /// Equality of ASCII text whatever its case; no locale has a say.
    func equalsIgnoringCase(_ other: some StringProtocol) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        return zip(utf8, other.utf8).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
    }

    /// Without the spaces and tabs around it.
    func trimmingBlanks() -> Substring {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let rest = Substring(self).utf8.drop(while: isBlank)
        var end = rest.endIndex
        while end > rest.startIndex, isBlank(rest[rest.index(before: end)]) { end = rest.index(before: end) }
        return Substring(rest[rest.startIndex..<end])
    }
}

extension UInt8 {
    var asciiLowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }

    /// A character of an HTTP token (RFC 9110, 5.6.2): method and field names.
    var isTokenCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
        default: false
        }
    }
}
