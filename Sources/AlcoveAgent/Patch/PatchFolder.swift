internal import AlcoveCore

/// A folder whose files a patch may change: every path stays inside, links included.
///
/// Links are followed by name first, inside the folder only. What is then opened is opened segment by segment without
/// following any, so that a link put there in between is refused and not used.
package struct PatchFolder: PatchFiles {
    /// Longest file that is read.
    package static let fileLimit = 256 << 20

    let path: String
    /// Called before each change of a commit takes effect, with its number from 0; a test lets one fail here.
    var willChange: @Sendable (Int) throws(PatchError) -> Void = { _ in }

    package init(_ path: String) { self.path = path }

    // MARK: names

    package func place(of path: String, for use: PatchUse) throws(PatchError) -> String {
        var todo = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }[...]
        var done: [String] = []
        var links = 0
        while let segment = todo.popFirst() {
            if segment == "." { continue }
            if segment == ".." {
                guard done.popLast() != nil else { throw .badPath(path: path, reason: "a link in it leads out") }
                continue
            }
            let here = (done + [segment]).joined(separator: "/")
            guard let target = linkTarget(self.path + "/" + here) else {
                done.append(segment)
                continue
            }
            if use == .removal, todo.isEmpty {
                throw .unusable(path: path, reason: "it is a link to \(target), and only the file itself can go")
            }
            links += 1
            if links > 40 { throw .badPath(path: path, reason: "its links go round in a circle") }
            if target.hasPrefix("/") { throw .badPath(path: path, reason: "a link in it leads out") }
            todo = target.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) } + todo
        }
        if done.isEmpty { throw .badPath(path: path, reason: "it names the folder itself") }
        return done.joined(separator: "/")
    }

    private func linkTarget(_ path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink(path, &buffer, buffer.count)
        return count >= 0 ? String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }

    // MARK: reading

    package func read(_ place: String) throws(PatchError) -> [UInt8]? {
        guard let (folder, name) = try parent(of: place, creating: nil) else { return nil }
        defer { close(folder) }
        let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        if file < 0 {
            if errno == ENOENT { return nil }
            throw .unusable(path: place, reason: Platform.describe(errno: errno))
        }
        defer { close(file) }
        var info = stat()
        guard fstat(file, &info) == 0 else {
            throw .unusable(path: place, reason: Platform.describe(errno: errno))
        }
        guard info.st_mode & S_IFMT == S_IFREG else {
            throw .unusable(
                path: place, reason: info.st_mode & S_IFMT == S_IFDIR ? "it is a folder" : "it is no plain file")
        }
        guard info.st_size <= PatchFolder.fileLimit else {
            throw .unusable(path: place, reason: "it is longer than \(PatchFolder.fileLimit) bytes")
        }
        return try bytes(file, place, size: Int(info.st_size))
    }

    private func bytes(_ file: Int32, _ place: String, size: Int) throws(PatchError) -> [UInt8] {
        var failure: Int32 = 0
        var all: [UInt8] = []
        var done = 0
        repeat {
            // A file that grows while it is read is read to its new end.
            let room = max(size - done, 64 << 10)
            let piece = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
                var got = AlcoveCore.read(file, buffer.baseAddress, room)
                while got < 0, errno == EINTR { got = AlcoveCore.read(file, buffer.baseAddress, room) }
                if got < 0 { failure = errno }
                count = max(0, got)
            }
            done = piece.isEmpty ? 0 : done + piece.count
            if all.isEmpty { all = piece } else { all += piece }
            if all.count > PatchFolder.fileLimit { failure = EFBIG }
            if piece.isEmpty || failure != 0 { break }
        } while true
        if failure != 0 { throw .unusable(path: place, reason: Platform.describe(errno: failure)) }
        return all
    }

    /// The folder a file is in, open, and the file's name in it; nil when the folder is not there.
    ///
    /// With `creating`, folders that are missing are made and their paths noted.
    func parent(of place: String, creating: CreatedFolders?) throws(PatchError) -> (folder: Int32, name: String)? {
        let segments = place.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        guard let name = segments.last else { return nil }
        var folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw .unusable(path: place, reason: Platform.describe(errno: errno)) }
        for (index, segment) in segments.dropLast().enumerated() {
            var next = openat(folder, segment, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            if next < 0, errno == ENOENT, let creating {
                if mkdirat(folder, segment, 0o777) == 0 {
                    creating.paths.append(segments[0...index].joined(separator: "/"))
                }
                next = openat(folder, segment, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            }
            let code = errno
            close(folder)
            if next < 0 {
                if code == ENOENT, creating == nil { return nil }
                throw .unusable(
                    path: place, reason: code == ENOTDIR ? "\(segment) is no folder" : Platform.describe(errno: code))
            }
            folder = next
        }
        return (folder, name)
    }

    // MARK: writing

    /// Every new content is written beside its file first; only then names change hands, and each step can be taken back.
    package func commit(_ changes: [PatchChange]) throws(PatchError) {
        for change in changes where try read(change.place) != change.before {
            throw .changedMeanwhile(path: change.place)
        }
        let commit = FolderCommit(folder: self)
        for change in changes {
            do throws(PatchError) {
                try commit.prepare(change)
            } catch {
                throw commit.undone(change.place, after: error)
            }
        }
        for (index, change) in changes.enumerated() {
            do throws(PatchError) {
                try willChange(index)
                try commit.carryOut(index)
            } catch {
                throw commit.undone(change.place, after: error)
            }
        }
        commit.finish()
    }
}

/// Folders a commit has made, in order.
final class CreatedFolders {
    var paths: [String] = []
}
