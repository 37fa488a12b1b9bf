/// Turns bytes that come in pieces into text, never splitting a character between two pieces.
///
/// A model's tokens are bytes: an emoji may come as three of them. What is incomplete waits; what can no longer become a
/// character becomes U+FFFD, as `String(decoding:as:)` does it.
public struct UTF8Assembler: Sendable {
    private var pending: [UInt8] = []

    public init() {}

    /// The text that is complete now; empty when there is none.
    public mutating func append(_ bytes: some BidirectionalCollection<UInt8>) -> String {
        if pending.isEmpty {
            let complete = bytes.count - UTF8Assembler.incompleteTail(of: bytes)
            pending.append(contentsOf: bytes.dropFirst(complete))
            return String(decoding: bytes.prefix(complete), as: UTF8.self)
        }
        pending.append(contentsOf: bytes)
        let complete = pending.count - UTF8Assembler.incompleteTail(of: pending)
        defer { pending.removeFirst(complete) }
        return String(decoding: pending.prefix(complete), as: UTF8.self)
    }

    /// What was left when the bytes ended: empty, or one U+FFFD.
    public mutating func finish() -> String {
        defer { pending.removeAll() }
        return pending.isEmpty ? "" : "\u{FFFD}"
    }

    /// Bytes at the end that begin a character and may yet become one: 0 to 3.
    private static func incompleteTail(of bytes: some BidirectionalCollection<UInt8>) -> Int {
        var tail: [UInt8] = []
        for byte in bytes.suffix(3).reversed() {
            tail.insert(byte, at: 0)
            if byte & 0xC0 == 0x80 { continue }
            return isPossiblePrefix(tail) ? tail.count : 0
        }
        return 0
    }

    /// Whether some well-formed character (Unicode 15, table 3-7) begins with these bytes and is longer than they are.
    private static func isPossiblePrefix(_ bytes: [UInt8]) -> Bool {
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch bytes[0] {
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        case 0xF1...0xF3: length = 4
        default: return false
        }
        guard bytes.count < length else { return false }
        return bytes.count < 2 || second.contains(bytes[1])
    }
}
