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

    var waiting: [Generation] = []
    var context: ContextHandle?
    var slots: [Slot] = []
    var kept: KeptStates
    var governor: SpeculationGovernor
    var pieceSize = PieceSize()
    /// Called when an answer has given its place up, before it tells its end: whoever hears of that may look at once.
    var placeIsFree: () -> Void = {}

    init(model: ModelHandle, vocabulary: Vocabulary, options: EngineLoop.Options, cancellation: Cancellation) {
        self.model = model
        self.vocabulary = vocabulary
        self.options = options
        self.cancellation = cancellation
        kept = KeptStates(limits: options.prefixes, files: options.checkpoints, cutsExactly: model.cutsExactly)
        governor = SpeculationGovernor(always: options.alwaysSpeculates)
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
        kept.end()
    }

    // MARK: Admission

    func admit() {
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
}
