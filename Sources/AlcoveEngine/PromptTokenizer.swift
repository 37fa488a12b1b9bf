internal import AlcoveCore
package import AlcoveTemplates
internal import llama

/// Turns a rendered prompt into tokens: the template's control tokens become tokens, everybody else's stay text.
///
/// The text between two control tokens is tokenised as a whole, template and input together, because that is how models
/// were trained: cutting it where input begins would give other tokens for the same words. For a prompt whose input
/// spells no control token the result is what `llama_tokenize` gives for the whole text.
package struct PromptTokenizer: Sendable {
    package let vocabulary: Vocabulary

    package struct Result: Sendable, Equatable {
        package var tokens: [Token]
        /// Positions of the control tokens in `tokens`.
        package var controlPositions: [Int]
    }

    /// - Parameter beginsSequence: False for text that stands behind other text, which BOS cannot begin.
    package func tokens(of parts: [RenderedPrompt.Part], beginsSequence: Bool = true) -> Result {
        var bytes: [UInt8] = []
        var isInput: [Bool] = []
        for part in parts {
            bytes.append(contentsOf: part.text.utf8)
            isInput.append(contentsOf: repeatElement(part.isInput, count: bytes.count - isInput.count))
        }
        var result = Result(tokens: [], controlPositions: [])
        var start = 0
        for match in vocabulary.controlMatches(in: bytes, isInput: isInput) {
            var end = match.range.lowerBound
            if match.stripsLeft { while end > start, bytes[end - 1].isSpace { end -= 1 } }
            if start < end {
                result.tokens += vocabulary.literalTokens(of: Array(bytes[start..<end]))
            }
            result.controlPositions.append(result.tokens.count)
            result.tokens.append(match.token)
            start = match.range.upperBound
            if match.stripsRight { while start < bytes.count, bytes[start].isSpace { start += 1 } }
        }
        if start < bytes.count { result.tokens += vocabulary.literalTokens(of: Array(bytes[start...])) }
        if beginsSequence { settleBOS(&result) }
        return result
    }

    /// BOS exactly once where the file asks for it; as the template wrote it where the file does not (field report 5).
    private func settleBOS(_ result: inout Result) {
        guard vocabulary.beginsWithBOS else { return }
        if result.tokens.first != vocabulary.bos {
            result.tokens.insert(vocabulary.bos, at: 0)
            result.controlPositions = [0] + result.controlPositions.map { $0 + 1 }
        }
        while result.tokens.count > 1, result.tokens[1] == vocabulary.bos, result.controlPositions.contains(1) {
            result.tokens.remove(at: 1)
            result.controlPositions = [0] + result.controlPositions.dropFirst(2).map { $0 - 1 }
        }
    }
}

extension UInt8 {
    /// What C's isspace says in the C locale.
    fileprivate var isSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}
