package import AlcoveCore

/// What the catalogue's routes and commands work with.
package struct CatalogServices: Sendable {
    /// The catalogue as it stands now.
    package let catalog: @Sendable () -> Catalog
    package let store: ModelStore
    package let downloads: Downloads
    /// What the header of a model file says; throws the reason why it cannot be loaded.
    package let shape: @Sendable (_ path: String) throws -> ModelShape
    package let memory: @Sendable () -> DeviceMemory
    /// For files that have to be written anew before they can be loaded.
    package let repacker: ModelRepacker?
    /// How the engine can store keys and values; an entry that is meant for another storage takes 16 bits.
    package let cacheTypes: Set<String>
    /// The storage that is set for this device.
    package let cacheType: @Sendable () -> String

    /// Takes a file of this device in.
    package var imports: ModelImport { ModelImport(folder: store.folder, shape: shape, repacker: repacker) }

    package init(
        catalog: @escaping @Sendable () -> Catalog, store: ModelStore, downloads: Downloads,
        shape: @escaping @Sendable (_ path: String) throws -> ModelShape, cacheTypes: Set<String> = ["f16"],
        cacheType: @escaping @Sendable () -> String = { "f16" }, repacker: ModelRepacker? = nil,
        memory: @escaping @Sendable () -> DeviceMemory = { .current }
    ) {
        self.catalog = catalog
        self.store = store
        self.downloads = downloads
        self.shape = shape
        self.memory = memory
        self.repacker = repacker
        self.cacheTypes = cacheTypes
        self.cacheType = cacheType
    }

    /// Most models that are recommended at once.
    package static let mostRecommended = 3

    /// What keys and values will take: what is set, or what the entry asks for when that is less.
    private func storage(for wanted: String) -> String {
        let type = MemoryEstimate.smallerCache(cacheType(), wanted)
        return cacheTypes.contains(type) ? type : "f16"
    }

    /// Whether an entry fits now, by its file's header when it is there and by the entry's own numbers before.
    package func fit(_ entry: CatalogEntry, _ status: ModelStore.Status, device: DeviceMemory) -> Fit {
        let shape = status.path.flatMap { path in try? self.shape(path) }
        // A projector is loaded beside the weights, and so is a model that guesses.
        let beside = entry.files.filter {
            $0.role != .weights && (!$0.isOptional || store.isComplete($0, in: entry))
        }
        let estimate = MemoryEstimate(
            shape: shape, bytes: entry.weights.bytes, context: entry.contextLength,
            cacheType: storage(for: entry.cacheType),
            cacheBytesPerToken: entry.cacheBytesPerToken)
        var whole = estimate
        whole.weightBytes += beside.reduce(0) { $0 + $1.bytes }
        return Fit(minDeviceMemoryGB: entry.minDeviceMemoryGB, estimate: whole, device: device)
    }

    /// Whether a file fits now: as the catalogue's entry that it is, or by itself with the context it will get.
    ///
    /// - Throws: the reason why it cannot be loaded.
    package func fit(ofFile path: String) throws -> Fit {
        let shape = try shape(path)
        if let entry = catalog().entry(ofFile: path, in: store)?.entry {
            return fit(entry, store.status(of: entry), device: memory())
        }
        let estimate = MemoryEstimate(shape: shape, bytes: 0, context: 0, cacheType: storage(for: "f16"))
        return Fit(minDeviceMemoryGB: 0, estimate: estimate, device: memory())
    }

    package struct Item: Sendable {
        package var entry: CatalogEntry
        package var status: ModelStore.Status
        package var fit: Fit
        package var isRecommended: Bool
    }

    /// All entries: the recommended first, then what runs here, then by the device and the bytes they need.
    package func items(of catalog: Catalog) -> [Item] {
        let device = memory()
        var items = catalog.entries.map { entry in
            let status = store.status(of: entry)
            return Item(entry: entry, status: status, fit: fit(entry, status, device: device), isRecommended: false)
        }
        items.sort { CatalogServices.rank($0) < CatalogServices.rank($1) }
        // The largest that fits comfortably answers best; experiments and toys are for whoever looks for them.
        let candidates = items.indices.filter { index in
            let item = items[index]
            return item.fit.verdict == .fits && !item.entry.experimental && item.entry.origin != .embedded
                && (item.entry.canBeDownloaded || item.status.state == .installed)
        }
        let chosen = candidates.sorted { a, b in
            (items[b].entry.minDeviceMemoryGB, items[b].entry.requiredBytes)
                < (items[a].entry.minDeviceMemoryGB, items[a].entry.requiredBytes)
        }.prefix(CatalogServices.mostRecommended)
        for index in chosen { items[index].isRecommended = true }
        return items.filter(\.isRecommended) + items.filter { !$0.isRecommended }
    }

    private static func rank(_ item: Item) -> (Int, Int, UInt64) {
        (item.fit.verdict == .tooBig ? 1 : 0, item.entry.minDeviceMemoryGB, item.entry.requiredBytes)
    }
}

extension CatalogServices.Item {
    /// The entry as programs read it.
    package func json(download: JSONValue) -> JSONValue {
        [
            "id": .string(entry.id), "name": .string(entry.name), "family": .string(entry.family),
            "parameters": .string(entry.parameters), "quantization": .string(entry.quantization),
            "notes": .string(entry.notes), "license": .string(entry.license),
            "contextLength": JSONValue(entry.contextLength),
            "modalities": .string(
                entry.modalities.isEmpty ? "Text" : entry.modalities.map(\.rawValue).joined(separator: ", ")),
            "kind": .string(entry.kind.rawValue), "experimental": .bool(entry.experimental),
            "sideloadOnly": .bool(entry.sideloadOnly), "minDeviceMemoryGB": JSONValue(entry.minDeviceMemoryGB),
            "totalBytes": .integer(Int64(entry.requiredBytes)), "state": .string(status.state.rawValue),
            "installedBytes": .integer(Int64(status.installedBytes)),
            "remainingBytes": .integer(Int64(status.remainingBytes)), "path": JSONValue(status.path),
            "download": download, "origin": .string(entry.origin.rawValue),
            "supportsThinking": .bool(entry.thinks), "kvCacheDtype": .string(entry.cacheType),
            "recommended": .bool(isRecommended), "fit": fit.json,
            "files": .array(
                entry.files.map { file in
                    [
                        "role": .string(file.role.rawValue), "name": .string(file.name),
                        "bytes": .integer(Int64(file.bytes)), "sha256": JSONValue(file.sha256),
                        "url": JSONValue(file.url), "optional": .bool(file.isOptional),
                    ]
                }),
        ]
    }
}

extension Fit {
    var json: JSONValue {
        [
            "verdict": .string(verdict.rawValue), "label": verdict == .tooBig ? "Too big" : .null,
            "sentence": .string(sentence), "needBytes": .integer(Int64(estimate.totalBytes)),
            "freeBytes": device.freeBytes.map { .integer(Int64($0)) } ?? .null,
            "weightBytes": .integer(Int64(estimate.weightBytes)), "cacheBytes": .integer(Int64(estimate.cacheBytes)),
            "cacheIsGuess": .bool(estimate.guessesCache), "computeBytes": .integer(Int64(estimate.computeBytes)),
            "deviceBytes": .integer(Int64(device.physicalBytes)), "deviceTierGB": JSONValue(device.tier),
        ]
    }
}
