internal import AlcoveCore

/// Remembers on disk that a model is being loaded.
///
/// llama.cpp ends the process when a file breaks one of its assertions. The mark is still there at the next launch then,
/// and that model is not loaded again by itself.
struct LoadMarker: Sendable {
    let path: String

    /// The file whose loading ended the last run; nil when it ended well.
    var crashedModel: String? {
        guard let bytes = try? SmallFile.read(path), let value = try? JSONValue(parsing: bytes) else { return nil }
        return value["model"]?.string
    }

    func set(_ model: String) {
        let value: JSONValue = ["model": .string(model)]
        // Without the mark the model is still loaded: a full disk must not be a reason not to answer.
        try? SmallFile.write(value.bytes(), to: path)
    }

    func clear() { unlink(path) }
}

/// Whole small files, written so that a reader sees the old one or the new one.
enum SmallFile {
    static func read(_ path: String) throws(InputError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("read", path) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = AlcoveCore.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("read", path) }
            if count == 0 { return bytes }
            bytes += piece[..<count]
        }
    }

    /// Only the person who runs the program may read it.
    static func write(_ bytes: [UInt8], to path: String) throws(InputError) {
        let temporary = "\(path).\(getpid()).new"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("write", path) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { AlcoveCore.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let error = failure("write", path)
                close(descriptor)
                unlink(temporary)
                throw error
            }
            rest = rest.dropFirst(count)
        }
        fchmod(descriptor, 0o600)
        close(descriptor)
        guard rename(temporary, path) == 0 else {
            let error = failure("write", path)
            unlink(temporary)
            throw error
        }
    }

    private static func failure(_ verb: String, _ path: String) -> InputError {
        InputError(
            code: "file_\(verb)",
            message: "\(path) cannot be \(verb == "read" ? "read" : "written"): \(Platform.describe(errno: errno)).",
            place: errno == ENOENT ? .missing : errno == ENOSPC || errno == EDQUOT ? .space : .host)
    }
}
