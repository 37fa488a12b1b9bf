internal import AlcoveCore

/// A look at a projector before llama.cpp sees it.
public enum ProjectorFile {
    /// Refuses by name what is malformed, no projector, of a kind that is not known, or made for another model.
    ///
    /// - Throws: `EngineError` when there is no such file, `GGUFError` for what is in it.
    public static func check(_ path: String, model: String) throws {
        _ = try kinds(of: path, model: GGUFHeader(path: model))
    }

    static func kinds(of path: String, model: GGUFHeader) throws -> ProjectorKinds {
        guard access(path, F_OK) == 0 else { throw EngineError.projectorMissing(path: path) }
        let header = try GGUFHeader(path: path)
        let summary = try ModelFileSummary(header), modelSummary = try ModelFileSummary(model)
        try ModelFileSummary.check(projector: summary, header: header, fits: modelSummary)
        let kinds = try ProjectorKinds(header, summary)
        try checkNumbers(header, summary)
        try checkMarks(kinds, of: header, model)
        return kinds
    }

    /// What the projector writes around pictures must be tokens of the model's: the library looks for some, and takes none at
    /// all where there is none.
    private static func checkMarks(
        _ kinds: ProjectorKinds, of header: GGUFHeader, _ model: GGUFHeader
    ) throws(GGUFError) {
        guard case .array(let tokens)? = model["tokenizer.ggml.tokens"]?.value else { return }
        var missing = Set(kinds.marks.map { Array($0.utf8) })
        if missing.isEmpty { return }
        try model.forEachString(in: tokens) { _, bytes in
            missing.remove(bytes)
            return !missing.isEmpty
        }
        guard let mark = kinds.marks.first(where: { missing.contains(Array($0.utf8)) }) else { return }
        throw GGUFError(
            .wrongProjector,
            "\(header.fileName) does not fit \(model.fileName): it writes \"\(mark)\", and the model has no such token."
        )
    }

    /// Numbers that the library divides by, or asserts on.
    private static func checkNumbers(_ header: GGUFHeader, _ summary: ModelFileSummary) throws(GGUFError) {
        for modality in summary.modalities {
            func number(_ name: String) -> UInt64? {
                guard case .unsigned(let number)? = header["clip.\(modality).\(name)"]?.value else { return nil }
                return number
            }
            // Some have no layers of their own, and then no heads either.
            let needed =
                number("block_count") == 0 ? ["embedding_length"] : ["embedding_length", "attention.head_count"]
            for name in needed where !(1...UInt64(1 << 20)).contains(number(name) ?? 0) {
                throw GGUFError(
                    .badNumber,
                    "\(summary.fileName) cannot be used: \"clip.\(modality).\(name)\" must be a number from 1 on.")
            }
        }
        guard summary.modalities.contains("vision") else { return }
        func number(_ key: String) -> UInt64? {
            guard case .unsigned(let number)? = header["clip.vision.\(key)"]?.value else { return nil }
            return number
        }
        guard let patch = number("patch_size"), let size = number("image_size"), (1...1024).contains(patch),
            (patch...16_384).contains(size)
        else {
            throw GGUFError(
                .badNumber,
                "\(summary.fileName) cannot be used: its pictures (\"clip.vision.image_size\") and their patches "
                    + "(\"clip.vision.patch_size\") have no possible sizes.")
        }
        // Places of this family are looked up, not computed; a picture of the longest shape has 225 patches in a row.
        guard case .string(let type)? = header["clip.projector_type"]?.value, type.text?.hasPrefix("gemma4") == true,
            let places = header.tensors.first(where: { $0.name == "v.position_embd.weight" })
        else { return }
        guard places.dimensions[1] >= 256 else {
            throw GGUFError(
                .badNumber,
                "\(summary.fileName) cannot be used: it has places for \(places.dimensions[1]) patches in a row, and 256 "
                    + "are needed.")
        }
    }
}
