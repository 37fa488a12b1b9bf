internal import AlcoveCore

/// The files of the catalogue's models on disk: a folder an entry, files under their names in the catalogue.
package struct ModelStore: Sendable {
    package enum State: String, Sendable {
        case notInstalled = "NotInstalled"
        case partial = "Partial"
        case installed = "Installed"
    }

    package struct Status: Sendable, Hashable {
        package var state: State
        /// Bytes that are there, of optional files and unfinished ones too.
        package var installedBytes: UInt64
        /// Bytes of required files that are missing.
        package var remainingBytes: UInt64
        /// The weights, once the entry is installed.
        package var path: String?
    }

    /// `models` in the root folder.
    package let folder: String

    package init(folder: String) { self.folder = folder }

    package func folder(of entry: CatalogEntry) -> String { "\(folder)/\(entry.id)" }

    package func path(of file: CatalogFile, in entry: CatalogEntry) -> String {
        file.ownPath ?? "\(folder(of: entry))/\(file.name)"
    }

    /// A file is complete when it has exactly the catalogue's length: it gets its name only after its hash was right.
    package func isComplete(_ file: CatalogFile, in entry: CatalogEntry) -> Bool {
        size(path(of: file, in: entry)) == file.bytes && file.bytes > 0
    }

    package func status(of entry: CatalogEntry) -> Status {
        var status = Status(state: .notInstalled, installedBytes: 0, remainingBytes: 0, path: nil)
        var isAnythingThere = false
        for file in entry.files {
            var there: UInt64 = 0
            if isComplete(file, in: entry) {
                there = file.bytes
            } else if let part = size(path(of: file, in: entry) + ".part") {
                there = min(part, file.bytes)
                isAnythingThere = isAnythingThere || there > 0
            }
            if there > 0 { isAnythingThere = true }
            status.installedBytes += there
            if !file.isOptional { status.remainingBytes += file.bytes - there }
        }
        let isInstalled = entry.requiredFiles.allSatisfy { isComplete($0, in: entry) }
        if isInstalled {
            status.state = .installed
            status.path = path(of: entry.weights, in: entry)
        } else if isAnythingThere {
            status.state = .partial
        }
        return status
    }

    /// Makes the entry's folder.
    func prepare(_ entry: CatalogEntry) throws(InputError) {
        mkdir(folder, 0o700)
        let path = folder(of: entry)
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw InputError(
                code: "models_unwritable", message: "\(path) cannot be made: \(Platform.describe(errno: errno)).",
                hint: "Check that \(folder) may be written.", place: errno == ENOSPC ? .space : .host)
        }
    }

    /// Deletes an entry's files, finished or not. What else lies in its folder is not the catalogue's, and stays.
    func delete(_ entry: CatalogEntry) throws(InputError) {
        for file in entry.files where file.ownPath == nil {
            for suffix in ["", ".part", ".part.json", ".part.json.new"] {
                let path = path(of: file, in: entry) + suffix
                guard unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR else {
                    throw InputError(
                        code: "model_not_deleted",
                        message: "\(path) cannot be deleted: \(Platform.describe(errno: errno)).",
                        hint: "Check that its folder may be written.", place: .host)
                }
            }
        }
        rmdir(folder(of: entry))
    }

    private func size(_ path: String) -> UInt64? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return UInt64(status.st_size)
    }
}
