internal import AlcoveCore
internal import Dispatch
internal import Synchronization
internal import llama

/// The engine's thread: computes all generations of one model, a step at a time, so that several are served at once.
///
/// Everything but `inbox` is touched by that thread alone, which is what makes this class safe to share (unchecked).
final class EngineLoop: @unchecked Sendable {
    struct Options: Sendable {
        /// Most tokens one sequence may hold.
        var contextLength: Int
        var threads: Int
        /// Most generations computed at once; more wait their turn. Fixed while the model is loaded: the library moves a
        /// sequence's memory only between contexts with equally many ("n_stream mismatch").
        var sequences = usualSequences
        static let usualSequences = 3
        var cacheType = CacheType.f16
        /// Memory for tokens grows in steps of this many.
        var cellStep = 2048
        /// Where checkpoints outlive the program; nil keeps them in memory only.
        var checkpoints: CheckpointFiles?
        var prefixes = PrefixStore.Limits()
        /// Drafts whatever it costs, also beside other answers.
        var alwaysSpeculates = false
    }

    private struct Inbox {
        var submitted: [Submission] = []
        var embeddings: [EmbeddingSubmission] = []
        var stopping = false
        var whenStopped: [@Sendable () -> Void] = []
        var hasEnded = false
    }

    /// A generation made on another thread and handed over whole.
    ///
    /// Unchecked: the maker keeps no reference to it.
    private struct Submission: @unchecked Sendable { let generation: Generation }
    private struct EmbeddingSubmission: @unchecked Sendable { let job: EmbeddingJob }

    /// What a sequence of the context holds.
    private struct Slot {
        var tokens: [Token] = []
        var generation: Generation?
        var lastUsed: UInt64 = 0
    }

    private let model: ModelHandle
    private let vocabulary: Vocabulary
    private let options: Options
    private let inbox = Mutex(Inbox())
    private let condition = Condition()
    private let cancellation = Cancellation()

    private var context: ContextHandle?
    private var slots: [Slot] = []
    private var waiting: [Generation] = []
    private var embeddings: [EmbeddingJob] = []
    private var prefixes: PrefixStore
    /// Checkpoints on disk that were not needed yet.
    private var stored: [CheckpointFiles.Found] = []
    private var governor: SpeculationGovernor
    private var pieceSize = PieceSize()
    private let published: Mutex<ModelQueue>
    private let writing = DispatchQueue(label: "alcove.checkpoints", qos: .utility)

    init(model: ModelHandle, vocabulary: Vocabulary, options: Options) {
        self.model = model
        self.vocabulary = vocabulary
        self.options = options
        prefixes = PrefixStore(limits: options.prefixes)
        published = Mutex(ModelQueue(places: options.sequences))
        governor = SpeculationGovernor(always: options.alwaysSpeculates)
    }

    var queue: ModelQueue { published.withLock { $0 } }

    /// - Returns: false when the system has no thread to give.
    func start() -> Bool { startThread(name: "alcove.engine", stackBytes: 8 << 20) { [self] in run() } }

    func submit(_ generation: Generation) {
        let submission = Submission(generation: generation)
        let refused = inbox.withLock { inbox -> Bool in
            if inbox.stopping { return true }
            inbox.submitted.append(submission)
            return false
        }
        if refused { submission.generation.fail(.unloaded) } else { condition.signal() }
    }

    func submit(_ job: sending EmbeddingJob) {
        let submission = EmbeddingSubmission(job: job)
        let refused = inbox.withLock { inbox -> Bool in
            if inbox.stopping { return true }
            inbox.embeddings.append(submission)
            return false
        }
        if refused { submission.job.fail(.unloaded) } else { condition.signal() }
    }

    /// A wish to stop was set somewhere: look at it even when nothing is being computed.
    func wake() { condition.signal() }

    /// Ends the thread and frees the context; `done` is called when both have happened.
    func stop(done: @escaping @Sendable () -> Void) {
        let ended = inbox.withLock { inbox -> Bool in
            inbox.stopping = true
            if !inbox.hasEnded { inbox.whenStopped.append(done) }
            return inbox.hasEnded
        }
        if ended { done() } else { condition.signal() }
    }

    // MARK: The thread

