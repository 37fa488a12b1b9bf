internal import AlcoveCore

extension LlamaEngine {
    /// The path of a draft model whose tokens are this model's; nil without one, or with a notice why it is not used.
    ///
    /// - Throws: `DraftError` or `GGUFError` when it was asked for and cannot guess.
    static func usableDraft(
        _ options: Options, for header: GGUFHeader, _ notices: inout [String]
    ) throws -> String? {
        guard let path = options.draft else { return nil }
        do {
            guard access(path, F_OK) == 0 else { throw EngineError.modelMissing(path: path) }
            try DraftFile.check(path, for: header)
            return path
        } catch let error as any UserFacingError where !options.needsDraft {
            notices.append(error.message)
            return nil
        }
    }

    /// Loads a draft model; nil, with a notice, when one of the two cannot take a guess back.
    static func loadDraft(
        _ path: String, for model: ModelHandle, _ options: Options, _ notices: inout [String]
    ) throws -> ModelHandle? {
        let draft = try ModelHandle(path: path) { _ in true }
        for (handle, name) in [(model, model.metadata("general.name")), (draft, draft.metadata("general.name"))]
        where !handle.cutsExactly {
            let error = DraftError.cannotBeCut(name: name ?? GGUFName.ofFile(path))
            if options.needsDraft { throw error }
            notices.append(error.message)
            return nil
        }
        return draft
    }
}
