internal import AlcoveCore

/// One commit of a folder: what has been done so far, and how to take it back.
final class FolderCommit {
    private struct Step {
        var change: PatchChange
        /// Descriptor of the folder the file is in.
        var folder: Int32
        var name: String
        /// The new content, until it has the file's name.
        var new: String?
        /// The old content, once the file's name is or may be another's.
        var old: String?
        /// The file's name stands for the new state.
        var isDone = false
    }

    private let folder: PatchFolder
    private let created = CreatedFolders()
    private let tag = String(UInt64.random(in: .min ... .max), radix: 36)
    private var steps: [Step] = []

    init(folder: PatchFolder) { self.folder = folder }

    deinit {
        for step in steps { close(step.folder) }
    }

    private func failure(_ place: String) -> PatchError {
        .unusable(path: place, reason: Platform.describe(errno: errno))
    }

    // MARK: forward

    /// Writes the new content beside the file.
    func prepare(_ change: PatchChange) throws(PatchError) {
        guard let (parent, name) = try folder.parent(of: change.place, creating: change.after == nil ? nil : created)
        else { throw .changedMeanwhile(path: change.place) }
        steps.append(Step(change: change, folder: parent, name: name))
        guard let bytes = change.after else { return }
        let temporary = ".alcove-patch-\(tag)-\(steps.count)-new"
        let file = openat(parent, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw failure(change.place) }
        steps[steps.count - 1].new = temporary
        defer { close(file) }
        try write(bytes, to: file, change.place)
        if let mode = try mode(change), fchmod(file, mode) != 0 { throw failure(change.place) }
        guard fsync(file) == 0 else { throw failure(change.place) }
    }

    /// Access rights the new content takes over; nil for those of any new file.
    private func mode(_ change: PatchChange) throws(PatchError) -> mode_t? {
        guard let source = change.before == nil ? change.modeFrom : change.place,
            let (parent, name) = try folder.parent(of: source, creating: nil)
        else { return nil }
        defer { close(parent) }
        var info = stat()
        guard fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return info.st_mode & 0o7777
    }

    private func write(_ bytes: [UInt8], to file: Int32, _ place: String) throws(PatchError) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                AlcoveCore.write(file, buffer.baseAddress.map { $0 + done }, buffer.count - done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure(place) }
            done += count
        }
    }

    /// Lets a file's name stand for its new state.
    func carryOut(_ index: Int) throws(PatchError) {
        let step = steps[index]
        let place = step.change.place
        let old = ".alcove-patch-\(tag)-\(index + 1)-old"
        switch (step.change.before, step.new) {
        case (nil, let new?):
            // Unlike a rename, a link never takes the place of a file that somebody has put there meanwhile.
            if linkat(step.folder, new, step.folder, step.name, 0) != 0 {
                guard hasNoLinks(errno), faccessat(step.folder, step.name, F_OK, 0) != 0,
                    renameat(step.folder, new, step.folder, step.name) == 0
                else { throw failure(place) }
                steps[index].new = nil
            }
            steps[index].isDone = true
        case (_, let new?):
            if linkat(step.folder, step.name, step.folder, old, 0) != 0 {
                guard hasNoLinks(errno), renameat(step.folder, step.name, step.folder, old) == 0
                else { throw failure(place) }
            }
            steps[index].old = old
            guard renameat(step.folder, new, step.folder, step.name) == 0 else { throw failure(place) }
            steps[index].new = nil
            steps[index].isDone = true
        case (_, nil):
            guard renameat(step.folder, step.name, step.folder, old) == 0 else { throw failure(place) }
            steps[index].old = old
            steps[index].isDone = true
        }
    }

    /// Some file systems (FAT, some network shares) know no second name for a file.
    private func hasNoLinks(_ code: Int32) -> Bool { [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS].contains(code) }

    /// Takes the leftovers away and has the folders written to disk.
    func finish() {
        for step in steps {
            for name in [step.new, step.old].compactMap({ $0 }) { unlinkat(step.folder, name, 0) }
            fsync(step.folder)
        }
    }

    // MARK: back

    /// Takes everything back, last step first, and says how that went.
    func undone(_ place: String, after error: PatchError) -> PatchError {
        var restored: [String] = [], lost: [String] = []
        for step in steps.reversed() {
            var isBack = true
            if step.isDone {
                isBack =
                    if let old = step.old {
                        renameat(step.folder, old, step.folder, step.name) == 0
                    } else {
                        unlinkat(step.folder, step.name, 0) == 0
                    }
                if isBack { restored.append(step.change.place) } else { lost.append(step.change.place) }
            } else if let old = step.old {
                // The file is under its old name, its own name, or both; after this it is under its own.
                isBack = renameat(step.folder, old, step.folder, step.name) == 0
                if isBack { unlinkat(step.folder, old, 0) } else { lost.append(step.change.place) }
            }
            if let new = step.new { unlinkat(step.folder, new, 0) }
        }
        for path in created.paths.reversed() { removeFolder(path) }
        let reason = if case .unusable(_, let reason) = error { reason } else { error.message }
        return lost.isEmpty
            ? .notWritten(path: place, reason: reason, restored: restored.reversed())
            : .notRestored(path: place, reason: reason, lost: lost)
    }

    private func removeFolder(_ path: String) {
        guard let found = try? folder.parent(of: path, creating: nil) else { return }
        unlinkat(found.folder, found.name, AT_REMOVEDIR)
        close(found.folder)
    }
}