    private func run() {
        stored = options.checkpoints?.list() ?? []
        while true {
            let (new, jobs, stopping) = inbox.withLock { inbox in
                defer {
                    inbox.submitted.removeAll()
                    inbox.embeddings.removeAll()
                }
                return (inbox.submitted.map(\.generation), inbox.embeddings.map(\.job), inbox.stopping)
            }
            waiting += new
            embeddings += jobs
            if stopping { break }
            dropStopped()
            admit()
            publish()
            embed()
            if slots.contains(where: { $0.generation != nil }) {
                step()
            } else if waiting.isEmpty, embeddings.isEmpty {
                condition.wait()
            }
        }
        let unfinished = waiting + slots.compactMap(\.generation)
        let now = Platform.monotonicNanoseconds
        for generation in unfinished { generation.finish(.cancelled, now: now) }
        for job in embeddings { job.fail(.unloaded) }
        embeddings = []
        waiting = []
        slots = []
        context = nil
        prefixes.removeAll()
        // What was begun is on the disk when the engine has ended.
        writing.sync {}
        publish()
        let callbacks = inbox.withLock { inbox in
            inbox.hasEnded = true
            return inbox.whenStopped
        }
        for done in callbacks { done() }
    }

    /// One vector, so that answers under way wait for no more than that.
    private func embed() {
        guard let job = embeddings.first else { return }
        let goesOn = job.step { tokens throws(EngineError) in
            try EmbeddingContext(model: model, tokens: tokens, threads: options.threads, cancellation: cancellation)
        }
        if !goesOn { embeddings.removeFirst() }
    }

    private func dropStopped() {
        let now = Platform.monotonicNanoseconds
        waiting.removeAll { generation in
            guard generation.stop.isSet else { return false }
            generation.finish(.cancelled, now: now)
            return true
        }
        for index in slots.indices {
            if let generation = slots[index].generation, generation.stop.isSet { end(index, .cancelled) }
        }
    }

    private func end(_ index: Int, _ reason: FinishReason) {
        guard let generation = slots[index].generation else { return }
        slots[index].generation = nil
        slots[index].lastUsed = Platform.monotonicNanoseconds
        generation.finish(reason, now: slots[index].lastUsed)
    }

    // MARK: Admission

    private func admit() {
        while let next = nextWaiting {
            let generation = waiting[next]
            if slots.count(where: { $0.generation != nil }) >= options.sequences {
                // What nobody waits for gives its place up, and can go on later from what it read.
                guard
                    let other = slots.firstIndex(where: { ($0.generation?.priority ?? .normal) < generation.priority })
                else { return }
                end(other, .cancelled)
            }
            waiting.remove(at: next)
            do throws(EngineError) {
                try makeRoom(for: generation)
            } catch {
                generation.fail(error)
                continue
            }
            place(generation)
        }
    }

    /// The first of those that go first.
    private var nextWaiting: Int? {
        waiting.firstIndex { $0.priority == .normal } ?? waiting.indices.first
    }

    /// Tells others what is being done.
    private func publish() {
        let running = slots.compactMap(\.generation).sorted { $0.startedAt < $1.startedAt }.map { generation in
            ModelQueue.Running(
                priority: generation.priority, promptTokens: generation.prompt.count, promptDone: generation.fed,
                completionTokens: generation.usage.completionTokens)
        }
        let waiting = waiting.count
        published.withLock { queue in
            queue.running = running
            queue.waiting = waiting
        }
    }

    /// Grows the context when a sequence is longer than it was made for.
    private func makeRoom(for generation: Generation) throws(EngineError) {
        let wanted = min(
            generation.prompt.count + min(generation.maxTokens, options.cellStep / 4), options.contextLength)
        let steps = (wanted + options.cellStep - 1) / options.cellStep
        let old = context?.shape ?? ContextHandle.Shape(cells: 0, sequences: 0)
        let shape = ContextHandle.Shape(
            cells: max(old.cells, min(steps * options.cellStep, options.contextLength)),
            sequences: options.sequences)
        if shape != old { try reshape(to: shape) }
    }

