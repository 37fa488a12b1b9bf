internal import AlcoveCore
internal import AlcoveSandbox
#if canImport(JavaScriptCore)
internal import JavaScriptCore
#else
internal import CJavaScriptCore
#endif

/// The files of a program: what its `fs` asks, answered through `ConfinedPaths` and nothing else.
final class JavaScriptFiles {
    private var paths: ConfinedPaths
    private var limits = CommandLimits()
    private var open: [Int: ConfinedFile] = [:]
    private var nextNumber = 1
    private static let mostOpen = 512

    init(_ paths: ConfinedPaths) { self.paths = paths }

    /// Where a program begins, and what it may use.
    func begin(in folder: String, limits: CommandLimits) {
        paths.folder = folder
        self.limits = limits
    }

    var folder: String { paths.folder.isEmpty ? ConfinedPaths.workspaceName : paths.folder }

    /// One call: its name, then what belongs to it.
    func call(_ machine: JavaScriptMachine, _ given: JavaScriptMachine.Arguments) throws -> JSValueRef? {
        let name = machine.text(given[0])
        let path = machine.text(given[1])
        do throws(ConfinementError) {
            return try answer(machine, name, path, given)
        } catch {
            throw JavaScriptFiles.fault(error, name, path, machine.text(given[2]))
        }
    }

    private func answer(
        _ machine: JavaScriptMachine, _ name: String, _ path: String, _ given: JavaScriptMachine.Arguments
    ) throws(ConfinementError) -> JSValueRef? {
        switch name {
        case "kind": return machine.make((try? paths.stat(path)).map(JavaScriptFiles.kind) ?? "")
        case "text": return machine.make(String(decoding: try paths.read(path, limit: mostRead), as: UTF8.self))
        case "read": return machine.make(try paths.read(path, limit: mostRead))
        case "stat", "access": return show(machine, try paths.stat(path))
        case "lstat": return show(machine, try paths.linkStat(path))
        case "list":
            return machine.make(
                try paths.list(path).map {
                    machine.make([machine.make($0.name), machine.make(JavaScriptFiles.kind($0))])
                })
        case "realpath": return machine.make(try real(path))
        case "readlink": return machine.make(try paths.readLink(path))
        case "reason":
            do throws(ConfinementError) {
                _ = try paths.stat(path)
                return nil
            } catch {
                if case .missing = error { return nil }
                if case .notAFolder = error { return nil }
                return machine.make(error.sentence)
            }
        case "chdir":
            let found = try real(path)
            guard try paths.stat(found).kind == .folder else { throw .notAFolder(path: path, name: path) }
            paths.folder = found
            return nil
        default: return try change(machine, name, path, given)
        }
    }

    private func change(
        _ machine: JavaScriptMachine, _ name: String, _ path: String, _ given: JavaScriptMachine.Arguments
    ) throws(ConfinementError) -> JSValueRef? {
        switch name {
        case "write":
            let file = try opened(path, machine.count(given[3], fallback: 3))
            try put(file, machine.bytes(given[2]))
        case "mkdir":
            if machine.isTrue(given[2]) {
                let first = firstMissing(path)
                try paths.makeFolders(path)
                return first.map { machine.make($0) } ?? nil
            }
            if (try? paths.linkStat(path)) != nil { throw .exists(path: path) }
            let parent = String(
                (path.hasSuffix("/") ? path.dropLast() : path[...]).reversed().drop { $0 != "/" }.reversed())
            if !parent.isEmpty {
                guard try paths.stat(parent).kind == .folder else { throw .notAFolder(path: path, name: parent) }
            }
            try paths.makeFolders(path)
        case "rm":
            guard let entry = try? paths.linkStat(path) else {
                if machine.isTrue(given[3]), (try? paths.stat(folderAbove(path))) != nil { return nil }
                _ = try paths.linkStat(path)
                return nil
            }
            if entry.kind == .folder, !machine.isTrue(given[2]) { throw .isFolder(path: path) }
            try paths.remove(path, recursively: machine.isTrue(given[2]))
        case "rmdir":
            guard try paths.linkStat(path).kind == .folder else { throw .notAFolder(path: path, name: path) }
            try paths.remove(path)
        case "unlink":
            guard try paths.linkStat(path).kind != .folder else { throw .isFolder(path: path) }
            try paths.remove(path)
        case "rename": try paths.move(path, to: machine.text(given[2]), replacing: true)
        case "copy":
            let to = machine.text(given[2])
            let bytes = try paths.read(path, limit: mostRead)
            if machine.isTrue(given[3]) { try paths.create(to, bytes) } else { try put(try opened(to, 3), bytes) }
            if try paths.stat(path).isExecutable { try paths.setRights(to, 0o755) }
        case "symlink": try paths.makeLink(machine.text(given[2]), to: path)
        case "link":
            throw .system(path: path, cause: "hard links are not made here, because they could be seen from outside")
        case "chmod": try paths.setRights(path, UInt16(truncatingIfNeeded: machine.count(given[2])))
        case "utimes":
            let seconds = machine.number(given[2])
            try paths.setModified(path, seconds: seconds.isFinite ? Int(seconds) : nil)
        case "truncate":
            let file = try paths.openForUpdating(path)
            guard ftruncate(file.descriptor, off_t(size(machine.count(given[2])))) == 0 else { throw failed(path) }
        default: return try openFile(machine, name, path, given)
        }
        return nil
    }

    // MARK: Open files

