internal import AlcoveCore

/// A LoRA adapter and how strongly it acts: small weights that change a model they were trained on.
public struct Adapter: Sendable, Hashable {
    public var path: String
    /// 1 is as it was trained, 0 as if it were not there.
    public var scale: Float

    public init(path: String, scale: Float = 1) {
        self.path = path
        self.scale = scale
    }

    /// Reads `PATH` or `PATH:SCALE`; what stands behind the last colon is a scale when it is a number.
    ///
    /// - Throws: `AdapterError` for a scale beyond 100 either way.
    public init(_ text: String) throws {
        guard let colon = text.lastIndex(of: ":"), colon > text.startIndex,
            let scale = Float(text[text.index(after: colon)...])
        else {
            self.init(path: text)
            return
        }
        guard scale.isFinite, abs(scale) <= 100 else {
            throw AdapterError.badScale("\(text[text.index(after: colon)...])")
        }
        self.init(path: String(text[..<colon]), scale: scale)
    }

    /// Looks at the adapter's header, beside the model's, for all that the library would end the process on or put badly.
    ///
    /// - Throws: `AdapterError`, or `GGUFError` when the file is damaged.
    func check(against model: GGUFHeader) throws {
        let header = try GGUFHeader(path: path)
        let summary = try ModelFileSummary(header), target = try ModelFileSummary(model)
        let name = header.fileName
        guard summary.kind == .adapter else { throw AdapterError.notAnAdapter(name: name) }
        guard summary.architecture == target.architecture else {
            throw AdapterError.otherArchitecture(
                name: name, found: summary.architecture ?? "nothing", model: model.fileName,
                wanted: target.architecture ?? "nothing")
        }
        func misfit(_ what: String) -> AdapterError { .doesNotFit(name: name, model: model.fileName, what: what) }
        guard case .string(let kind)? = header["adapter.type"]?.value, kind.text == "lora" else {
            throw misfit("it is an adapter of another kind than LoRA")
        }
        if let alpha = header["adapter.lora.alpha"] {
            guard case .float(let value) = alpha.value, value.isFinite else { throw misfit("its alpha is no number") }
        }
        // Such a one acts from certain words on only, and would not be the same for what was computed before.
        guard header["adapter.alora.invocation_tokens"] == nil else {
            throw misfit("it acts from certain words on only (aLoRA), which cannot be done here")
        }
        try checkTensors(header, model, misfit)
    }

    private func checkTensors(_ header: GGUFHeader, _ model: GGUFHeader, _ misfit: (String) -> AdapterError) throws {
        var sides: [String: (a: GGUFTensor?, b: GGUFTensor?)] = [:]
        for tensor in header.tensors where !tensor.name.hasSuffix("_norm.weight") {
            guard ["F32", "F16", "BF16", "Q8_0"].contains(tensor.type.name) else {
                throw misfit("\"\(tensor.name)\" is stored as \(tensor.type.name)")
            }
            let base = String(tensor.name.dropLast(7))
            switch tensor.name.suffix(7) {
            case ".lora_a": sides[base, default: (nil, nil)].a = tensor
            case ".lora_b": sides[base, default: (nil, nil)].b = tensor
            default: throw misfit("\"\(tensor.name)\" is no part of a LoRA adapter")
            }
        }
        guard !sides.isEmpty else { throw misfit("it changes nothing") }
        let tensors = Dictionary(model.tensors.map { ($0.name, $0) }) { first, _ in first }
        for (base, side) in sides.sorted(by: { $0.key < $1.key }) {
            guard let a = side.a, let b = side.b else { throw misfit("a half of \"\(base)\" is missing") }
            guard let changed = tensors[base] else { throw misfit("the model has no \"\(base)\"") }
            // The table of tokens is read by rows, so there the first half lies the other way round.
            let fits =
                base.hasSuffix("token_embd.weight")
                ? a.dimensions[0] == b.dimensions[0] && a.dimensions[1] == changed.dimensions[1]
                    && b.dimensions[1] == changed.dimensions[0]
                : a.dimensions[1] == b.dimensions[0] && a.dimensions[0] == changed.dimensions[0]
                    && b.dimensions[1] == changed.dimensions[1]
            guard fits,
                [a, b].allSatisfy({
                    ($0.dimensions[2], $0.dimensions[3]) == (changed.dimensions[2], changed.dimensions[3])
                })
            else { throw misfit("\"\(base)\" has another shape") }
        }
    }

    /// What a checkpoint made with it is of.
    var identity: String {
        var info = stat()
        _ = stat(path, &info)
        return "\(path)|\(info.st_size)|\(info.written.nanoseconds)|\(scale)"
    }
}
