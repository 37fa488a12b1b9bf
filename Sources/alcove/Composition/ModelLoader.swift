internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveEngine
internal import AlcoveRemote
internal import AlcoveServer
internal import AlcoveTemplates

/// Loads models for real: header first, then the trial of the template, then llama.cpp, with a mark on disk around it.
struct ModelLoader: Sendable {
    var context: Int?
    var threads: Int?
    let marker: LoadMarker?
    let program: String
    /// Below which beginnings of prompts outlive the program; nil keeps none.
    var root: String?
    /// What the catalogue says of a file, if it is one of its.
    var entry: @Sendable (_ path: String) -> CatalogEntry? = { _ in nil }
    /// A server that answers in place of any file.
    var remote: RemoteEngine.Options?
    /// What computes the layers in place of this device.
    var workers: [WorkerAddress] = []
    /// Nothing is computed while it is closed.
    var gate: ComputeGate?

    /// What guesses ahead for every model, instead of what the catalogue has for one.
    var draft: String?
    /// The draft model of an entry, when it is on this device.
    var draftOfEntry: @Sendable (_ entry: CatalogEntry) -> String? = { _ in nil }

    /// What changes every model that is loaded, instead of what the catalogue names for one.
    var adapter: Adapter?
    /// The projector of every model that is loaded, instead of the one that belongs to it.
    var projector: String?
    /// The projector of a model of the catalogue, once it is on this device.
    var catalogProjector: @Sendable (_ path: String) -> String? = { _ in nil }

    /// What the starter model's makers say of its sampling (model card of SmolLM2-135M-Instruct); its file says nothing.
    private static func sampling(ofFile path: String) -> SamplingOptions? {
        guard path.split(separator: "/").last?.hasPrefix("SmolLM2-") ?? false else { return nil }
        var options = SamplingOptions()
        options.temperature = 0.2
        options.topP = 0.9
        return options
    }

    /// - Throws: `GGUFError`, `EngineError`, `DraftError`, `TemplateError`, `RemoteError`: each a sentence.
    ///
    /// - Parameters:
    ///   - context: Most tokens of a chat; nil is as the model was made.
    ///   - cacheType: The storage of keys and values that is set for this device.
    func load(
        _ path: String, context: Int? = nil, cacheType: String = "f16", progress: @escaping @Sendable (Double) -> Void
    ) async throws -> LoadedModel {
        if let remote {
            let engine = try await RemoteEngine.connect(remote)
            return LoadedModel(model: engine, notices: engine.notices)
        }
        try ModelFile.check(path)
        marker?.set(path)
        defer { marker?.clear() }
        var options = LlamaEngine.Options()
        options.checkpointFolder = root.map { CheckpointFolder.path(root: $0, model: path) }
        let entry = entry(path)
        options.contextLength =
            context ?? self.context ?? entry.flatMap { $0.contextLength > 0 ? $0.contextLength : nil }
        options.threads = threads
        options.cacheType =
            CacheType(rawValue: MemoryEstimate.smallerCache(cacheType, entry?.cacheType ?? "f16")) ?? .f16
        options.gate = gate
        options.workers = workers
        options.sampling = entry?.sampling ?? ModelLoader.sampling(ofFile: path)
        options.adapters = try adapter.map { [$0] } ?? entry?.lora.map { try Adapter($0) } ?? []
        // Guesses are for a model that is near.
        options.draft = workers.isEmpty ? draft ?? entry.flatMap(draftOfEntry) : nil
        options.needsDraft = draft != nil
        options.templateWorker = [program, "plumbing", "template-worker"]
        let choice = try await ProjectorChoice.find(for: path, loader: self)
        options.projector = choice.path
        let engine = try await LlamaEngine.load(path: path, options: options, progress: progress)
        let warning = workers.isEmpty ? [] : [WorkerOptions.warning(workers.map(\.name).joined(separator: ", "))]
        return LoadedModel(model: engine, notices: warning + engine.notices + choice.notices) { await engine.unload() }
    }
}
