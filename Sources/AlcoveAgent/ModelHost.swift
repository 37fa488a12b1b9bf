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
    private let check: Check
    private let loader: Loader
    private var job: Task<Void, any Error>?
    /// Counts loads, so that what an older one still reports is not taken for the newer one's.
    private var generation = 0

    package init(check: @escaping Check = { _ in }, remoteHost: String? = nil, loader: @escaping Loader) {
        self.check = check
        self.remoteHost = remoteHost
        self.loader = loader
    }

    /// The model, when one is ready.
    package var ready: LoadedModel? {
        if case .loaded(_, let model) = state { model } else { nil }
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
            case .loading, .loaded: break
            }
            throw error
        }
        job?.cancel()
        generation += 1
        let mine = generation
        let previous = ready
        state = .loading(path: path, fraction: 0)
        let job = Task { [loader] in
            if let previous { await previous.unload() }
            do {
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
