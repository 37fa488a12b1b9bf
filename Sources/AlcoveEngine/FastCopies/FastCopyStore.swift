package import AlcoveCore

/// A fast copy on disk, with what was found when it was made.
package struct FastCopy: Sendable, Hashable {
    /// The file's name and path.
    package var name: String
    package var path: String
    package var bytes: UInt64
    package var type: FastCopyType
    package var originalName: String
    package var originalPath: String
    package var originalBytes: UInt64
    /// Which file that was, whatever it is called now (`FastCopyStore.fingerprint`).
    package var originalFingerprint: String
    package var measure: FastCopyMeasure

    package var json: JSONValue {
        [
            "name": .string(name), "path": .string(path), "bytes": .integer(Int64(clamping: bytes)),
            "type": .string(type.rawValue), "measure": measure.json,
            "original": [
                "name": .string(originalName), "path": .string(originalPath),
                "bytes": .integer(Int64(clamping: originalBytes)), "fingerprint": .string(originalFingerprint),
            ],
        ]
    }
}

/// The fast copies in the models' folder: ordinary model files, each with a note beside it.
///
/// The note is written before the copy gets its name and goes after it, so that no copy is ever without one. Whatever is
/// being made lies in a folder of its own, which only who holds its lock may touch.
package struct FastCopyStore: Sendable {
    static let noteSuffix = ".fastcopy.json"
    /// Longest note that is read.
    private static let noteBytes = 64 << 10

    /// `models` in the root folder.
    package let folder: String

    package init(folder: String) { self.folder = folder }

    /// Where copies are made; names that begin with a point are no models to anybody.
    var makingFolder: String { folder + "/.fast-copies" }

    /// All of them, by name; notes that cannot be read and notes without their file are left out.
    package var copies: [FastCopy] {
        Folder.names(in: folder).filter { $0.hasSuffix(FastCopyStore.noteSuffix) }.compactMap { note in
            copy(ofFile: "\(folder)/\(note.dropLast(FastCopyStore.noteSuffix.count))")
        }
    }

    /// What the note beside a file says; nil when the file is no fast copy.
    package func copy(ofFile path: String) -> FastCopy? {
        var status = stat()
        guard path.hasPrefix(folder + "/"), stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            let note = FastCopyStore.read(path + FastCopyStore.noteSuffix),
            let type = note["type"]?.string.flatMap(FastCopyType.init),
            let original = note["original"], let name = original["name"]?.string,
            let originalPath = original["path"]?.string, let bytes = original["bytes"]?.int, bytes >= 0,
            let fingerprint = original["fingerprint"]?.string,
            let measure = note["measure"].flatMap(FastCopyMeasure.init),
            note["bytes"]?.int == Int(status.st_size)
        else { return nil }
        return FastCopy(
            name: GGUFName.ofFile(path), path: path, bytes: UInt64(status.st_size), type: type, originalName: name,
            originalPath: originalPath, originalBytes: UInt64(bytes), originalFingerprint: fingerprint, measure: measure
        )
    }

    /// The copies of a file, by what it is.
    package func copies(ofFile path: String) -> [FastCopy] {
        let copies = copies
        // Reading a file for its fingerprint is not done in vain.
        guard !copies.isEmpty, let fingerprint = FastCopyStore.fingerprint(path) else { return [] }
        return copies.filter { $0.originalFingerprint == fingerprint }
    }

    /// Deletes a copy, then its note.
    package func remove(_ copy: FastCopy) throws(FastCopyError) {
        for path in [copy.path, copy.path + FastCopyStore.noteSuffix] {
            guard unlink(path) == 0 || errno == ENOENT else { throw .unwritable(path: path, errno: errno) }
        }
    }

    /// Takes away what a killed making left, unless one is at work now.
    package func sweep() {
        guard access(makingFolder, F_OK) == 0, let lock = try? lock() else { return }
        sweep(holding: lock)
    }

    func sweep(holding lock: borrowing FastCopyLock) {
        for name in Folder.names(in: makingFolder) where name != FastCopyLock.name {
            Folder.remove(makingFolder + "/" + name)
        }
        // A note whose copy never got its name, or was deleted by hand.
        for note in Folder.names(in: folder) where note.hasSuffix(FastCopyStore.noteSuffix) {
            let path = folder + "/" + note
            if access(String(path.dropLast(FastCopyStore.noteSuffix.count)), F_OK) != 0, errno == ENOENT {
                unlink(path)
            }
        }
    }

    func lock() throws(FastCopyError) -> FastCopyLock {
        guard Folder.make(makingFolder) else { throw .unwritable(path: makingFolder, errno: errno) }
        return try FastCopyLock(folder: makingFolder)
    }

    /// Which file this is, whatever it is called: its length, its header, and samples of its weights. nil when it cannot be read.
    ///
    /// Models take many gigabytes, and this is asked for at every start of a making: not every byte is looked at.
    package static func fingerprint(_ path: String) -> String? {
        guard let header = try? GGUFHeader(path: path) else { return nil }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var hash = SHA256()
        hash.update("\(header.fileBytes)|\(header.tensors.count)|".utf8)
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let weights = header.fileBytes - min(header.fileBytes, header.dataOffset)
        let places = [0, header.dataOffset / 2] + (0..<16).map { header.dataOffset + weights / 16 * $0 }
        for place in places {
            let count = pread(descriptor, &buffer, buffer.count, off_t(clamping: place))
            guard count >= 0 else { return nil }
            hash.update(buffer[..<count])
        }
        return hash.finish().map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }.joined()
    }

    private static func read(_ path: String) -> JSONValue? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: noteBytes)
        let count = AlcoveCore.read(descriptor, &bytes, bytes.count)
        guard count > 0, count < bytes.count else { return nil }
        return try? JSONValue(parsing: Array(bytes[..<count]))
    }
}

/// The right to make a copy: one at a time in a root folder, given back by the system when its holder dies.
struct FastCopyLock: ~Copyable {
    static let name = "lock"
    private let descriptor: Int32

    init(folder: String) throws(FastCopyError) {
        let path = folder + "/" + FastCopyLock.name
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .unwritable(path: path, errno: errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw .busy
        }
    }

    deinit { close(descriptor) }
}