    /// Makes a context of another shape and moves every sequence over, bit for bit.
    private func reshape(to shape: ContextHandle.Shape) throws(EngineError) {
        var states =
            context.map { context in
                slots.indices.map { slots[$0].tokens.isEmpty ? [] : context.state(of: $0) }
            } ?? []
        // Both contexts at once would need twice the memory; the states are what must not be lost.
        let old = context?.shape
        context = nil
        var failure: EngineError?
        do throws(EngineError) {
            context = try ContextHandle(
                model: model, shape: shape, cacheType: options.cacheType, threads: options.threads,
                cancellation: cancellation)
        } catch {
            failure = error
            guard let old else { throw error }
            context = try ContextHandle(
                model: model, shape: old, cacheType: options.cacheType, threads: options.threads,
                cancellation: cancellation)
        }
        while slots.count < (context?.shape.sequences ?? 0) { slots.append(Slot()) }
        for index in states.indices where !states[index].isEmpty {
            if context?.restore(states[index], into: index) != true {
                slots[index].tokens = []
                if let generation = slots[index].generation { rewind(index, generation) }
            }
            states[index] = []
        }
        if let failure { throw failure }
    }

    /// Lets a generation begin again at the start of its prompt; what it has shown already is part of that prompt.
    private func rewind(_ index: Int, _ generation: Generation) {
        slots[index].generation = nil
        generation.fail(.decodeFailed(status: -1, reason: "its memory could not be moved"))
    }

    /// Gives a generation the idle sequence or the kept state that begins most like its prompt.
    private func place(_ generation: Generation) {
        guard let context else { return }
        let idle = slots.indices.filter { slots[$0].generation == nil }
        let common = idle.map { commonPrefix(slots[$0].tokens, generation.prompt) }
        // A sequence whose greater part would be lost is left alone, as long as there is an older one.
        let worth = idle.indices.map { 2 * common[$0] >= slots[idle[$0]].tokens.count ? common[$0] : 0 }
        guard
            let best = idle.indices.max(by: { a, b in
                (worth[a], slots[idle[b]].lastUsed) < (worth[b], slots[idle[a]].lastUsed)
            })
        else { return }
        let live = model.cutsExactly || common[best] == slots[idle[best]].tokens.count ? common[best] : 0
        takeFromDisk(for: generation.prompt, longerThan: live)
        var index = idle[best], kept: Int
        if let entry = prefixes.best(for: generation.prompt), prefixes.entries[entry].tokens.count > live {
            // Into the sequence that has been idle longest: the best one may be worth keeping.
            index = idle.min { slots[$0].lastUsed < slots[$1].lastUsed } ?? index
            kept = restore(entry, into: index, context)
        } else {
            if 2 * live < slots[index].tokens.count { keepEnd(of: index, context) }
            // The last token is computed again in any case: its logits are needed.
            kept = min(live, generation.prompt.count - 1)
            if !context.cut(index, to: kept) {
                kept = 0
                _ = context.cut(index, to: 0)
            }
        }
        if kept == 0 { generation.usage.missReason = missReason(generation.prompt, common) }
        slots[index].tokens = Array(generation.prompt.prefix(kept))
        generation.fed = kept
        generation.usage.reusedTokens = kept
        generation.startedAt = Platform.monotonicNanoseconds
        generation.sampler.accept(prompt: generation.prompt)
        slots[index].generation = generation
        governor.begin()
        // At once, so that whoever waits knows that the work has begun.
        generation.report(done: kept)
    }

    private func missReason(_ prompt: [Token], _ common: [Int]) -> String {
        if slots.allSatisfy({ $0.tokens.isEmpty }), prefixes.entries.isEmpty { return "first prompt" }
        if common.contains(where: { $0 > 0 }), !model.cutsExactly { return "no exact state" }
        return "another beginning"
    }

    // MARK: Kept states

    /// Reads a checkpoint from disk when it is the best there is for a prompt.
    private func takeFromDisk(for prompt: [Token], longerThan live: Int) {
        let inMemory = prefixes.best(for: prompt).map { prefixes.entries[$0].tokens.count } ?? 0
        let fitting = stored.indices.filter {
            let tokens = stored[$0].tokens
            return tokens.count > max(live, inMemory) && tokens.count < prompt.count && prompt.starts(with: tokens)
        }
        guard let index = fitting.max(by: { stored[$0].tokens.count < stored[$1].tokens.count }) else { return }
        let file = stored.remove(at: index)
        if let state = options.checkpoints?.state(of: file) { prefixes.keep(file.tokens, state, .checkpoint) }
    }