    private func openFile(
        _ machine: JavaScriptMachine, _ name: String, _ path: String, _ given: JavaScriptMachine.Arguments
    ) throws(ConfinementError) -> JSValueRef? {
        if name == "open" {
            guard open.count < JavaScriptFiles.mostOpen else {
                throw .system(path: path, cause: "too many files are open")
            }
            nextNumber += 1
            open[nextNumber] = try opened(path, machine.count(given[2], fallback: 1))
            return machine.make(Double(nextNumber))
        }
        guard let file = open[machine.count(given[1])] else { throw .system(path: path, cause: "the file is not open") }
        switch name {
        case "close": open[machine.count(given[1])] = nil
        case "statOpen":
            var info = AlcoveCore.stat()
            guard fstat(file.descriptor, &info) == 0 else { throw failed(file.path) }
            var entry = file.entry
            entry.bytes = Int(info.st_size)
            return show(machine, entry)
        case "truncateOpen":
            guard ftruncate(file.descriptor, off_t(size(machine.count(given[2])))) == 0 else { throw failed(file.path) }
        case "readAt":
            let place = off_t(machine.count(given[2]))
            var info = AlcoveCore.stat()
            let whole = fstat(file.descriptor, &info) == 0 ? max(0, Int(info.st_size - place)) : 0
            let wanted = min(machine.count(given[3]), whole, mostRead)
            guard wanted > 0 else { return machine.make([UInt8]()) }
            var isBad = false
            let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
                let got = pread(file.descriptor, buffer.baseAddress, wanted, place)
                isBad = got < 0
                count = max(0, got)
            }
            if isBad { throw failed(file.path) }
            return machine.make(bytes)
        case "writeAt":
            let bytes = machine.bytes(given[3])
            let place = machine.number(given[2])
            if place < 0 {
                try put(file, bytes)
            } else {
                try refuseTooLarge(file.path, UInt64(place) + UInt64(bytes.count))
                var done = 0
                while done < bytes.count {
                    let count = bytes.withUnsafeBytes {
                        pwrite(file.descriptor, $0.baseAddress! + done, $0.count - done, off_t(place) + off_t(done))
                    }
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { throw failed(file.path) }
                    done += count
                }
            }
        default: throw .system(path: path, cause: "there is no call \(name)")
        }
        return nil
    }

    /// The numbers are those of `flags` in fs.js.
    private func opened(_ path: String, _ kind: Int) throws(ConfinementError) -> ConfinedFile {
        if [4, 8, 9].contains(kind), (try? paths.linkStat(path)) != nil { throw .exists(path: path) }
        switch kind {
        case 2:
            _ = try paths.stat(path)
            return try paths.openForUpdating(path)
        case 3, 4: return try paths.openForWriting(path, .truncate)
        case 5, 9:
            let file = try paths.openForUpdating(path)
            guard ftruncate(file.descriptor, 0) == 0 else { throw failed(path) }
            return file
        case 6, 7, 8: return try paths.openForWriting(path, .append)
        default: return try paths.openForReading(path)
        }
    }

    private func put(_ file: ConfinedFile, _ bytes: [UInt8]) throws(ConfinementError) {
        var info = AlcoveCore.stat()
        let there = fstat(file.descriptor, &info) == 0 ? UInt64(max(0, info.st_size)) : 0
        try refuseTooLarge(file.path, there + UInt64(bytes.count))
        try file.write(bytes)
    }

    private func refuseTooLarge(_ path: String, _ bytes: UInt64) throws(ConfinementError) {
        if bytes > limits.fileBytes { throw .tooLarge(path: path, limit: Int(clamping: limits.fileBytes)) }
    }

    private func size(_ wanted: Int) -> Int { min(wanted, Int(clamping: limits.fileBytes)) }
    private var mostRead: Int { Int(clamping: min(limits.memoryBytes / 4, 1 << 30)) }
    private func failed(_ path: String) -> ConfinementError {
        .system(path: path, cause: Platform.describe(errno: errno))
    }

    // MARK: Names

    /// The path with its links followed.
    private func real(_ path: String) throws(ConfinementError) -> String {
        _ = try paths.stat(path)
        var pending = Array((path.hasPrefix("/") ? path : folder + "/" + path).split(separator: "/").reversed())
        var out: [Substring] = []
        var links = 0
        while let part = pending.popLast() {
            if part == "." { continue }
            if part == ".." {
                _ = out.popLast()
                continue
            }
            let here = "/" + (out + [part]).joined(separator: "/")
            if let entry = try? paths.linkStat(here), entry.kind == .link, let target = try? paths.readLink(here) {
                links += 1
                guard links < 40 else { throw .tooManyLinks(path: path) }
                if target.hasPrefix("/") { out = [] }
                pending += target.split(separator: "/").reversed()
            } else {
                out.append(part)
            }
        }
        return "/" + out.joined(separator: "/")
    }

    private func folderAbove(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private func firstMissing(_ path: String) -> String? {
        var at = path
        var missing: String?
        while at != ".", at != "/", !at.isEmpty, (try? paths.stat(at)) == nil {
            missing = at
            at = folderAbove(at)
        }
        return missing.map { $0.hasPrefix("/") ? $0 : folder + "/" + $0 }
    }

    private static func kind(_ entry: FileEntry) -> String {
        switch entry.kind {
        case .file: "file"
        case .folder: "folder"
        case .link: "link"
        case .special: "special"
        }
    }

    private func show(_ machine: JavaScriptMachine, _ entry: FileEntry) -> JSValueRef? {
        machine.make([
            ("kind", machine.make(JavaScriptFiles.kind(entry))), ("bytes", machine.make(Double(entry.bytes))),
            ("modified", machine.make(Double(entry.modified))), ("links", machine.make(Double(entry.links))),
            ("rights", machine.make(Double(entry.rights))),
            ("inode", machine.make(Double(abs(entry.name.hashValue % 1_000_000)))),
        ])
    }
}
