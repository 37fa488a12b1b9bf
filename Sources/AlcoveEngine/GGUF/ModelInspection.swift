package import AlcoveCore

/// What `alcove inspect FILE.gguf` tells.
package enum ModelInspection {
    /// The header as it stands: `{"version", "metadata": {...}, "tensors": [{"name", "shape", "type", "offset"}]}`.
    ///
    /// An array of more than 64 items is `{"count": n}` and a text of more than 1 MiB `{"bytes": n}`. Offsets count from
    /// the start of the data section, as in the file.
    package static func json(path: String) throws(GGUFError) -> JSONValue {
        let header = try GGUFHeader(path: path)
        _ = try ModelFileSummary(header)
        var metadata = JSONObject()
        for entry in header.entries { metadata[entry.key] = json(entry.value) }
        let tensors = header.tensors.map { tensor in
            JSONValue.object([
                "name": .string(tensor.name), "shape": .array(tensor.shape.map(json)),
                "type": .integer(Int64(tensor.type.id)), "offset": json(tensor.offset),
            ])
        }
        return ["version": .integer(Int64(header.version)), "metadata": .object(metadata), "tensors": .array(tensors)]
    }

    private static func json(_ value: GGUFValue) -> JSONValue {
        switch value {
        case .unsigned(let number): json(number)
        case .signed(let number): .integer(number)
        case .float(let number): .double(Double(number))
        case .double(let number): .double(number)
        case .bool(let value): .bool(value)
        case .string(let text): text.text.map { .string($0) } ?? ["bytes": json(text.byteCount)]
        case .array(let array):
            if array.count <= 64, let elements = array.elements {
                .array(elements.map(json))
            } else {
                ["count": json(array.count)]
            }
        }
    }

    /// JSON has no whole numbers past 2^63 here; the nearest fraction is closer than a refusal.
    private static func json(_ number: UInt64) -> JSONValue {
        Int64(exactly: number).map { .integer($0) } ?? .double(Double(number))
    }

    /// The same for people: a table of what the file is, and whether it can be loaded.
    package static func text(path: String) throws(GGUFError) -> String {
        let header = try GGUFHeader(path: path)
        let summary = try ModelFileSummary(header)
        var rows = InspectionRows(summary, version: header.version).all
        do throws(GGUFError) {
            try summary.checkLoadable(header)
            rows.append(("loadable", "yes"))
        } catch {
            rows.append(("loadable", "no: \(error.sentence)"))
        }
        let width = rows.map(\.label.count).max() ?? 0
        return rows.map { row in
            row.label + String(repeating: " ", count: width - row.label.count + 2) + row.text + "\n"
        }.joined()
    }
}

private struct InspectionRows {
    private(set) var all: [(label: String, text: String)] = []

    init(_ summary: ModelFileSummary, version: UInt32) {
        add("file", "\(summary.fileName), \(ByteText.of(summary.fileBytes)), GGUF version \(version)")
        add("kind", Self.kind(summary))
        add("name", summary.name)
        add("based on", summary.baseModel)
        add("architecture", summary.architecture)
        add("parameters", summary.parameterCount > 0 ? Self.short(summary.parameterCount) : nil)
        add("quantisation", Self.quantisation(summary))
        add("context", summary.contextLength.map { "\($0) tokens" })
        add("embedding", summary.embeddingLength.map { "\($0)" })
        add("layers", summary.layerCount.map { "\($0)" })
        add("heads", Self.heads(summary))
        addCache(summary)
        if summary.kind == .model || summary.kind == .vocabulary { addTokenizer(summary) }
        for (position, share) in summary.tensorTypes.enumerated() {
            let count = share.tensors == 1 ? "1 tensor" : "\(share.tensors) tensors"
            add(position == 0 ? "weights" : "", "\(share.type.name): \(count), \(ByteText.of(share.bytes))")
        }
    }

    private mutating func add(_ label: String, _ text: String?) {
        if let text { all.append((label, GGUFName.shown(text))) }
    }

