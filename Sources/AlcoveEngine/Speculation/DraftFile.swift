package import AlcoveCore

/// Why a model cannot guess for another one.
package enum DraftError: UserFacingError, Hashable {
    /// Tokens are other words in one than in the other.
    case otherVocabulary(draft: String, model: String, what: String)
    /// A part that works on the inner states of its model, and is none by itself.
    case needsInnerStates(draft: String, architecture: String)
    /// One of the two forgets, so that a wrong guess could not be cut off again.
    case cannotBeCut(name: String)

    package var code: String {
        switch self {
        case .otherVocabulary: "draft_other_vocabulary"
        case .needsInnerStates: "draft_needs_inner_states"
        case .cannotBeCut: "draft_cannot_be_cut"
        }
    }

    package var message: String {
        switch self {
        case .otherVocabulary(let draft, let model, let what):
            "\(draft) cannot guess for \(model): \(what)."
        case .needsInnerStates(let draft, let architecture):
            "\(draft) cannot guess by itself: it is a head (\(architecture)) that reads the inner states of its model, "
                + "which this version does not hand to it."
        case .cannotBeCut(let name):
            "Guesses of a draft model are not used: the memory of \(name) forgets, so that a wrong guess could not be taken back."
        }
    }

    package var hint: String? {
        switch self {
        case .otherVocabulary: "Choose a smaller model of the same family."
        case .needsInnerStates: "Choose a small model of the same family, or none: text that repeats is guessed anyway."
        case .cannotBeCut: nil
        }
    }

    package var place: ErrorPlace { .data }
}

/// A look at a draft model before it is loaded: both must mean the same by their tokens.
package enum DraftFile {
    /// Vocabularies are padded to round numbers, which differ within a family.
    static let mostPadding = 256

    /// - Throws: `DraftError`, or `GGUFError` for a file that is no model.
    package static func check(_ path: String, for model: GGUFHeader) throws {
        let header = try GGUFHeader(path: path)
        let draft = try ModelFileSummary(header), main = try ModelFileSummary(model)
        if let architecture = draft.architecture, architecture.hasSuffix("assistant") {
            throw DraftError.needsInnerStates(draft: header.fileName, architecture: architecture)
        }
        try draft.checkLoadable(header)
        func other(_ what: String) -> DraftError {
            .otherVocabulary(draft: header.fileName, model: model.fileName, what: what)
        }
        guard draft.tokenizer.model == main.tokenizer.model, draft.tokenizer.pre == main.tokenizer.pre else {
            throw other(
                "it cuts words as \(name(draft)), and the model as \(name(main))")
        }
        guard let size = draft.tokenizer.vocabularySize, let wanted = main.tokenizer.vocabularySize,
            abs(size - wanted) <= mostPadding
        else {
            throw other(
                "it has \(draft.tokenizer.vocabularySize ?? 0) tokens, and the model \(main.tokenizer.vocabularySize ?? 0)"
            )
        }
        let count = min(size, wanted)
        let own = try fingerprints(header, count), theirs = try fingerprints(model, count)
        guard let place = zip(own, theirs).enumerated().first(where: { $1.0 != $1.1 })?.offset else { return }
        throw other("their tokens differ from number \(place * group) on")
    }

    private static func name(_ summary: ModelFileSummary) -> String {
        GGUFName.shown([summary.tokenizer.model, summary.tokenizer.pre].compactMap { $0 }.joined(separator: " "))
    }

    /// Tokens compared at once: enough to name a place, and little to hold.
    private static let group = 256

    private static func fingerprints(_ header: GGUFHeader, _ count: Int) throws -> [[UInt8]] {
        guard case .array(let tokens)? = header["tokenizer.ggml.tokens"]?.value else { return [] }
        var all: [[UInt8]] = []
        var hash = SHA256()
        try header.forEachString(in: tokens) { position, bytes in
            guard position < count else { return false }
            if position > 0, position % group == 0 {
                all.append(hash.finish())
                hash = SHA256()
            }
            hash.update(bytes + [0])
            return true
        }
        all.append(hash.finish())
        return all
    }
}
