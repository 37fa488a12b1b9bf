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
        /// The library makes this token of its spelling wherever it stands, also where asked for plain text.
        var isEager: Bool
    }

    private var byFirstByte: [[Entry]]
    private var isControl: [Bool]

    /// - Parameter template: Source of the model's chat template.
    init(vocabulary raw: OpaquePointer, template: String) {
        byFirstByte = Array(repeating: [], count: 256)
        isControl = Array(repeating: false, count: Int(llama_vocab_n_tokens(raw)))
        let template = Array(template.utf8)
        for token in 0..<llama_vocab_n_tokens(raw) {
            let attributes = llama_vocab_get_attr(raw, token).rawValue
            let special = LLAMA_TOKEN_ATTR_CONTROL.rawValue | LLAMA_TOKEN_ATTR_UNKNOWN.rawValue
            let isEager = attributes & special == 0 && attributes & LLAMA_TOKEN_ATTR_USER_DEFINED.rawValue != 0
            guard attributes & special != 0 || isEager, let text = llama_vocab_get_text(raw, token) else { continue }
            let spelling = Array(UnsafeBufferPointer(start: text, count: strlen(text))).map { UInt8(bitPattern: $0) }
            guard let first = spelling.first else { continue }
            if isEager, !ControlTokens.isMarkup(spelling, template: template) { continue }
            isControl[Int(token)] = attributes & LLAMA_TOKEN_ATTR_UNKNOWN.rawValue == 0
            byFirstByte[Int(first)].append(
                Entry(
                    spelling: spelling, token: token,
                    stripsLeft: attributes & LLAMA_TOKEN_ATTR_LSTRIP.rawValue != 0,
                    stripsRight: attributes & LLAMA_TOKEN_ATTR_RSTRIP.rawValue != 0, isEager: isEager))
        }
    }

    /// Whether a token that its file calls the model's own ("user-defined") is one that steers the model.
    ///
    /// Files call so what begins Gemma 4's tool results and Command R's turns, beside runs of spaces and HTML tags that
    /// should stay what they are in everybody's text. It steers when it looks like markup and has a bar, or when the
    /// template writes it.
    private static func isMarkup(_ spelling: [UInt8], template: [UInt8]) -> Bool {
        guard spelling.count > 2, let first = spelling.first, let last = spelling.last else { return false }
        let isBracketed =
            (first == UInt8(ascii: "<") && last == UInt8(ascii: ">"))
            || (first == UInt8(ascii: "[") && last == UInt8(ascii: "]"))
        guard isBracketed, !spelling.contains(where: { $0 <= 0x20 }) else { return false }
        let text = String(decoding: spelling, as: UTF8.self)
        if text.contains("|") || text.contains("\u{FF5C}") { return true }
        return occurs(spelling, in: template)
    }

    private static func occurs(_ needle: [UInt8], in text: [UInt8]) -> Bool {
        guard needle.count <= text.count else { return false }
        return (0...(text.count - needle.count)).contains { start in
            text[start] == needle[0] && text[start..<(start + needle.count)].elementsEqual(needle)
        }
    }

    /// Whether a token may stand only where the template wrote it.
    func isControl(_ token: Token) -> Bool { isControl.indices.contains(Int(token)) && isControl[Int(token)] }

    func token(spelled bytes: [UInt8]) -> Token? {
        guard let first = bytes.first else { return nil }
        return byFirstByte[Int(first)].first { $0.spelling == bytes }?.token
    }

    /// The control tokens of a text, in order, none overlapping.
    ///
    /// A spelling counts only when no byte of it came from input: words of people, files, tools and the web can spell
    /// what they like and stay words. Where spellings overlap the longest wins, as in the library's own tokeniser.
    func matches(in bytes: [UInt8], isInput: [Bool]) -> [Match] {
        var candidates: [Match] = []
        for position in bytes.indices where !isInput[position] {
            for entry in byFirstByte[Int(bytes[position])] where fits(entry.spelling, bytes, isInput, at: position) {
                candidates.append(
                    Match(
                        range: position..<(position + entry.spelling.count), token: entry.token,
                        stripsLeft: entry.stripsLeft, stripsRight: entry.stripsRight))
            }
        }
        candidates.sort { ($1.range.count, $0.range.lowerBound) < ($0.range.count, $1.range.lowerBound) }
        var isTaken = [Bool](repeating: false, count: candidates.isEmpty ? 0 : bytes.count)
        var found: [Match] = []
        for candidate in candidates where !isTaken[candidate.range].contains(true) {
            for position in candidate.range { isTaken[position] = true }
            found.append(candidate)
        }
        return found.sorted { $0.range.lowerBound < $1.range.lowerBound }
    }

    /// Where a text must be cut so that no control token comes of it, in order.
    ///
    /// - Parameter made: Control tokens that the library made of the text all the same.
    func cuts(in text: [UInt8], made: Set<Token> = []) -> [Int] {
        var cuts: [Int] = []
        for position in text.indices {
            for entry in byFirstByte[Int(text[position])] where entry.isEager || made.contains(entry.token) {
                guard fits(entry.spelling, text, nil, at: position), entry.spelling.count > 1 else { continue }
                cuts.append(position + 1)  // the first byte of markup is one character
                break
            }
        }
        return cuts
    }

    private func fits(_ spelling: [UInt8], _ bytes: [UInt8], _ isInput: [Bool]?, at start: Int) -> Bool {
        guard start + spelling.count <= bytes.count else { return false }
        for offset in 0..<spelling.count
        where bytes[start + offset] != spelling[offset] || isInput?[start + offset] == true { return false }
        return true
    }
}
