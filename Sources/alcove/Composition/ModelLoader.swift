internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveEngine
internal import AlcoveTemplates

/// Loads models for real: header first, then the trial of the template, then llama.cpp, with a mark on disk around it.
struct ModelLoader: Sendable {
    var context: Int?
    var threads: Int?
    let marker: LoadMarker?
    let program: String

    /// - Throws: `GGUFError`, `EngineError`, `TemplateError`: each a sentence.
    func load(_ path: String, progress: @escaping @Sendable (Double) -> Void) async throws -> LoadedModel {
        try ModelFile.check(path)
        marker?.set(path)
        defer { marker?.clear() }
        var options = LlamaEngine.Options()
        options.contextLength = context
        options.threads = threads
        let command = [program, "plumbing", "template-worker"]
        options.templateTrial = { trial throws(TemplateError) in try TemplateWorker(command: command).run(trial) }
        let engine = try await LlamaEngine.load(path: path, options: options, progress: progress)
        return LoadedModel(model: engine, notices: engine.notices) { await engine.unload() }
    }
}
