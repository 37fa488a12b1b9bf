internal import AlcoveCore
internal import llama

/// How exactly keys and values of tokens are kept. Fewer bits hold longer chats and read a little less exactly.
public enum CacheType: String, Sendable, CaseIterable {
    case f16
    case eightBits = "q8_0"
    case fourBits = "q4_0"

    /// Bits of a number, scales included.
    package var bits: Double {
        switch self {
        case .f16: 16
        case .eightBits: 8.5
        case .fourBits: 4.5
        }
    }

    var raw: ggml_type {
        switch self {
        case .f16: GGML_TYPE_F16
        case .eightBits: GGML_TYPE_Q8_0
        case .fourBits: GGML_TYPE_Q4_0
        }
    }

    /// Sets what a context needs. Values in fewer bits are read by flash attention only.
    func set(in parameters: inout llama_context_params) {
        guard self != .f16 else { return }
        parameters.type_k = raw
        parameters.type_v = raw
        parameters.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_ENABLED
    }

    /// Why a model cannot keep keys and values so, as the library says; nil when it can. Tried on the smallest context.
    func refusal(by model: ModelHandle) -> String? {
        guard self != .f16 else { return nil }
        _ = LlamaLibrary.takeLastError()
        var parameters = llama_context_default_params()
        parameters.n_ctx = 256
        parameters.n_batch = 32
        parameters.n_ubatch = 32
        parameters.n_threads = 1
        parameters.no_perf = true
        set(in: &parameters)
        guard let context = llama_init_from_model(model.raw, parameters) else {
            return LlamaLibrary.takeLastError() ?? "the library does not say why"
        }
        llama_free(context)
        return nil
    }
}
