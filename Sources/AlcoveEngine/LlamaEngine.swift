public import AlcoveCore
internal import AlcoveTemplates
internal import Dispatch
internal import Synchronization
internal import llama

/// A GGUF model loaded through llama.cpp, answering on a thread of its own.
public final class LlamaEngine: LanguageModel, QueuedModel, MemorySaving {
    public let description: ModelDescription
    /// Things to tell the person about this model, as sentences.
    public let notices: [String]

    let loop: EngineLoop
    let vocabulary: Vocabulary
    /// How vectors of texts are made, where the model makes them.
    let embeddingPooling: llama_pooling_type?
    let template: ChatTemplate
    let projector: ProjectorHandle?
    /// What nobody can spell, so that nobody's words stand for a picture.
    let secret = hexText(Platform.randomBytes(16))
    /// Rendering and tokenising take milliseconds: not on the engine's thread, and not on the shared pool.
    private let prompts = DispatchQueue(label: "alcove.prompts")
    /// The prompt measured last: mostly the next to generate from. Used on `prompts` only.
    let shared = Mutex<(conversation: Conversation, tokens: [Token])?>(nil)
    let measured = Mutex<(conversation: Conversation, prompt: MeasuredPrompt)?>(nil)

    /// Loads a model and makes sure that it computes.
    ///
    /// - Parameters:
    ///   - path: A GGUF file whose header has been read and found good (`GGUFHeader`).
    ///   - progress: 0 to 1, from the loading thread; ending the calling task cancels the loading.
    /// - Throws: `EngineError`, or `TemplateError` when the model's template cannot be used.
    public static func load(
        path: String, options: Options = Options(), progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) async throws -> LlamaEngine {
        let cancelled = StopSignal()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isStarted = startThread(name: "alcove.load", stackBytes: 8 << 20) {
                    continuation.resume(
                        with: Result {
                            try LlamaEngine(path: path, options: options) { value in
                                progress(value)
                                return !cancelled.isSet
                            }
                        })
                }
                if !isStarted {
                    continuation.resume(
                        throwing: EngineError.loadFailed(path: path, reason: "the system gives no thread"))
                }
            }
        } onCancel: {
            cancelled.set()
        }
    }

    private init(
        path: String, options: Options, vocabularyOnly: Bool = false,
        progress: @escaping @Sendable (Double) -> Bool
    ) throws {
        guard access(path, F_OK) == 0 else { throw EngineError.modelMissing(path: path) }
        guard access(path, R_OK) == 0 else {
            throw EngineError.modelUnreadable(path: path, reason: Platform.describe(errno: errno))
        }
        let header = try GGUFHeader(path: path)
        for adapter in options.adapters { try adapter.check(against: header) }
        let kinds = try options.projector.map { try ProjectorFile.kinds(of: $0, model: header) }
        var notices: [String] = []
        let draftPath = try LlamaEngine.usableDraft(options, for: header, &notices)
        var admission = try MemoryAdmission(header, options, vocabularyOnly: vocabularyOnly, draft: draftPath)
        try admission.checkLoad(path)
        let before = admission.measured
        let workers = try LlamaEngine.workers(options, header, vocabularyOnly)
        let model = try ModelHandle(path: path, vocabularyOnly: vocabularyOnly, workers: workers, progress: progress)
        try model.load(options.adapters)
        let draft = try draftPath.flatMap { try LlamaEngine.loadDraft($0, for: model, options, &notices) }
        if let byte = llama_model_get_vocab(model.raw).flatMap(Vocabulary.missingByte) {
            throw EngineError.loadFailed(
                path: path, reason: "its vocabulary cannot spell every text, it has no token for the byte \(byte)")
        }
        let vocabulary = Vocabulary(model: model)
        self.vocabulary = vocabulary
        embeddingPooling = model.pooling

        let source = model.chatTemplate
        if source == nil {
            notices.append(
                "This model brings no chat template, so the common ChatML format is used; answers may be odd.")
        }
        let bos = vocabulary.spelling(of: vocabulary.bos)
        let eos = vocabulary.spelling(of: llama_vocab_eos(vocabulary.raw))
        let worker = source == nil ? nil : options.templateWorker.map { TemplateWorker(command: $0) }
        if let source { try worker?.run(TemplateTrial(source: source, bos: bos, eos: eos)) }
        template = try ChatTemplate(source: source ?? ChatTemplate.chatML, bos: bos, eos: eos, worker: worker)

        let trained = Int(llama_model_n_ctx_train(model.raw))
        var wanted = options.contextLength ?? min(max(trained, 512), 8192)
        if trained > 0, wanted > trained {
            notices.append("The model was made for \(trained) tokens; beyond that its answers may fall apart.")
        }
        projector = try options.projector.flatMap { path in
            try kinds.map {
                try ProjectorHandle(
                    path: path, kinds: $0, model: model, threads: LlamaEngine.threads(options.threads))
            }
        }
        let fitting = before.tokens(wanted: wanted)
        if fitting < wanted {
            notices.append(before.shortened(to: fitting, wanted: wanted))
            wanted = fitting
        }
        var description = LlamaEngine.describe(model, path: path, contextLength: wanted, trained: trained)
        if let sampling = options.sampling { description.sampling = sampling }
        description.media = projector?.abilities ?? .none
        description.projector = projector.map { GGUFName.ofFile($0.path) }
        self.description = description
        var cacheType = options.cacheType
        if !vocabularyOnly, let reason = cacheType.refusal(by: model) {
            notices.append(
                "Keys and values cannot be kept as \(cacheType.rawValue) with this model (\(reason)), so they take 16 bits."
            )
            cacheType = .f16
            admission = try MemoryAdmission(header, options, cacheType: .f16, draft: draftPath)
        }
        self.notices = notices
        var loopOptions = EngineLoop.Options(
            contextLength: wanted, threads: LlamaEngine.threads(options.threads), cacheType: cacheType,
            admission: admission)
        loopOptions.sequences = max(1, options.sequences)
        loopOptions.alwaysSpeculates = options.alwaysSpeculates
        loopOptions.gate = options.gate
        loopOptions.draft = draft
        if let step = options.cellStep { loopOptions.cellStep = step }
        if let bytes = options.ownBytes { loopOptions.prefixes = PrefixStore.Limits(memory: bytes) }
        if let bytes = options.keptBytes { loopOptions.prefixes.bytes = bytes }
        // A copy would have to come here over the network; what the sequences themselves hold is used as always.
        if workers != nil { loopOptions.prefixes.bytes = 0 }
        // Asked for only when it is needed: of a vocabulary alone the library does not know the layers, and ends the process.
        if let folder = options.checkpointFolder, !vocabularyOnly, workers == nil {
            let identity = ([LlamaEngine.identity(of: path, model, loopOptions)] + options.adapters.map(\.identity))
                .joined(separator: "|")
            loopOptions.checkpoints = CheckpointFiles(folder: folder, identity: identity)
        }
        loop = EngineLoop(model: model, vocabulary: vocabulary, projector: projector, options: loopOptions)
        guard loop.start() else { throw EngineError.loadFailed(path: path, reason: "the system gives no thread") }
    }

    /// What a checkpoint is of, besides its tokens: the file, the library, the shape of the memory.
    private static func identity(of path: String, _ model: ModelHandle, _ options: EngineLoop.Options) -> String {
        var info = stat()
        _ = stat(path, &info)
        return [
            "\(path)|\(info.st_size)|\(info.written.nanoseconds)", LlamaLibrary.build,
            "\(llama_model_n_layer(model.raw))x\(llama_model_n_embd(model.raw))x\(llama_model_n_head_kv(model.raw))",
            options.cacheType.rawValue, "\(options.sequences) sequences",
        ].joined(separator: "|")
    }

    static func threads(_ wanted: Int?) -> Int {
        min(max(1, wanted ?? Platform.processorCount), Platform.processorCount)
    }

    /// Loads what is needed to tokenise and render, without the weights; such an engine cannot answer.
    public static func loadVocabulary(path: String) async throws -> LlamaEngine {
        try LlamaEngine(path: path, options: Options(), vocabularyOnly: true) { _ in true }
    }

    /// How this engine makes tokens of prompts.
    package var promptTokenizer: PromptTokenizer { PromptTokenizer(vocabulary: vocabulary) }

    public var queue: ModelQueue { loop.queue }

    deinit { loop.stop {} }

    public func giveBackMemory() async -> Int {
        await withCheckedContinuation { continuation in loop.relieve { continuation.resume(returning: $0) } }
    }

    /// Stops every answer and gives all memory back; returns when that is done.
    public func unload() async {
        await withCheckedContinuation { continuation in loop.stop { continuation.resume() } }
    }

    public func generate(_ request: GenerationRequest) -> AsyncThrowingStream<GenerationEvent, any Error> {
        let stop = request.stopSignal
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: GenerationEvent.self)
        continuation.onTermination = { if case .cancelled = $0 { stop.set() } }
        // Weak: a finished turn keeps its signal, and would keep the whole model in memory with it.
        stop.whenSet { [weak loop] in loop?.wake() }
        prompts.async { [self] in
            do {
                let prompt = try prepare(request)
                measured.withLock { $0 = nil }
                try submit(prompt, request: request, stop: stop, to: continuation)
            } catch {
                continuation.finish(throwing: error)
            }
        }
        return stream
    }

    public func promptTokens(of request: GenerationRequest) async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            prompts.async { [self] in
                continuation.resume(with: Result { try prepare(request).tokens.count })
            }
        }
    }

    /// Runs what takes a while and computes nothing where prompts are made.
    func onPrompts<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            prompts.async { continuation.resume(with: Result { try body() }) }
        }
    }

    private func submit(
        _ measured: MeasuredPrompt, request: GenerationRequest, stop: StopSignal,
        to continuation: AsyncThrowingStream<GenerationEvent, any Error>.Continuation
    ) throws(EngineError) {
        let tokens = measured.tokens, prepared = measured.prepared, prompt = prepared.prompt
        guard !tokens.isEmpty else { throw .emptyPrompt }
        guard tokens.count < description.contextLength else {
            throw .promptTooLong(tokens: tokens.count, limit: description.contextLength)
        }
        let room = description.contextLength - tokens.count
        var reader = AnswerReader(vocabulary: vocabulary, prompt: prompt, stop: request.stop)
        var stoppedByText = false
        let maxTokens = min(request.maxTokens ?? room, room)
        var thinking = ThinkingBudget(tokens: request.thinkingBudget ?? maxTokens * 3 / 4)
        let constraint = prompt.grammar.flatMap {
            GrammarConstraint($0, parser: prompt.parser, vocabulary: vocabulary)
        }
        for notice in prepared.notices { continuation.yield(.notice(notice)) }
        if prompt.grammar != nil, constraint == nil {
            continuation.yield(.notice("The answer is not held to its form: the grammar cannot be compiled."))
        }
        let sampler = TokenSampler(options: request.sampling, vocabulary: vocabulary, constraint: constraint)
        let isDrawnBySeed = request.sampling.seed != nil && request.sampling.temperature > 0
        // Guesses are tried in pieces of several tokens, which round otherwise, and how often depends on the clock.
        let speculates = request.speculates && (!isDrawnBySeed || loop.options.alwaysSpeculates)
        loop.submit(
            Generation(
                prompt: tokens, maxTokens: maxTokens, sampler: sampler,
                isRepeatable: isDrawnBySeed || request.sampling.temperature <= 0, startsAfresh: isDrawnBySeed,
                stopsRepetition: request.stopsRepetition, likeliestTokens: request.likeliestTokens,
                sharedPrefix: sharedPrefix(of: request, tokens), answerStart: answerStart(of: prompt, tokens),
                media: measured.media, speculates: speculates, priority: request.priority, stop: stop
            ) { [vocabulary] output in
                switch output {
                case .odds(let odds): continuation.yield(.chance(vocabulary.chance(odds)))
                case .promptProgress(let done, let total):
                    continuation.yield(.promptProgress(done: done, total: total))
                case .token(let token):
                    let (events, stopped) = reader.read(token)
                    for event in events { continuation.yield(event) }
                    stoppedByText = stopped
                    return stopped ? .stop : thinking.isSpent(by: events) ? .thinkingBudget : nil
                case .notice(let sentence): continuation.yield(.notice(sentence))
                case .finished(let reason, let usage):
                    for event in reader.finish(stopped: stoppedByText) { continuation.yield(event) }
                    if sampler.hasLostGrammar {
                        continuation.yield(.notice("The answer left the form it should have."))
                    }
                    continuation.yield(.finished(reason == .stop && reader.hasCalls ? .toolCalls : reason, usage))
                    continuation.finish()
                case .failed(let error):
                    continuation.finish(throwing: error)
                }
                return nil
            })
    }
}
