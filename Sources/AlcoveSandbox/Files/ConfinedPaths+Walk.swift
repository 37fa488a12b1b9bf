internal import AlcoveCore

extension ConfinedPaths {
    static let folderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    fileprivate static let mostLinks = 40

    /// Where a path leads: an open folder and a name in it.
    struct Place {
        let root: Root
        let folder: Descriptor
        /// nil when the path means `folder` itself.
        let name: String?
        /// The path ended in a slash.
        let mustBeFolder: Bool

        func info() -> stat? {
            var info = AlcoveCore.stat()
            let code =
                name.map { fstatat(folder.raw, $0, &info, AT_SYMLINK_NOFOLLOW) } ?? fstat(folder.raw, &info)
            return code == 0 ? info : nil
        }

        /// The name, when something may be made or changed under it.
        func writableName(_ path: String, orFolder: Bool = false) throws(ConfinementError) -> String {
            guard root.isWritable else { throw .readOnly(path: path) }
            guard let name, orFolder || !mustBeFolder else { throw .isFolder(path: path) }
            return name
        }

        func refuseAllButFiles(_ path: String) throws(ConfinementError) {
            guard let info = info() else { throw ConfinementError(errno, path) }
            switch info.st_mode & S_IFMT {
            case S_IFREG: if mustBeFolder, let name { throw .notAFolder(path: path, name: name) }
            case S_IFDIR: throw .isFolder(path: path)
            case S_IFLNK: throw .changedMeanwhile(path: path)
            default: throw .specialFile(path: path)
            }
        }

        func open(
            _ name: String, _ flags: Int32, _ path: String, rights: mode_t = 0o644
        ) throws(ConfinementError) -> ConfinedFile {
            // What was a file a moment ago may be a pipe now, and opening one would wait for its other end.
            let raw = openat(folder.raw, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, rights)
            guard let file = Descriptor(raw) else { throw ConfinementError(errno, path) }
            var info = AlcoveCore.stat()
            guard fstat(raw, &info) == 0 else { throw ConfinementError(errno, path) }
            guard info.st_mode & S_IFMT == S_IFREG else { throw .specialFile(path: path) }
            return ConfinedFile(path: path, entry: FileEntry(name: name, info), file: file)
        }

        func isSameFolder(as other: Place) -> Bool {
            var one = AlcoveCore.stat()
            var two = AlcoveCore.stat()
            return fstat(folder.raw, &one) == 0 && fstat(other.folder.raw, &two) == 0 && one.st_dev == two.st_dev
                && one.st_ino == two.st_ino
        }
    }

    /// Walks a path to its last name.
    ///
    /// - Parameters:
    ///   - followsLast: Whether a link at the end is walked too.
    ///   - makingFolders: Whether folders missing before the last name are made.
    func walk(
        _ path: String, followsLast: Bool, makingFolders: Bool = false
    ) throws(ConfinementError) -> Place {
        var walker = Walker(paths: self, path: path)
        return try walker.run(followsLast: followsLast, makingFolders: makingFolders)
    }

    /// One walk. Folders stay open from the root to where it stands, so that `..` returns the way it came.
    private struct Walker {
        let paths: ConfinedPaths
        let path: String
        var root: Root
        var trail: [Descriptor] = []
        /// Names still to walk, the next one last.
        var pending: [String] = []
        var mustBeFolder = false
        var links = 0

        init(paths: ConfinedPaths, path: String) {
            self.paths = paths
            self.path = path
            root = paths.roots[0]
        }