    /// - Returns: how many tokens the sequence holds now.
    private func restore(_ entry: Int, into index: Int, _ context: ContextHandle) -> Int {
        keepEnd(of: index, context)
        // Keeping may have moved the entry.
        let tokens = prefixes.entries.indices.contains(entry) ? prefixes.entries[entry].tokens : []
        _ = context.cut(index, to: 0)
        slots[index].tokens = []
        guard !tokens.isEmpty, context.restore(prefixes.entries[entry].state, into: index),
            context.count(of: index) == tokens.count
        else {
            // A state the library does not take is of no use to anybody.
            if prefixes.entries.indices.contains(entry) { prefixes.remove(entry) }
            _ = context.cut(index, to: 0)
            return 0
        }
        prefixes.touch(entry)
        return tokens.count
    }

    /// Keeps what a sequence holds before it is lost.
    private func keepEnd(of index: Int, _ context: ContextHandle) {
        let tokens = slots[index].tokens
        guard tokens.count >= PrefixStore.fewestTokens, !prefixes.holds(tokens),
            context.count(of: index) == tokens.count
        else { return }
        prefixes.keep(tokens, context.state(of: index), .endState)
    }

    /// Copies the beginning that other chats share, once.
    private func keepCheckpoint(of index: Int, _ context: ContextHandle) {
        let tokens = slots[index].tokens
        guard tokens.count >= PrefixStore.fewestTokens, !prefixes.holds(tokens) else { return }
        let state = context.state(of: index)
        prefixes.keep(tokens, state, .checkpoint)
        guard let files = options.checkpoints, !state.isEmpty else { return }
        writing.async { files.write(tokens, state) }
    }

    private func commonPrefix(_ a: [Token], _ b: [Token]) -> Int {
        var count = 0
        while count < a.count, count < b.count, a[count] == b[count] { count += 1 }
        return count
    }

    // MARK: A step

    /// Computes the next token of every answer, with what may follow it, and the next piece of one prompt.
    private func step() {
        guard let context else { return }
        context.clearBatch()
        let occupied = slots.indices.filter { slots[$0].generation != nil }
        // What nobody waits for rests while there is other work.
        let first = occupied.compactMap { slots[$0].generation?.priority }.max()
        let active = occupied.filter { slots[$0].generation?.priority == first }
        let answering = active.filter { !(slots[$0].generation?.isReadingPrompt ?? true) }
        for index in answering {
            guard let generation = slots[index].generation, let token = generation.next else { continue }
            generation.logitsIndex = context.add(
                token, position: slots[index].tokens.count, sequence: index, wantsLogits: true)
            generation.draft = draft(for: generation, in: index, isAlone: active.count == 1)
            slots[index].tokens.append(token)
            for (offset, drafted) in (generation.draft?.tokens ?? []).enumerated() {
                _ = context.add(
                    drafted, position: slots[index].tokens.count + offset, sequence: index, wantsLogits: true)
            }
        }
        let answerRows = context.batchCount
        // Who came first is read first.
        let reading = active.filter { slots[$0].generation?.isReadingPrompt ?? false }.min {
            (slots[$0].generation?.startedAt ?? 0) < (slots[$1].generation?.startedAt ?? 0)
        }
        if let reading { addPrompt(of: reading, isAlone: answering.isEmpty) }

        let alone = active.count == 1 ? slots[active[0]].generation?.stop : nil
        let begun = Platform.monotonicNanoseconds
        let status = cancellation.watching(alone) { context.decode() }
        switch status {
        case 0:
            context.waitForResults()
            let time = Platform.monotonicNanoseconds - begun
            pieceSize.took(time, prompt: context.batchCount - answerRows, answers: answerRows)
            if active.count == 1, reading == nil { governor.took(time, rows: answerRows) }
            for index in answering { accept(index) }
            if let reading { continuePrompt(reading) }
            // Only now: what was computed for the others is gone with the old context.
            for index in active { growIfFull(index) }
        case 2:
            // Stopped inside: whole micro-batches stay, the rest is to be computed by whoever goes on from here.
            for index in active {
                slots[index].tokens = Array(slots[index].tokens.prefix(context.count(of: index)))
                _ = context.cut(index, to: slots[index].tokens.count)
                end(index, .cancelled)
            }
        default:
            let reason = LlamaLibrary.takeLastError() ?? "the library does not say why"
            for index in active {
                let generation = slots[index].generation
                slots[index] = Slot()
                _ = context.cut(index, to: 0)
                generation?.fail(.decodeFailed(status: status, reason: reason))
            }
        }
    }

