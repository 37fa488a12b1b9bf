internal import AlcoveCore
internal import Synchronization
internal import llama

/// Owns one `mtmd_context *`: turns pictures and sounds into what a model can take in.
///
/// Unchecked: `prepare` may be called on any thread (mtmd.h promises it for tokenising), the rest on the engine's thread
/// only. The model it was made for is kept alive here, because the library keeps its vocabulary.
final class ProjectorHandle: @unchecked Sendable {
    let path: String
    let abilities: MediaAbilities
    let numbers = MediaNumbers()
    private let raw: OpaquePointer
    private let model: ModelHandle
    private let kinds: ProjectorKinds
    private let watch: EncodingWatch
    /// What was made of the newest media: their pixels are prepared again only when there are more.
    private let prepared = Mutex<[(digest: [UInt8], prompt: MediaPrompt)]>([])
    private static let mostPrepared = 12
    /// What the projector gave for the newest chunks: a chat that has to be read again need not be looked at again.
    private var encoded: [(token: Token, numbers: [Float])] = []
    private static let mostEncodedBytes = 64 << 20

    /// - Parameter kinds: What `ProjectorFile` found in it.
    /// - Throws: `EngineError` when the library refuses it.
    init(path: String, kinds: ProjectorKinds, model: ModelHandle, threads: Int) throws(EngineError) {
        LlamaLibrary.start()
        _ = LlamaLibrary.takeLastError()
        let watch = EncodingWatch()
        var parameters = mtmd_context_params_default()
        parameters.use_gpu = false
        parameters.print_timings = false
        parameters.warmup = false
        parameters.n_threads = Int32(threads)
        parameters.cb_eval_user_data = Unmanaged.passUnretained(watch).toOpaque()
        parameters.cb_eval = { _, asks, watch in
            guard let watch else { return false }
            let watching = Unmanaged<EncodingWatch>.fromOpaque(watch).takeUnretainedValue()
            return asks ? watching.looksHere() : watching.goesOn
        }
        guard let raw = mtmd_init_from_file(path, model.raw, parameters) else {
            throw EngineError.projectorFailed(
                name: GGUFName.ofFile(path), reason: LlamaLibrary.takeLastError() ?? "the library does not say why")
        }
        self.raw = raw
        self.path = path
        self.model = model
        self.kinds = kinds
        self.watch = watch
        abilities = kinds.abilities(soundRate: Int(mtmd_get_audio_sample_rate(raw)))
    }

    deinit { mtmd_free(raw) }

    // MARK: Prompts

    /// What a picture, video or sound comes to in a prompt.
    ///
    /// - Throws: `EngineError.mediaRefused` when the model takes no such thing, or the library refuses it.
    func prepare(_ media: MediaInput) throws(EngineError) -> MediaPrompt {
        if let found = prepared.withLock({ list in list.first { $0.digest == media.digest }?.prompt }) { return found }
        guard media.isSound ? abilities.hears : abilities.sees else {
            throw media.isSound ? .cannotHear : .cannotSee
        }
        for picture in media.pictures where !ProjectorHandle.isPossible(picture) {
            throw .mediaRefused(
                reason: "a picture of \(picture.width) x \(picture.height) pixels is more than "
                    + "\(ProjectorHandle.mostLength) times as long as it is wide")
        }
        let prompt = try tokenize(media)
        prepared.withLock { list in
            list.append((media.digest, prompt))
            if list.count > ProjectorHandle.mostPrepared { list.removeFirst() }
        }
        return prompt
    }

    /// Found by trying: the library makes patches of any shape, and aborts on one that has more in a row than the model has
    /// places for.
    private static let mostLength = 20

    private static func isPossible(_ picture: RGBPicture) -> Bool {
        max(picture.width, picture.height) <= mostLength * min(picture.width, picture.height)
    }

