package import AlcoveCore
internal import AlcoveSandbox
internal import AlcoveStorage

/// Copies of a chat's folder as it was before a turn changed it, so that the turn can be taken back.
///
/// A chat's snapshots share their files: each content is kept once, under its SHA-256. Nothing outside the folder is
/// followed or touched; links are remembered by name only, and a file whose name is not UTF-8 is left alone.
package struct WorkspaceSnapshots: Sendable {
    package struct Limits: Sendable {
        /// Most files and folders.
        package var entries = 5_000
        /// Most bytes of one snapshot.
        package var bytes = 256 << 20
        /// Snapshots kept of a chat; older ones go.
        package var kept = 30

        package init() {}
    }

    package enum SnapshotError: UserFacingError, Equatable {
        case tooLarge(entries: Int, bytes: Int)
        case missing
        case damaged(path: String)

        package var code: String {
            switch self {
            case .tooLarge: "files_too_large_to_undo"
            case .missing: "no_snapshot"
            case .damaged: "snapshot_damaged"
            }
        }
        package var place: ErrorPlace { .data }
        package var message: String {
            switch self {
            case .tooLarge(let entries, let bytes):
                "The chat's folder holds too much to be kept for taking back (\(entries) files or more, "
                    + "\(bytes >> 20) MB or more), so changes of this turn stay."
            case .missing: "What the files were before is not kept any more."
            case .damaged(let path): "The kept copy of \(path) is damaged, so the files were left as they are."
            }
        }
        package var hint: String? { nil }
    }

    package let folder: String
    package var limits = Limits()

    package init(folder: String) { self.folder = folder }

    // MARK: Taking

    /// Keeps what the workspace holds now under a name; one that is there already stays.
    ///
    /// - Throws: `SnapshotError.tooLarge`, or `ConfinementError` when the disk takes no more.
    package func take(of workspace: String, chat: String, name: String) throws {
        let store = try store(of: chat, making: true)
        if (try? store.linkStat(name + ".json")) != nil { return }
        let previous = newest(in: store)
        let known = Dictionary(
            (previous?.entries ?? []).map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        let source = ConfinedPaths(workspace: workspace)
        var manifest = WorkspaceManifest(takenAt: Timestamp.now.milliseconds, entries: [])
        var bytes = 0
        try walk(source) { path, found in
            manifest.entries.append(WorkspaceManifest.Entry(path: path, kind: .folder))
            switch found.kind {
            case .folder: break
            case .link: manifest.entries[manifest.entries.count - 1].kind = .link
            case .special: manifest.entries.removeLast()
            case .file:
                bytes += found.bytes
                guard manifest.entries.count <= limits.entries, bytes <= limits.bytes else {
                    throw SnapshotError.tooLarge(entries: manifest.entries.count, bytes: bytes)
                }
                var entry = WorkspaceManifest.Entry(
                    path: path, kind: .file, bytes: found.bytes, modified: found.modified,
                    isExecutable: found.isExecutable)
                if let old = known[path], old.bytes == entry.bytes, old.modified == entry.modified,
                    let hash = old.hash, previous?.isSettled(old) == true, holds(hash, in: store)
                {
                    entry.hash = hash
                } else {
                    entry.hash = try keep(try source.read(path, limit: limits.bytes), in: store)
                }
                manifest.entries[manifest.entries.count - 1] = entry
            }
        }
        try store.replace(name + ".json", manifest.json.bytes())
        forgetOld(in: store)
    }

    package func has(_ name: String, chat: String) -> Bool {
        guard let store = try? store(of: chat, making: false) else { return false }
        return (try? store.linkStat(name + ".json")) != nil
    }

    // MARK: Going back

    /// Makes the workspace what it was, as far as the snapshot knows it. Doing it twice is doing it once.
    ///
    /// Every kept copy is read and checked before the first file is touched.
    ///
    /// - Returns: names of the files that were put back or taken away.
    /// - Throws: `SnapshotError`, or `ConfinementError` when the disk takes no more; then doing it again goes on.
    package func restore(_ name: String, chat: String, to workspace: String) throws -> [String] {
        let store = try store(of: chat, making: false)
        guard let manifest = manifest(name, in: store) else { throw SnapshotError.missing }
        let wanted = Dictionary(manifest.entries.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        let target = ConfinedPaths(workspace: workspace)
        var present: [(path: String, found: FileEntry)] = []
        try walk(target) { present.append(($0, $1)) }

        let there = Dictionary(present.map { ($0.path, $0.found) }, uniquingKeysWith: { first, _ in first })
        var missing: [WorkspaceManifest.Entry] = []
        for entry in manifest.entries where entry.kind == .file {
            if let found = there[entry.path], found.kind == .file, found.bytes == entry.bytes,
                SHA256.hex(try target.read(entry.path, limit: limits.bytes)) == entry.hash
            {
                continue
            }
            _ = try contents(of: entry, in: store)
            missing.append(entry)
        }

        var changed: [String] = []
        // Children before their folders.
        for (path, found) in present.reversed() where wanted[path].map({ !$0.isLike(found.kind) }) ?? true {
            try target.remove(path, recursively: true)
            if found.kind != .folder { changed.append(path) }
        }
        for entry in manifest.entries where entry.kind == .folder { try target.makeFolders(entry.path) }
        for entry in missing {
            try target.replace(entry.path, try contents(of: entry, in: store))
            if entry.isExecutable {
                let file = try target.openForReading(entry.path)
                _ = withExtendedLifetime(file) { fchmod(file.descriptor, 0o755) }
            }
            changed.append(entry.path)
        }
        return Array(Set(changed)).sorted()
    }

    /// Forgets everything of a chat.
    package func forget(chat: String) {
        try? ConfinedPaths(workspace: folder).remove(chat, recursively: true)
    }

    package func forget(_ name: String, chat: String) {
        guard let store = try? store(of: chat, making: false) else { return }
        try? store.remove(name + ".json")
        forgetOld(in: store)
    }

    // MARK: The store

    private func store(of chat: String, making: Bool) throws -> ConfinedPaths {
        if making {
            mkdir(folder, 0o700)
            mkdir("\(folder)/\(chat)", 0o700)
            try ConfinedPaths(workspace: "\(folder)/\(chat)").makeFolders("objects")
        }
        return ConfinedPaths(workspace: "\(folder)/\(chat)")
    }

    private func manifest(_ name: String, in store: ConfinedPaths) -> WorkspaceManifest? {
        guard let bytes = try? store.read(name + ".json", limit: 64 << 20), let json = try? JSONValue(parsing: bytes)
        else { return nil }
        return WorkspaceManifest(json: json)
    }

    private func names(in store: ConfinedPaths) -> [(name: String, modified: Int64)] {
        let found = (try? store.list(".")) ?? []
        return found.filter { $0.name.hasSuffix(".json") }.map { (String($0.name.dropLast(5)), $0.modified) }
            .sorted { ($0.modified, $0.name) < ($1.modified, $1.name) }
    }

    private func newest(in store: ConfinedPaths) -> WorkspaceManifest? {
        names(in: store).last.flatMap { manifest($0.name, in: store) }
    }

    private func holds(_ hash: String, in store: ConfinedPaths) -> Bool {
        (try? store.linkStat("objects/" + hash)) != nil
    }

    private func keep(_ bytes: [UInt8], in store: ConfinedPaths) throws -> String {
        let hash = SHA256.hex(bytes)
        if !holds(hash, in: store) { try store.replace("objects/" + hash, bytes) }
        return hash
    }

    private func contents(of entry: WorkspaceManifest.Entry, in store: ConfinedPaths) throws -> [UInt8] {
        guard let hash = entry.hash, let bytes = try? store.read("objects/" + hash, limit: limits.bytes),
            SHA256.hex(bytes) == hash
        else { throw SnapshotError.damaged(path: entry.path) }
        return bytes
    }

    /// Drops snapshots beyond the limit, and contents that none refers to.
    private func forgetOld(in store: ConfinedPaths) {
        let all = names(in: store)
        for (name, _) in all.dropLast(limits.kept) { try? store.remove(name + ".json") }
        var used: Set<String> = []
        for (name, _) in all.suffix(limits.kept) {
            // One that cannot be read may refer to anything: then nothing is dropped.
            guard let manifest = manifest(name, in: store) else { return }
            used.formUnion(manifest.entries.compactMap(\.hash))
        }
        for object in (try? store.list("objects")) ?? [] where !used.contains(object.name) {
            try? store.remove("objects/" + object.name)
        }
    }

    /// Every entry that has a name we can say, folders before what is in them.
    private func walk(_ paths: ConfinedPaths, _ visit: (String, FileEntry) throws -> Void) throws {
        var folders = ["."]
        while let folder = folders.popLast() {
            for entry in try paths.list(folder) where !entry.name.unicodeScalars.contains("\u{FFFD}") {
                let path = folder == "." ? entry.name : "\(folder)/\(entry.name)"
                if entry.kind == .special { continue }
                try visit(path, entry)
                if entry.kind == .folder { folders.append(path) }
            }
        }
    }
}

extension WorkspaceManifest.Entry {
    fileprivate func isLike(_ found: FileEntry.Kind) -> Bool {
        switch found {
        case .file: kind == .file
        case .folder: kind == .folder
        case .link: kind == .link
        case .special: false
        }
    }
}
