internal import AlcoveCore
internal import CPosixShim

/// The folders an agent's tools may use, and the only way they reach a file.
///
/// A path is walked name by name from an open root folder. No step lets the system follow a symbolic link: links are
/// read and walked here, under the same rules, so that a name exchanged between a check and its use can lead nowhere
/// else. Nothing outside the roots is read, made or changed, whatever another process does to the workspace meanwhile.
///
/// Relative paths begin in `folder`. Absolute ones must begin with a root, by its real path or by the name under which
/// scripts see it. All calls block; none holds anything open afterwards.
package struct ConfinedPaths: Sendable {
    /// A folder that may be read and nothing more.
    package struct Mount: Sendable, Hashable {
        package var folder: String
        /// Where scripts see it. Absolute, and not within another root.
        package var shownAs: String

        package init(folder: String, shownAs: String) {
            self.folder = folder
            self.shownAs = shownAs
        }
    }

    /// What a new file may be called.
    package enum NameRule: Sendable, Hashable {
        /// Not like an existing one but for case or the coding of letters: such files cannot live on every system.
        case portable
        case any
    }

    package static let workspaceName = "/workspace"
    /// Folders below a root that a path may pass through.
    package static let deepest = 200

    /// Where relative paths begin; a path itself. The workspace when empty.
    package var folder = ""
    package var names = NameRule.portable
    /// Names that no path may contain, in whatever case.
    package var denied: [String] = []
    let roots: [Root]

    package init(workspace: String, readOnly: [Mount] = [], denied: [String] = []) {
        roots =
            [Root(folder: workspace, shownAs: ConfinedPaths.workspaceName, isWritable: true)]
            + readOnly.map { Root(folder: $0.folder, shownAs: $0.shownAs, isWritable: false) }
        self.denied = denied
    }

    struct Root: Sendable {
        let folder: String
        let shownAs: String
        let isWritable: Bool
    }

    // MARK: Reading

    /// - Parameter limit: Most bytes a caller is ready for; a larger file is refused whole.
    package func read(_ path: String, limit: Int) throws(ConfinementError) -> [UInt8] {
        try openForReading(path).readAll(limit: limit)
    }

    /// - Throws: `.specialFile` for pipes, sockets and devices, without opening them.
    package func openForReading(_ path: String) throws(ConfinementError) -> ConfinedFile {
        let place = try walk(path, followsLast: true)
        guard let name = place.name else { throw .isFolder(path: path) }
        try place.refuseAllButFiles(path)
        return try place.open(name, O_RDONLY, path)
    }

    /// What is known of a file or folder, its links followed.
    package func stat(_ path: String) throws(ConfinementError) -> FileEntry { try entry(path, followsLast: true) }

    /// The same of a link itself.
    package func linkStat(_ path: String) throws(ConfinementError) -> FileEntry { try entry(path, followsLast: false) }

    private func entry(_ path: String, followsLast: Bool) throws(ConfinementError) -> FileEntry {
        let place = try walk(path, followsLast: followsLast)
        guard let info = place.info() else { throw ConfinementError(errno, path) }
        let entry = FileEntry(name: place.name ?? ".", info)
        if place.mustBeFolder, entry.kind != .folder { throw .notAFolder(path: path, name: entry.name) }
        return entry
    }

    // MARK: Writing

    /// Makes a new file. One that cannot be written whole is taken away again.
    ///
    /// - Parameter makingFolders: Whether folders missing on the way are made.
    package func create(
        _ path: String, _ bytes: [UInt8], makingFolders: Bool = false
    ) throws(ConfinementError) {
        let place = try walk(path, followsLast: false, makingFolders: makingFolders)
        let name = try place.writableName(path)
        try refuseClash(of: name, in: place.folder, path)
        let file = try place.open(name, O_WRONLY | O_CREAT | O_EXCL, path)
        do throws(ConfinementError) { try file.write(bytes) } catch {
            unlinkat(place.folder.raw, name, 0)
            throw error
        }
    }

    /// Puts new contents in place of old ones, or makes the file. Readers see the one or the other, also after a crash.
    ///
    /// The file's rights stay; a symbolic link stays and what it means is replaced; other hard links keep the old bytes.
    package func replace(_ path: String, _ bytes: [UInt8]) throws(ConfinementError) {
        let place = try walk(path, followsLast: true)
        let name = try place.writableName(path)
        var rights: mode_t = 0o644
        if let info = place.info() {
            try place.refuseAllButFiles(path)
            rights = info.st_mode & 0o777
        } else {
            try refuseClash(of: name, in: place.folder, path)
        }
        let temporary = ".alcove-\(String(UInt64.random(in: .min ... .max), radix: 36)).tmp"
        let file = try place.open(temporary, O_WRONLY | O_CREAT | O_EXCL, path, rights: 0o600)
        var code: Int32 = 0
        do throws(ConfinementError) {
            try file.write(bytes)
            if fchmod(file.descriptor, rights) != 0 || fsync(file.descriptor) != 0
                || renameat(place.folder.raw, temporary, place.folder.raw, name) != 0
            {
                code = errno
                throw ConfinementError(code, path)
            }
        } catch {
            unlinkat(place.folder.raw, temporary, 0)
            throw error
        }
        fsync(place.folder.raw)
    }

    /// How a file is opened for writing piece by piece.
    package enum WritingMode: Sendable, Hashable {
        case append
        case truncate
    }

    /// Opens a file for writing in place, and makes it when it is missing.
    ///
    /// - Throws: `.hardLinked` when other names of it, which may be outside, would show the change.
    package func openForWriting(_ path: String, _ mode: WritingMode) throws(ConfinementError) -> ConfinedFile {
        let place = try walk(path, followsLast: true)
        let name = try place.writableName(path)
        if place.info() == nil {
            try refuseClash(of: name, in: place.folder, path)
        } else {
            try place.refuseAllButFiles(path)
        }
        // Cut short only after a look at what was opened, hence without O_TRUNC.
        let file = try place.open(name, O_WRONLY | O_CREAT | (mode == .append ? O_APPEND : 0), path)
        guard file.entry.links <= 1 else { throw .hardLinked(path: path) }
        if mode == .truncate, ftruncate(file.descriptor, 0) != 0 { throw ConfinementError(errno, path) }
        return file
    }

    /// Opens a file to read and change it in place, and makes it when it is missing.
    ///
    /// - Throws: `.hardLinked` when other names of it, which may be outside, would show a change.
    package func openForUpdating(_ path: String) throws(ConfinementError) -> ConfinedFile {
        let place = try walk(path, followsLast: true)
        let name = try place.writableName(path)
        if place.info() != nil { try place.refuseAllButFiles(path) }
        let file = try place.open(name, O_RDWR | O_CREAT, path)
        guard file.entry.links <= 1 else { throw .hardLinked(path: path) }
        return file
    }

    /// Gives a file or folder another name. A link is moved itself.
    ///
    /// - Parameter replacing: Whether a file that has the new name may go.
    package func move(_ path: String, to newPath: String, replacing: Bool = false) throws(ConfinementError) {
        let from = try walk(path, followsLast: false)
        let name = try from.writableName(path, orFolder: true)
        guard let info = from.info() else { throw ConfinementError(errno, path) }
        let to = try walk(newPath, followsLast: false)
        let newName = try to.writableName(newPath, orFolder: info.st_mode & S_IFMT == S_IFDIR)
        try refuseClash(of: newName, in: to.folder, newPath, except: from.isSameFolder(as: to) ? name : nil)
        if replacing {
            guard renameat(from.folder.raw, name, to.folder.raw, newName) != 0 else { return }
        } else {
            let code = alcove_rename_exclusive(from.folder.raw, name, to.folder.raw, newName)
            if code == 0 { return }
            errno = code
        }
        let code = errno
        throw code == EINVAL
            ? .system(path: newPath, cause: "a folder cannot be moved into itself") : ConfinementError(code, newPath)
    }
}
