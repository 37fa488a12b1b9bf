internal import AlcoveCore

/// The names of the store's files, and what is done with them as files.
struct StorageFiles {
    let database: String

    init(folder: String) { database = folder + "/alcove.db" }

    var log: String { database + "-wal" }

    /// Bytes of a file; nil when there is none.
    static func size(_ path: String) -> Int64? {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// Makes a folder and those above it, for this user only.
    static func makeFolder(_ path: String) throws(StorageError) {
        var status = stat()
        if stat(path, &status) == 0 {
            if status.st_mode & S_IFMT == S_IFDIR { return }
            throw .folderUnusable(path: path, cause: Platform.describe(errno: ENOTDIR))
        }
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex { try makeFolder(String(path[..<slash])) }
        if mkdir(path, 0o700) != 0, errno != EEXIST {
            throw .folderUnusable(path: path, cause: Platform.describe(errno: errno))
        }
    }

    /// Makes an empty database file that only this user may read; SQLite gives its companions the same rights.
    func makeDatabase() throws(StorageError) {
        let descriptor = open(database, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            close(descriptor)
            return
        }
        let code = errno
        switch code {
        case EACCES, EPERM, EROFS: throw .readOnly(path: database)
        case ENOSPC, EDQUOT: throw .diskFull(path: database)
        default: throw .inputOutput(path: database, cause: Platform.describe(errno: code))
        }
    }

    /// Renames the database and its companions out of the way; gives the database's new path.
    ///
    /// The log goes first: if we are stopped half way, a fresh database beside an old log would make SQLite throw the log
    /// away, while an old database without its log is only kept aside once more.
    func keepAside(at moment: Timestamp) throws(StorageError) -> String {
        let stamp = moment.iso8601.replacing(":", with: "-")
        var kept = "\(database).unreadable-\(stamp)"
        var attempt = 1
        while ["", "-wal", "-shm"].contains(where: { StorageFiles.size(kept + $0) != nil }) {
            attempt += 1
            kept = "\(database).unreadable-\(stamp)-\(attempt)"
        }
        for suffix in ["-wal", "-shm", ""] where rename(database + suffix, kept + suffix) != 0 && errno != ENOENT {
            throw .inputOutput(path: database + suffix, cause: Platform.describe(errno: errno))
        }
        StorageFiles.sync(folderOf: database)
        return kept
    }

    /// Makes renames durable.
    static func sync(folderOf path: String) {
        guard let slash = path.lastIndex(of: "/") else { return }
        let descriptor = open(String(path[..<slash]), O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { return }
        fsync(descriptor)
        close(descriptor)
    }
}

/// A file beside the database that says: look closely before you use it again.
///
/// A running program that meets damage cannot well replace the database under its own feet; the next start can.
struct SuspectMark {
    let path: String

    init(database: String) { path = database + ".suspect" }

    var isSet: Bool { StorageFiles.size(path) != nil }

    func note(_ error: StorageError) {
        switch error {
        case .corrupt, .notADatabase: set()
        default: break
        }
    }

    func set() {
        if path.hasPrefix(Database.memoryPath) { return }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
    }

    func clear() { unlink(path) }
}
