internal import AlcoveCore

/// The file that is read, at any place.
final class RepackInput {
    private let descriptor: Int32
    private let name: String

    init(_ path: String) throws(GGUFError) {
        name = GGUFName.ofFile(path)
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw GGUFError(.unreadable, "\(name) cannot be opened: \(Platform.describe(errno: errno)).")
        }
    }

    deinit { close(descriptor) }

    /// Exactly so many bytes.
    func read(_ count: Int, at offset: UInt64) throws(GGUFError) -> [UInt8] {
        var done = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            while done < count {
                let got = pread(descriptor, buffer.baseAddress! + done, count - done, off_t(offset) + off_t(done))
                if got < 0, errno == EINTR { continue }
                if got <= 0 { break }
                done += got
            }
            initialized = done
        }
        guard done == count else {
            throw GGUFError(.truncated, "\(name) has become shorter than \(offset + UInt64(count)) bytes.")
        }
        return bytes
    }
}

/// The file that is written, front to back; on the disk once `finish` returns.
final class RepackOutput {
    private let descriptor: Int32
    private let path: String
    private var position: UInt64 = 0
    private var pending: [UInt8] = []

    init(_ path: String) throws(InputError) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw RepackOutput.failure(path) }
    }

    deinit { close(descriptor) }

    func write(_ bytes: [UInt8]) throws(InputError) {
        pending += bytes
        position += UInt64(bytes.count)
        if pending.count > 1 << 20 { try flush() }
    }

    func pad(to alignment: UInt64) throws(InputError) {
        let rest = position % alignment
        if rest > 0 { try write([UInt8](repeating: 0, count: Int(alignment - rest))) }
    }

    func finish() throws(InputError) {
        try flush()
        guard fsync(descriptor) == 0 else { throw RepackOutput.failure(path) }
    }

    private func flush() throws(InputError) {
        var done = 0
        while done < pending.count {
            let count = pending.withUnsafeBytes {
                AlcoveCore.write(descriptor, $0.baseAddress! + done, $0.count - done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw RepackOutput.failure(path) }
            done += count
        }
        pending.removeAll(keepingCapacity: true)
    }

    private static func failure(_ path: String) -> InputError {
        let code = errno
        return InputError(
            code: code == ENOSPC ? "import_disk_full" : "import_failed",
            message: "\(path) cannot be written: \(Platform.describe(errno: code)).",
            hint: code == ENOSPC ? "Make room, and try again." : nil, place: code == ENOSPC ? .space : .host)
    }
}
