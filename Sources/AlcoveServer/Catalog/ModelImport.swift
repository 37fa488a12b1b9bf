package import AlcoveCore

/// Takes a model file of this device into the models' folder: copied, or as a link to where it lies.
package struct ModelImport: Sendable {
    package struct Imported: Sendable {
        package var name: String
        package var path: String
        package var isCopy: Bool
        package var bytes: UInt64
    }

    private let folder: String
    /// Throws the reason why a file cannot be loaded.
    private let shape: @Sendable (_ path: String) throws -> ModelShape

    private let repacker: ModelRepacker?

    package init(
        folder: String, shape: @escaping @Sendable (_ path: String) throws -> ModelShape, repacker: ModelRepacker? = nil
    ) {
        self.folder = folder
        self.shape = shape
        self.repacker = repacker
    }

    /// - Throws: what is wrong with the file in a sentence; nothing is left behind then.
    package func run(_ path: String, copies: Bool) async throws -> Imported {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw InputError(
                code: "bad_path", message: "\"path\" should be a whole path, beginning with /.",
                hint: "Relative ones would mean another folder for the host than for you.")
        }
        guard let real = realpath(path, nil) else {
            throw InputError(
                code: "model_missing", message: "There is no model file at \(path).", hint: "Check the path.",
                place: .missing)
        }
        defer { free(real) }
        let source = String(cString: real)
        let repackedBytes = try repacker?.bytes(source)
        if repackedBytes == nil { _ = try shape(source) }
        if repackedBytes != nil, !copies {
            throw InputError(
                code: "import_needs_copy",
                message: "\(fileName(source)) cannot be used where it lies: its weights have to be written anew first.",
                hint: "Take it in as a copy (\"copy\": true).")
        }
        mkdir(folder, 0o700)
        var status = stat()
        guard stat(source, &status) == 0 else {
            throw InputError(code: "model_missing", message: "There is no model file at \(path).", place: .missing)
        }
        let bytes = repackedBytes ?? UInt64(status.st_size)
        let target = try freeName(for: fileName(source), of: status)
        if target.isThere, !(copies && isLink(target.path)) {
            return Imported(name: fileName(target.path), path: target.path, isCopy: false, bytes: bytes)
        }
        if copies {
            // Used where it lies until now: the copy takes the link's place, and its name.
            try await copy(
                source, to: target.path, bytes: bytes, replacing: target.isThere, repacks: repackedBytes != nil)
        } else if symlink(source, target.path) != 0 {
            throw failure(target.path, errno)
        }
        return Imported(name: fileName(target.path), path: target.path, isCopy: copies, bytes: bytes)
    }

    /// A name nobody has; or the place where the very file is already.
    private func freeName(for name: String, of status: stat) throws(InputError) -> (path: String, isThere: Bool) {
        var base = name
        if base.lowercased().hasSuffix(".gguf") { base.removeLast(5) }
        for number in 1...999 {
            let path = folder + "/" + base + (number == 1 ? "" : " (\(number))") + ".gguf"
            var found = stat()
            if stat(path, &found) == 0 {
                if found.st_dev == status.st_dev, found.st_ino == status.st_ino { return (path, true) }
                continue
            }
            // A link whose file is gone gives its name back.
            if isLink(path) { unlink(path) }
            return (path, false)
        }
        throw InputError(code: "model_name_taken", message: "There are too many models named \(name).")
    }

    private func isLink(_ path: String) -> Bool {
        var found = stat()
        return lstat(path, &found) == 0 && found.st_mode & S_IFMT == S_IFLNK
    }

    private func copy(
        _ source: String, to target: String, bytes: UInt64, replacing: Bool, repacks: Bool
    ) async throws {
        let stop = StopSignal()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let isStarted = startThread(name: "alcove.import") {
                    continuation.resume(
                        with: Result {
                            try self.copyNow(
                                source, to: target, bytes: bytes, replacing: replacing, repacks: repacks, stop: stop)
                        })
                }
                if !isStarted { continuation.resume(throwing: self.failure(target, EAGAIN)) }
            }
        } onCancel: {
            stop.set()
        }
    }

    private func copyNow(
        _ source: String, to target: String, bytes: UInt64, replacing: Bool, repacks: Bool, stop: StopSignal
    ) throws {
        var disk = statvfs()
        if statvfs(folder, &disk) == 0 {
            let free = UInt64(disk.f_bavail) * UInt64(disk.f_frsize)
            guard bytes <= free else {
                throw InputError(
                    code: "import_disk_full",
                    message: "There is no room for a copy: \(bytes) bytes are needed and \(free) are free.",
                    hint: "Make room, or use the file where it lies (\"copy\": false).", place: .space)
            }
        }
        // Hidden, and named so that it can be read back for its check.
        let staging = repacks ? "\(folder)/.\(fileName(target)).repacking.gguf" : target + ".part"
        let output = open(staging, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard output >= 0 else { throw failure(target, errno) }
        defer { close(output) }
        // What a killed import left is written over; what another one writes now is not.
        guard flock(output, LOCK_EX | LOCK_NB) == 0, ftruncate(output, 0) == 0 else {
            throw InputError(
                code: "import_busy", message: "\(fileName(target)) is being taken in already.", place: .busy)
        }
        var hasMoved = false
        defer { if !hasMoved { unlink(staging) } }
        if repacks, let repacker {
            try repacker.write(source, staging, stop)
            _ = try shape(staging)
        } else {
            try pour(source, into: output, target: target, stop: stop)
        }
        // A link is replaced in one step; anything else of that name that came in between stays.
        let replaces = replacing && isLink(target)
        guard fsync(output) == 0, (replaces ? rename : link)(staging, target) == 0 else {
            throw failure(target, errno)
        }
        hasMoved = replaces
    }

    private func pour(_ source: String, into output: Int32, target: String, stop: StopSignal) throws {
        let input = open(source, O_RDONLY | O_CLOEXEC)
        guard input >= 0 else { throw failure(source, errno) }
        defer { close(input) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4_096)
        defer { buffer.deallocate() }
        while true {
            if stop.isSet { throw CancellationError() }
            let count = read(input, buffer.baseAddress, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(source, errno) }
            if count == 0 { break }
            var rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            while !rest.isEmpty {
                let written = write(output, rest.baseAddress, rest.count)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { throw failure(target, errno) }
                rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            }
        }
    }

    private func failure(_ path: String, _ code: Int32) -> InputError {
        InputError(
            code: code == ENOSPC ? "import_disk_full" : "import_failed",
            message: "\(path) cannot be taken in: \(Platform.describe(errno: code)).",
            hint: code == ENOSPC ? "Make room, or use the file where it lies (\"copy\": false)." : nil,
            place: code == ENOSPC ? .space : .host)
    }
}

/// Writes files anew whose weights the engine cannot read as they are, without loss.
package struct ModelRepacker: Sendable {
    /// Bytes of the copy; nil when the file needs none. Throws why even a copy would be of no use.
    package var bytes: @Sendable (_ path: String) throws -> UInt64?
    /// Writes the copy and checks it.
    package var write: @Sendable (_ path: String, _ target: String, _ stop: StopSignal) throws -> Void

    package init(
        bytes: @escaping @Sendable (_ path: String) throws -> UInt64?,
        write: @escaping @Sendable (_ path: String, _ target: String, _ stop: StopSignal) throws -> Void
    ) {
        self.bytes = bytes
        self.write = write
    }
}