    private func tokenize(_ media: MediaInput) throws(EngineError) -> MediaPrompt {
        let parts = MediaParts(media, mergesFrames: kinds.seeing?.mergesFrames ?? false)
        guard let chunks = mtmd_input_chunks_init() else { throw .mediaRefused(reason: "the system gives no memory") }
        defer { mtmd_input_chunks_free(chunks) }
        _ = LlamaLibrary.takeLastError()
        let status = parts.withPointers { mtmd_tokenize_from_parts(raw, chunks, $0, $1, false) }
        guard status == 0 else {
            throw .mediaRefused(reason: LlamaLibrary.takeLastError() ?? "the library does not say why")
        }
        var prompt = MediaPrompt()
        for index in 0..<mtmd_input_chunks_size(chunks) {
            guard let chunk = mtmd_input_chunks_get(chunks, index) else { continue }
            if mtmd_input_chunk_get_type(chunk) == MTMD_INPUT_CHUNK_TYPE_TEXT {
                var count = 0
                guard let tokens = mtmd_input_chunk_get_tokens_text(chunk, &count) else { continue }
                prompt.tokens += UnsafeBufferPointer(start: tokens, count: count)
                // What the library writes for a token that the vocabulary has not.
                guard prompt.tokens.suffix(count).allSatisfy({ $0 >= 0 }) else {
                    throw .mediaRefused(reason: "the model has not all tokens that the projector writes")
                }
                continue
            }
            guard let copy = mtmd_input_chunk_copy(chunk) else {
                throw .mediaRefused(reason: "the system gives no memory")
            }
            let token = numbers.token(
                of: media.digest, part: prompt.chunks.count, count: mtmd_input_chunk_get_n_tokens(chunk),
                positions: Int(mtmd_input_chunk_get_n_pos(chunk)))
            let made = MediaChunk(raw: copy, token: token)
            guard made.count > 0 else { throw .mediaRefused(reason: "nothing of it is left for the model") }
            prompt.tokens += repeatElement(token, count: made.count)
            prompt.chunks.append(made)
        }
        return prompt
    }

    // MARK: The engine's thread

    /// Looks at a chunk; nil when `stop` was set meanwhile or the library failed.
    func encode(_ chunk: MediaChunk, stop: StopSignal) -> [Float]? {
        if let index = encoded.firstIndex(where: { $0.token == chunk.token }) {
            let found = encoded.remove(at: index)
            encoded.append(found)
            return found.numbers
        }
        _ = LlamaLibrary.takeLastError()
        let status = watch.watching(stop) { mtmd_encode_chunk(raw, chunk.raw) }
        // Stopped inside, the library knows nothing of it and gives what was there before.
        guard status == 0, !stop.isSet, let output = mtmd_get_output_embd(raw) else { return nil }
        let width = Int(llama_model_n_embd_inp(model.raw))
        let numbers = Array(UnsafeBufferPointer(start: output, count: width * chunk.count))
        encoded.append((chunk.token, numbers))
        while encoded.count > 1, encoded.reduce(0, { $0 + 4 * $1.numbers.count }) > ProjectorHandle.mostEncodedBytes {
            encoded.removeFirst()
        }
        return numbers
    }

    /// Gives back what only serves speed.
    ///
    /// - Returns: how many bytes that were.
    func giveBack() -> Int {
        defer { encoded = [] }
        return encoded.reduce(0) { $0 + 4 * $1.numbers.count }
    }

    /// Reads what a chunk came to into a sequence: 0 done, 1 no room, 2 stopped by the callback, below 0 failed.
    func decode(
        _ chunk: MediaChunk, _ numbers: inout [Float], in context: ContextHandle, at position: Int, sequence: Int
    ) -> Int32 {
        _ = LlamaLibrary.takeLastError()
        var end: llama_pos = 0
        return numbers.withUnsafeMutableBufferPointer {
            mtmd_helper_decode_image_chunk(
                raw, context.raw, chunk.raw, $0.baseAddress, llama_pos(position), Int32(sequence),
                Int32(ContextHandle.batchTokens), &end, nil, nil)
        }
    }
}

/// Lets an encoding be stopped in the middle: the library asks before it computes a node whether it should look up after
/// it, and then whether to go on.
private final class EncodingWatch: Sendable {
    private let watched = Mutex<StopSignal?>(nil)
    private let nodes = Atomic<Int>(0)
    /// Looking up costs a start of all threads, a node mostly less than a millisecond.
    private static let stride = 8

    func looksHere() -> Bool {
        nodes.wrappingAdd(1, ordering: .relaxed).newValue % EncodingWatch.stride == 0
    }

    var goesOn: Bool { watched.withLock { !($0?.isSet ?? false) } }

    func watching<Result>(_ signal: StopSignal, _ body: () -> Result) -> Result {
        watched.withLock { $0 = signal }
        defer { watched.withLock { $0 = nil } }
        return body()
    }
}
