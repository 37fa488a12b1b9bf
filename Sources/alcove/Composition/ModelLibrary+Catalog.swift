internal import AlcoveCore
internal import AlcoveDownloads
internal import AlcoveEngine
internal import AlcoveServer

extension ModelLibrary {
    /// The catalogue with its live parts.
    ///
    /// - Parameter cacheType: The storage of keys and values that is set for this device.
    func catalogServices(
        retries: RetrySchedule = RetrySchedule(), cacheType: @escaping @Sendable () -> String = { "f16" }
    ) -> CatalogServices {
        let store = ModelStore(folder: folders.models)
        return CatalogServices(
            catalog: { catalog }, store: store, downloads: Downloads(store: store, retries: retries),
            shape: ModelLibrary.shape, cacheTypes: Set(CacheType.allCases.map(\.rawValue)), cacheType: cacheType,
            repacker: ModelLibrary.repacker)
    }

    private static let repacker = ModelRepacker(
        bytes: { TernaryRepack.isNeeded($0) ? try TernaryRepack(path: $0).targetBytes : nil },
        write: { try TernaryRepack(path: $0).write(to: $1, stop: $2) })

    /// What a file's header says of its size in memory; throws the reason why it cannot be loaded.
    private static let shape: @Sendable (String) throws -> ModelShape = { path in
        let header = try GGUFHeader(path: path)
        let summary = try ModelFileSummary(header)
        try summary.checkLoadable(header)
        return ModelShape(
            weightBytes: summary.weightBytes, cacheBytesPerToken: summary.cacheBytesPerToken(),
            vocabularySize: summary.tokenizer.vocabularySize, embeddingLength: summary.embeddingLength,
            contextLength: summary.contextLength)
    }
}
