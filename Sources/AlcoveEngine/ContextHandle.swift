internal import AlcoveCore
internal import llama

/// Owns one `llama_context *` and its batch. Not Sendable on purpose: it stays on the engine's thread.
final class ContextHandle {
    /// How many tokens each of how many sequences may hold.
    struct Shape: Equatable {
        var cells: Int
        var sequences: Int
    }

    /// Most tokens of one call. One call is one micro-batch, so that a stop is never further away than that.
    static let batchTokens = 512

    let raw: OpaquePointer
    let memory: OpaquePointer
    let shape: Shape
    private var batch: llama_batch
    private let model: ModelHandle
    private let threads: ComputeThreads
    /// The library keeps a bare pointer to it.
    private let cancellation: Cancellation

    init(model: ModelHandle, shape: Shape, cacheType: CacheType, threads: ComputeThreads, cancellation: Cancellation)
        throws(EngineError)
    {
        _ = LlamaLibrary.takeLastError()
        var parameters = llama_context_default_params()
        parameters.n_ctx = UInt32(shape.cells * shape.sequences)
        parameters.n_seq_max = UInt32(shape.sequences)
        parameters.n_batch = UInt32(ContextHandle.batchTokens)
        parameters.n_ubatch = UInt32(ContextHandle.batchTokens)
        parameters.n_threads = Int32(threads.count)
        parameters.n_threads_batch = Int32(threads.count)
        // One stream a sequence: what one does never moves another's cells, so that its numbers stay the same.
        parameters.kv_unified = false
        cacheType.set(in: &parameters)
        parameters.no_perf = true
        // The data is set on the next line, so the callback always has it.
        parameters.abort_callback = { Unmanaged<Cancellation>.fromOpaque($0!).takeUnretainedValue().isAsked }
        parameters.abort_callback_data = Unmanaged.passUnretained(cancellation).toOpaque()
        guard let raw = llama_init_from_model(model.raw, parameters) else {
            let layers = UInt64(llama_model_n_layer(model.raw)), width = UInt64(llama_model_n_embd(model.raw))
            if let workers = model.workers {
                throw workers.loss
                    ?? .workersRefused(
                        names: workers.names, reason: LlamaLibrary.takeLastError() ?? "they give no more memory")
            }
            throw .contextFailed(
                cells: shape.cells, bytes: UInt64(shape.cells * shape.sequences) * layers * width * 4,
                reason: LlamaLibrary.takeLastError() ?? "the system gives no more memory")
        }
        // An encoder keeps nothing of what it read, so nothing can go on from there; the library would abort.
        guard let memory = llama_get_memory(raw) else {
            llama_free(raw)
            throw .cannotWrite
        }
        model.applyAdapters(to: raw)
        threads.attach(to: raw)
        self.raw = raw
        self.memory = memory
        self.model = model
        self.threads = threads
        self.cancellation = cancellation
        self.shape = shape
        batch = llama_batch_init(Int32(ContextHandle.batchTokens), 0, 1)
    }

    deinit {
        llama_batch_free(batch)
        llama_free(raw)
    }

    // MARK: A batch

    var batchCount: Int { Int(batch.n_tokens) }

    func clearBatch() { batch.n_tokens = 0 }

    /// Adds a token; says at which index its logits will be, if wanted.
    func add(_ token: Token, position: Int, sequence: Int, wantsLogits: Bool) -> Int32 {
        let index = Int(batch.n_tokens)
        batch.token[index] = token
        batch.pos[index] = Int32(position)
        batch.n_seq_id[index] = 1
        batch.seq_id[index]![0] = Int32(sequence)  // llama_batch_init makes one for each token
        batch.logits[index] = wantsLogits ? 1 : 0
        batch.n_tokens += 1
        return Int32(index)
    }

    /// Computes the batch: 0 done, 1 no room, 2 stopped by the callback, below 0 failed.
    func decode() -> Int32 {
        _ = LlamaLibrary.takeLastError()
        return checked(llama_decode(raw, batch))
    }

    /// A status below 0 where a worker was lost: the library goes on with zeros then, and says that all is well.
    func checked(_ status: Int32) -> Int32 {
        guard let workers = model.workers else { return status }
        waitForResults()
        return workers.loss == nil ? status : min(status, -1)
    }

    /// Why a computation failed.
    func failure(_ status: Int32) -> EngineError {
        model.workers?.loss
            ?? .decodeFailed(status: status, reason: LlamaLibrary.takeLastError() ?? "the library does not say why")
    }

    /// Until what was begun is done; some processors compute on behind the call.
    func waitForResults() { llama_synchronize(raw) }

    // MARK: Memory of a sequence

    /// Positions a sequence holds now: its tokens, as long as there are no pictures whose positions have several
    /// dimensions; what comes behind such a picture may stand further on than this.
    func end(of sequence: Int) -> Int { Int(llama_memory_seq_pos_max(memory, Int32(sequence))) + 1 }

    /// Keeps what a sequence holds before a position; false when that cannot be done exactly.
    ///
    /// - Parameter mark: what the sequence held there, for memories that forget; such a one is cut nowhere else.
    func cut(_ sequence: Int, to position: Int, mark: SequenceMark? = nil) -> Bool {
        if position >= end(of: sequence) { return true }
        let id = Int32(sequence)
        if position == 0 { return llama_memory_seq_rm(memory, id, -1, -1) }
        if model.cutsExactly { return llama_memory_seq_rm(memory, id, Int32(position), -1) }
        guard let mark, mark.position == position else { return false }
        return goBack(sequence, to: mark)
    }

    /// Makes a sequence what it was at a mark, whatever it holds of what came after; false when that did not work.
    func goBack(_ sequence: Int, to mark: SequenceMark) -> Bool {
        if mark.position == 0 { return llama_memory_seq_rm(memory, Int32(sequence), -1, -1) }
        // The forgetful layers first: a recurrent state can only be cut where it stands, and where it cannot be the library
        // leaves the attention's cells alone too.
        return llama_state_seq_set_data_ext(
            raw, mark.state, mark.state.count, Int32(sequence),
            llama_state_seq_flags(LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY)) > 0
            && llama_memory_seq_rm(memory, Int32(sequence), Int32(mark.position), -1)
            && end(of: sequence) == mark.end
    }

    /// What the forgetful layers of a sequence hold now, to come back here later; nil when the library gives nothing.
    ///
    /// - Parameters:
    ///   - count: Tokens it holds.
    ///   - position: Where what comes next will stand.
    func mark(of sequence: Int, count: Int, position: Int) -> SequenceMark? {
        let flags = llama_state_seq_flags(LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY)
        let size = llama_state_seq_get_size_ext(raw, Int32(sequence), flags)
        guard size > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: size)
        guard llama_state_seq_get_data_ext(raw, &bytes, size, Int32(sequence), flags) == size else { return nil }
        return SequenceMark(count: count, position: position, end: end(of: sequence), state: bytes)
    }

    /// What the state of a sequence takes.
    func stateBytes(of sequence: Int) -> Int { llama_state_seq_get_size(raw, Int32(sequence)) }

    func state(of sequence: Int) -> [UInt8] {
        let size = llama_state_seq_get_size(raw, Int32(sequence))
        var bytes = [UInt8](repeating: 0, count: size)
        let written = llama_state_seq_get_data(raw, &bytes, size, Int32(sequence))
        return written == size ? bytes : []
    }

    func restore(_ state: [UInt8], into sequence: Int) -> Bool {
        !state.isEmpty && llama_state_seq_set_data(raw, state, state.count, Int32(sequence)) > 0
    }
}
