internal import AlcoveCore
internal import AlcoveEngine
internal import AlcoveServer
internal import Synchronization

extension ModelLibrary {
    var fastCopies: FastCopyStore { FastCopyStore(folder: folders.models) }

    /// Whether a copy in another quantisation would be quicker; nil when the file cannot be loaded.
    func fastCopyAdvice(_ path: String) -> FastCopyAdvice? {
        guard let header = try? GGUFHeader(path: path) else { return nil }
        let advice = FastCopyAdvice(header)
        return advice.isWorthIt ? advice : nil
    }

    func fastCopyMaker(threads: Int?) -> FastCopyMaker {
        FastCopyMaker(
            store: fastCopies, worker: [resources.program, "plumbing", "fast-copy-worker"], threads: threads)
    }

    /// The copies a removal of a file means: itself, or those of the model it is.
    ///
    /// - Throws: `FastCopyError` when there is none.
    func fastCopies(named path: String) throws -> [FastCopy] {
        let found = fastCopies.copy(ofFile: path).map { [$0] } ?? fastCopies.copies(ofFile: path)
        guard !found.isEmpty else {
            throw FastCopyError.nothingToRemove(name: "\(path.split(separator: "/").last ?? "")")
        }
        return found
    }

    /// The routes' live parts.
    func fastCopyServices(threads: Int?) -> FastCopyServices {
        let seen = SlowTypes()
        return FastCopyServices(
            facts: {
                [
                    "fastCopies": .array(fastCopies.copies.map(\.json)),
                    "slowModels": .array(
                        entries.compactMap { entry in
                            let types = seen.types(of: entry) { fastCopyAdvice($0)?.slowTypes ?? [] }
                            return types.isEmpty
                                ? nil : ["model": .string(entry.name), "types": .array(types.map { .string($0) })]
                        }),
                ]
            },
            copies: { try fastCopies(named: $0).map { FastCopyServices.Removed(name: $0.name, path: $0.path) } },
            remove: { path in
                try fastCopies(named: path).map { copy in
                    try fastCopies.remove(copy)
                    return FastCopyServices.Removed(name: copy.name, path: copy.path)
                }
            },
            make: { path, type, stop, progress in
                guard let type = FastCopyType(rawValue: type ?? FastCopyType.q8_0.rawValue) else {
                    throw InputError(code: "bad_type", message: "\"to\" should be q8_0 or q4_0.")
                }
                let maker = fastCopyMaker(threads: threads)
                return try await maker.make(of: path, as: type, stop: stop) {
                    progress(FastCopyServices.Progress(phase: $0.phase.rawValue, fraction: $0.fraction))
                }.json
            })
    }
}

/// What was found in headers, so that a list of models does not read them all each time.
private final class SlowTypes: Sendable {
    private struct Key: Hashable {
        var path: String
        var bytes: UInt64
        var written: Int64
    }
    private let known = Mutex<[Key: [String]]>([:])

    func types(of entry: ModelLibrary.Entry, _ read: (String) -> [String]) -> [String] {
        var status = stat()
        guard stat(entry.path, &status) == 0 else { return [] }
        let key = Key(path: entry.path, bytes: UInt64(status.st_size), written: status.written.nanoseconds)
        if let types = known.withLock({ $0[key] }) { return types }
        let types = read(entry.path)
        known.withLock { known in
            if known.count > 1_000 { known = [:] }
            known[key] = types
        }
        return types
    }
}
