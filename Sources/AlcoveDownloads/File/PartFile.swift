internal import AlcoveCore

/// The unfinished file on disk, `NAME.part`, and beside it `NAME.part.json`, which says where it comes from.
///
/// A kill at any byte leaves a beginning of one version of the file: the note is written before the first byte of a version,
/// and what is there of another is thrown away before that. Locked, so that two programs never write one file.
final class PartFile {
    struct Note: Equatable {
        var url: String
        var validator: Validator?
        var total: UInt64?
    }

    let path: String
    private let target: String
    private let descriptor: Int32
    private(set) var note: Note?
    /// Bytes that are there.
    private(set) var length: UInt64

    /// Whether all that was there has been thrown away.
    private(set) var beganAnew = false

    private var notePath: String { path + ".json" }

    /// - Parameter target: the name of the finished file.
    init(for target: String) throws(DownloadError) {
        self.target = target
        path = target + ".part"
        descriptor = try PartFile.openLocked(path)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw .file(path: path, cause: "it is no plain file")
        }
        length = UInt64(status.st_size)
        note = nil
        note = readNote()
    }

    deinit { close(descriptor) }

    private static func openLocked(_ path: String) throws(DownloadError) -> Int32 {
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
            guard descriptor >= 0 else { throw failure(path, errno) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let code = errno
                close(descriptor)
                if code == EINTR { continue }
                throw code == EWOULDBLOCK ? .busy(path: path) : failure(path, code)
            }
            // The one before us may have finished in between, and what we hold is then the finished file.
            var held = stat(), named = stat()
            if fstat(descriptor, &held) == 0, lstat(path, &named) == 0, held.st_ino == named.st_ino,
                held.st_dev == named.st_dev
            {
                return descriptor
            }
            close(descriptor)
        }
    }

    // MARK: Changing

    /// Throws away what is there.
    func reset() throws(DownloadError) { try cut(to: 0) }

    /// Keeps the first `count` bytes.
    func cut(to count: UInt64) throws(DownloadError) {
        guard count < length else { return }
        guard ftruncate(descriptor, off_t(count)) == 0 else { throw PartFile.failure(path, errno) }
        length = count
        if count == 0 { beganAnew = true }
    }

    /// Says where the bytes come from. To be called before the first of them is written.
    func set(_ note: Note) throws(DownloadError) {
        if note == self.note { return }
        var object: JSONObject = ["url": .string(note.url)]
        if let validator = note.validator { object[validator.kind.rawValue] = .string(validator.text) }
        if let total = note.total { object["total"] = .integer(Int64(total)) }
        let temporary = notePath + ".new"
        let file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw PartFile.failure(notePath, errno) }
        let bytes = JSONValue.object(object).bytes()
        let isWritten = bytes.withUnsafeBytes { PartFile.writeAll(file, $0) }
        let code = errno
        close(file)
        guard isWritten, rename(temporary, notePath) == 0 else {
            let code = isWritten ? errno : code
            unlink(temporary)
            throw PartFile.failure(notePath, code)
        }
        self.note = note
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws(DownloadError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(length))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw PartFile.failure(path, count == 0 ? ENOSPC : errno) }
            length += UInt64(count)
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Reads from the start in pieces, for checking; false from `body` ends it.
    func readPieces(_ body: (UnsafeRawBufferPointer) -> Bool) throws(DownloadError) {
        var position: UInt64 = 0
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(position))
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw PartFile.failure(path, errno) }
            guard count > 0, body(UnsafeRawBufferPointer(rebasing: buffer[..<count])) else { return }
            position += UInt64(count)
        }
    }

    // MARK: Ends

    /// Puts the file into its place, durably.
    func install() throws(DownloadError) {
        guard fsync(descriptor) == 0 else { throw PartFile.failure(path, errno) }
        guard rename(path, target) == 0 else { throw PartFile.failure(target, errno) }
        unlink(notePath)
        let folder = target.lastIndex(of: "/").map { String(target[..<$0]) } ?? "."
        let descriptor = open(folder.isEmpty ? "/" : folder, O_RDONLY | O_CLOEXEC)
        if descriptor >= 0 {
            fsync(descriptor)
            close(descriptor)
        }
    }

    /// Deletes it and its note.
    func remove() {
        unlink(path)
        unlink(notePath)
        length = 0
        note = nil
    }

    /// Bytes that may still be written on its disk; nil when the system does not say.
    var freeBytes: UInt64? {
        var status = statvfs()
        guard fstatvfs(descriptor, &status) == 0 else { return nil }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }

    private func readNote() -> Note? {
        let file = open(notePath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 32 << 10)
        let count = read(file, &bytes, bytes.count)
        guard count > 0, let value = try? JSONValue(parsing: Array(bytes[..<count])), let url = value["url"]?.string
        else { return nil }
        var validator: Validator?
        for kind in [Validator.Kind.entityTag, .lastModified] {
            // Goes into a header as it stands.
            if let text = value[kind.rawValue]?.string, validator == nil,
                text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
            {
                validator = Validator(kind: kind, text: text)
            }
        }
        return Note(url: url, validator: validator, total: value["total"]?.int.flatMap { UInt64(exactly: $0) })
    }

    private static func writeAll(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = write(descriptor, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        return true
    }

    private static func failure(_ path: String, _ code: Int32) -> DownloadError {
        switch code {
        case ENOSPC, EDQUOT, EFBIG: .diskFull(path: path, needed: nil, free: nil)
        default: .file(path: path, cause: Platform.describe(errno: code))
        }
    }
}
