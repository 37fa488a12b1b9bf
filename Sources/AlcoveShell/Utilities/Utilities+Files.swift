internal import AlcoveCore
internal import AlcoveSandbox

extension Utilities {
    /// Does something with a path; a refusal is said and the rest goes on.
    private static func each(
        _ call: UtilityCall, _ operands: [[UInt8]], _ body: (String) throws -> Void
    ) throws(Flow) -> Int32 {
        var status: Int32 = 0
        for operand in operands {
            try call.control.check()
            let name: String
            do throws(Flow) { name = try call.shell.name(operand) } catch {
                guard case .failed(let what) = error else { throw error }
                try call.complain(what)
                status = 1
                continue
            }
            do { try body(name) } catch let flow as Flow {
                guard case .failed(let what) = flow else { throw flow }
                try call.complain(what)
                status = 1
            } catch let error as ConfinementError {
                try call.complain(error.sentence)
                status = 1
            } catch {
                try call.complain("\(error)")
                status = 1
            }
        }
        return status
    }

    @Sendable static func makeFolder(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options(
            "pv", valued: "m", longNames: ["--parents": "p", "--verbose": "v", "--mode=": "m"])
        guard !options.operands.isEmpty else { throw .failed("a name belongs after it") }
        return try each(call, options.operands) { path in
            if options.has("p") { return try call.shell.here.makeFolders(path) }
            defer { if options.has("v") { try? call.write(Array("mkdir: created directory '\(path)'\n".utf8)) } }
            if (try? call.shell.here.linkStat(path)) != nil { throw ConfinementError.exists(path: path) }
            let parent = parts(path).parent
            guard try call.shell.here.stat(parent).kind == .folder else {
                throw ConfinementError.notAFolder(path: path, name: parent)
            }
            try call.shell.here.makeFolders(path)
        }
    }

    @Sendable static func removeFolder(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("p")
        return try each(call, options.operands) { path in
            guard try call.shell.here.linkStat(path).kind == .folder else {
                throw ConfinementError.notAFolder(path: path, name: path)
            }
            try call.shell.here.remove(path)
        }
    }

    @Sendable static func remove(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("rRfivdI", longNames: ["--recursive": "r", "--force": "f", "--verbose": "v"])
        if options.operands.isEmpty, !options.has("f") { throw .failed("a name belongs after it") }
        let isRecursive = options.has("r") || options.has("R")
        return try each(call, options.operands) { path in
            if [".", ".."].contains(parts(path).name) { throw Flow.failed("\(path): . and .. are not removed") }
            let here = call.shell.here
            let entry: FileEntry
            do throws(ConfinementError) { entry = try here.linkStat(path) } catch {
                switch error {
                case .missing, .notAFolder: if options.has("f") { return }
                default: break
                }
                throw error
            }
            if entry.kind == .folder, !isRecursive, !options.has("d") { throw ConfinementError.isFolder(path: path) }
            try here.remove(path, recursively: isRecursive)
            if options.has("v") {
                try call.write(Array("removed \(entry.kind == .folder ? "directory " : "")'\(path)'\n".utf8))
            }
        }
    }

    @Sendable static func touch(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options(
            "acmh", valued: "drt", longNames: ["--date=": "d", "--reference=": "r", "--no-create": "c"])
        guard !options.operands.isEmpty else { throw .failed("a name belongs after it") }
        var seconds: Int?
        if let text = options.values["d"] {
            seconds = DateText.seconds(text.text, now: time(nil), isUTC: false, zone: call.shell.value("TZ"))
            if seconds == nil { throw .failed("\(shown(text)): this is no date here; date -d says which are") }
        }
        if let file = options.values["r"] {
            let name = try call.shell.name(file)
            seconds = Int(try call.confined { (here) throws(ConfinementError) in try here.stat(name) }.modified / 1000)
        }
        if let text = options.values["t"]?.text {
            let digits = text.filter(\.isNumber)
            guard digits.count >= 12, let year = Int(digits.prefix(4)),
                let found = DateText.seconds(
                    "\(year)-\(digits.dropFirst(4).prefix(2))-\(digits.dropFirst(6).prefix(2)) \(digits.dropFirst(8).prefix(2)):\(digits.dropFirst(10).prefix(2)):\(digits.count >= 14 ? digits.dropFirst(12).prefix(2) : "00")",
                    now: 0, isUTC: false, zone: call.shell.value("TZ"))
            else { throw .failed("\(text): -t takes CCYYMMDDhhmm.ss") }
            seconds = found
        }
        return try each(call, options.operands) { path in
            if (try? call.shell.here.stat(path)) == nil {
                if options.has("c") { return }
                _ = try call.shell.here.openForWriting(path, .append)
                if seconds == nil { return }
            }
            try call.shell.here.setModified(path, seconds: seconds)
        }
    }

