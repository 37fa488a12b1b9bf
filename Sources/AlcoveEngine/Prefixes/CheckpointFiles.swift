internal import AlcoveCore

/// Checkpoints of one model on disk, so that the first message after a start is as quick as the second.
///
/// A file is named by what it is of: the model, the library, the shape of the memory, the exact tokens. One that does not
/// fit in every byte of its header, or cannot be read, is deleted and counts as absent.
struct CheckpointFiles: Sendable {
    static let magic: UInt32 = 0x4B43_4C41  // "ALCK"
    static let version: UInt32 = 1
    /// Most files of a model.
    static let most = 4
    /// Largest file that is written: beyond, writing costs more than it saves.
    static let mostBytes = 1 << 30

    let folder: String
    /// Model file, library and memory, in words.
    let identity: String

    struct Found: Sendable {
        var path: String
        var tokens: [Token]
        /// Where the state begins in the file.
        var offset: Int
        var bytes: Int
    }

    private func path(of tokens: [Token]) -> String {
        var hash = SHA256()
        hash.update(Array(identity.utf8) + [0])
        hash.update(tokens.flatMap { token in (0..<4).map { UInt8(truncatingIfNeeded: token >> ($0 * 8)) } })
        return "\(folder)/\(hexText(hash.finish().prefix(12))).ckpt"
    }

    /// What is there and fits.
    func list() -> [Found] {
        var found: [Found] = []
        for name in Folder.names(in: folder) where name.hasSuffix(".ckpt") {
            let path = folder + "/" + name
            if let file = header(of: path) { found.append(file) } else { unlink(path) }
        }
        return found
    }

    /// The state of a checkpoint; nil when the file is not what it was.
    func state(of file: Found) -> [UInt8]? {
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard let bytes = read(descriptor, at: file.offset, file.bytes) else { return nil }
        // Used now, so it goes last.
        futimens(descriptor, nil)
        return bytes
    }

    /// Writes a checkpoint; a file is whole or not there. What cannot be written is not: it only serves speed.
    func write(_ tokens: [Token], _ state: [UInt8]) {
        let target = path(of: tokens)
        guard state.count <= CheckpointFiles.mostBytes, access(target, F_OK) != 0 else { return }
        Folder.make(folder)
        let temporary = "\(target).\(hexText(Platform.randomBytes(6))).tmp"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        let isWhole =
            put(header(for: tokens, stateBytes: state.count), descriptor) && put(state, descriptor)
            && fsync(descriptor) == 0
        close(descriptor)
        guard isWhole, rename(temporary, target) == 0 else {
            unlink(temporary)
            return
        }
        sweep(keeping: target)
    }

    // MARK: The form: magic, version, identity, tokens, bytes of the state, state

    private func header(for tokens: [Token], stateBytes: Int) -> [UInt8] {
        let name = Array(identity.utf8)
        return words([CheckpointFiles.magic, CheckpointFiles.version, UInt32(name.count)]) + name
            + words([UInt32(tokens.count)] + tokens.map { UInt32(bitPattern: $0) } + [UInt32(stateBytes)])
    }

    private func words(_ words: [UInt32]) -> [UInt8] {
        words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
    }

    private func header(of path: String) -> Found? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let beginning =
            words([CheckpointFiles.magic, CheckpointFiles.version, UInt32(identity.utf8.count)])
            + Array(identity.utf8)
        guard let start = read(descriptor, at: 0, beginning.count + 4), start.starts(with: beginning) else {
            return nil
        }
        let count = Int(word(start[beginning.count...]))
        guard (1...1_048_576).contains(count), let bytes = read(descriptor, at: beginning.count + 4, 4 * count + 4)
        else { return nil }
        let tokens = (0..<count).map { Token(bitPattern: word(bytes[(4 * $0)...])) }
        let found = Found(
            path: path, tokens: tokens, offset: beginning.count + 8 + 4 * count, bytes: Int(word(bytes[(4 * count)...]))
        )
        var info = stat()
        guard self.path(of: tokens) == path, fstat(descriptor, &info) == 0,
            Int(info.st_size) == found.offset + found.bytes
        else { return nil }
        return found
    }

    private func word(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    private func read(_ descriptor: Int32, at offset: Int, _ count: Int) -> [UInt8]? {
        guard count > 0, count <= CheckpointFiles.mostBytes else { return nil }
        var done = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            while done < count {
                let got = pread(descriptor, buffer.baseAddress! + done, count - done, off_t(offset + done))
                if got < 0, errno == EINTR { continue }
                if got <= 0 { break }
                done += got
            }
            initialized = done
        }
        return done == count ? bytes : nil
    }

    private func put(_ bytes: [UInt8], _ descriptor: Int32) -> Bool {
        bytes.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count {
                let count = AlcoveCore.write(descriptor, buffer.baseAddress! + done, buffer.count - done)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                done += count
            }
            return true
        }
    }

    /// The least recently used go, and what a killed program left half written.
    private func sweep(keeping kept: String) {
        var files: [(path: String, used: Int64)] = []
        let now = Int64(time(nil))
        for name in Folder.names(in: folder) {
            let path = folder + "/" + name
            var info = stat()
            guard stat(path, &info) == 0 else { continue }
            let used = info.written.nanoseconds
            if name.hasSuffix(".ckpt") {
                files.append((path, path == kept ? .max : used))
            } else if name.hasSuffix(".tmp"), now - used / 1_000_000_000 > 600 {
                unlink(path)
            }
        }
        for file in files.sorted(by: { $0.used < $1.used }).dropLast(CheckpointFiles.most) { unlink(file.path) }
    }
}
