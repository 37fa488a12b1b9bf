internal import AlcoveCore

extension ConfinedPaths {
    /// The entries of a folder, by name. Links are not followed.
    ///
    /// A name that is not UTF-8 appears with replacement characters and cannot be used as a path.
    ///
    /// - Parameter limit: Most entries returned; which ones are left out is not defined.
    package func list(_ path: String, limit: Int = 100_000) throws(ConfinementError) -> [FileEntry] {
        let folder = try openFolder(path)
        var entries: [FileEntry] = []
        guard
            forEachName(
                in: folder,
                { name in
                    var info = AlcoveCore.stat()
                    // Gone since: not an entry any more.
                    if fstatat(folder.raw, name, &info, AT_SYMLINK_NOFOLLOW) == 0 {
                        entries.append(FileEntry(name: String(cString: name), info))
                    }
                    return entries.count < limit
                })
        else { throw ConfinementError(errno, path) }
        return entries.sorted { Array($0.name.utf8).lexicographicallyPrecedes(Array($1.name.utf8)) }
    }

    /// Makes a folder and those missing above it. One that is there already is no error.
    package func makeFolders(_ path: String) throws(ConfinementError) {
        let place = try walk(path.hasSuffix("/") ? path : path + "/", followsLast: true, makingFolders: true)
        guard place.root.isWritable else { throw .readOnly(path: path) }
        guard let name = place.name else { return }
        try makeFolder(name, in: place.folder, path)
        guard let info = place.info(), info.st_mode & S_IFMT == S_IFDIR else { throw .exists(path: path) }
    }

    /// Removes a file, a link (never what it means), or a folder.
    ///
    /// - Parameter recursively: Whether a folder goes with all that is in it. A fault half way leaves the rest.
    package func remove(_ path: String, recursively: Bool = false) throws(ConfinementError) {
        let place = try walk(path, followsLast: false)
        let name = try place.writableName(path, orFolder: true)
        guard let info = place.info() else { throw ConfinementError(errno, path) }
        let isFolder = info.st_mode & S_IFMT == S_IFDIR
        if place.mustBeFolder, !isFolder { throw .notAFolder(path: path, name: name) }
        if isFolder, recursively { try empty(name, in: place.folder, path, depth: 0) }
        guard unlinkat(place.folder.raw, name, isFolder ? AT_REMOVEDIR : 0) == 0 else {
            throw ConfinementError(errno, path)
        }
    }

    func openFolder(_ path: String) throws(ConfinementError) -> Descriptor {
        let place = try walk(path, followsLast: true)
        guard let name = place.name else { return place.folder }
        guard let folder = Descriptor(openat(place.folder.raw, name, ConfinedPaths.folderFlags)) else {
            let code = errno
            throw code == ENOTDIR || code == ELOOP
                ? .notAFolder(path: path, name: name) : ConfinementError(code, path)
        }
        return folder
    }

    func makeFolder(_ name: String, in folder: Descriptor, _ path: String) throws(ConfinementError) {
        if faccessat(folder.raw, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 { return }
        try refuseClash(of: name, in: folder, path)
        if mkdirat(folder.raw, name, 0o755) != 0, errno != EEXIST { throw ConfinementError(errno, path) }
    }

    private func empty(
        _ name: String, in parent: Descriptor, _ path: String, depth: Int
    ) throws(ConfinementError) {
        guard depth < ConfinedPaths.deepest else { throw .tooDeep(path: path) }
        guard let folder = Descriptor(openat(parent.raw, name, ConfinedPaths.folderFlags)) else {
            throw ConfinementError(errno, path)
        }
        var inside: [String] = []
        guard
            forEachName(
                in: folder,
                {
                    inside.append(String(cString: $0))
                    return true
                })
        else { throw ConfinementError(errno, path) }
        for name in inside {
            if unlinkat(folder.raw, name, 0) == 0 || errno == ENOENT { continue }
            // EISDIR here, EPERM where POSIX is followed to the letter.
            guard [EISDIR, EPERM].contains(errno) else { throw ConfinementError(errno, path) }
            try empty(name, in: folder, path, depth: depth + 1)
            if unlinkat(folder.raw, name, AT_REMOVEDIR) != 0 { throw ConfinementError(errno, path) }
        }
    }

    /// Refuses a new name that an existing one equals but for case or the coding of letters.
    ///
    /// Not a wall: another process may make such a file a moment later.
    func refuseClash(
        of name: String, in folder: Descriptor, _ path: String, except own: String? = nil
    ) throws(ConfinementError) {
        guard names == .portable else { return }
        let folded = ConfinedPaths.folded(name)
        var existing: String?
        forEachName(in: folder) { raw in
            let other = String(cString: raw)
            // Of canonically equal names only the bytes tell which is which.
            if ConfinedPaths.folded(other) == folded, !other.utf8.elementsEqual(name.utf8), other != own {
                existing = other
            }
            return existing == nil
        }
        if let existing { throw .nameClash(path: path, existing: existing) }
    }

    /// Equal (canonically, as Swift compares) for names that some file system takes for the same.
    static func folded(_ name: String) -> String { name.uppercased().lowercased() }
}

/// Calls `body` with each name in a folder but `.` and `..`, until it says false.
///
/// - Returns: false with errno set when the folder cannot be read.
@discardableResult
private func forEachName(in folder: Descriptor, _ body: (UnsafePointer<CChar>) -> Bool) -> Bool {
    // A descriptor of its own: reading moves the position, and closedir closes it.
    let own = openat(folder.raw, ".", ConfinedPaths.folderFlags)
    guard own >= 0 else { return false }
    guard let stream = fdopendir(own) else {
        close(own)
        return false
    }
    defer { closedir(stream) }
    while true {
        errno = 0
        guard let entry = readdir(stream) else { return errno == 0 }
        let goesOn = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
            tuple.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                if strcmp(name, ".") == 0 || strcmp(name, "..") == 0 { return true }
                return body(name)
            }
        }
        if !goesOn { return true }
    }
}
