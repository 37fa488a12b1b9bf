/// Makes fields of the pieces of a word: cuts what was expanded without quotes, and remembers what was quoted.
struct FieldBuilder {
    struct Field {
        var text: [UInt8] = []
        /// The same as a pattern in which quoted characters mean themselves.
        var pattern: [UInt8] = []
        var hasPattern = false
    }

    private(set) var fields: [Field] = []
    private var current = Field()
    /// Whether the current field exists, were it empty.
    private var hasStarted = false
    /// A blank ended the last field: a separator after it belongs to the same cut.
    private var endedByBlank = false
    private let separators: [UInt8]

    init(separators: [UInt8]) { self.separators = separators }

    mutating func add(quoted bytes: [UInt8]) {
        hasStarted = true
        endedByBlank = false
        current.text += bytes
        current.pattern += FieldBuilder.escaped(bytes)
    }

    mutating func add(literal bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        hasStarted = true
        endedByBlank = false
        append(bytes)
    }

    mutating func add(split bytes: [UInt8]) {
        if separators.isEmpty { return add(literal: bytes) }
        var start = 0
        for (index, byte) in bytes.enumerated() where separators.contains(byte) {
            if index > start { add(literal: Array(bytes[start..<index])) }
            start = index + 1
            let isBlank = byte == 32 || byte == 9 || byte == 10
            if hasStarted {
                cut()
                endedByBlank = isBlank
            } else if !isBlank {
                if endedByBlank { endedByBlank = false } else { cut() }
            }
        }
        if start < bytes.count { add(literal: Array(bytes[start...])) }
    }

    /// Ends a field if there is one.
    mutating func end() {
        if hasStarted { cut() }
        endedByBlank = false
    }

    private mutating func cut() {
        fields.append(current)
        current = Field()
        hasStarted = false
    }

    private mutating func append(_ bytes: [UInt8]) {
        current.text += bytes
        current.pattern += bytes
        if !current.hasPattern, bytes.contains(where: { $0 == 40 || $0 == 42 || $0 == 63 || $0 == 91 }) {
            current.hasPattern = true
        }
    }

    static func escaped(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(where: { isSpecial($0) }) else { return bytes }
        var out: [UInt8] = []
        for byte in bytes {
            if isSpecial(byte) { out.append(92) }
            out.append(byte)
        }
        return out
    }

    private static func isSpecial(_ byte: UInt8) -> Bool {
        switch byte {
        case 33, 40, 41, 42, 45, 63, 91, 92, 93, 94, 124: true  // ! ( ) * - ? [ \ ] ^ |
        default: false
        }
    }
}
