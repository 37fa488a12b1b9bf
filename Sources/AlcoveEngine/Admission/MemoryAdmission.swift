internal import AlcoveCore

/// Compares what is needed with what may still be taken, before it is taken: what does not fit is refused in a sentence, and
/// no system has to end the program.
package struct MemoryAdmission: Sendable {
    package var need: MemoryNeed
    /// Bytes that this process may still take; nil when the system does not say, and then everything is let in.
    let spare: @Sendable () -> UInt64?

    /// What is left to the rest of the program: connections, the transcript of a turn, a tool's output.
    static let reserve: UInt64 = 24 << 20
    /// The shortest chat worth loading a model for.
    static let fewestTokens = 512

    package init(need: MemoryNeed, spare: @escaping @Sendable () -> UInt64? = { MemoryReading.current.spareBytes }) {
        self.need = need
        self.spare = spare
    }

    /// As an engine of these options asks; a vocabulary alone takes nothing worth asking for.
    init(
        _ header: GGUFHeader, _ options: LlamaEngine.Options, cacheType: CacheType? = nil, vocabularyOnly: Bool = false,
        draft: String? = nil
    ) throws(GGUFError) {
        var need = try MemoryNeed(header, cacheType: cacheType ?? options.cacheType)
        if !options.workers.isEmpty { need = need.besideWorkers(header) }
        if let draft { need = need.adding(try MemoryNeed(GGUFHeader(path: draft), cacheType: .f16)) }
        var projector = stat()
        if let path = options.projector, stat(path, &projector) == 0 { need.weightBytes += UInt64(projector.st_size) }
        self.init(need: need, spare: options.spareBytes ?? { MemoryReading.current.spareBytes })
        if vocabularyOnly { self.init(need: need) { nil } }
    }

    /// With what is free now, for decisions that belong together.
    var measured: MemoryAdmission {
        let free = spare()
        return MemoryAdmission(need: need) { free }
    }

    /// Refuses a model whose weights and shortest chat do not fit.
    ///
    /// - Parameter returning: bytes that will be given back before, as by the model that is loaded now.
    /// - Throws: `EngineError.tooLittleMemory` with both numbers.
    package func checkLoad(_ path: String, returning: UInt64 = 0) throws(EngineError) {
        guard let spare = spare() else { return }
        let shortest = ContextHandle.Shape(cells: MemoryAdmission.fewestTokens, sequences: 1)
        let context = need.contextBytes(shortest)
        let needed = need.weightBytes + context + MemoryAdmission.reserve
        guard needed > spare + returning else { return }
        throw .tooLittleMemory(path: path, weights: need.weightBytes, context: context, free: spare + returning)
    }

    /// The most tokens of one chat that fit beside the weights: as many as are wanted, or fewer in steps of 256.
    func tokens(wanted: Int) -> Int {
        guard let spare = spare(), need.cacheBytesPerToken > 0 else { return wanted }
        func fits(_ cells: Int) -> Bool {
            let context = need.contextBytes(ContextHandle.Shape(cells: cells, sequences: 1))
            return need.weightBytes + context + MemoryAdmission.reserve <= spare
        }
        if fits(wanted) { return wanted }
        var cells = wanted / 256 * 256
        while cells > MemoryAdmission.fewestTokens, !fits(cells) { cells -= 256 }
        return min(wanted, max(cells, MemoryAdmission.fewestTokens))
    }

    /// The sentence that goes with a chat made shorter than wanted.
    func shortened(to tokens: Int, wanted: Int) -> String {
        let whole = need.weightBytes + need.contextBytes(ContextHandle.Shape(cells: wanted, sequences: 1))
        return "There is memory for chats of \(tokens) of \(wanted) tokens: \(wanted) would need "
            + "\(ByteCount.text(whole)) with the weights, and \(ByteCount.text(spare() ?? 0)) are free."
    }

    /// Whether a context may become another one.
    ///
    /// - Parameters:
    ///   - old: what is freed for it.
    ///   - moved: bytes of states that are held while one is freed and the other made.
    func allows(_ shape: ContextHandle.Shape, insteadOf old: ContextHandle.Shape?, moving moved: Int = 0) -> Bool {
        guard let spare = spare() else { return true }
        let freed = old.map(need.contextBytes) ?? 0
        let held = UInt64(max(0, moved))
        return held <= spare && need.contextBytes(shape) + held + MemoryAdmission.reserve <= spare + freed
    }

    /// Why a chat of so many tokens cannot be.
    func refusal(of shape: ContextHandle.Shape, insteadOf old: ContextHandle.Shape?) -> EngineError {
        let freed = old.map(need.contextBytes) ?? 0
        return .noMemoryForContext(
            tokens: shape.cells, needed: need.contextBytes(shape) + MemoryAdmission.reserve,
            free: (spare() ?? 0) + freed)
    }
}

/// Bytes as people read them.
enum ByteCount {
    static func text(_ bytes: UInt64) -> String {
        if bytes < 1_000_000_000 { return "\(bytes / 1_000_000) MB" }
        let tenths = (bytes + 50_000_000) / 100_000_000
        return "\(tenths / 10).\(tenths % 10) GB"
    }
}
