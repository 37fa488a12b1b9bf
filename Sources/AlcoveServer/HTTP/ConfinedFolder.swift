import AlcoveCore

/// A folder from which files are opened by path segments, and nothing outside it ever.
///
/// Each segment is opened from the one before without following symbolic links, so that no name, and no link put there
/// between a check and its use, leads out.
package struct ConfinedFolder: Sendable {
    package let path: String

    package init(_ path: String) { self.path = path }

    /// The regular file at these segments; nil when there is none or a segment is not a plain name.
    func open(_ segments: [String]) -> OpenFile? {
        guard let last = segments.last, segments.allSatisfy(ConfinedFolder.isPlainName) else { return nil }
        var folder = AlcoveCore.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return nil }
        defer { close(folder) }
        for segment in segments.dropLast() {
            let next = openat(folder, segment, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard next >= 0 else { return nil }
            close(folder)
            folder = next
        }
        // A named pipe would block without O_NONBLOCK; regular files do not care.
        let file = openat(folder, last, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        return file >= 0 ? OpenFile(file) : nil
    }

    private static func isPlainName(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".." && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
    }
}

/// A regular file open for reading, closed with the last reference.
package final class OpenFile: Sendable {
    /// What tells one state of a file from another.
    struct Stamp: Hashable, Sendable {
        let size: Int
        let inode: UInt64
        let modifiedSeconds: Int
        let modifiedNanoseconds: Int
    }

    let stamp: Stamp
    private let descriptor: Int32

    /// Takes the descriptor over; nil when it is no regular file.
    init?(_ descriptor: Int32) {
        var info = stat()
        guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            return nil
        }
        let modified = info.written
        self.descriptor = descriptor
        stamp = Stamp(
            size: Int(info.st_size), inode: UInt64(info.st_ino), modifiedSeconds: Int(modified.tv_sec),
            modifiedNanoseconds: Int(modified.tv_nsec))
    }

    deinit { close(descriptor) }

    var entityTag: String {
        let parts = [stamp.inode, UInt64(stamp.size), UInt64(bitPattern: Int64(stamp.modifiedSeconds))]
        return "\"" + (parts + [UInt64(stamp.modifiedNanoseconds)]).map { String($0, radix: 36) }.joined(separator: "-")
            + "\""
    }

    /// Reads at an offset; nil on a fault, 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int? {
        while true {
            let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            if errno != EINTR { return nil }
        }
    }
}

/// Some bytes of a file, as the body of a response.
package struct FileRange: Sendable {
    let file: OpenFile
    let offset: Int
    package let count: Int

    /// Hands the bytes over in pieces of 64 KiB.
    ///
    /// - Returns: false when `body` did, or when the file has become shorter: the response then cannot be completed.
    func readPieces(_ body: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 8) { buffer in
            var position = offset
            while position < offset + count {
                let piece = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(offset + count - position))
                guard let read = file.read(into: piece, at: position), read > 0,
                    body(UnsafeRawBufferPointer(rebasing: piece[..<read]))
                else { return false }
                position += read
            }
            return true
        }
    }

    func bytes() -> [UInt8]? {
        var all: [UInt8] = []
        all.reserveCapacity(count)
        let isWhole = readPieces {
            all += $0
            return true
        }
        return isWhole ? all : nil
    }
}
