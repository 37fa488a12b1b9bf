internal import AlcoveCore

/// Who is computed when, and what the sequences of the context hold. Made by the engine's thread and used there only.
///
/// The rest of it is in files by subject: places, memory, steps, answers.
final class Scheduler {
    /// What a sequence of the context holds.
    struct Slot {
        var tokens: [Token] = []
        /// Where it can be cut, in a memory that forgets.
        var marks: [SequenceMark] = []
        var generation: Generation?
        var lastUsed: UInt64 = 0
    }

    let model: ModelHandle
    let vocabulary: Vocabulary
    let options: EngineLoop.Options
    let cancellation: Cancellation
    /// What turns pictures and sounds into what the model takes in; nil for a model that reads words alone.
    let projector: ProjectorHandle?

    var waiting: [Generation] = []
    var context: ContextHandle?
    var slots: [Slot] = []
    var kept: KeptStates
    var governor: SpeculationGovernor
    /// What guesses beside the chat's own words, where a draft model was loaded.
    let drafter: DraftModel?
    let threads: ComputeThreads
    var pieceSize = PieceSize()
    /// Called when an answer has given its place up, before it tells its end: whoever hears of that may look at once.
    var placeIsFree: () -> Void = {}

    init(
        model: ModelHandle, vocabulary: Vocabulary, projector: ProjectorHandle?, options: EngineLoop.Options,
        cancellation: Cancellation
    ) {
        self.projector = projector
        self.model = model
        self.vocabulary = vocabulary
        self.options = options
        let threads = ComputeThreads(count: options.threads)
        self.threads = threads
        self.cancellation = cancellation
        kept = KeptStates(limits: options.prefixes, files: options.checkpoints, cutsExactly: model.cutsExactly)
        governor = SpeculationGovernor(always: options.alwaysSpeculates)
        drafter = options.draft.map { DraftModel(model: $0, threads: threads, cancellation: cancellation) }
    }

    var isComputing: Bool { slots.contains { $0.generation != nil } }

    /// Those that have a place, in the order in which they came.
    var running: [ModelQueue.Running] {
        slots.compactMap(\.generation).sorted { $0.startedAt < $1.startedAt }.map { generation in
            ModelQueue.Running(
                priority: generation.priority, promptTokens: generation.prompt.count, promptDone: generation.fed,
                completionTokens: generation.usage.completionTokens)
        }
    }

    func dropStopped() {
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

    /// Ends an answer; what its sequence holds stays for whoever goes on from there.
    func end(_ index: Int, _ reason: FinishReason) {
        guard let generation = slots[index].generation else { return }
        slots[index].generation = nil
        slots[index].lastUsed = Platform.monotonicNanoseconds
        placeIsFree()
        generation.finish(reason, now: slots[index].lastUsed)
    }

    /// Ends everything and gives all memory back.
    func end() {
        let now = Platform.monotonicNanoseconds
        for generation in waiting + slots.compactMap(\.generation) { generation.finish(.cancelled, now: now) }
        waiting = []
        slots = []
        context = nil
        _ = drafter?.giveBack()
        kept.end()
    }

    // MARK: Admission

    func admit() {
        while let next = nextWaiting {
            let generation = waiting[next]
            if slots.count(where: { $0.generation != nil }) >= places {
                // What nobody waits for gives its place up, and can go on later from what it read.
                guard let other = background(below: generation.priority) else { return }
                end(other, .cancelled)
            }
            do throws(EngineError) {
                switch try room(for: generation) {
                case .there: break
                case .shape(let shape): try reshape(to: shape)
                case .later:
                    // What nobody waits for makes room as it makes place.
                    guard let other = background(below: generation.priority) else { return }
                    end(other, .cancelled)
                    continue
                }
                waiting.remove(at: next)
            } catch {
                waiting.remove(at: next)
                generation.fail(error)
                continue
            }
            place(generation)
        }
    }

    private func background(below priority: GenerationPriority) -> Int? {
        slots.firstIndex { ($0.generation?.priority ?? .normal) < priority }
    }

    /// The first of those that go first.
    private var nextWaiting: Int? {
        waiting.firstIndex { $0.priority == .normal } ?? waiting.indices.first
    }
}
