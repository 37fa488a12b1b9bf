internal import AlcoveCore
internal import Synchronization
internal import llama

/// The engine's thread: computes all generations of one model, a step at a time, so that several are served at once.
///
/// What is computed lives in a `Scheduler` that the thread makes and never lends; others reach the thread through its inbox.
final class EngineLoop: Sendable {
    struct Options: Sendable {
        /// Most tokens one sequence may hold.
        var contextLength: Int
        var threads: Int
        /// Most generations computed at once; more wait their turn. Fixed while the model is loaded: the library moves a
        /// sequence's memory only between contexts with equally many ("n_stream mismatch").
        var sequences = usualSequences
        static let usualSequences = 3
        var cacheType: CacheType
        /// Asked before the context becomes larger.
        var admission: MemoryAdmission
        /// Memory for tokens grows in steps of this many.
        var cellStep = 2048
        /// Where checkpoints outlive the program; nil keeps them in memory only.
        var checkpoints: CheckpointFiles?
        var prefixes = PrefixStore.Limits()
        /// Drafts whatever it costs, also beside other answers.
        var alwaysSpeculates = false
        /// What guesses ahead for this model.
        var draft: ModelHandle?
        /// Between steps the thread waits while it is closed.
        var gate: ComputeGate?
    }

    private let model: ModelHandle
    private let vocabulary: Vocabulary
    private let projector: ProjectorHandle?
    let options: Options
    private let inbox = EngineInbox()
    private let cancellation = Cancellation()
    private let published: Mutex<ModelQueue>

    init(model: ModelHandle, vocabulary: Vocabulary, projector: ProjectorHandle? = nil, options: Options) {
        self.projector = projector
        self.model = model
        self.vocabulary = vocabulary
        self.options = options
        published = Mutex(ModelQueue(places: options.sequences))
    }

    var queue: ModelQueue { published.withLock { $0 } }

    /// - Returns: false when the system has no thread to give.
    func start() -> Bool { startThread(name: "alcove.engine", stackBytes: 8 << 20) { [self] in run() } }

    func submit(_ generation: sending Generation) { inbox.submit(generation) }

    func submit(_ order: EmbeddingOrder) { inbox.submit(order) }

    /// A wish to stop was set somewhere: look at it even when nothing is being computed.
    func wake() { inbox.wake() }

    /// Gives back what only serves speed; `done` is told how many bytes that were.
    func relieve(done: @escaping @Sendable (Int) -> Void) { inbox.relieve(done: done) }

    /// Ends the thread and frees the context; `done` is called when both have happened.
    func stop(done: @escaping @Sendable () -> Void) { inbox.stop(done: done) }

    // MARK: The thread

    private func run() {
        let scheduler = Scheduler(
            model: model, vocabulary: vocabulary, projector: projector, options: options, cancellation: cancellation)
        scheduler.placeIsFree = { [self, unowned scheduler] in publish(scheduler) }
        var embeddings: [EmbeddingJob] = []
        while true {
            let orders = inbox.take()
            scheduler.waiting += orders.generations
            embeddings += orders.embeddings.map(EmbeddingJob.init)
            if orders.stopping {
                for done in orders.reliefs { done(0) }
                break
            }
            scheduler.dropStopped()
            embeddings.removeAll { $0.endsWhenStopped() }
            relieve(orders.reliefs, scheduler)
            if parks(isBusy: scheduler.isComputing || !scheduler.waiting.isEmpty || !embeddings.isEmpty, scheduler) {
                continue
            }
            scheduler.admit()
            publish(scheduler)
            embed(&embeddings, threads: scheduler.threads)
            if scheduler.isComputing {
                scheduler.step()
            } else if scheduler.waiting.isEmpty, embeddings.isEmpty {
                inbox.wait()
            }
        }
        for job in embeddings { job.fail(.unloaded) }
        scheduler.end()
        publish(scheduler)
        inbox.end()
    }

    private func relieve(_ waiting: [@Sendable (Int) -> Void], _ scheduler: Scheduler) {
        if waiting.isEmpty { return }
        let bytes = scheduler.giveBack()
        Platform.returnFreedMemory()
        for done in waiting { done(bytes) }
    }

    /// Waits before a closed gate when there is something to compute; whatever happens meanwhile is looked at first.
    private func parks(isBusy: Bool, _ scheduler: Scheduler) -> Bool {
        guard isBusy, let waiter = options.gate?.whenOpened({ [weak self] in self?.wake() }) else { return false }
        publish(scheduler)
        inbox.wait()
        options.gate?.forget(waiter)
        return true
    }

    /// One vector, so that answers under way wait for no more than that.
    private func embed(_ jobs: inout [EmbeddingJob], threads: ComputeThreads) {
        guard let job = jobs.first else { return }
        let goesOn = job.step { tokens throws(EngineError) in
            try EmbeddingContext(model: model, tokens: tokens, threads: threads, cancellation: cancellation)
        }
        if !goesOn { jobs.removeFirst() }
    }

    /// Tells others what is being done.
    private func publish(_ scheduler: Scheduler) {
        let (running, waiting, places) = (scheduler.running, scheduler.waiting.count, scheduler.places)
        published.withLock { queue in
            queue.running = running
            queue.waiting = waiting
            queue.places = places
        }
    }
}
