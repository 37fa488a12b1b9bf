extension ModelFileSummary {
    /// llama.cpp's `LLAMA_MAX_LAYERS` and `LLAMA_MAX_EXPERTS`: past them it does not refuse but abort.
    static let mostLayers = 512
    static let mostExperts = 1024

    /// Refuses what is a sound file but not a language model that llama.cpp can load by itself.
    ///
    /// What llama.cpp answers with an abort of the process, and not with an error, is refused here as well.
    ///
    /// - Parameter header: the one this summary was made from; its vocabulary is read once more.
    package func checkLoadable(_ header: GGUFHeader) throws(GGUFError) {
        if let split { throw refusal(of: split) }
        switch kind {
        case .model: break
        case .adapter: throw refuse(.adapter, "is an adapter (LoRA)\(forWhom): it changes a model and is none itself")
        case .projector:
            let senses = modalities.isEmpty ? "" : " (\(modalities.joined(separator: " and ")))"
            throw refuse(
                .projector, "is a projector\(senses)\(forWhom): it goes beside a model and cannot answer itself")
        case .importanceMatrix: throw refuse(.notAModel, "holds statistics for quantising (imatrix) and no model")
        case .vocabulary: throw refuse(.vocabularyOnly, "holds a vocabulary and no weights")
        }
        guard let architecture, !architecture.isEmpty else {
            throw refuse(.noArchitecture, "does not say what it is: \"general.architecture\" is missing")
        }
        try header.refuseRotatedWeights()
        try checkHyperparameters(header, architecture: architecture)
        try header.checkVocabulary()
        try checkTail(header)
        // The engine maps the file, and ggml asserts that mapped weights begin on a multiple of 32.
        guard header.dataOffset % 32 == 0 else {
            throw refuse(
                .badAlignment,
                "cannot be used: its weights begin at byte \(header.dataOffset), which is not a multiple of 32")
        }
    }

    /// Bytes behind the last tensor that a file may have.
    static let mostTrailingBytes: UInt64 = 64 << 20

    /// The engine maps the whole file and asks the system to read it ahead: a hole of half a terabyte would hold it up for
    /// minutes.
    private func checkTail(_ header: GGUFHeader) throws(GGUFError) {
        let end = header.tensors.map { $0.offset + $0.byteCount }.max() ?? 0
        let tail = header.fileBytes - min(header.fileBytes, header.dataOffset + end)
        guard tail > ModelFileSummary.mostTrailingBytes else { return }
        throw refuse(.trailingBytes, "has \(tail) bytes behind its last tensor, which belong to no model")
    }

    /// Refuses a projector that was made for another model.
    ///
    /// What a projector gives out goes in where the model's own embeddings go, so their lengths must be the same.
    /// Converters before 2025 wrote another number there, and no `general.type`; those are left to the engine.
    package static func check(
        projector: ModelFileSummary, header: GGUFHeader, fits model: ModelFileSummary
    ) throws(GGUFError) {
        guard projector.kind == .projector else {
            throw GGUFError(.wrongProjector, "\(projector.fileName) is not a projector.")
        }
        guard let wanted = model.embeddingLength, case .string(let type)? = header["general.type"]?.value,
            type.text == "mmproj"
        else { return }
        for modality in projector.modalities {
            guard case .unsigned(let given)? = header["clip.\(modality).projection_dim"]?.value, given != wanted else {
                continue
            }
            throw GGUFError(
                .wrongProjector,
                "\(projector.fileName)\(projector.forWhom) does not fit \(model.fileName): it gives embeddings of length "
                    + "\(given), and the model takes \(wanted).")
        }
    }

    private var forWhom: String {
        guard let whom = baseModel ?? name else { return "" }
        return " for \(GGUFName.shown(whom))"
    }

    private func refuse(_ reason: GGUFError.Reason, _ text: String) -> GGUFError {
        GGUFError(reason, "\(fileName) \(text).")
    }

    private func refusal(of split: Split) -> GGUFError {
        guard let parts = SplitFileName(fileName) else {
            return refuse(
                .split, "is part \(split.number) of \(split.count) of a model that was split into several files")
        }
        return refuse(
            .split, "is part \(split.number) of \(split.count) of a split model: \(parts.allParts) belong together")
    }

    private func checkHyperparameters(_ header: GGUFHeader, architecture: String) throws(GGUFError) {
        guard let layerCount else {
            throw refuse(.badNumber, "does not say how many layers it has: \"\(shown).block_count\" is missing")
        }
        try expect(layerCount, in: 1...Self.mostLayers, "\(shown).block_count")
        if let contextLength { try expect(contextLength, in: 1...Int(Int32.max), "\(shown).context_length") }
        if let embeddingLength { try expect(embeddingLength, in: 1...Int(Int32.max), "\(shown).embedding_length") }
        for counts in [headCounts, keyValueHeadCounts] where counts.count > 1 && counts.count < layerCount {
            throw refuse(
                .badNumber, "cannot be used: it has \(layerCount) layers and tells the heads of \(counts.count)")
        }
        try checkExperts(header, architecture: architecture)
        try checkLayers(header, architecture: architecture, layerCount: layerCount)
        for entry in header.entries where entry.key.hasSuffix("_epsilon") {
            guard case .float(let epsilon) = entry.value, !(epsilon.isFinite && epsilon >= 0) else { continue }
            throw refuse(
                .badNumber, "cannot be used: \"\(entry.key)\" is \(epsilon), and must be a number that is not negative")
        }
        if let predicted = Self.counts(header["\(architecture).nextn_predict_layers"]).first {
            try expect(predicted, in: 0...layerCount, "\(shown).nextn_predict_layers")
        }
        if case .string(let scaling)? = header["\(architecture).rope.scaling.type"]?.value {
            guard let text = scaling.text, ["none", "linear", "yarn", "longrope"].contains(text) else {
                throw refuse(
                    .badNumber,
                    "cannot be used: its rope scaling \"\(GGUFName.shown(scaling.text ?? ""))\" is not known")
            }
        }
    }

    /// Found by trying: numbers that llama.cpp loads, and on which it then aborts or divides by zero.
    private func checkLayers(_ header: GGUFHeader, architecture: String, layerCount: Int) throws(GGUFError) {
        func number(_ key: String) -> Int? { Self.counts(header["\(architecture).\(key)"]).first }
        for (suffix, length) in [("", number("attention.key_length")), ("_swa", number("attention.key_length_swa"))] {
            guard let turned = number("rope.dimension_count\(suffix)") else { continue }
            // With 0 the first token never comes. Models without rotary positions may say so; these families have them.
            let least = architecture.hasPrefix("gemma") || architecture.hasPrefix("qwen") ? 2 : 0
            try expect(
                turned, in: least...max(least, length ?? Int(Int32.max)), "\(shown).rope.dimension_count\(suffix)")
            guard turned % 2 == 0 else {
                throw refuse(
                    .badNumber,
                    "cannot be used: \"\(shown).rope.dimension_count\(suffix)\" is \(turned), and must be even")
            }
        }
        if let sharing = number("attention.shared_kv_layers"), sharing > 0 {
            try expect(sharing, in: 0...max(0, layerCount - 2), "\(shown).attention.shared_kv_layers")
        }
        if let interval = number("full_attention_interval") {
            try expect(interval, in: 1...Int(Int32.max), "\(shown).full_attention_interval")
        }
        // The width of the recurrent state of this family is told twice.
        if architecture.hasPrefix("qwen35") || architecture == "qwen3next", let inner = number("ssm.inner_size"),
            let state = number("ssm.state_size"), let rank = number("ssm.time_step_rank")
        {
            let (expected, overflow) = state.multipliedReportingOverflow(by: rank)
            guard !overflow, inner == expected else {
                throw refuse(
                    .badNumber,
                    "cannot be used: \"\(shown).ssm.inner_size\" is \(inner), and its state of \(state) times "
                        + "\(rank) must be the same")
            }
        }
    }

    private func checkExperts(_ header: GGUFHeader, architecture: String) throws(GGUFError) {
        let experts = Self.counts(header["\(architecture).expert_count"]).first ?? 0
        // llama.cpp reads a lone expert of this family as none.
        if architecture.hasPrefix("hunyuan"), experts <= 1 { return }
        try expect(experts, in: 0...Self.mostExperts, "\(shown).expert_count")
        let used = Self.counts(header["\(architecture).expert_used_count"]).max() ?? 0
        try expect(used, in: (experts > 0 ? 1 : 0)...experts, "\(shown).expert_used_count")
        let groups = Self.counts(header["\(architecture).expert_group_count"]).first ?? 0
        try expect(groups, in: 0...max(0, experts - 1), "\(shown).expert_group_count")
        guard groups > 1 else { return }
        let usedGroups = Self.counts(header["\(architecture).expert_group_used_count"]).first ?? 0
        try expect(usedGroups, in: 1...(groups - 1), "\(shown).expert_group_used_count")
        guard experts % groups == 0 else {
            throw refuse(.badNumber, "cannot be used: its \(experts) experts do not part into \(groups) groups")
        }
    }

    private var shown: String { GGUFName.shown(architecture ?? "") }

    private func expect(_ number: Int, in range: ClosedRange<Int>, _ key: String) throws(GGUFError) {
        guard !range.contains(number) else { return }
        throw refuse(
            .badNumber,
            "cannot be used: \"\(key)\" is \(number), and \(range.lowerBound) to \(range.upperBound) are possible")
    }

    private static func counts(_ entry: GGUFEntry?) -> [Int] {
        switch entry?.value {
        case .unsigned(let number): [Int(clamping: number)]
        case .array(let array):
            (array.elements ?? []).map { if case .unsigned(let one) = $0 { Int(clamping: one) } else { 0 } }
        default: []
        }
    }
}

