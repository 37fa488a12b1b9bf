internal import AlcoveCore
internal import llama

/// The spellings of a vocabulary's control tokens, found in one pass over a text.
package struct ControlTokens: Sendable {
    package struct Match: Sendable, Equatable {
        package var range: Range<Int>
        package var token: Token
        /// The token swallows white space before or after it (some models say so of theirs).
        package var stripsLeft: Bool
        package var stripsRight: Bool
    }

    private struct Entry: Sendable {
        var spelling: [UInt8]
        var token: Token
        var stripsLeft: Bool
        var stripsRight: Bool
    }

    /// By first byte, longest spelling first: the longest that fits wins, as in the library's own tokeniser.
    private var byFirstByte: [[Entry]]

    init(vocabulary raw: OpaquePointer) {
        byFirstByte = Array(repeating: [], count: 256)
        for token in 0..<llama_vocab_n_tokens(raw) {
            let attributes = llama_vocab_get_attr(raw, token).rawValue
            let special = LLAMA_TOKEN_ATTR_CONTROL.rawValue | LLAMA_TOKEN_ATTR_UNKNOWN.rawValue
            guard attributes & special != 0, let text = llama_vocab_get_text(raw, token) else { continue }
            let spelling = Array(UnsafeBufferPointer(start: text, count: strlen(text))).map { UInt8(bitPattern: $0) }
            guard let first = spelling.first else { continue }
            byFirstByte[Int(first)].append(
                Entry(
                    spelling: spelling, token: token,
                    stripsLeft: attributes & LLAMA_TOKEN_ATTR_LSTRIP.rawValue != 0,
                    stripsRight: attributes & LLAMA_TOKEN_ATTR_RSTRIP.rawValue != 0))
        }
        for index in byFirstByte.indices {
            byFirstByte[index].sort { ($0.spelling.count, $1.token) > ($1.spelling.count, $0.token) }
        }
    }

    func token(spelled bytes: [UInt8]) -> Token? {
        guard let first = bytes.first else { return nil }
        return byFirstByte[Int(first)].first { $0.spelling == bytes }?.token
    }

    /// The control tokens of a text, in order, none overlapping.
    ///
    /// A spelling counts only when no byte of it came from input: words of people, files, tools and the web can spell
    /// what they like and stay words.
    func matches(in bytes: [UInt8], isInput: [Bool]) -> [Match] {
        var found: [Match] = []
        var position = 0
        while position < bytes.count {
            let entries = byFirstByte[Int(bytes[position])]
            guard !entries.isEmpty, !isInput[position],
                let entry = entries.first(where: { fits($0.spelling, bytes, isInput, at: position) })
            else {
                position += 1
                continue
            }
            let end = position + entry.spelling.count
            found.append(
                Match(
                    range: position..<end, token: entry.token, stripsLeft: entry.stripsLeft,
                    stripsRight: entry.stripsRight))
            position = end
        }
        return found
    }

    private func fits(_ spelling: [UInt8], _ bytes: [UInt8], _ isInput: [Bool], at start: Int) -> Bool {
        guard start + spelling.count <= bytes.count else { return false }
        for offset in 0..<spelling.count
        where bytes[start + offset] != spelling[offset] || isInput[start + offset] { return false }
        return true
    }
}