        mutating func run(followsLast: Bool, makingFolders: Bool) throws(ConfinementError) -> Place {
            guard !path.isEmpty else { throw .noPath }
            guard !path.utf8.contains(0) else { throw .zeroByte(path: path) }
            guard path.utf8.count <= 4096 else { throw .tooLong(path: path) }
            if path.utf8.first == UInt8(ascii: "/") || paths.folder.isEmpty {
                try begin(path, link: nil)
            } else {
                try begin(paths.folder + "/" + path, link: nil)
            }
            while let name = pending.popLast() {
                if name == ".." {
                    guard trail.count > 1 else { throw .outside(path: path) }
                    trail.removeLast()
                    continue
                }
                try check(name)
                let isLast = pending.isEmpty
                if !isLast {
                    try enter(name, makingFolders: makingFolders)
                } else if followsLast, let target = link(name) {
                    try begin(target, link: name)
                } else {
                    return place(name)
                }
            }
            return place(nil)
        }

        private func place(_ name: String?) -> Place {
            Place(root: root, folder: trail[trail.count - 1], name: name, mustBeFolder: mustBeFolder)
        }

        /// Puts the names of a path, or of a link's target, before those still to walk.
        private mutating func begin(_ text: String, link: String?) throws(ConfinementError) {
            if link != nil {
                links += 1
                guard links <= ConfinedPaths.mostLinks else { throw .tooManyLinks(path: path) }
            }
            var names = text.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
            if pending.isEmpty {
                mustBeFolder = mustBeFolder || text.utf8.last == UInt8(ascii: "/") || names.last == "."
            }
            names.removeAll { $0 == "." }
            if text.utf8.first == UInt8(ascii: "/") {
                guard let (found, count) = paths.root(of: names) else {
                    throw link.map { .linkLeadsOut(path: path, link: $0) } ?? .outside(path: path)
                }
                root = found
                names.removeFirst(count)
                trail = []
            }
            if trail.isEmpty {
                // The root itself may be reached through links: whoever set it up chose them.
                guard let folder = Descriptor(open(root.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) else {
                    throw .rootMissing(folder: root.folder)
                }
                trail = [folder]
            }
            pending += names.reversed()
        }

        private func check(_ name: String) throws(ConfinementError) {
            guard name.utf8.count <= 255 else { throw .tooLong(path: path) }
            guard !paths.denied.isEmpty else { return }
            let folded = ConfinedPaths.folded(name)
            for other in paths.denied where ConfinedPaths.folded(other) == folded {
                throw .deniedName(path: path, name: name)
            }
        }

        private mutating func enter(_ name: String, makingFolders: Bool) throws(ConfinementError) {
            guard trail.count <= ConfinedPaths.deepest else { throw .tooDeep(path: path) }
            let here = trail[trail.count - 1]
            var raw = openat(here.raw, name, ConfinedPaths.folderFlags)
            if raw < 0, errno == ENOENT, makingFolders {
                guard root.isWritable else { throw .readOnly(path: path) }
                try paths.makeFolder(name, in: here, path)
                raw = openat(here.raw, name, ConfinedPaths.folderFlags)
            }
            if let folder = Descriptor(raw) {
                trail.append(folder)
                return
            }
            let code = errno
            guard code == ENOTDIR || code == ELOOP else { throw ConfinementError(code, path) }
            guard let target = link(name) else { throw .notAFolder(path: path, name: name) }
            try begin(target, link: name)
        }

        /// What a name means when it is a symbolic link.
        private mutating func link(_ name: String) -> String? {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = buffer.withUnsafeMutableBytes {
                readlinkat(trail[trail.count - 1].raw, name, $0.bindMemory(to: CChar.self).baseAddress!, $0.count)
            }
            guard count > 0, count < buffer.count else { return nil }
            return String(decoding: buffer.prefix(count), as: UTF8.self)
        }
    }

    /// The root an absolute path begins with, and how many of its names that takes. The longest wins.
    private func root(of names: [String]) -> (Root, Int)? {
        var best: (Root, Int)?
        for root in roots {
            for folder in [root.folder, root.shownAs] where folder.utf8.first == UInt8(ascii: "/") {
                let prefix = folder.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
                if names.starts(with: prefix), prefix.count >= best?.1 ?? 0 { best = (root, prefix.count) }
            }
        }
        return best
    }
}
