internal import AlcoveCore
internal import llama

/// Owns one `llama_context *` that makes vectors. Not Sendable on purpose: it stays on the engine's thread.
///
/// A sequence is computed in one piece, because pooling looks at all of it, so the context is as large as the longest
/// text and lives no longer than one request.
final class EmbeddingContext {
    private let raw: OpaquePointer
    private let model: ModelHandle
    private let threads: ComputeThreads
    private let cancellation: Cancellation

    init(model: ModelHandle, tokens: Int, threads: ComputeThreads, cancellation: Cancellation) throws(EngineError) {
        _ = LlamaLibrary.takeLastError()
        var parameters = llama_context_default_params()
        parameters.n_ctx = UInt32(tokens)
        parameters.n_batch = UInt32(tokens)
        parameters.n_ubatch = UInt32(tokens)
        parameters.n_seq_max = 1
        parameters.n_threads = Int32(threads.count)
        parameters.n_threads_batch = Int32(threads.count)
        parameters.embeddings = true
        parameters.no_perf = true
        // The data is set on the next line, so the callback always has it.
        parameters.abort_callback = { Unmanaged<Cancellation>.fromOpaque($0!).takeUnretainedValue().isAsked }
        parameters.abort_callback_data = Unmanaged.passUnretained(cancellation).toOpaque()
        guard let raw = llama_init_from_model(model.raw, parameters) else {
            let bytes = UInt64(tokens) * UInt64(llama_model_n_layer(model.raw)) * UInt64(llama_model_n_embd(model.raw))
            throw .contextFailed(
                cells: tokens, bytes: 4 * bytes,
                reason: LlamaLibrary.takeLastError() ?? "the system gives no more memory")
        }
        model.applyAdapters(to: raw)
        threads.attach(to: raw)
        self.raw = raw
        self.model = model
        self.threads = threads
        self.cancellation = cancellation
    }

    deinit { llama_free(raw) }

    /// The vector of a sequence, of length 1 in space; nil when it was stopped.
    func vector(of tokens: [Token], stop: StopSignal) throws(EngineError) -> [Float]? {
        _ = LlamaLibrary.takeLastError()
        if let memory = llama_get_memory(raw) { llama_memory_clear(memory, true) }
        var tokens = tokens
        // Positions and the sequence, 0, are the library's own doing; with embeddings wanted every token is an output.
        let status = cancellation.watching(stop) {
            tokens.withUnsafeMutableBufferPointer { buffer in
                llama_decode(raw, llama_batch_get_one(buffer.baseAddress, Int32(buffer.count)))
            }
        }
        if stop.isSet { return nil }
        if let loss = model.workers?.loss { throw loss }
        guard status == 0, let pointer = llama_get_embeddings_seq(raw, 0) else {
            throw .decodeFailed(
                status: status, reason: LlamaLibrary.takeLastError() ?? "the library does not say why")
        }
        let vector = Array(UnsafeBufferPointer(start: pointer, count: Int(llama_model_n_embd_out(model.raw))))
        let length = vector.reduce(0.0) { $0 + Double($1) * Double($1) }.squareRoot()
        guard length.isFinite, length > 0 else {
            throw .decodeFailed(status: status, reason: "the vector of a text is not a number, or nothing")
        }
        return vector.map { Float(Double($0) / length) }
    }
}
