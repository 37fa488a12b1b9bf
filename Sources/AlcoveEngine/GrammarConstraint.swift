internal import AlcoveCore
internal import AlcoveTemplates
internal import llama

/// Holds the tokens of one answer to a grammar. Owns one `llama_sampler *`.
///
/// A lazy grammar holds only behind one of its triggers. The library looks for them with regular expressions over all
/// that was written, at each token, which over a long answer takes longer than the model does. So its sampler sees a token
/// only where a trigger may be beginning, and never inside reasoning, where a model may well talk about calls.
final class GrammarConstraint {
    private let sampler: UnsafeMutablePointer<llama_sampler>
    private let vocabulary: Vocabulary
    /// Whether the grammar holds now.
    private(set) var isActive: Bool
    private let beginnings: [[UInt8]]
    private let reasoningStart: [UInt8]
    private let reasoningEnds: [[UInt8]]
    private var isReasoning = false
    /// Bytes the sampler still may see before it is no use any more; 0 while nothing may be beginning.
    private var watch = 0
    private var isFresh = true
    /// The last tokens with their texts, as far back as a trigger's beginning may reach.
    private var recent: [(token: Token, text: [UInt8])] = []

    /// Bytes in which a trigger that has begun must be complete.
    private static let window = 512
    /// Bytes that tell that one may be beginning.
    private static let cue = 3

    /// - Returns: nil when the grammar cannot be compiled.
    init?(_ grammar: OutputGrammar, parser: OutputParser, vocabulary: Vocabulary) {
        self.vocabulary = vocabulary
        let patterns = grammar.triggers.compactMap(\.pattern)
        let tokens = grammar.triggers.compactMap { $0.pattern == nil ? Token($0.token) : nil }
        let made = withCStrings(patterns) { pointers in
            var pointers = pointers
            return alcove_grammar_sampler(
                vocabulary.raw, grammar.text, grammar.isLazy, &pointers, patterns.count, tokens, tokens.count)
        }
        guard let made else { return nil }
        sampler = made
        isActive = !grammar.isLazy
        beginnings = grammar.triggers.compactMap(\.beginning).map { Array($0.utf8.prefix(GrammarConstraint.cue)) }
        reasoningStart = Array(parser.reasoningStart.utf8)
        reasoningEnds = parser.reasoningEnds.map { Array($0.utf8) }
        if grammar.isLazy {
            isReasoning = parser.reasoningIsOpen
            // A trigger that only fits at the beginning: look at the beginning.
            watch = grammar.triggers.contains { $0.beginning == nil } ? GrammarConstraint.window : 0
            return
        }
        guard grammar.coversPrompt else { return }
        // The grammar describes the answer with what the prompt ends in.
        let prefix = PromptTokenizer(vocabulary: vocabulary).tokens(
            of: [RenderedPrompt.Part(text: parser.generationPrompt, isInput: false)], beginsSequence: false)
        for token in prefix.tokens where !alcove_sampler_accept(sampler, token) { return nil }
    }

    deinit { llama_sampler_free(sampler) }

    func allows(_ token: Token) -> Bool {
        var candidate = llama_token_data(id: token, logit: 1, p: 0)
        return withUnsafeMutablePointer(to: &candidate) { pointer in
            var array = llama_token_data_array(data: pointer, size: 1, selected: -1, sorted: false)
            llama_sampler_apply(sampler, &array)
            return pointer.pointee.logit != -.infinity
        }
    }

    func apply(to candidates: inout llama_token_data_array) { llama_sampler_apply(sampler, &candidates) }

    /// Moves on by a token that was chosen.
    ///
    /// - Returns: false when the grammar cannot go on from it; the constraint is then of no use any more.
    func accept(_ token: Token) -> Bool {
        guard !isActive else { return alcove_sampler_accept(sampler, token) }
        var text: [UInt8] = []
        vocabulary.appendBytes(of: token, showsControl: true, to: &text)
        recent.append((token, text))
        if recent.count > 16 { recent.removeFirst() }
        if isReasoning {
            guard let end = firstPlace(of: reasoningEnds) else { return true }
            // The end of reasoning may be the beginning of a call.
            isReasoning = false
            recent.removeFirst(end)
            return begins(at: firstPlace(of: beginnings))
        }
        if !reasoningStart.isEmpty, firstPlace(of: [reasoningStart]) != nil {
            isReasoning = true
            watch = 0
            recent = []
            return true
        }
        if watch > 0 {
            watch = max(0, watch - text.count)
            return feed([token])
        }
        return begins(at: firstPlace(of: beginnings))
    }

    private func begins(at place: Int?) -> Bool {
        guard let place else { return true }
        watch = GrammarConstraint.window
        if !isFresh { llama_sampler_reset(sampler) }
        let tokens = recent[place...].map(\.token)
        recent = []
        return feed(tokens)
    }

    private func feed(_ tokens: [Token]) -> Bool {
        isFresh = false
        for token in tokens where !alcove_sampler_accept(sampler, token) { return false }
        // While it waits for its trigger a grammar allows everything; just behind it, an end is not allowed yet.
        isActive = !allows(vocabulary.endOfText)
        return true
    }

    /// The first recent token with which one of the texts begins.
    private func firstPlace(of texts: [[UInt8]]) -> Int? {
        let joined = recent.flatMap(\.text)
        for start in joined.indices where texts.contains(where: { !$0.isEmpty && joined[start...].starts(with: $0) }) {
            var end = 0
            return recent.firstIndex { piece in
                end += piece.text.count
                return start < end
            }
        }
        return nil
    }
}

/// C strings that live as long as the call.
private func withCStrings<Result>(
    _ texts: [String], _ body: ([UnsafePointer<CChar>?]) -> Result
) -> Result {
    let copies = texts.map { strdup($0) }
    defer { copies.forEach { free($0) } }
    return body(copies.map { $0.map { UnsafePointer($0) } })
}
