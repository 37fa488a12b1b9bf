internal import AlcoveCore
internal import AlcoveStorage

/// How much may be uploaded.
package struct UploadLimits: Sendable {
    /// Bytes of one file.
    package var fileBytes = 500 << 20
    /// Bytes of one request: one file of the largest size and its form.
    package var requestBytes = 501 << 20
    /// Files of one request.
    package var files = 20
    /// Bytes of all uploads together; 0 is no limit but the disk's.
    package var quotaBytes = 0
    /// Bytes of the disk that are left for everything else.
    package var spareBytes = 64 << 20
    /// Seconds an upload that nothing refers to is kept: its message may still be in the making.
    package var graceSeconds = 86_400

    package init() {}
}

/// The folder of uploads: what is in it, what is promised to uploads under way, what may go.
///
/// A file appears under its name when it is whole and on the disk, never before. The blocking work is done on a queue of its own.
package actor UploadStore {
    package nonisolated let folder: String
    /// Files that are still coming in; emptied at each start.
    nonisolated var incoming: String { folder + "/.incoming" }

    private let executor = QueueExecutor(label: "alcove.uploads")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private var reserved = 0
    private var kept = 0
    private var isReady = false

    package init(folder: String) { self.folder = folder }

    /// Makes the folders, and takes away what an earlier end of the program left half done.
    private func prepare() {
        if isReady { return }
        isReady = true
        mkdir(folder, 0o700)
        mkdir(incoming, 0o700)
        for name in UploadStore.names(in: incoming) { unlink(incoming + "/" + name) }
        let names = UploadStore.names(in: folder)
        // A whole file is moved last of its family: files made from one that is not there belong to nothing.
        let whole = Set(names.compactMap { UploadName($0)?.stem })
        for name in names {
            guard let family = UploadName.family(of: name) else { continue }
            if whole.contains(family) {
                kept += UploadStore.size(folder + "/" + name)
            } else {
                unlink(folder + "/" + name)
            }
        }
    }

    // MARK: Room

    /// Promises room for so many bytes more.
    ///
    /// - Throws: `.overQuota`, `.noRoom`; nothing is then promised.
    func reserve(_ bytes: Int, _ limits: UploadLimits) throws(UploadError) {
        prepare()
        if limits.quotaBytes > 0, kept + reserved + bytes > limits.quotaBytes {
            throw .overQuota(limit: limits.quotaBytes)
        }
        var status = statvfs()
        if statvfs(folder, &status) == 0 {
            let free = Int(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
            guard free - reserved - limits.spareBytes >= bytes else { throw .noRoom(free: free) }
        }
        reserved += bytes
    }

    /// Takes a promise back: the bytes are on the disk by now, or never will be.
    func release(_ bytes: Int) { reserved -= bytes }

    // MARK: Files

    /// Keeps what came in, with the files made from it: all of it or nothing.
    func keep(_ files: [ReceivedFile], with derived: [UploadDigest.Derived], _ limits: UploadLimits) throws(UploadError)
    {
        let bytes = derived.reduce(0) { $0 + $1.bytes.count }
        try reserve(bytes, limits)
        defer { release(bytes) }
        var family: [(path: String, name: String)] = []
        do throws(UploadError) {
            for file in derived { family.append((try takeDown(file.bytes), file.name)) }
        } catch {
            for file in family { unlink(file.path) }
            throw error
        }
        try keep(family + files.map { ($0.path, $0.name.text) })
    }

    /// Gives files their names, all of them or none.
    ///
    /// - Parameter files: Paths in `incoming` and names; a family's own file after those made from it.
    private func keep(_ files: [(path: String, name: String)]) throws(UploadError) {
        prepare()
        var moved: [String] = []
        do throws(UploadError) {
            for file in files {
                let target = folder + "/" + file.name
                let replaced = UploadStore.size(target)
                guard rename(file.path, target) == 0 else { throw .writing(errno) }
                kept -= replaced
                moved.append(target)
            }
            guard UploadStore.synchronise(folder) else { throw .writing(errno) }
        } catch {
            for path in moved.reversed() { unlink(path) }
            for file in files { unlink(file.path) }
            throw error
        }
        for path in moved { kept += UploadStore.size(path) }
    }

    /// The uploads of these names that are there, kept from being swept for a while from now on.
    func touch(_ names: [UploadName]) -> Set<UploadName> {
        prepare()
        let now = timespec(tv_sec: time(nil), tv_nsec: 0)
        return Set(
            names.filter { name in
                let path = folder + "/" + name.text
                var info = stat()
                guard lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return false }
                // The time of reading only: that of writing is what browsers know a file by.
                return utimensat(AT_FDCWD, path, [now, info.written], AT_SYMLINK_NOFOLLOW) == 0
            })
    }

    /// Writes bytes to a nameless file among those that are coming in; gives its path.
    private func takeDown(_ bytes: [UInt8]) throws(UploadError) -> String {
        prepare()
        let path = incoming + "/" + hexText(Platform.randomBytes(16))
        try UploadStore.write(bytes, to: path)
        return path
    }

    /// Keeps a file made from an upload that is there already.
    func derive(_ name: String, _ bytes: [UInt8]) throws(UploadError) {
        try keep([(try takeDown(bytes), name)])
    }

    /// The text of a file of the folder, as much as is wanted, and its size; nil when there is none.
    func text(_ name: String, limit: Int) -> (text: PlainText, bytes: Int)? {
        let path = folder + "/" + name
        return PlainText(path: path, limit: limit).map { ($0, UploadStore.size(path)) }
    }

    /// Families whose file has been left alone for longer than the grace.
    package func stale(graceSeconds: Int) -> Set<String> {
        prepare()
        let limit = time(nil) - graceSeconds
        return Set(
            UploadStore.names(in: folder).compactMap { name in
                guard let upload = UploadName(name), UploadStore.used(folder + "/" + name) < limit else {
                    return nil
                }
                return upload.stem
            })
    }

    /// Removes families that are still stale: one that was touched meanwhile stays.
    package func sweep(_ families: Set<String>, graceSeconds: Int) -> Int {
        let going = families.intersection(stale(graceSeconds: graceSeconds))
        remove(families: going, names: UploadStore.names(in: folder))
        return going.count
    }

    /// Removes uploads by their names, with what was made from them.
    func remove(_ uploads: [String]) {
        prepare()
        remove(families: Set(uploads.compactMap { UploadName($0)?.stem }), names: UploadStore.names(in: folder))
    }

    private func remove(families: Set<String>, names: [String]) {
        let mine = names.filter { UploadName.family(of: $0).map(families.contains) ?? false }
        // The file itself first: what is left after a crash is then known to belong to nothing.
        for name in mine.sorted(by: { UploadName($0) != nil && UploadName($1) == nil }) {
            let path = folder + "/" + name, bytes = UploadStore.size(path)
            if unlink(path) == 0 { kept -= bytes }
        }
    }
}

