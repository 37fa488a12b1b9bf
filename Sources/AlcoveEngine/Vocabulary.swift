internal import AlcoveCore
internal import AlcoveTemplates
internal import llama

/// A token's id, as llama.cpp counts them.
package typealias Token = Int32

/// A model's vocabulary: text to tokens and back.
///
/// Unchecked: llama.h promises that the vocabulary does not change and that tokenising is thread-safe; the model that
/// owns it is kept alive here.
package final class Vocabulary: @unchecked Sendable {
    private let model: ModelHandle
    let raw: OpaquePointer
    /// Whether the file says that a sequence begins with BOS; false also when it says nothing (field report 5).
    package let beginsWithBOS: Bool
    package let bos: Token
    private let controlTokens: ControlTokens

    init(model: ModelHandle) {
        self.model = model
        raw = llama_model_get_vocab(model.raw)
        bos = llama_vocab_bos(raw)
        let saysSo = model.metadata("tokenizer.ggml.add_bos_token") != nil
        // The library forces BOS on Gemma 4 whatever the file says, because such files are about.
        let isGemma4 =
            model.metadata("tokenizer.ggml.pre") == "gemma4" || model.metadata("tokenizer.ggml.model") == "gemma4"
        beginsWithBOS = (saysSo || isGemma4) && llama_vocab_get_add_bos(raw) && bos != LLAMA_TOKEN_NULL
        controlTokens = ControlTokens(vocabulary: raw, template: model.chatTemplate ?? ChatTemplate.chatML)
    }

    var count: Int { Int(llama_vocab_n_tokens(raw)) }

    /// A token that ends an answer.
    var endOfText: Token {
        let end = llama_vocab_eot(raw)
        return end != LLAMA_TOKEN_NULL ? end : llama_vocab_eos(raw)
    }

    /// A byte of some text that this vocabulary has no token for, where the library would need one: it looks for
    /// `<0x0A>`, then for the byte itself, and throws through C when there is neither, which ends the process.
    static func missingByte(_ raw: OpaquePointer) -> UInt8? {
        guard llama_vocab_type(raw) == LLAMA_VOCAB_TYPE_SPM else { return nil }
        var found = Set<UInt8>()
        for token in 0..<llama_vocab_n_tokens(raw) {
            guard let text = llama_vocab_get_text(raw, token) else { continue }
            if text[0] != 0, text[1] == 0 {
                found.insert(UInt8(bitPattern: text[0]))
            } else if text[0] == 0x3C, strlen(text) == 6 {  // <
                let name = String(cString: text)
                if name.hasPrefix("<0x"), name.hasSuffix(">"), let byte = UInt8(name.dropFirst(3).dropLast(), radix: 16)
                {
                    found.insert(byte)
                }
            }
        }
        // What is in no UTF-8 is in no text.
        return (UInt8.min...UInt8.max).first { !found.contains($0) && !(0xC0...0xC1 ~= $0 || $0 > 0xF4) }
    }

    func endsGeneration(_ token: Token) -> Bool { llama_vocab_is_eog(raw, token) }

    /// The text of a token as the template spells it; empty when there is no such token.
    func spelling(of token: Token) -> String {
        guard token != LLAMA_TOKEN_NULL, let text = llama_vocab_get_text(raw, token) else { return "" }
        return String(cString: text)
    }

    /// Tokens of a text that is between two control tokens; none of them is one, whatever the text spells.
    ///
    /// The library is asked for plain text, and still makes tokens of the spellings that a file calls "user-defined".
    /// Those are cut in two, so that it never sees one whole.
    func literalTokens(of text: [UInt8]) -> [Token] {
        var cuts = controlTokens.cuts(in: text)
        while true {
            let tokens = self.tokens(of: text, cutAt: cuts)
            let made = tokens.filter(controlTokens.isControl)
            if made.isEmpty { return tokens }
            // A spelling that is built from smaller pieces; no vocabulary we know does this.
            let more = Set(cuts).union(controlTokens.cuts(in: text, made: Set(made))).sorted()
            guard more.count > cuts.count else { return tokens.filter { !controlTokens.isControl($0) } }
            cuts = more
        }
    }

    private func tokens(of text: [UInt8], cutAt cuts: [Int]) -> [Token] {
        var tokens: [Token] = []
        var start = 0
        for end in cuts + [text.count] where end > start {
            let piece = Array(text[start..<end])
            tokens += start == 0 ? plainTokens(of: piece) : followingTokens(of: piece)
            start = end
        }
        return tokens
    }

    /// Tokens of a text that goes on from other text: without the space some vocabularies put before a beginning.
    private func followingTokens(of text: [UInt8]) -> [Token] {
        let newline = UInt8(ascii: "\n")
        let tokens = plainTokens(of: [newline] + text)
        var bytes: [UInt8] = []
        for (index, token) in tokens.enumerated() {
            appendBytes(of: token, showsControl: true, to: &bytes)
            if bytes.last == newline { return Array(tokens[(index + 1)...]) }
            if bytes.contains(newline) { break }
        }
        return plainTokens(of: text)
    }

    private func plainTokens(of text: [UInt8], addsSpecial: Bool = false) -> [Token] {
        guard !text.isEmpty else { return [] }
        return text.withUnsafeBytes { bytes in
            let characters = bytes.baseAddress!.assumingMemoryBound(to: CChar.self)  // the text is not empty
            var tokens = [Token](repeating: 0, count: text.count + 2)
            var count = llama_tokenize(
                raw, characters, Int32(text.count), &tokens, Int32(tokens.count), addsSpecial, false)
            if count < 0 {
                tokens = [Token](repeating: 0, count: Int(-count))
                count = llama_tokenize(
                    raw, characters, Int32(text.count), &tokens, Int32(tokens.count), addsSpecial, false)
            }
            return Array(tokens.prefix(Int(max(count, 0))))
        }
    }

    /// Tokens of a text that stands by itself, with what the vocabulary puts before and behind one: BOS, CLS, SEP, EOS. No
    /// control token comes of the text's own words.
    func wholeText(_ text: [UInt8]) -> [Token] {
        let probe = Array("a".utf8)
        let (plain, framed) = (plainTokens(of: probe), plainTokens(of: probe, addsSpecial: true))
        let tokens = literalTokens(of: text)
        guard let start = framed.indices.first(where: { framed[$0...].starts(with: plain) }) else { return tokens }
        return framed[..<start] + tokens + framed[(start + plain.count)...]
    }

    /// The token that a control token's spelling names, if the vocabulary has it.
    func controlToken(spelled text: String) -> Token? { controlTokens.token(spelled: Array(text.utf8)) }

    /// Appends the bytes of a token to `out`.
    ///
    /// - Parameter showsControl: Whether a control token shows its spelling; normally it is nothing.
    func appendBytes(of token: Token, showsControl: Bool, to out: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            let count = llama_token_to_piece(raw, token, buffer.baseAddress, 256, 0, showsControl)
            if count >= 0 {
                for index in 0..<Int(count) { out.append(UInt8(bitPattern: buffer[index])) }
                return
            }
            var long = [CChar](repeating: 0, count: Int(-count))
            let full = llama_token_to_piece(raw, token, &long, -count, 0, showsControl)
            out.append(contentsOf: long.prefix(Int(max(full, 0))).map { UInt8(bitPattern: $0) })
        }
    }

    /// Control tokens in a prompt's text, where the template wrote them.
    func controlMatches(in bytes: [UInt8], isInput: [Bool]) -> [ControlTokens.Match] {
        controlTokens.matches(in: bytes, isInput: isInput)
    }
}
