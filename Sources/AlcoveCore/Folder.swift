/// Folders of the host's own, by path. What a person, a model or another program names is a case for the sandbox's
/// `ConfinedPaths`, which follows no link.
package enum Folder {
    /// Names of what is in it in the order of their bytes, without `.` and `..`; none when it cannot be read.
    package static func names(in path: String) -> [String] {
        guard let stream = opendir(path) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Makes it, for its owner alone, with the folders above it that are missing.
    ///
    /// - Parameter path: from the root of the file system.
    /// - Returns: false, with `errno` of the first folder that could not be made.
    @discardableResult
    package static func make(_ path: String) -> Bool {
        var place = ""
        for name in path.split(separator: "/") {
            place += "/" + name
            if mkdir(place, 0o700) == 0 || errno == EEXIST { continue }
            // What is there already may be refused for another reason: a disk that cannot be written.
            let reason = errno
            if access(place, F_OK) == 0 { continue }
            errno = reason
            return false
        }
        return true
    }

    /// An empty folder that nobody else has, where the system keeps what may go (`TMPDIR`).
    ///
    /// - Parameter purpose: a word for its name.
    /// - Returns: its path; nil, with `errno`, when it cannot be made.
    package static func makeTemporary(_ purpose: String) -> String? {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        var template = Array("\(base.hasPrefix("/") ? base : "/tmp")/alcove-\(purpose)-XXXXXX".utf8CString)
        return mkdtemp(&template).map { String(cString: $0) }
    }

    /// Takes it away with all that is in it. Of a link the link goes, not what it points to.
    package static func remove(_ path: String) {
        for name in names(in: path) {
            let inner = path + "/" + name
            if unlink(inner) != 0, errno == EISDIR || errno == EPERM { remove(inner) }
        }
        rmdir(path)
    }
}

extension stat {
    /// When it was last written.
    package var written: timespec {
        #if canImport(Darwin)
        st_mtimespec
        #else
        st_mtim
        #endif
    }

    /// When it was last read, as far as the file system keeps account of that.
    package var read: timespec {
        #if canImport(Darwin)
        st_atimespec
        #else
        st_atim
        #endif
    }
}

extension timespec {
    package var nanoseconds: Int64 { Int64(tv_sec) * 1_000_000_000 + Int64(tv_nsec) }
}
