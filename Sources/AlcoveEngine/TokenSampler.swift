internal import AlcoveCore
internal import llama

/// Chooses tokens for one generation. Owns one `llama_sampler *` chain.
final class TokenSampler {
    private let chain: UnsafeMutablePointer<llama_sampler>
    private let penaltyWindow: Int

    init(options: SamplingOptions, vocabulary: Vocabulary) {
        var parameters = llama_sampler_chain_default_params()
        parameters.no_perf = true
        chain = llama_sampler_chain_init(parameters)
        let penalised =
            options.repetitionPenalty != 1 || options.frequencyPenalty != 0 || options.presencePenalty != 0
        penaltyWindow = penalised ? options.penaltyWindow : 0
        if penalised {
            add(
                llama_sampler_init_penalties(
                    Int32(vocabulary.count), Int32(options.penaltyWindow), options.repetitionPenalty, options.frequencyPenalty,
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
        for token in prompt.suffix(penaltyWindow) { llama_sampler_accept(chain, token) }
    }

    func next(_ context: ContextHandle, at index: Int32) -> Token {
        llama_sampler_sample(chain, context.raw, index)
    }
}
