internal import AlcoveCore

/// What a folder says about one of its entries.
package struct FileEntry: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case file
        case folder
        case link
        /// Pipes, sockets, devices.
        case special
    }

    package var name: String
    package var kind: Kind
    package var bytes: Int
    /// Milliseconds since 1970.
    package var modified: Int64
    /// Names the file has; more than one and others, perhaps outside, see each change made in place.
    package var links: Int
    package var isExecutable: Bool
    /// Who may read, write and run it: nine bits.
    package var rights: UInt16

    init(name: String, _ info: stat) {
        self.name = name
        kind =
            switch info.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .link
            default: .special
            }
        bytes = Int(info.st_size)
        modified = info.written.nanoseconds / 1_000_000
        links = Int(info.st_nlink)
        isExecutable = info.st_mode & 0o111 != 0
        rights = UInt16(info.st_mode & 0o777)
    }
}

/// An open descriptor, closed with its last reference.
final class Descriptor: Sendable {
    let raw: Int32

    init?(_ raw: Int32) {
        guard raw >= 0 else { return nil }
        self.raw = raw
    }

    deinit { close(raw) }
}

/// A regular file within the allowed folders, open for reading or writing; closed with its last reference.
package final class ConfinedFile: Sendable {
    /// As the caller wrote it, for sentences.
    package let path: String
    package let entry: FileEntry
    private let file: Descriptor

    init(path: String, entry: FileEntry, file: Descriptor) {
        self.path = path
        self.entry = entry
        self.file = file
    }

    /// For calls that want a descriptor; belongs to this object.
    package var descriptor: Int32 { file.raw }

    /// All bytes from the start.
    ///
    /// - Throws: `.tooLarge` when there are more than `limit`, also when the file grows while it is read.
    package func readAll(limit: Int) throws(ConfinementError) -> [UInt8] {
        guard entry.bytes <= limit else { throw .tooLarge(path: path, limit: limit) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(entry.bytes)
        while bytes.count <= limit {
            let wanted = min(max(entry.bytes - bytes.count, 1) + 4096, 1 << 20)
            var code: Int32 = 0
            let piece = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
                let read = pread(file.raw, buffer.baseAddress, wanted, off_t(bytes.count))
                code = read < 0 ? errno : 0
                count = max(0, read)
            }
            if code == EINTR { continue }
            guard code == 0 else { throw ConfinementError(code, path) }
            if piece.isEmpty { return bytes }
            bytes += piece
        }
        throw .tooLarge(path: path, limit: limit)
    }

    /// Writes all bytes where the file stands.
    package func write(_ bytes: [UInt8]) throws(ConfinementError) {
        var done = 0
        while done < bytes.count {
            let written = bytes.withUnsafeBytes { AlcoveCore.write(file.raw, $0.baseAddress! + done, $0.count - done) }
            let code = errno
            if written < 0 {
                if code == EINTR { continue }
                throw ConfinementError(code, path)
            }
            done += written
        }
    }
}
