package import AlcoveCore

/// A model together with the way to give its memory back.
package struct LoadedModel: Sendable {
    package var model: any LanguageModel
    /// Sentences to tell the person about this model.
    package var notices: [String]
    package var unload: @Sendable () async -> Void

    package init(
        model: any LanguageModel, notices: [String] = [], unload: @escaping @Sendable () async -> Void = {}
    ) {
        self.model = model
        self.notices = notices
        self.unload = unload
    }
}

/// Holds the one model that answers, and its life: none, loading, loaded, failed.
package actor ModelHost {
    package enum State: Sendable {
        case none
        case loading(path: String, fraction: Double)
        case loaded(path: String, LoadedModel)
        case failed(path: String, message: String)
    }

    /// Loads a file; the only place that knows an engine.
    package typealias Loader =
        @Sendable (_ path: String, _ progress: @escaping @Sendable (Double) -> Void) async throws -> LoadedModel

    /// Looks at a file without loading it, and throws what is wrong with it.
    package typealias Check = @Sendable (_ path: String) async throws -> Void

    package private(set) var state = State.none
    /// Who answers, when it is not this device: text leaves it.
    package nonisolated let remoteHost: String?
    /// What computes there, as `--engine` names it, or `rpc`.
    package nonisolated let remoteEngine: String
    private let check: Check
    private let loader: Loader
    private var job: Task<Void, any Error>?
    /// Counts loads, so that what an older one still reports is not taken for the newer one's.
    private var generation = 0
    /// What the next load begins with, whichever it is (`reload`).
    private var due: (@Sendable () async throws -> Void)?

    /// Loads wait for it, but not for ever: a load that nobody sees begin is worse than one that may fail.
    package nonisolated let gate: ComputeGate
    private let clock: any Clock<Duration>
    private static let longestWait = Duration.seconds(120)

    package init(
        check: @escaping Check = { _ in }, remoteHost: String? = nil, remoteEngine: String = "openai",
        gate: ComputeGate = ComputeGate(), clock: any Clock<Duration> = ContinuousClock(), loader: @escaping Loader
    ) {
        self.check = check
        self.remoteHost = remoteHost
        self.remoteEngine = remoteEngine
        self.gate = gate
        self.clock = clock
        self.loader = loader
    }

    /// The model, when one is ready.
    package var ready: LoadedModel? {
        if case .loaded(_, let model) = state { model } else { nil }
    }

    /// Says already that a file is being loaded, to whoever asks before its load has begun.
    package func expect(_ path: String) {
        if case .none = state { state = .loading(path: path, fraction: 0) }
    }

    /// Loads a file in place of what is there; a load under way is cancelled first.
    ///
    /// A file that a look at it refuses costs nobody the model that answers.
    ///
    /// - Throws: what the check throws, and then a model that is there stays; or what the loader throws. Without a model the
    ///   state says so too.
    package func load(_ path: String) async throws {
        do {
            try await check(path)
        } catch {
            switch state {
            case .none, .failed: fail(error, path: path, generation: generation)
            case .loading where job == nil: fail(error, path: path, generation: generation)
            case .loading, .loaded: break
            }
            throw error
        }
        job?.cancel()
        generation += 1
        let mine = generation
        let previous = ready
        // A backend is not made anew beside a load that still uses it.
        let older = due == nil ? nil : job
        state = .loading(path: path, fraction: 0)
        let job = Task { [loader] in
            _ = await older?.result
            if let previous { await previous.unload() }
            do {
                try Task.checkCancellation()
                try await self.doWhatIsDue()
                await self.waitForGate()
                try Task.checkCancellation()
                let loaded = try await loader(path) { fraction in
                    Task { await self.report(fraction, of: path, generation: mine) }
                }
                try await self.take(loaded, from: path, generation: mine)
            } catch {
                self.fail(error, path: path, generation: mine)
                throw error
            }
        }
        self.job = job
        try await job.value
    }

    /// Loads what is loaded, or failed to be, once more; between the old one's end and the new one's beginning `body` runs.
    ///
    /// When another load takes its place meanwhile, `body` runs before that one.
    ///
    /// - Parameter body: What makes a dead backend anew: nothing of the old model may be left then.
    package func reload(after body: @escaping @Sendable () async throws -> Void) async throws {
        switch state {
        case .loaded(let path, _), .failed(let path, _), .loading(let path, _):
            due = body
            try await load(path)
        case .none: return
        }
    }

    /// The model, once no load is under way.
    package func settled() async -> LoadedModel? {
        while case .loading = state, let job { _ = await job.result }
        return ready
    }

    private func doWhatIsDue() async throws {
        guard let body = due else { return }
        try await body()
        due = nil
    }

    /// Gives all memory back.
    package func unload() async {
        job?.cancel()
        generation += 1
        let previous = ready
        state = .none
        await previous?.unload()
    }

    /// Puts a file's failure where the model would be, without trying it.
    package func refuse(_ path: String, because error: any UserFacingError) {
        state = .failed(path: path, message: error.sentence)
    }

    private func waitForGate() async {
        guard gate.isClosed else { return }
        let enough = StopSignal(), clock = clock
        let limit = Task {
            try? await clock.sleep(for: ModelHost.longestWait)
            enough.set()
        }
        await withTaskCancellationHandler {
            await gate.wait(orStop: enough)
        } onCancel: {
            enough.set()
        }
        limit.cancel()
    }

    private func report(_ fraction: Double, of path: String, generation: Int) {
        guard generation == self.generation, case .loading = state else { return }
        state = .loading(path: path, fraction: fraction)
    }

    private func take(_ loaded: LoadedModel, from path: String, generation: Int) async throws {
        guard generation == self.generation else {
            await loaded.unload()
            throw CancellationError()
        }
        state = .loaded(path: path, loaded)
    }

    private func fail(_ error: any Error, path: String, generation: Int) {
        guard generation == self.generation else { return }
        let message = (error as? any UserFacingError)?.sentence ?? "The model could not be loaded (\(error))."
        state = .failed(path: path, message: message)
    }
}
