internal import AlcoveCore
internal import AlcoveEngine

/// Which projector goes with a model, looked at before the engine sees it.
struct ProjectorChoice: Sendable {
    var path: String?
    var notices: [String] = []

    /// The one that was named, else the catalogue's, else one that lies beside the model under its name.
    ///
    /// One that was named must fit. One that was found and does not fit costs its model nothing but its eyes.
    ///
    /// - Throws: `GGUFError`, `EngineError` for one that was named.
    static func find(for model: String, loader: ModelLoader) async throws -> ProjectorChoice {
        if let named = loader.projector {
            try await check(named, model: model, program: loader.program, isKnown: false)
            return ProjectorChoice(path: named)
        }
        let known = loader.catalogProjector(model)
        guard let found = known ?? beside(model) else { return ProjectorChoice() }
        do {
            try await check(found, model: model, program: loader.program, isKnown: known != nil)
            return ProjectorChoice(path: found)
        } catch let error as any UserFacingError {
            return ProjectorChoice(notices: ["The model reads words alone. \(error.sentence)"])
        }
    }

    /// `mmproj-MODEL.gguf`, as publishers name them.
    static func beside(_ model: String) -> String? {
        guard let slash = model.lastIndex(of: "/") else { return nil }
        let path = model[...slash] + "mmproj-" + model[model.index(after: slash)...]
        return access(String(path), R_OK) == 0 ? String(path) : nil
    }

    /// - Parameter isKnown: Whether its bytes are those of the catalogue, which were tried.
    private static func check(_ path: String, model: String, program: String, isKnown: Bool) async throws {
        try ProjectorFile.check(path, model: model)
        if !isKnown { try await ProjectorTrial.run(path, command: [program, "plumbing", "projector-worker"]) }
    }
}