    private func addPrompt(of index: Int, isAlone: Bool) {
        guard let context, let generation = slots[index].generation else { return }
        // Beside running answers a prompt is read in small pieces, so that nobody's words stall for long.
        let free = ContextHandle.batchTokens - context.batchCount
        let room = isAlone ? free : pieceSize.tokens(atMost: free)
        var end = min(generation.fed + room, generation.prompt.count)
        // ggml takes other kernels, with other rounding, for one row than for many. Where the answer should be the same
        // each time, the last token is always computed by itself, as it is when the rest of the prompt is reused.
        if generation.isRepeatable, end == generation.prompt.count, end - generation.fed > 1 { end -= 1 }
        // Cut where others will go on, also when there is nothing to go on from: numbers are then the same either way.
        if generation.fed < generation.sharedPrefix { end = min(end, generation.sharedPrefix) }
        for position in generation.fed..<end {
            generation.logitsIndex = context.add(
                generation.prompt[position], position: position, sequence: index,
                wantsLogits: position == generation.prompt.count - 1)
        }
        slots[index].tokens.append(contentsOf: generation.prompt[generation.fed..<end])
        generation.fed = end
    }

    private func continuePrompt(_ index: Int) {
        guard let generation = slots[index].generation else { return }
        generation.report(done: generation.fed)
        if generation.fed == generation.sharedPrefix, let context { keepCheckpoint(of: index, context) }
        if generation.fed == generation.prompt.count {
            generation.firstTokenAt = Platform.monotonicNanoseconds
            choose(index)
        }
    }

    /// What may follow the token that is computed next; nil when a guess is not worth its rows.
    private func draft(for generation: Generation, in index: Int, isAlone: Bool) -> PromptLookup.Draft? {
        // A guess that fails must be cut off again; beside other answers it would cost them time.
        guard generation.speculates, model.cutsExactly, isAlone || options.alwaysSpeculates, let context,
            let last = generation.next
        else { return nil }
        let held = slots[index].tokens.count + 1
        let room = min(
            min(context.shape.cells, options.contextLength) - held,
            generation.maxTokens - generation.usage.completionTokens)
        guard
            let found = PromptLookup.draft(
                after: slots[index].tokens, last, count: SpeculationGovernor.lengths.max() ?? 0)
        else { return nil }
        let length = min(governor.length(matched: found.matched), room)
        return length > 0 ? PromptLookup.Draft(tokens: Array(found.tokens.prefix(length)), matched: found.matched) : nil
    }

    /// Takes the next token, and as many more as were drafted and are what the sampler chooses itself.
    private func accept(_ index: Int) {
        guard let generation = slots[index].generation else { return }
        let draft = generation.draft?.tokens ?? []
        generation.usage.draftedTokens += draft.count
        choose(index)
        var accepted = 0
        while accepted < draft.count, slots[index].generation === generation, generation.next == draft[accepted] {
            slots[index].tokens.append(draft[accepted])
            accepted += 1
            generation.usage.acceptedTokens += 1
            generation.logitsIndex += 1
            choose(index)
        }
        guard let matched = generation.draft?.matched else { return }
        generation.draft = nil
        governor.took(accepted, of: draft.count, matched: matched)
        if accepted < draft.count { _ = context?.cut(index, to: slots[index].tokens.count) }
    }

    /// Samples a sequence's next token and passes it on, or ends the answer.
    private func choose(_ index: Int) {
        guard let context, let generation = slots[index].generation else { return }
        if generation.stop.isSet { return end(index, .cancelled) }
        if generation.usage.completionTokens >= generation.maxTokens { return end(index, .length) }
        guard let token = generation.sampler.next(context, at: generation.logitsIndex) else { return end(index, .stop) }
        if vocabulary.endsGeneration(token) { return end(index, .stop) }
        if let count = generation.likeliestTokens,
            let odds = TokenOdds(
                context, at: generation.logitsIndex, chosen: token, likeliest: count,
                vocabularySize: vocabulary.count)
        {
            generation.report(odds)
        }
        generation.next = token
        if let reason = generation.take(token) { return end(index, reason) }
        if slots[index].tokens.count >= options.contextLength { return end(index, .length) }
    }

    /// An answer longer than foreseen: one more step of memory.
    private func growIfFull(_ index: Int) {
        guard let context, slots[index].generation != nil, slots[index].tokens.count >= context.shape.cells else {
            return
        }
        let cells = min(context.shape.cells + options.cellStep, options.contextLength)
        do throws(EngineError) {
            try reshape(to: ContextHandle.Shape(cells: cells, sequences: context.shape.sequences))
        } catch {
            end(index, .length)
        }
    }
}
