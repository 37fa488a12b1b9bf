internal import AlcoveCore

/// What a model file is, in the words of the rest of the program: for lists, for memory estimates, and for deciding
/// whether it may be loaded at all (`checkLoadable`).
package struct ModelFileSummary: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        case model
        /// Turns pictures or sound into embeddings for a model; llama.cpp calls it mmproj.
        case projector
        /// Small weights that change a model they were trained on (LoRA).
        case adapter
        /// Statistics for quantising.
        case importanceMatrix
        /// A tokenizer and no weights.
        case vocabulary
    }

    /// Where the file stands in a model that was cut into several.
    package struct Split: Sendable, Hashable {
        /// From 1.
        package let number: Int
        package let count: Int
    }

    package let fileName: String
    package let fileBytes: UInt64
    package let kind: Kind
    package let split: Split?

    package let architecture: String?
    package let name: String?
    /// The model a projector, an adapter or a fine-tune was made for or from, where the file says so.
    package let baseModel: String?
    /// For a projector: `vision` or `audio` or both, as a list for people.
    package let modalities: [String]

    package let tensorCount: Int
    /// Numbers in all tensors.
    package let parameterCount: UInt64
    /// Bytes of all tensors: what loading costs before any context.
    package let weightBytes: UInt64
    /// What the file was quantised as, `Q4_K_M` for one; nil when it does not say.
    package let fileType: String?
    /// Bytes and tensors of each storage type, the most bytes first.
    package let tensorTypes: [TypeShare]

    /// Tokens the model was trained for.
    package let contextLength: Int?
    package let embeddingLength: Int?
    package let layerCount: Int?
    /// One number, or one for each layer.
    package let headCounts: [Int]
    /// One number, or one for each layer; the head counts where the file does not say.
    package let keyValueHeadCounts: [Int]
    package let keyLength: Int?
    package let valueLength: Int?

    package let chatTemplate: ChatTemplate
    package let tokenizer: Tokenizer

    package struct TypeShare: Sendable, Hashable {
        package let type: GGUFTensorType
        package let tensors: Int
        package let bytes: UInt64
    }

    package enum ChatTemplate: Sendable, Hashable {
        case none
        case text(String)
        /// Longer than 1 MiB, which no template is.
        case tooLong(bytes: UInt64)
    }

    package struct Tokenizer: Sendable, Hashable {
        /// `gpt2`, `llama`, ...
        package let model: String?
        /// How text is cut before merging: `smollm`, `qwen2`, ...
        package let pre: String?
        package let vocabularySize: Int?
        package let bos: Int?
        package let eos: Int?
        package let eot: Int?
        package let eom: Int?
        package let unknown: Int?
        /// Nil when the file does not say, and then the tokenizer's kind decides: not the same as false.
        package let addBOS: Bool?
        package let addEOS: Bool?
    }

    /// The storage type with the most bytes.
    package var dominantType: GGUFTensorType? { tensorTypes.first?.type }

    /// Bytes of key and value cache for one token; nil where the header does not tell.
    ///
    /// An upper bound: layers with a sliding window or with recurrent state need less.
    ///
    /// - Parameter bytesPerElement: 2 for the usual half-precision cache.
    package func cacheBytesPerToken(bytesPerElement: Double = 2) -> Double? {
        guard let layerCount, let keyLength, let valueLength, let first = keyValueHeadCounts.first else { return nil }
        let heads =
            keyValueHeadCounts.count == 1
            ? Double(first) * Double(layerCount) : keyValueHeadCounts.reduce(0.0) { $0 + Double($1) }
        return heads * (Double(keyLength) + Double(valueLength)) * bytesPerElement
    }
}

extension ModelFileSummary {
    /// - Throws: `GGUFError` when a key that matters has a type or a number that it cannot have.
    package init(_ header: GGUFHeader) throws(GGUFError) {
        let facts = GGUFFacts(header)
        fileName = header.fileName
        fileBytes = header.fileBytes
        architecture = try facts.text("general.architecture")
        let own = architecture ?? ""
        let type = try facts.text("general.type")
        kind =
            switch (type, own) {
            case ("adapter", _): .adapter
            case ("imatrix", _), (_, "imatrix"): .importanceMatrix
            case ("mmproj", _), (_, "clip"): .projector
            default: header.tensors.isEmpty ? .vocabulary : .model
            }
        split = try facts.split()
        let fullName = try facts.text("general.name")
        let baseName = try facts.text("general.basename")
        name = fullName ?? baseName
        baseModel = try facts.text("general.base_model.0.name")
        modalities = try facts.modalities()

        tensorCount = header.tensors.count
        (tensorTypes, parameterCount, weightBytes) = GGUFFacts.shares(of: header.tensors)
        fileType = try facts.number("general.file_type").flatMap { GGUFFileType.name(UInt64($0)) }

        let sizes = kind == .projector ? "clip.\(modalities.first ?? "vision")" : own
        contextLength = try facts.number("\(own).context_length")
        embeddingLength = try facts.number("\(sizes).embedding_length")
        layerCount = try facts.number("\(sizes).block_count")
        headCounts = try facts.numbers("\(sizes).attention.head_count")
        let keyValueHeads = try facts.numbers("\(sizes).attention.head_count_kv")
        keyValueHeadCounts = keyValueHeads.isEmpty ? headCounts : keyValueHeads
        // llama.cpp's own rule where the file gives no length.
        let mostHeads = headCounts.max() ?? 0
        let headLength = mostHeads > 0 ? embeddingLength.map { $0 / mostHeads } : nil
        let ownKeyLength = try facts.number("\(own).attention.key_length")
        let ownValueLength = try facts.number("\(own).attention.value_length")
        keyLength = ownKeyLength ?? headLength
        valueLength = ownValueLength ?? headLength

        chatTemplate = try facts.chatTemplate()
        tokenizer = try facts.tokenizer(architecture: own)
    }
}

