internal import AlcoveCore

/// What a model takes of memory, by its header: known before anything of it is loaded.
///
/// Figures are upper bounds, but for layers whose memory does not grow with a chat.
package struct MemoryNeed: Sendable, Hashable {
    package var weightBytes: UInt64
    /// Keys and values of one token, as they are stored; 0 where the header does not tell.
    package var cacheBytesPerToken: Double
    /// Keys and values that layers with a sliding window keep of one sequence, however long it is.
    package var windowBytes: Double = 0
    /// What one computation of the largest piece of a prompt needs beside.
    package var computeBytes: UInt64

    /// - Parameter cacheType: how keys and values will be stored.
    package init(_ header: GGUFHeader, cacheType: CacheType) throws(GGUFError) {
        let summary = try ModelFileSummary(header)
        self.init(summary, header, bits: cacheType.bits)
    }

    init(_ summary: ModelFileSummary, _ header: GGUFHeader, bits: Double) {
        weightBytes = summary.weightBytes
        let layers = CacheLayers(summary, header)
        let all = (summary.cacheBytesPerToken() ?? 0) * bits / 16
        cacheBytesPerToken = all * layers.growing
        if let window = layers.window {
            windowBytes = all * layers.windowed * Double(window + ContextHandle.batchTokens)
        }
        // A row of scores for each token of a piece, and some rows of the layers' width.
        let width = UInt64(summary.embeddingLength ?? 0), words = UInt64(summary.tokenizer.vocabularySize ?? 0)
        computeBytes = UInt64(ContextHandle.batchTokens) * 4 * (words + 8 * width)
    }

    /// What a context of a shape takes: keys, values, and the mask that says who may look at whom.
    func contextBytes(_ shape: ContextHandle.Shape) -> UInt64 {
        guard shape.cells > 0 else { return 0 }
        let cache = (cacheBytesPerToken * Double(shape.cells) + windowBytes) * Double(shape.sequences)
        let mask = Double(shape.cells * ContextHandle.batchTokens * 4)
        return UInt64(min(cache + mask, 1e18)) + computeBytes
    }

    /// What stays on this device of a model whose layers lie on workers: the table of the tokens.
    func besideWorkers(_ header: GGUFHeader) -> MemoryNeed {
        var rest = self
        rest.weightBytes = header.tensors.filter { $0.name.hasPrefix("token_embd") }.reduce(0) { $0 + $1.byteCount }
        rest.cacheBytesPerToken = 0
        rest.windowBytes = 0
        return rest
    }

    /// The same with another model beside it, as for drafts.
    func adding(_ other: MemoryNeed) -> MemoryNeed {
        var sum = self
        sum.weightBytes += other.weightBytes
        sum.cacheBytesPerToken += other.cacheBytesPerToken
        sum.windowBytes += other.windowBytes
        sum.computeBytes += other.computeBytes
        return sum
    }
}

/// Which shares of a model's layers keep everything, and which forget.
struct CacheLayers: Hashable {
    /// Share of layers whose keys and values grow with a chat.
    var growing = 1.0
    /// Share of layers that keep a window only.
    var windowed = 0.0
    /// Tokens of that window.
    var window: Int?

    init(_ summary: ModelFileSummary, _ header: GGUFHeader) {
        let own = summary.architecture ?? ""
        func number(_ key: String) -> Int? {
            guard case .unsigned(let value)? = header["\(own).\(key)"]?.value else { return nil }
            return Int(exactly: value)
        }
        // Every so many layers attend, the others are recurrent; a list of heads tells that by itself.
        if let interval = number("full_attention_interval"), interval > 1, summary.keyValueHeadCounts.count == 1 {
            growing = 1 / Double(interval)
        }
        guard let window = number("attention.sliding_window"), window > 0 else { return }
        switch header["\(own).attention.sliding_window_pattern"]?.value {
        case .unsigned(let every)? where every > 1: windowed = 1 - 1 / Double(every)
        case .array(let array)?:
            let flags = (array.elements ?? []).map { $0 == .bool(true) }
            if !flags.isEmpty { windowed = Double(flags.count { $0 }) / Double(flags.count) }
        default: return
        }
        self.window = window
        growing -= windowed
    }
}