    private mutating func addCache(_ summary: ModelFileSummary) {
        guard summary.kind == .model, let bytes = summary.cacheBytesPerToken() else { return }
        add("cache", "\(ByteText.of(UInt64(min(bytes, 1e18)))) a token at most, in F16")
    }

    private mutating func addTokenizer(_ summary: ModelFileSummary) {
        let tokenizer = summary.tokenizer
        let kind = [tokenizer.model, tokenizer.pre].compactMap(\.self).joined(separator: ", ")
        let size = tokenizer.vocabularySize.map { "\($0) tokens" }
        add("tokenizer", [size, kind.isEmpty ? nil : kind].compactMap(\.self).joined(separator: "; "))
        let ids = [
            ("bos", tokenizer.bos), ("eos", tokenizer.eos), ("eot", tokenizer.eot), ("eom", tokenizer.eom),
            ("unknown", tokenizer.unknown),
        ]
        let known = ids.compactMap { name, id in id.map { "\(name) \($0)" } }
        add("", known.isEmpty ? nil : known.joined(separator: ", "))
        add("adds BOS", Self.answer(tokenizer.addBOS))
        add("adds EOS", Self.answer(tokenizer.addEOS))
        switch summary.chatTemplate {
        case .none: add("chat template", "no")
        case .text(let text): add("chat template", "yes, \(text.utf8.count) bytes")
        case .tooLong(let bytes): add("chat template", "\(bytes) bytes, too long to use")
        }
    }

    private static func answer(_ flag: Bool?) -> String {
        flag.map { $0 ? "yes" : "no" } ?? "not said: the tokenizer's kind decides"
    }

    private static func kind(_ summary: ModelFileSummary) -> String {
        let kind =
            switch summary.kind {
            case .model: "language model"
            case .projector: (["projector"] + summary.modalities).joined(separator: ", ")
            case .adapter: "adapter (LoRA)"
            case .importanceMatrix: "importance matrix"
            case .vocabulary: "vocabulary without weights"
            }
        guard let split = summary.split else { return kind }
        return "\(kind), part \(split.number) of \(split.count)"
    }

    private static func quantisation(_ summary: ModelFileSummary) -> String? {
        guard let dominant = summary.dominantType else { return nil }
        guard let fileType = summary.fileType, fileType != dominant.name else { return dominant.name }
        return "\(fileType), mostly \(dominant.name)"
    }

    private static func heads(_ summary: ModelFileSummary) -> String? {
        guard let heads = range(summary.headCounts) else { return nil }
        guard let keyValueHeads = range(summary.keyValueHeadCounts) else { return heads }
        return "\(heads), \(keyValueHeads) for keys and values"
    }

    private static func range(_ counts: [Int]) -> String? {
        guard let least = counts.min(), let most = counts.max() else { return nil }
        return least == most ? "\(most)" : "\(least) to \(most)"
    }

    /// 134.5 M, 8.0 B: as models are called.
    private static func short(_ count: UInt64) -> String {
        switch count {
        case 1_000_000_000...: "\(ByteText.tenths(count, of: 1_000_000_000)) B"
        case 1_000_000...: "\(ByteText.tenths(count, of: 1_000_000)) M"
        default: "\(count)"
        }
    }
}

/// Sizes as file managers show them: decimal units, one digit after the point.
enum ByteText {
    static func of(_ bytes: UInt64) -> String {
        switch bytes {
        case 1_000_000_000...: "\(tenths(bytes, of: 1_000_000_000)) GB"
        case 1_000_000...: "\(tenths(bytes, of: 1_000_000)) MB"
        case 1_000...: "\(tenths(bytes, of: 1_000)) kB"
        default: "\(bytes) bytes"
        }
    }

    static func tenths(_ count: UInt64, of unit: UInt64) -> String {
        let tenths = count / (unit / 10)
        return "\(tenths / 10).\(tenths % 10)"
    }
}
