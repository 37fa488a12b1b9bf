internal import AlcoveCore
internal import llama

/// Chooses tokens for one generation. Owns one `llama_sampler *` chain.
final class TokenSampler {
    private let chain: UnsafeMutablePointer<llama_sampler>
    private let penaltyWindow: Int
    private let vocabularySize: Int
    private let isEnd: (Token) -> Bool
    private var constraint: GrammarConstraint?
    private var candidates: [llama_token_data] = []
    /// Whether the answer left its grammar, which should not happen; from there on it is free.
    private(set) var hasLostGrammar = false

    init(options: SamplingOptions, vocabulary: Vocabulary, constraint: GrammarConstraint? = nil) {
        self.constraint = constraint
        vocabularySize = vocabulary.count
        isEnd = vocabulary.endsGeneration
        var parameters = llama_sampler_chain_default_params()
        parameters.no_perf = true
        chain = llama_sampler_chain_init(parameters)
        let penalised =
            options.repetitionPenalty != 1 || options.frequencyPenalty != 0 || options.presencePenalty != 0
        penaltyWindow = penalised ? options.penaltyWindow : 0
        if penalised {
            add(
                llama_sampler_init_penalties(
                    Int32(vocabulary.count), Int32(options.penaltyWindow), options.repetitionPenalty,
                    options.frequencyPenalty,
                    options.presencePenalty))
        }
        // Order of llama.cpp's own default chain: cut first, then heat.
        if options.temperature <= 0 {
            add(llama_sampler_init_greedy())
            return
        }
        if options.topK > 0 { add(llama_sampler_init_top_k(Int32(options.topK))) }
        if options.topP < 1 { add(llama_sampler_init_top_p(options.topP, 1)) }
        if options.minP > 0 { add(llama_sampler_init_min_p(options.minP, 1)) }
        add(llama_sampler_init_temp(options.temperature))
        add(llama_sampler_init_dist(options.seed ?? UInt32.random(in: 0..<UInt32.max)))
    }

    deinit { llama_sampler_free(chain) }  // frees what was added to it, too

    private func add(_ sampler: UnsafeMutablePointer<llama_sampler>?) {
        guard let sampler else { return }
        llama_sampler_chain_add(chain, sampler)
    }

    /// Shows the sampler the end of the prompt, which the penalties look back on.
    func accept(prompt: [Token]) {
        for token in prompt.suffix(penaltyWindow) where token >= 0 { llama_sampler_accept(chain, token) }
    }

    /// Chooses the next token; nil when the grammar allows none.
    func next(_ context: ContextHandle, at index: Int32) -> Token? {
        guard let constraint else { return llama_sampler_sample(chain, context.raw, index) }
        guard constraint.isActive else {
            let token = llama_sampler_sample(chain, context.raw, index)
            accept(token, by: constraint)
            return token
        }
        // One token is tested quickly, all of them slowly: first as if there were no grammar, and again only if that
        // token will not do.
        var token = choose(context, at: index, constraint: nil)
        if token.map(constraint.allows) != true { token = choose(context, at: index, constraint: constraint) }
        guard let token else { return nil }
        llama_sampler_accept(chain, token)
        accept(token, by: constraint)
        return token
    }

    private func accept(_ token: Token, by constraint: GrammarConstraint) {
        // The end of the answer is no part of the grammar's text.
        if isEnd(token) || constraint.accept(token) { return }
        self.constraint = nil
        hasLostGrammar = true
    }

    private func choose(_ context: ContextHandle, at index: Int32, constraint: GrammarConstraint?) -> Token? {
        guard let logits = llama_get_logits_ith(context.raw, index) else { return nil }
        candidates.removeAll(keepingCapacity: true)
        for token in 0..<vocabularySize {
            candidates.append(llama_token_data(id: Token(token), logit: logits[token], p: 0))
        }
        return candidates.withUnsafeMutableBufferPointer { buffer in
            var array = llama_token_data_array(
                data: buffer.baseAddress, size: buffer.count, selected: -1, sorted: false)
            if let constraint {
                constraint.apply(to: &array)
                guard buffer.contains(where: { $0.logit != -.infinity }) else { return nil }
            }
            llama_sampler_apply(chain, &array)
            guard array.selected >= 0, array.selected < Int64(array.size), let data = array.data else { return nil }
            return data[Int(array.selected)].id
        }
    }
}
