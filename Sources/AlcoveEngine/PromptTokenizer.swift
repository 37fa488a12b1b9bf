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

    /// A stretch of the prompt that is replaced by tokens made elsewhere.
    private struct Cut {
        var range: Range<Int>
        var tokens: [Token]
        var stripsLeft = false
        var stripsRight = false
    }

    /// - Parameters:
    ///   - beginsSequence: False for text that stands behind other text, which BOS cannot begin.
    ///   - media: What stands in the prompt for pictures and sounds, and their tokens.
    package func tokens(
        of parts: [RenderedPrompt.Part], beginsSequence: Bool = true, media: [MediaMark] = []
    ) -> Result {
        var bytes: [UInt8] = []
        var isInput: [Bool] = []
        for part in parts {
            bytes.append(contentsOf: part.text.utf8)
            isInput.append(contentsOf: repeatElement(part.isInput, count: bytes.count - isInput.count))
        }
        var result = Result(tokens: [], controlPositions: [])
        var start = 0
        var cuts = vocabulary.controlMatches(in: bytes, isInput: isInput).map {
            Cut(range: $0.range, tokens: [$0.token], stripsLeft: $0.stripsLeft, stripsRight: $0.stripsRight)
        }
        if !media.isEmpty {
            // A mark is input, so no control token is part of one.
            cuts += MediaMark.found(media, in: bytes).map { Cut(range: $0.range, tokens: $0.tokens) }
            cuts.sort { $0.range.lowerBound < $1.range.lowerBound }
        }
        for cut in cuts {
            var end = cut.range.lowerBound
            if cut.stripsLeft { while end > start, bytes[end - 1].isSpace { end -= 1 } }
            if start < end {
                result.tokens += vocabulary.literalTokens(of: Array(bytes[start..<end]))
            }
            if cut.tokens.count == 1 { result.controlPositions.append(result.tokens.count) }
            result.tokens += cut.tokens
            start = cut.range.upperBound
            if cut.stripsRight { while start < bytes.count, bytes[start].isSpace { start += 1 } }
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
