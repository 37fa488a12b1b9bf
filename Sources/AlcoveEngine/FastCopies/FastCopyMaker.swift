package import AlcoveCore
internal import CPosixShim

/// Makes a fast copy of a model file, whole or not at all.
package struct FastCopyMaker: Sendable {
    /// The most by which a copy's perplexity may be above its original's.
    package static let mostLoss = 0.02

    private let store: FastCopyStore
    private let process: FastCopyProcess
    private let threads: Int?

    /// - Parameter worker: the program and words that serve `FastCopyWorker`.
    package init(store: FastCopyStore, worker: [String], threads: Int?) {
        self.store = store
        process = FastCopyProcess(command: worker)
        self.threads = threads
    }

    /// Makes a copy and measures it against the original.
    ///
    /// - Throws: `FastCopyError`, or `GGUFError` for a file that is no model; nothing is left behind then.
    package func make(
        of path: String, as type: FastCopyType, stop: StopSignal,
        progress: @escaping @Sendable (FastCopyProgress) -> Void
    ) async throws -> FastCopy {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<FastCopy, any Error>) in
                let isStarted = startThread(name: "alcove.copy", stackBytes: 8 << 20) {
                    continuation.resume(
                        with: Result { try makeNow(of: path, as: type, stop: stop, progress: progress) })
                }
                if !isStarted {
                    continuation.resume(throwing: FastCopyError.noChild(reason: "the system gives no thread"))
                }
            }
        } onCancel: {
            stop.set()
        }
    }

    private func makeNow(
        of path: String, as type: FastCopyType, stop: StopSignal, progress: (FastCopyProgress) -> Void
    ) throws -> FastCopy {
        try ModelFile.check(path)
        if let copy = store.copy(ofFile: path) {
            throw FastCopyError.isFastCopy(name: copy.name, original: copy.originalName)
        }
        let header = try GGUFHeader(path: path)
        let advice = FastCopyAdvice(header)
        guard advice.isWorthIt else { throw FastCopyError.nothingToGain(name: header.fileName, types: advice.types) }
        let lock = try store.lock()
        store.sweep(holding: lock)
        guard let fingerprint = FastCopyStore.fingerprint(path) else {
            throw EngineError.modelUnreadable(path: path, reason: Platform.describe(errno: errno))
        }
        if let there = store.copies.first(where: { $0.originalFingerprint == fingerprint && $0.type == type }) {
            throw FastCopyError.exists(name: header.fileName, copy: there.name)
        }
        let needed = type.bytes(ofCopyOf: header)
        if let free = freeBytes, needed > free {
            throw FastCopyError.noRoom(needed: needed, free: free, folder: store.folder)
        }

        let making = "\(store.makingFolder)/\(getpid())"
        guard Folder.make(making) else { throw FastCopyError.unwritable(path: making, errno: errno) }
        defer { Folder.remove(making) }
        let part = making + "/copy.gguf"
        let measure = try process.run(
            source: path, copy: part, type: type, threads: threads, stop: stop, progress: progress)
        try check(part, against: header)
        guard measure.loss <= FastCopyMaker.mostLoss else {
            throw FastCopyError.tooLossy(
                name: header.fileName, type: type.label, original: measure.originalPerplexity,
                copy: measure.copyPerplexity)
        }
        return try keep(part, in: making, of: header, fingerprint, type, measure)
    }

    /// Whether the copy is the same model: every tensor there, with its name and shape.
    private func check(_ part: String, against original: GGUFHeader) throws {
        let name = original.fileName
        let header: GGUFHeader
        do {
            try ModelFile.check(part)
            header = try GGUFHeader(path: part)
        } catch let error as any UserFacingError {
            throw FastCopyError.differs(name: name, what: "its header is not sound (\(error.code))")
        }
        guard header.tensors.count == original.tensors.count else {
            throw FastCopyError.differs(
                name: name, what: "it has \(header.tensors.count) tensors instead of \(original.tensors.count)")
        }
        let shapes = Dictionary(original.tensors.map { ($0.name, $0.shape) }) { first, _ in first }
        if let other = header.tensors.first(where: { shapes[$0.name] != $0.shape }) {
            throw FastCopyError.differs(name: name, what: "the tensor \"\(other.name)\" is another")
        }
    }

    /// On the disk first, then the note, then the name.
    private func keep(
        _ part: String, in making: String, of header: GGUFHeader, _ fingerprint: String, _ type: FastCopyType,
        _ measure: FastCopyMeasure
    ) throws(FastCopyError) -> FastCopy {
        var status = stat()
        try sync(part)
        guard stat(part, &status) == 0 else { throw .unwritable(path: part, errno: errno) }
        var base = header.fileName
        if base.lowercased().hasSuffix(".gguf") { base.removeLast(5) }
        for number in 1...99 {
            let name = "\(base).fast-\(type.label)\(number == 1 ? "" : " (\(number))").gguf"
            let path = store.folder + "/" + name
            if access(path, F_OK) == 0 { continue }
            let copy = FastCopy(
                name: name, path: path, bytes: UInt64(status.st_size), type: type, originalName: header.fileName,
                originalPath: header.path, originalBytes: header.fileBytes, originalFingerprint: fingerprint,
                measure: measure)
            let note = making + "/note.json"
            try write(copy.json.bytes(.indented) + [0x0A], to: note)
            guard rename(note, path + FastCopyStore.noteSuffix) == 0 else {
                throw .unwritable(path: path, errno: errno)
            }
            let code = alcove_rename_exclusive(AT_FDCWD, part, AT_FDCWD, path)
            if code == EEXIST { continue }
            guard code == 0 else {
                unlink(path + FastCopyStore.noteSuffix)
                throw .unwritable(path: path, errno: code)
            }
            try? sync(store.folder)
            return copy
        }
        throw .unwritable(path: "\(store.folder)/\(base).fast-\(type.label).gguf", errno: EEXIST)
    }

    private var freeBytes: UInt64? {
        var disk = statvfs()
        guard statvfs(store.folder, &disk) == 0 else { return nil }
        return UInt64(disk.f_bavail) * UInt64(disk.f_frsize)
    }

    private func write(_ bytes: [UInt8], to path: String) throws(FastCopyError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .unwritable(path: path, errno: errno) }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { AlcoveCore.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .unwritable(path: path, errno: errno) }
            rest = rest.dropFirst(count)
        }
        guard fsync(descriptor) == 0 else { throw .unwritable(path: path, errno: errno) }
    }

    private func sync(_ path: String) throws(FastCopyError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unwritable(path: path, errno: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .unwritable(path: path, errno: errno) }
    }
}
