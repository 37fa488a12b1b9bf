internal import AlcoveCore

extension LlamaEngine {
    /// The processors of the workers of `options`, asked and connected to; nil when there are none.
    static func workers(_ options: Options, _ header: GGUFHeader, _ vocabularyOnly: Bool) throws -> WorkerDevices? {
        if vocabularyOnly || options.workers.isEmpty { return nil }
        let need = try MemoryNeed(header, cacheType: options.cacheType)
        let shortest = ContextHandle.Shape(cells: MemoryAdmission.fewestTokens, sequences: 1)
        return try WorkerDevices(options.workers, needed: need.weightBytes + need.contextBytes(shortest))
    }
}