// MARK: The system's calls

extension UploadStore {
    /// What is stored, without the folder of what is still coming in.
    static func names(in folder: String) -> [String] { Folder.names(in: folder).filter { !$0.hasPrefix(".") } }

    private static func size(_ path: String) -> Int {
        var info = stat()
        return lstat(path, &info) == 0 ? Int(info.st_size) : 0
    }

    /// When it was last written or read, in seconds since 1970.
    private static func used(_ path: String) -> Int {
        var info = stat()
        guard lstat(path, &info) == 0 else { return .max }
        return Int(max(info.written.tv_sec, info.read.tv_sec))
    }

    static func synchronise(_ folder: String) -> Bool {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }

    /// A new file with these bytes, on the disk.
    static func write(_ bytes: [UInt8], to path: String) throws(UploadError) {
        let file = try IncomingFile(path)
        do throws(UploadError) {
            try file.write(bytes)
            try file.finish()
        } catch {
            unlink(path)
            throw error
        }
    }
}

/// A file that is being written.
final class IncomingFile {
    let path: String
    private(set) var bytes = 0
    private var descriptor: Int32

    init(_ path: String) throws(UploadError) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor < 0 { throw .writing(errno) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func write(_ piece: [UInt8]) throws(UploadError) {
        var done = 0
        while done < piece.count {
            let count = piece.withUnsafeBytes { AlcoveCore.write(descriptor, $0.baseAddress! + done, $0.count - done) }
            if count < 0 {
                if errno == EINTR { continue }
                throw .writing(errno)
            }
            done += count
        }
        bytes += piece.count
    }

    /// On the disk, and closed.
    func finish() throws(UploadError) {
        let isSafe = fsync(descriptor) == 0
        let code = errno
        close(descriptor)
        descriptor = -1
        if !isSafe { throw .writing(code) }
    }
}