    /// The path without its last name, and that name.
    static func parts(_ path: String) -> (parent: String, name: String) {
        var bytes = Array(path.utf8)
        while bytes.count > 1, bytes.last == 47 { bytes.removeLast() }
        guard let slash = bytes.lastIndex(of: 47) else { return (".", bytes.text) }
        return (slash == 0 ? "/" : Array(bytes[..<slash]).text, Array(bytes[(slash + 1)...]).text)
    }

    /// Where each operand goes: into the last one when it is a folder, else to its name.
    private static func targets(
        _ call: UtilityCall, _ operands: [[UInt8]]
    ) throws(Flow) -> ([[UInt8]], (String) -> String) {
        guard operands.count > 1, let last = operands.last else { throw .failed("two names belong after it") }
        let target = try call.shell.name(last)
        let isFolder = (try? call.shell.here.stat(target))?.kind == .folder
        if !isFolder, operands.count > 2 { throw .failed("\(target) is not a folder") }
        return (
            Array(operands.dropLast()),
            { isFolder ? target + (target.hasSuffix("/") ? "" : "/") + parts($0).name : target }
        )
    }

    @Sendable static func move(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options(
            "fivnuT", valued: "t", longNames: ["--force": "f", "--no-clobber": "n", "--verbose": "v"])
        let (sources, target) = try targets(call, options.operands)
        return try each(call, sources) { path in
            let to = target(path)
            let here = call.shell.here
            if options.has("n"), (try? here.linkStat(to)) != nil { return }
            if let from = try? here.linkStat(path), from.kind != .folder, from == (try? here.linkStat(to)) {
                let (a, b) = (parts(path), parts(to))
                if a.name == b.name, a.parent == b.parent { throw Flow.failed("\(path) and \(to) are the same file") }
            }
            try here.move(path, to: to, replacing: true)
        }
    }

    @Sendable static func copy(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options(
            "rRafpivnTLPdu", valued: "t",
            longNames: [
                "--recursive": "r", "--archive": "a", "--force": "f", "--no-clobber": "n", "--verbose": "v",
                "--parents": "p", "--preserve": "p",
            ])
        let (sources, target) = try targets(call, options.operands)
        let isRecursive = options.has("r") || options.has("R") || options.has("a")
        return try each(call, sources) { path in
            let to = target(path)
            if options.has("n"), (try? call.shell.here.linkStat(to)) != nil { return }
            let entry = try call.shell.here.stat(path)
            if entry.kind == .folder {
                guard isRecursive else { throw Flow.failed("\(path) is a folder; -r copies folders") }
                try copyFolder(call, path, to, depth: 0)
            } else {
                try copyFile(call, path, to)
            }
        }
    }

    /// A refusal as a fault of the utility.
    private static func confined<Value>(
        _ body: () throws(ConfinementError) -> Value
    ) throws(Flow) -> Value {
        do throws(ConfinementError) { return try body() } catch { throw .failed(error.sentence) }
    }

    private static func copyFile(_ call: UtilityCall, _ path: String, _ to: String) throws(Flow) {
        let here = call.shell.here
        let file = try confined { () throws(ConfinementError) in try here.openForReading(path) }
        if let old = try? here.openForReading(to) {
            var one = AlcoveCore.stat()
            var two = AlcoveCore.stat()
            if fstat(old.descriptor, &one) == 0, fstat(file.descriptor, &two) == 0, one.st_ino == two.st_ino,
                one.st_dev == two.st_dev
            {
                throw .failed("\(path) and \(to) are the same file")
            }
        }
        let source = FileStream(file, call.control)
        let target = FileStream(
            try confined { () throws(ConfinementError) in try here.openForWriting(to, .truncate) }, call.control)
        while true {
            let piece = try source.read(1 << 18, isLine: false)
            if piece.isEmpty { break }
            try target.write(piece)
        }
        if file.entry.isExecutable {
            let copy = try confined { () throws(ConfinementError) in try here.openForWriting(to, .append) }
            fchmod(copy.descriptor, 0o755)
        }
    }

