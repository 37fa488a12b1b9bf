internal import AlcoveCore

extension ConfinedPaths {
    /// What a symbolic link says, as it was written.
    package func readLink(_ path: String) throws(ConfinementError) -> String {
        let place = try walk(path, followsLast: false)
        guard let name = place.name else { throw .system(path: path, cause: "it is no symbolic link") }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = buffer.withUnsafeMutableBytes {
            readlinkat(place.folder.raw, name, $0.bindMemory(to: CChar.self).baseAddress!, $0.count)
        }
        guard count >= 0 else {
            let code = errno
            throw code == EINVAL ? .system(path: path, cause: "it is no symbolic link") : ConfinementError(code, path)
        }
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    /// Makes a symbolic link. One that would lead out of the roots is refused, though no walk here would follow it:
    /// other programs might.
    package func makeLink(_ path: String, to target: String) throws(ConfinementError) {
        let place = try walk(path, followsLast: false)
        let name = try place.writableName(path)
        guard !target.isEmpty else { throw .noPath }
        guard !target.utf8.contains(0) else { throw .zeroByte(path: target) }
        guard staysInside(target, from: path) else { throw .outside(path: target) }
        try refuseClash(of: name, in: place.folder, path)
        guard symlinkat(target, place.folder.raw, name) == 0 else { throw ConfinementError(errno, path) }
    }

    /// By its letters only: what a link on the way would do is found when the path is walked.
    private func staysInside(_ target: String, from path: String) -> Bool {
        guard target.utf8.first != UInt8(ascii: "/") else { return false }
        let start = path.hasPrefix("/") ? path : folder + "/" + path
        let prefix = ConfinedPaths.workspaceName + "/"
        let inside = start.hasPrefix(prefix) ? String(start.dropFirst(prefix.count)) : start
        var depth = 0
        for part in inside.split(separator: "/").dropLast() where part != "." { depth += part == ".." ? -1 : 1 }
        for part in target.split(separator: "/") where part != "." {
            depth += part == ".." ? -1 : 1
            if depth < 0 { return false }
        }
        return true
    }

    /// Changes who may read, write and run a file or folder: the nine lowest bits.
    package func setRights(_ path: String, _ rights: UInt16) throws(ConfinementError) {
        let place = try walk(path, followsLast: true)
        guard place.root.isWritable else { throw .readOnly(path: path) }
        guard let name = place.name else {
            guard fchmod(place.folder.raw, mode_t(rights & 0o777)) == 0 else { throw ConfinementError(errno, path) }
            return
        }
        // Opened first: a name could be exchanged for a link between a look and the change.
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        if let file = Descriptor(openat(place.folder.raw, name, flags)) {
            guard fchmod(file.raw, mode_t(rights & 0o777)) == 0 else { throw ConfinementError(errno, path) }
        } else {
            throw ConfinementError(errno, path)
        }
    }

    /// Sets when a file or folder was last changed; nil means now.
    package func setModified(_ path: String, seconds: Int?) throws(ConfinementError) {
        let place = try walk(path, followsLast: true)
        guard place.root.isWritable else { throw .readOnly(path: path) }
        let time = seconds.map { timespec(tv_sec: $0, tv_nsec: 0) }
        let times = time.map { [$0, $0] }
        let code: Int32
        if let name = place.name {
            code =
                times?.withUnsafeBufferPointer {
                    utimensat(place.folder.raw, name, $0.baseAddress, AT_SYMLINK_NOFOLLOW)
                }
                ?? utimensat(place.folder.raw, name, nil, AT_SYMLINK_NOFOLLOW)
        } else {
            code =
                times?.withUnsafeBufferPointer { futimens(place.folder.raw, $0.baseAddress) }
                ?? futimens(place.folder.raw, nil)
        }
        guard code == 0 else { throw ConfinementError(errno, path) }
    }
}

extension ConfinedPaths {
    /// An open folder, for calls that ask the system about its disk; the caller closes it.
    package func openFolderDescriptor(_ path: String) throws(ConfinementError) -> Int32 {
        let folder = try openFolder(path)
        let own = withExtendedLifetime(folder) { openat(folder.raw, ".", ConfinedPaths.folderFlags) }
        guard own >= 0 else { throw ConfinementError(errno, path) }
        return own
    }
}
