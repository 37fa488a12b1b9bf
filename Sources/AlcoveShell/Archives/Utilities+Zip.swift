internal import AlcoveCore
internal import AlcoveSandbox

extension Utilities {
    @Sendable static func zip(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options(
            "rqj0123456789uXym9T", valued: "xi",
            longNames: ["--quiet": "q", "--recurse-paths": "r", "--junk-paths": "j"])
        guard options.operands.count > 1 else { throw .failed("an archive and files belong after it") }
        var archive = try call.shell.name(options.operands[0])
        if !parts(archive).name.contains(".") { archive += ".zip" }
        let excluded = options.all.filter { $0.letter == "x" }.map { Pattern($0.value) }
        // What an archive of that name holds already stays, unless it is put in anew.
        var kept: [(String, [UInt8], Int)] = []
        if (try? call.shell.here.stat(archive)) != nil {
            let old = try ZipArchive(try call.shell.contents(of: Array(archive.utf8)))
            for entry in old.entries {
                kept.append((entry.name, entry.isFolder ? [] : try old.contents(entry, call.control), entry.modified))
            }
        }
        var added: [(name: String, contents: [UInt8], modified: Int, rights: UInt16)] = []
        func add(_ path: String, depth: Int) throws(Flow) {
            try call.control.check()
            guard depth <= ConfinedPaths.deepest else { throw .failed("\(path) is too deep") }
            let entry = try call.confined { (here) throws(ConfinementError) in try here.stat(path) }
            var name = options.has("j") ? parts(path).name : path
            while name.hasPrefix("./") || name.hasPrefix("/") { name.removeFirst(name.hasPrefix("/") ? 1 : 2) }
            if excluded.contains(where: { $0.matches(Array(name.utf8)) }) || path == archive { return }
            if entry.kind == .folder {
                if !options.has("j"), name != ".", !name.isEmpty {
                    added.append(
                        (name.hasSuffix("/") ? name : name + "/", [], Int(entry.modified / 1000), entry.rights))
                }
                guard options.has("r") else { return }
                for child in try call.confined({ (here) throws(ConfinementError) in try here.list(path) }) {
                    try add((path.hasSuffix("/") ? path : path + "/") + child.name, depth: depth + 1)
                }
            } else {
                added.append(
                    (name, try call.shell.contents(of: Array(path.utf8)), Int(entry.modified / 1000), entry.rights))
            }
        }
        var status: Int32 = 0
        for operand in options.operands.dropFirst() {
            do throws(Flow) { try add(try call.shell.name(operand), depth: 0) } catch {
                guard case .failed(let what) = error else { throw error }
                try call.complain(what)
                status = 12
            }
        }
        guard !added.isEmpty else { throw .failed("there is nothing to put into the archive") }
        let names = Set(added.map(\.name))
        added = kept.filter { !names.contains($0.0) }.map { ($0.0, $0.1, $0.2, 0o644) } + added
        guard added.count < 65_535 else { throw .failed("an archive may have 65534 entries") }
        var out: [UInt8] = []
        var directory: [UInt8] = []
        for item in added {
            let (local, central) = try ZipArchive.made(
                item.name, item.contents, modified: item.modified, rights: item.rights, at: out.count,
                packs: !options.has("0"))
            out += local
            directory += central
            if out.count > 1 << 30 { throw .failed("the archive would be too large") }
            if !options.has("q") { try call.write(Array("  adding: \(item.name)\n".utf8)) }
        }
        let bytes = out + directory + ZipArchive.end(added.count, directory: directory.count, at: out.count)
        try call.confined { (here) throws(ConfinementError) in try here.replace(archive, bytes) }
        return status
    }

    @Sendable static func unzip(_ call: UtilityCall) throws(Flow) -> Int32 {
        // `-d` may stand after the names, as everybody writes it.
        let options = try call.options("lqonpjtvZ1C", valued: "dx")
        guard let file = options.operands.first else { throw .failed("an archive belongs after it") }
        var path = file
        if (try? call.shell.here.stat(file.text)) == nil, !file.text.hasSuffix(".zip") {
            path = file + Array(".zip".utf8)
        }
        let archive = try ZipArchive(try call.shell.contents(of: path))
        let wanted = options.operands.dropFirst().map { Pattern($0) }
        let excluded = options.all.filter { $0.letter == "x" }.map { Pattern($0.value) }
        let entries = archive.entries.filter { entry in
            let name = Array(entry.name.utf8)
            return (wanted.isEmpty || wanted.contains { $0.matches(name) }) && !excluded.contains { $0.matches(name) }
        }
        if entries.isEmpty, !wanted.isEmpty { throw .failed("the archive has nothing of that name") }
        if options.has("l") || options.has("v") {
            try call.write(
                Array(
                    "Archive:  \(path.text)\n  Length      Date    Time    Name\n---------  ---------- -----   ----\n"
                        .utf8))
            for entry in entries {
                let size = "\(entry.bytes)"
                let date = Clock.text(entry.modified, Array("%Y-%m-%d %H:%M".utf8), isUTC: true).text
                try call.write(
                    Array(
                        (String(repeating: " ", count: max(0, 9 - size.count)) + "\(size)  \(date)   \(entry.name)\n")
                            .utf8))
            }
            let total = "\(entries.reduce(0) { $0 + $1.bytes })"
            try call.write(
                Array(
                    ("---------                     -------\n" + String(repeating: " ", count: max(0, 9 - total.count))
                        + "\(total)                     \(entries.count) file\(entries.count == 1 ? "" : "s")\n").utf8))
            return 0
        }
        if options.has("Z") || options.has("1") {
            for entry in entries { try call.write(Array((entry.name + "\n").utf8)) }
            return 0
        }
        var status: Int32 = 0
        let folder = try options.values["d"].map { (word) throws(Flow) in try call.shell.name(word) } ?? ""
        if !folder.isEmpty { try call.confined { (here) throws(ConfinementError) in try here.makeFolders(folder) } }
        if !options.has("q"), !options.has("p") { try call.write(Array("Archive:  \(path.text)\n".utf8)) }
        for entry in entries {
            try call.control.check()
            do throws(Flow) {
                if options.has("p") {
                    if !entry.isFolder { try call.write(try archive.contents(entry, call.control)) }
                    continue
                }
                if options.has("t") {
                    if !entry.isFolder { _ = try archive.contents(entry, call.control) }
                    continue
                }
                let name = options.has("j") ? parts(entry.name).name : entry.name
                guard let target = try unpackedPath(name, strips: 0, in: folder), !target.isEmpty else { continue }
                if entry.isFolder {
                    try call.confined { (here) throws(ConfinementError) in try here.makeFolders(target) }
                    continue
                }
                if options.has("n"), (try? call.shell.here.linkStat(target)) != nil { continue }
                let contents = try archive.contents(entry, call.control)
                try openForUnpacking(target, call, keepsOld: false) { (sink) throws(Flow) in try sink.write(contents) }
                if !options.has("q") { try call.write(Array("  inflating: \(target)\n".utf8)) }
            } catch {
                guard case .failed(let what) = error else { throw error }
                try call.complain(what)
                status = 2
            }
        }
        return status
    }
}