    private static func copyFolder(_ call: UtilityCall, _ path: String, _ to: String, depth: Int) throws(Flow) {
        guard depth < ConfinedPaths.deepest else { throw .failed("\(path) is too deep") }
        if depth == 0, (to + "/").hasPrefix(path + "/") { throw .failed("\(path) cannot be copied into itself") }
        try call.control.check()
        let here = call.shell.here
        let entries = try confined { () throws(ConfinementError) in try here.list(path) }
        try confined { () throws(ConfinementError) in try here.makeFolders(to) }
        for entry in entries {
            let (from, target) = (path + "/" + entry.name, to + "/" + entry.name)
            switch entry.kind {
            case .folder: try copyFolder(call, from, target, depth: depth + 1)
            case .file: try copyFile(call, from, target)
            // What a link means may be outside; nothing is made of it.
            case .link:
                // A link stays one when it leads to a place inside; its target is looked at by its letters.
                let meant = try confined { () throws(ConfinementError) in try here.readLink(from) }
                if (try? here.linkStat(target)) != nil {
                    try confined { () throws(ConfinementError) in try here.remove(target) }
                }
                try confined { () throws(ConfinementError) in try here.makeLink(target, to: meant) }
            case .special: try call.complain("\(from) is no file and is left out")
            }
        }
    }

    @Sendable static func list(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options(
            "1aAldFhRtrSpQigonkNscxCmXUL",
            longNames: [
                "--all": "a", "--almost-all": "A", "--human-readable": "h", "--recursive": "R", "--reverse": "r",
                "--color=": "?", "--color": "1", "--full-time": "l",
            ])
        var status: Int32 = 0
        var files: [(String, FileEntry)] = []
        var folders: [String] = []
        for operand in options.operands.isEmpty ? [[46]] : options.operands {
            let path = try call.shell.name(operand)
            do throws(ConfinementError) {
                let entry: FileEntry
                if let found = try? call.shell.here.stat(path) {
                    entry = found
                } else {
                    entry = try call.shell.here.linkStat(path)
                }
                if entry.kind == .folder, !options.has("d") {
                    folders.append(path)
                } else {
                    files.append((path, entry))
                }
            } catch {
                try call.complain(error.sentence)
                status = 2
            }
        }
        var writer = BlockWriter(call)
        for (path, entry) in order(files, options) { try writer.line(row(path, entry, options)) }
        var isFirst = files.isEmpty
        let showsNames = folders.count + files.count > 1 || options.has("R")
        var pending = Array(folders.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }.reversed())
        while let folder = pending.popLast() {
            try call.control.check()
            let inside: [FileEntry]
            do throws(ConfinementError) { inside = try call.shell.here.list(folder) } catch {
                try call.complain(error.sentence)
                status = 2
                continue
            }
            var entries = inside.map { ($0.name, $0) }
            if !options.has("a"), !options.has("A") { entries.removeAll { $0.0.utf8.first == 46 } }
            if options.has("a") {
                for name in [".", ".."] {
                    if let entry = try? call.shell.here.stat(folder) { entries.append((name, entry)) }
                }
            }
            if !isFirst { try writer.add([10]) }
            isFirst = false
            if showsNames { try writer.line(Array("\(folder):".utf8)) }
            let sorted = order(entries, options)
            for (name, entry) in sorted { try writer.line(row(name, entry, options)) }
            if options.has("R") {
                pending += sorted.filter { $0.1.kind == .folder && $0.0 != "." && $0.0 != ".." }.reversed()
                    .map { folder + "/" + $0.0 }
            }
        }
        try writer.flush()
        return status
    }

    private static func order(
        _ entries: [(String, FileEntry)], _ options: UtilityCall.Options
    ) -> [(String, FileEntry)] {
        let sorted = entries.sorted { a, b in
            if options.has("t"), a.1.modified != b.1.modified { return a.1.modified > b.1.modified }
            if options.has("S"), a.1.bytes != b.1.bytes { return a.1.bytes > b.1.bytes }
            return Array(a.0.utf8).lexicographicallyPrecedes(Array(b.0.utf8))
        }
        return options.has("r") ? sorted.reversed() : sorted
    }

    private static func row(_ name: String, _ entry: FileEntry, _ options: UtilityCall.Options) -> [UInt8] {
        var text = name
        if options.has("F") || options.has("p"), entry.kind == .folder { text += "/" }
        if options.has("F") {
            if entry.kind == .link { text += "@" }
            if entry.kind == .file, entry.isExecutable { text += "*" }
        }
        guard options.has("l") else { return Array(text.utf8) }
        let kind = [.folder: "d", .link: "l", .special: "c"][entry.kind] ?? "-"
        let rights = rightsText(entry.rights)
        let seconds = Int(entry.modified / 1000)
        // Half a year back and more, the year says more than the hour.
        let isOld = abs(time(nil) - seconds) > 15_778_476
        let date = Clock.text(seconds, Array((isOld ? "%b %e  %Y" : "%b %e %H:%M").utf8), isUTC: false, zone: nil).text
        let bytes = options.has("h") ? human(entry.bytes) : "\(entry.bytes)"
        let pad = String(repeating: " ", count: max(0, 9 - bytes.count))
        return Array("\(kind)\(rights) \(entry.links) user user \(pad)\(bytes) \(date) \(text)".utf8)
    }
}
