internal import AlcoveCore
internal import AlcoveStorage

/// What fills the root folder, for the sentence that says what to delete when the disk is full.
package struct DiskUse: Sendable {
    /// Bytes that are free on the disk.
    let free: UInt64
    /// What takes room, by the name people know it by, the largest first.
    let parts: [(name: String, bytes: UInt64)]

    package init(root: String) {
        free = DiskReserve.free(root)
        let folders = [
            ("models", ["models", "checkpoints"]), ("attachments", ["uploads"]),
            ("files of chats", ["workspaces", "snapshots", "artifacts"]), ("shared drafts", ["share"]),
            ("chats", ["alcove.db", "alcove.db-wal"]),
        ]
        parts = folders.map { name, paths in
            (name: name, bytes: paths.reduce(0) { $0 + DiskUse.bytes("\(root)/\($1)") })
        }.filter { $0.bytes > 0 }.sorted { $0.bytes > $1.bytes }
    }

    var json: JSONValue {
        [
            "freeBytes": .integer(Int64(clamping: free)),
            "parts": .array(
                parts.map { ["name": .string($0.name), "bytes": .integer(Int64(clamping: $0.bytes))] }),
        ]
    }

    /// One sentence: what to delete, with the numbers.
    package var hint: String {
        let largest = parts.prefix(3).map { "\($0.name) take \(DiskUse.text($0.bytes))" }
        if largest.isEmpty { return "Delete what you do not need, and try again." }
        return "Delete what you need least, and try again: \(largest.joined(separator: ", "))."
    }

    /// One sentence for a start at which there is no room.
    package var notice: String {
        "The disk is full (\(DiskUse.text(free)) free): what is kept can be read and deleted, and nothing new is kept. "
            + hint
    }

    private static func text(_ bytes: UInt64) -> String {
        switch bytes {
        case (1 << 30)...: "\(bytes >> 30).\((bytes >> 20) % 1024 * 10 / 1024) GB"
        case (1 << 20)...: "\(bytes >> 20) MB"
        default: "\(bytes >> 10) KB"
        }
    }

    /// Bytes on the disk of a file, or of all that is in a folder; links are not followed.
    private static func bytes(_ path: String) -> UInt64 {
        var info = stat()
        guard lstat(path, &info) == 0 else { return 0 }
        guard info.st_mode & S_IFMT == S_IFDIR else { return UInt64(info.st_blocks) * 512 }
        return UploadStore.names(in: path).reduce(0) { $0 + bytes("\(path)/\($1)") }
    }
}

/// A refusal because the disk is full, with what could be deleted.
struct DiskFullRefusal: HTTPStatusProviding {
    let httpStatus = 507
    let code: String
    let message: String
    let hint: String?
    let place = ErrorPlace.space

    /// Does something that writes; a full disk is told with what takes the room.
    static func telling<Value>(
        root: String, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch let error as any UserFacingError {
            guard error.place == .space, error.code == "storage_full" || error.code == "disk_full" else { throw error }
            throw DiskFullRefusal(code: error.code, message: error.message, hint: DiskUse(root: root).hint)
        }
    }
}