/// Reads the keys that matter, with the types they must have.
private struct GGUFFacts {
    let header: GGUFHeader

    init(_ header: GGUFHeader) { self.header = header }

    func text(_ key: String) throws(GGUFError) -> String? {
        guard let entry = header[key] else { return nil }
        guard case .string(let value) = entry.value else { throw wrongType(entry, "a text") }
        return value.text
    }

    func flag(_ key: String) throws(GGUFError) -> Bool? {
        guard let entry = header[key] else { return nil }
        guard case .bool(let value) = entry.value else { throw wrongType(entry, "yes or no") }
        return value
    }

    /// A count: whole, not negative, of at most 32 bits.
    func number(_ key: String) throws(GGUFError) -> Int? {
        guard let entry = header[key] else { return nil }
        return try number(entry.value, of: entry)
    }

    /// One count, or an array of them.
    func numbers(_ key: String) throws(GGUFError) -> [Int] {
        guard let entry = header[key] else { return [] }
        guard case .array(let array) = entry.value else { return [try number(entry.value, of: entry)] }
        guard let elements = array.elements else { throw wrongType(entry, "a number for each layer") }
        var result: [Int] = []
        for element in elements { result.append(try number(element, of: entry)) }
        return result
    }

    private func number(_ value: GGUFValue, of entry: GGUFEntry) throws(GGUFError) -> Int {
        let found: Int? =
            switch value {
            case .unsigned(let number): Int(exactly: number)
            case .signed(let number): Int(exactly: number)
            default: throw wrongType(entry, "a whole number")
            }
        guard let found, (0...Int(UInt32.max)).contains(found) else {
            let shown = if case .unsigned(let number) = value { "\(number)" } else { "\(found ?? 0)" }
            throw GGUFError(
                .badNumber,
                "\(header.fileName) cannot be used: \"\(entry.key)\" is \(shown), and 0 to \(UInt32.max) are "
                    + "possible.")
        }
        return found
    }

    private func wrongType(_ entry: GGUFEntry, _ expected: String) -> GGUFError {
        let type = if case .array(let array) = entry.value { "array of \(array.elementType)" } else { "\(entry.type)" }
        return GGUFError(
            .wrongKeyType,
            "\(header.fileName) cannot be used: \"\(entry.key)\" has type \(type) and must be \(expected).")
    }

    func split() throws(GGUFError) -> ModelFileSummary.Split? {
        guard let count = try number("split.count"), count > 1 else { return nil }
        return ModelFileSummary.Split(number: (try number("split.no") ?? 0) + 1, count: count)
    }

    func modalities() throws(GGUFError) -> [String] {
        var found: [String] = []
        if try flag("clip.has_vision_encoder") == true { found.append("vision") }
        if try flag("clip.has_audio_encoder") == true { found.append("audio") }
        return found
    }

    func chatTemplate() throws(GGUFError) -> ModelFileSummary.ChatTemplate {
        guard let entry = header["tokenizer.chat_template"] else { return .none }
        guard case .string(let value) = entry.value else { throw wrongType(entry, "a text") }
        guard let text = value.text else { return .tooLong(bytes: value.byteCount) }
        return text.isEmpty ? .none : .text(text)
    }

    func tokenizer(architecture: String) throws(GGUFError) -> ModelFileSummary.Tokenizer {
        var size: Int?
        if let entry = header["tokenizer.ggml.tokens"] {
            guard case .array(let array) = entry.value, array.elementType == .string else {
                throw wrongType(entry, "a list of texts")
            }
            size = Int(array.count)
        } else {
            size = try number("\(architecture).vocab_size")
        }
        return ModelFileSummary.Tokenizer(
            model: try text("tokenizer.ggml.model"), pre: try text("tokenizer.ggml.pre"), vocabularySize: size,
            bos: try token("bos", of: size), eos: try token("eos", of: size), eot: try token("eot", of: size),
            eom: try token("eom", of: size), unknown: try token("unknown", of: size),
            addBOS: try flag("tokenizer.ggml.add_bos_token"), addEOS: try flag("tokenizer.ggml.add_eos_token"))
    }

    /// llama.cpp goes on with a default in place of an id out of range; an answer would then not end where it should.
    /// Ids that only training needs (padding, mask) are not looked at: there are good models with odd ones.
    private func token(_ name: String, of size: Int?) throws(GGUFError) -> Int? {
        let key = "tokenizer.ggml.\(name)_token_id"
        guard let id = try number(key) else { return nil }
        guard let size, id >= size else { return id }
        throw GGUFError(
            .badTokenID,
            "\(header.fileName) cannot be used: \"\(key)\" is \(id), and its vocabulary has \(size) tokens.")
    }

    static func shares(
        of tensors: [GGUFTensor]
    ) -> (types: [ModelFileSummary.TypeShare], parameters: UInt64, bytes: UInt64) {
        var counts: [GGUFTensorType: (tensors: Int, bytes: UInt64)] = [:]
        var parameters: UInt64 = 0
        for tensor in tensors {
            // The bytes are all in the file, so their sum fits; numbers take two bits at least, so theirs does, too.
            counts[tensor.type, default: (0, 0)].tensors += 1
            counts[tensor.type, default: (0, 0)].bytes += tensor.byteCount
            parameters += tensor.elementCount
        }
        let types = counts.map { ModelFileSummary.TypeShare(type: $0, tensors: $1.tensors, bytes: $1.bytes) }
            .sorted { ($1.bytes, $0.type.id) < ($0.bytes, $1.type.id) }
        return (types, parameters, types.reduce(0) { $0 + $1.bytes })
    }
}
