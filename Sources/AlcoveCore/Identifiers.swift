/// An id that cannot be guessed: 128 random bits as 32 lower-case hexadecimal digits.
public protocol RandomIdentifier: Sendable, Hashable, CustomStringConvertible {
    var text: String { get }
    init(unchecked text: String)
}

extension RandomIdentifier {
    /// A new one.
    public init() { self.init(unchecked: hexText(Platform.randomBytes(16))) }

    /// One that came from outside; nil when it does not have the shape.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 32, text.utf8.allSatisfy({ $0.hexDigit != nil && !(0x41...0x5A).contains($0) }) else {
            return nil
        }
        self.init(unchecked: String(text))
    }

    public var description: String { text }
}

/// Bytes as lower-case hexadecimal digits.
public func hexText(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}

/// Names a saved chat.
public struct ChatID: RandomIdentifier {
    public let text: String
    public init(unchecked text: String) { self.text = text }
}

/// Names one turn: a message sent and all that came of it.
public struct TurnID: RandomIdentifier {
    public let text: String
    public init(unchecked text: String) { self.text = text }
}

/// Names a surface's hold on a chat; short-lived, unlike the chat.
public struct SessionID: RandomIdentifier {
    public let text: String
    public init(unchecked text: String) { self.text = text }
}
