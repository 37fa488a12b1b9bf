internal import AlcoveCore
internal import AlcoveSandbox
internal import AlcoveStorage

/// Puts what a person attached into the chat's workspace, where tools find it.
///
/// A file is copied once, under the name the person knows it by. The first file of a name keeps it; a different one becomes
/// `name-2.ext`. What is in the workspace already is never overwritten: it may be a tool's work by now. Which upload became
/// which file stands in a record beside the workspace, out of the tools' reach.
///
/// An actor on a queue of its own, since copying blocks.
package actor AttachmentStaging {
    /// One file to be put there.
    package struct File: Sendable, Hashable {
        /// The name it is kept under; tells it from others of the same shown name.
        package var key: String
        package var shownName: String
        /// Where it is now.
        package var path: String

        package init(key: String, shownName: String, path: String) {
            self.key = key
            self.shownName = shownName
            self.path = path
        }
    }

    /// Different files of one name that are told apart.
    private static let namesakes = 1_000
    private static let recordLimit = 16 << 20

    private let executor = QueueExecutor(label: "alcove.staging")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    /// The folder of all workspaces, which holds the records.
    private let folder: String
    /// Workspaces from which the copies that an end of the program left half done have been taken.
    private var tidied: Set<String> = []
    private static let copyBeginning = ".alcove-copy-"

    package init(folder: String) { self.folder = folder }

    /// Copies what is not there yet.
    ///
    /// - Parameter workspace: The name of a folder in the folder of workspaces.
    /// - Returns: the names in the workspace by key.
    /// - Throws: `ConfinementError` when a file cannot be read or copied, a full disk among the reasons.
    package func stage(_ files: [File], in workspace: String) throws -> [String: String] {
        if files.isEmpty { return [:] }
        let target = ConfinedPaths(workspace: folder + "/" + workspace)
        tidy(workspace, target)
        let known = record(of: workspace)
        var names = known
        for file in files {
            if let name = names[file.key], (try? target.linkStat(name)) != nil { continue }
            names[file.key] = try place(file, in: target, taken: Set(names.filter { $0.key != file.key }.values))
        }
        if names != known { try keep(names, of: workspace) }
        return names.filter { entry in files.contains { $0.key == entry.key } }
    }

    private func tidy(_ workspace: String, _ target: ConfinedPaths) {
        guard tidied.insert(workspace).inserted, let entries = try? target.list(".") else { return }
        for entry in entries where entry.name.hasPrefix(AttachmentStaging.copyBeginning) {
            try? target.remove(entry.name)
        }
    }

    /// Removes the records of workspaces that are gone: names of files would otherwise outlive their chat.
    package func forgetLost() {
        let paths = ConfinedPaths(workspace: folder)
        guard let entries = try? paths.list(".") else { return }
        let names = Set(entries.map(\.name))
        for name in names where name.hasSuffix(AttachmentStaging.recordEnding) {
            if !names.contains(String(name.dropLast(AttachmentStaging.recordEnding.count))) { try? paths.remove(name) }
        }
    }

    // MARK: The record

    private static let recordEnding = ".files.json"

    private func recordName(_ workspace: String) -> String { workspace + AttachmentStaging.recordEnding }

    private func record(of workspace: String) -> [String: String] {
        guard
            let bytes = try? ConfinedPaths(workspace: folder).read(
                recordName(workspace), limit: AttachmentStaging.recordLimit),
            let object = try? JSONValue(parsing: bytes).object
        else { return [:] }
        return object.members.reduce(into: [:]) { names, member in names[member.key] = member.value.string }
    }

    private func keep(_ names: [String: String], of workspace: String) throws {
        var object = JSONObject()
        for (key, name) in names.sorted(by: { $0.key < $1.key }) { object[key] = .string(name) }
        try ConfinedPaths(workspace: folder).replace(recordName(workspace), JSONValue.object(object).bytes())
    }

    // MARK: Copying

    /// Copies a file under the first name that is free, or finds that it is there.
    private func place(_ file: File, in target: ConfinedPaths, taken: Set<String>) throws -> String {
        let copy = AttachmentStaging.copyBeginning + hexText(Platform.randomBytes(8)) + ".tmp"
        let wanted = AttachmentStaging.workspaceName(file.shownName)
        var hasCopied = false
        defer { if hasCopied { try? target.remove(copy) } }
        for number in 1...AttachmentStaging.namesakes {
            let name = number == 1 ? wanted : AttachmentStaging.numbered(wanted, number)
            if taken.contains(name) {
                if isSame(file.path, name, in: target) { return name }
                continue
            }
            do throws(ConfinementError) {
                if (try? target.linkStat(name)) != nil {
                    if isSame(file.path, name, in: target) { return name }
                    continue
                }
                if !hasCopied {
                    hasCopied = true
                    try AttachmentStaging.copy(file.path, to: copy, in: target)
                }
                try target.move(copy, to: name)
                hasCopied = false
                return name
            } catch {
                switch error {
                case .exists, .nameClash: continue
                default: throw error
                }
            }
        }
        throw ConfinementError.exists(path: wanted)
    }

    private static func copy(_ path: String, to name: String, in target: ConfinedPaths) throws(ConfinementError) {
        let source = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard source >= 0 else { throw AttachmentStaging.unreadable(path) }
        defer { close(source) }
        let file = try target.openForWriting(name, .truncate)
        while let piece = try read(source, path) { try file.write(piece) }
    }

    /// The next megabyte; nil at the end.
    private static func read(_ source: Int32, _ path: String) throws(ConfinementError) -> [UInt8]? {
        while true {
            var code: Int32 = 0
            let piece = [UInt8](unsafeUninitializedCapacity: 1 << 20) { buffer, count in
                let got = AlcoveCore.read(source, buffer.baseAddress, 1 << 20)
                code = got < 0 ? errno : 0
                count = max(0, got)
            }
            if code == EINTR { continue }
            if code != 0 {
                errno = code
                throw unreadable(path)
            }
            return piece.isEmpty ? nil : piece
        }
    }

    private static func unreadable(_ path: String) -> ConfinementError {
        errno == ENOENT ? .missing(path: path) : .system(path: path, cause: Platform.describe(errno: errno))
    }

    private func isSame(_ path: String, _ name: String, in target: ConfinedPaths) -> Bool {
        let source = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard source >= 0 else { return false }
        defer { close(source) }
        var info = stat()
        guard fstat(source, &info) == 0, let file = try? target.openForReading(name),
            file.entry.bytes == Int(info.st_size)
        else { return false }
        while true {
            guard let ours = try? AttachmentStaging.read(source, path) else { return true }
            var theirs: [UInt8] = []
            while theirs.count < ours.count, let more = try? AttachmentStaging.read(file.descriptor, name) {
                theirs += more
            }
            if ours != theirs { return false }
        }
    }

    // MARK: Names

    /// A name that commands can be given without surprise: not hidden, not taken for an option.
    static func workspaceName(_ shown: String) -> String {
        let name = shown.split(separator: "/").last.map(String.init) ?? "file"
        guard let first = name.first, first == "." || first == "-" else { return name }
        return "_" + name.dropFirst()
    }

    /// `report-2.pdf` for `report.pdf`.
    static func numbered(_ name: String, _ number: Int) -> String {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return "\(name)-\(number)" }
        return "\(name[..<dot])-\(number)\(name[dot...])"
    }
}