extension GGUFHeader {
    /// Refuses a vocabulary on which llama.cpp aborts or reads past an array.
    func checkVocabulary() throws(GGUFError) {
        guard case .array(let tokens)? = self["tokenizer.ggml.tokens"]?.value, tokens.elementType == .string else {
            return
        }
        for key in ["tokenizer.ggml.scores", "tokenizer.ggml.token_type"] {
            guard case .array(let list)? = self[key]?.value, list.count < tokens.count else { continue }
            throw GGUFError(
                .badVocabulary,
                "\(fileName) cannot be used: it has \(tokens.count) tokens, and \"\(key)\" tells about \(list.count).")
        }
        // llama.cpp asserts that no two tokens are spelled alike. Hashes, because the texts may be large; they are
        // seeded anew in each process, so that no file can be made to collide.
        var seen = Set<UInt64>(minimumCapacity: Int(tokens.count))
        var repeated: (position: Int, text: String)?
        try forEachString(in: tokens) { position, bytes in
            var hasher = Hasher()
            // Its C strings end at the first zero, and it gives names to empty ones.
            let text = bytes.prefix { $0 != 0 }
            if text.isEmpty { return true }
            text.withUnsafeBytes { hasher.combine(bytes: $0) }
            if seen.insert(UInt64(bitPattern: Int64(hasher.finalize()))).inserted { return true }
            repeated = (position, GGUFName.shown(bytes: text))
            return false
        }
        if let repeated {
            throw GGUFError(
                .badVocabulary,
                "\(fileName) cannot be used: token \(repeated.position) is spelled \"\(repeated.text)\" like one before it."
            )
        }
    }
}
