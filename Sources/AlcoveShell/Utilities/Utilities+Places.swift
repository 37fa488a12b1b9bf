internal import AlcoveCore
internal import AlcoveSandbox

/// Utilities about files as such: links, rights, sizes, names.
extension Utilities {
    private static func eachName(
        _ call: UtilityCall, _ operands: [[UInt8]], _ body: (String) throws(Flow) -> Void
    ) throws(Flow) -> Int32 {
        guard !operands.isEmpty else { throw .failed("a name belongs after it") }
        var status: Int32 = 0
        for operand in operands {
            try call.control.check()
            do throws(Flow) { try body(try call.shell.name(operand)) } catch {
                guard case .failed(let what) = error else { throw error }
                try call.complain(what)
                status = 1
            }
        }
        return status
    }

    @Sendable static func link(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("sfnvrT")
        guard options.has("s") else {
            throw .failed(
                "only symbolic links are made here: a second name of a file could be seen from outside. Use ln -s or cp"
            )
        }
        let words = options.operands
        guard let first = words.first else { throw .failed("a target and a name belong after it") }
        let last = words.count > 1 ? try call.shell.name(words[words.count - 1]) : "."
        let isFolder = !options.has("T") && !options.has("n") && (try? call.shell.here.stat(last))?.kind == .folder
        let targets = words.count > 1 ? Array(words.dropLast()) : [first]
        if targets.count > 1, !isFolder { throw .failed("\(last) is not a folder") }
        return try eachName(call, targets) { (target) throws(Flow) in
            let path = isFolder ? (last.hasSuffix("/") ? last : last + "/") + parts(target).name : last
            try call.confined { (here) throws(ConfinementError) in
                if options.has("f"), let old = try? here.linkStat(path), old.kind != .folder { try here.remove(path) }
                try here.makeLink(path, to: target)
            }
        }
    }

    @Sendable static func readLink(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("nfemqsvz")
        return try eachName(call, options.operands) { (path) throws(Flow) in
            if options.has("f") || options.has("e") || options.has("m") {
                return try call.write(Array((try real(call, path) + (options.has("n") ? "" : "\n")).utf8))
            }
            guard let target = try? call.shell.here.readLink(path) else { throw .failed("\(path) is no symbolic link") }
            try call.write(Array((target + (options.has("n") ? "" : "\n")).utf8))
        }
    }

    @Sendable static func realPath(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("emsqzLP", longNames: ["--relative-to=": "t"])
        return try eachName(call, options.operands) { (path) throws(Flow) in
            var found = try real(call, path)
            if options.has("e") || !options.has("m"), parts(found).name != "",
                (try? call.shell.here.linkStat(parts(found).parent)) == nil
            {
                throw .failed("there is no file or folder \(path)")
            }
            if let base = options.values["t"] {
                let from = try real(call, call.shell.name(base)).split(separator: "/")
                let to = found.split(separator: "/")
                var same = 0
                while same < from.count, same < to.count, from[same] == to[same] { same += 1 }
                let up = [Substring](repeating: "..", count: from.count - same)
                found = (up + to[same...]).joined(separator: "/")
                if found.isEmpty { found = "." }
            }
            try call.write(Array((found + "\n").utf8))
        }
    }

    /// The path with its links followed, by names; what is missing at the end stays as it is.
    static func real(_ call: UtilityCall, _ path: String) throws(Flow) -> String {
        var pending = Array(
            (path.hasPrefix("/") ? path : call.shell.state.folder + "/" + path).split(separator: "/").reversed())
        var out: [Substring] = []
        var links = 0
        while let part = pending.popLast() {
            if part == "." { continue }
            if part == ".." {
                if !out.isEmpty { out.removeLast() }
                continue
            }
            let here = "/" + (out + [part]).joined(separator: "/")
            if let entry = try? call.shell.here.linkStat(here), entry.kind == .link,
                let target = try? call.shell.here.readLink(here)
            {
                links += 1
                guard links < 40 else { throw .failed("\(path) goes through too many symbolic links") }
                if target.hasPrefix("/") { out = [] }
                pending += target.split(separator: "/").reversed()
            } else {
                out.append(part)
            }
        }
        return "/" + out.joined(separator: "/")
    }

    @Sendable static func changeRights(_ call: UtilityCall) throws(Flow) -> Int32 {
        var words = Array(call.words.dropFirst())
        var isRecursive = false
        while let word = words.first, ["-R", "-v", "-f", "-c", "--"].contains(word.text) {
            if word == Array("-R".utf8) { isRecursive = true }
            words.removeFirst()
        }
        guard words.count > 1 else { throw .failed("rights and names belong after it, as in chmod 644 FILE") }
        let wanted = words.removeFirst()
        func change(_ path: String, depth: Int) throws(Flow) {
            let entry = try call.confined { (here) throws(ConfinementError) in try here.stat(path) }
            let rights = try RightsChange.apply(
                wanted, to: entry.rights, isFolder: entry.kind == .folder, mask: call.shell.state.mask)
            try call.confined { (here) throws(ConfinementError) in try here.setRights(path, rights) }
            guard isRecursive, entry.kind == .folder, depth < ConfinedPaths.deepest else { return }
            for child in try call.confined({ (here) throws(ConfinementError) in try here.list(path) })
            where child.kind != .link {
                try change(path + "/" + child.name, depth: depth + 1)
            }
        }
        return try eachName(call, words) { (path) throws(Flow) in try change(path, depth: 0) }
    }

    @Sendable static func status(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("Lft", valued: "c", longNames: ["--format=": "c", "--printf=": "p"])
        let isPrintf = options.values["p"] != nil
        let format = options.values["p"] ?? options.values["c"]
        return try eachName(call, options.operands) { (path) throws(Flow) in
            let entry = try call.confined { (here) throws(ConfinementError) in
                options.has("L") ? try here.stat(path) : try here.linkStat(path)
            }
            let kind =
                entry.kind == .folder
                ? "directory"
                : entry.kind == .link ? "symbolic link" : entry.bytes == 0 ? "regular empty file" : "regular file"
            let letter = entry.kind == .folder ? "d" : entry.kind == .link ? "l" : "-"
            let seconds = Int(entry.modified / 1000)
            func date(_ text: String) -> String {
                Clock.text(
                    seconds, Array(text.utf8), isUTC: false, zone: call.shell.value("TZ"),
                    nanoseconds: Int(entry.modified % 1000) * 1_000_000
                ).text
            }
            guard let format else {
                return try call.write(
                    Array(
                        "  File: \(path)\n  Size: \(entry.bytes)\t\(kind)\nAccess: (0\(String(entry.rights, radix: 8))/\(letter)\(rightsText(entry.rights)))\nModify: \(date("%Y-%m-%d %H:%M:%S %z"))\n"
                            .utf8))
            }
            var out: [UInt8] = []
            var place = 0
            while place < format.count {
                let byte = format[place]
                if isPrintf, byte == 92, place + 1 < format.count {
                    let (bytes, end) = EscapedText.read(format, place, format[place + 1])
                    out += bytes
                    place = end
                    continue
                }
                guard byte == 37, place + 1 < format.count else {
                    out.append(byte)
                    place += 1
                    continue
                }
                place += 2
                let text: String
                switch format[place - 1] {
                case 110: text = path
                case 78: text = "'\(path)'"
                case 115: text = "\(entry.bytes)"
                case 70: text = kind
                case 97: text = String(entry.rights, radix: 8)
                case 65: text = letter + rightsText(entry.rights)
                case 104: text = "\(entry.links)"
                case 89, 88, 90, 87: text = "\(seconds)"
                case 121, 120, 122, 119: text = date("%Y-%m-%d %H:%M:%S.%N %z")
                case 85, 71: text = "user"
                case 117, 103: text = "1000"
                case 98: text = "\((entry.bytes + 511) / 512)"
                case 66, 111: text = "512"
                case 105: text = "0"
                case 37: text = "%"
                default: text = "?"
                }
                out += Array(text.utf8)
            }
            try call.write(out + (isPrintf ? [] : [10]))
        }
    }

    @Sendable static func diskUse(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options(
            "shakbmcxLS", valued: "d", longNames: ["--max-depth=": "d", "--apparent-size": "b"])
        let most = options.has("s") ? 0 : try call.number(options.values["d"]) ?? .max
        func shownSize(_ bytes: Int) -> String {
            if options.has("h") { return human(bytes) }
            if options.has("b") { return "\(bytes)" }
            return "\((bytes + 1023) / 1024)"
        }
        var total = 0
        func measure(_ path: String, depth: Int) throws(Flow) -> Int {
            try call.control.check()
            let entry = try call.confined { (here) throws(ConfinementError) in try here.linkStat(path) }
            // As blocks of the disk would count it.
            var bytes = options.has("b") ? entry.bytes : (entry.bytes + 4095) / 4096 * 4096
            if entry.kind == .folder {
                if !options.has("b") { bytes = 4096 }
                guard depth < ConfinedPaths.deepest else { throw .failed("\(path) is too deep") }
                for child in try call.confined({ (here) throws(ConfinementError) in try here.list(path) }) {
                    bytes += try measure(path == "/" ? "/" + child.name : path + "/" + child.name, depth: depth + 1)
                }
            }
            if (entry.kind == .folder && depth <= most) || depth == 0 || (options.has("a") && depth <= most) {
                try call.write(Array("\(shownSize(bytes))\t\(path)\n".utf8))
            }
            return bytes
        }
        let status = try eachName(call, options.operands.isEmpty ? [[46]] : options.operands) { (path) throws(Flow) in
            total += try measure(path, depth: 0)
        }
        if options.has("c") { try call.write(Array("\(shownSize(total))\ttotal\n".utf8)) }
        return status
    }

    static func human(_ bytes: Int) -> String {
        if bytes < 1024 { return "\(bytes)" }
        var value = Double(bytes)
        var unit = 0
        while value >= 1024, unit < 6 {
            value /= 1024
            unit += 1
        }
        let letters = ["", "K", "M", "G", "T", "P", "E"]
        return value < 10
            ? AwkNumber.printed("%.1f", (value * 10).rounded(.up) / 10).text + letters[unit]
            : "\(Int(value.rounded(.up)))" + letters[unit]
    }

    @Sendable static func diskFree(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("hkPTiam")
        var info = statvfs()
        guard let file = try? call.shell.here.openFolderDescriptor("."), fstatvfs(file, &info) == 0 else {
            throw .failed("the system does not say how much room there is")
        }
        defer { close(file) }
        let size = Int(info.f_blocks) * Int(info.f_frsize)
        let free = Int(info.f_bavail) * Int(info.f_frsize)
        let used = size - Int(info.f_bfree) * Int(info.f_frsize)
        func text(_ bytes: Int) -> String { options.has("h") ? human(bytes) : "\(bytes / 1024)" }
        let percent = size > 0 ? Int((Double(used) / Double(max(1, used + free)) * 100).rounded(.up)) : 0
        let head = options.has("h") ? "Size" : "1K-blocks"
        try call.write(
            Array(
                "Filesystem \(head) Used Available Use% Mounted on\nworkspace \(text(size)) \(text(used)) \(text(free)) \(percent)% /workspace\n"
                    .utf8))
        return 0
    }

    @Sendable static func makeTemporary(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options(
            "dqtu", valued: "p", longNames: ["--suffix=": "s", "--directory": "d", "--tmpdir": "t"])
        let template = options.operands.first?.text ?? "tmp.XXXXXXXXXX"
        let count = template.reversed().drop { $0 != "X" }.prefix { $0 == "X" }.count
        guard count >= 3 else { throw .failed("\(template): at least three X belong at the end") }
        let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        let start = template.prefix(template.count - template.reversed().prefix { $0 != "X" }.count - count)
        let after = String(template.reversed().prefix { $0 != "X" }.reversed())
        var folder = ""
        if options.operands.isEmpty || options.values["p"] != nil || options.has("t") {
            folder =
                (options.values["p"]?.text ?? call.shell.value("TMPDIR")?.text ?? ConfinedPaths.workspaceName + "/.tmp")
                + "/"
            try call.confined { (here) throws(ConfinementError) in try here.makeFolders(folder) }
        }
        for _ in 0..<100 {
            let middle = String((0..<count).map { _ in letters.randomElement() ?? "x" })
            let path = folder + start + middle + after + (options.values["s"]?.text ?? "")
            if (try? call.shell.here.linkStat(path)) != nil { continue }
            try call.confined { (here) throws(ConfinementError) in
                if options.has("d") { try here.makeFolders(path) } else { try here.create(path, []) }
            }
            try call.write(Array((path + "\n").utf8))
            return 0
        }
        throw .failed("no free name was found")
    }

    @Sendable static func truncate(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("c", valued: "sr", longNames: ["--size=": "s"])
        guard let text = options.values["s"] else { throw .failed("-s SIZE belongs after it") }
        let sign = text.first == 43 || text.first == 45 ? text[0] : 0
        guard let size = Sizes.bytes(sign == 0 ? text : Array(text.dropFirst())) else {
            throw .failed("\(shown(text)) is no size")
        }
        return try eachName(call, options.operands) { (path) throws(Flow) in
            if options.has("c"), (try? call.shell.here.stat(path)) == nil { return }
            let file = try call.confined { (here) throws(ConfinementError) in try here.openForWriting(path, .append) }
            let wanted = sign == 43 ? file.entry.bytes + size : sign == 45 ? max(0, file.entry.bytes - size) : size
            guard UInt64(wanted) <= call.control.limits.fileBytes else {
                throw .failed("\(path): a file may have \(call.control.limits.fileBytes) bytes")
            }
            guard ftruncate(file.descriptor, off_t(wanted)) == 0 else {
                throw .failed("\(path): \(Platform.describe(errno: errno))")
            }
        }
    }

    @Sendable static func kindOfFile(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("biLsz", longNames: ["--mime-type": "m", "--brief": "b", "--mime": "m"])
        return try eachName(call, options.operands) { (path) throws(Flow) in
            let entry = try? call.shell.here.stat(path)
            var (what, mime) = ("cannot be opened: there is no such file", "inode/x-missing")
            if entry?.kind == .folder { (what, mime) = ("directory", "inode/directory") }
            if entry?.kind == .file {
                let start =
                    (try? call.shell.open(Array(path.utf8), for: .reading).source?.read(4096, isLine: false)) ?? []
                (what, mime) = Magic.kind(start)
            }
            let text = options.has("m") || options.has("i") ? mime : what
            try call.write(Array(((options.has("b") ? "" : path + ": ") + text + "\n").utf8))
        }
    }
}

/// What a file's first bytes say it is.
enum Magic {
    private static let signs: [([UInt8], String, String)] = [
        (Array("\u{89}PNG".unicodeScalars.map { UInt8($0.value) }), "PNG image data", "image/png"),
        ([0xFF, 0xD8, 0xFF], "JPEG image data", "image/jpeg"), (Array("GIF8".utf8), "GIF image data", "image/gif"),
        (Array("%PDF-".utf8), "PDF document", "application/pdf"),
        ([0x1F, 0x8B], "gzip compressed data", "application/gzip"),
        (Array("PK\u{3}\u{4}".utf8), "Zip archive data", "application/zip"),
        (Array("BZh".utf8), "bzip2 compressed data", "application/x-bzip2"),
        ([0xFD, 0x37, 0x7A, 0x58, 0x5A], "XZ compressed data", "application/x-xz"),
        ([0x7F, 0x45, 0x4C, 0x46], "ELF executable", "application/x-executable"),
        (Array("SQLite format 3".utf8), "SQLite 3.x database", "application/vnd.sqlite3"),
        (Array("RIFF".utf8), "RIFF data", "application/octet-stream"), (Array("ID3".utf8), "MP3 audio", "audio/mpeg"),
        (Array("OggS".utf8), "Ogg data", "audio/ogg"), (Array("GGUF".utf8), "GGUF model", "application/octet-stream"),
        (Array("{\\rtf".utf8), "Rich Text Format data", "text/rtf"),
        (Array("<?xml".utf8), "XML document text", "text/xml"),
        (Array("<!DOCTYPE html".utf8), "HTML document text", "text/html"),
        (Array("<html".utf8), "HTML document text", "text/html"),
    ]

    static func kind(_ start: [UInt8]) -> (String, String) {
        if start.isEmpty { return ("empty", "inode/x-empty") }
        for (sign, what, mime) in signs where start.starts(with: sign) { return (what, mime) }
        if start.count > 262, start[257..<262].elementsEqual("ustar".utf8) {
            return ("POSIX tar archive", "application/x-tar")
        }
        if start.starts(with: [35, 33]) { return ("script, ASCII text executable", "text/x-shellscript") }
        if start.contains(0) { return ("data", "application/octet-stream") }
        if start.allSatisfy({ $0 < 0x80 }) {
            if start.first == 123 || start.first == 91 { return ("JSON text data", "application/json") }
            return ("ASCII text", "text/plain")
        }
        // A character may be cut at the end of what was read.
        for cut in 0..<4 where String(validating: start.dropLast(cut), as: UTF8.self) != nil {
            return ("UTF-8 Unicode text", "text/plain")
        }
        return ("data", "application/octet-stream")
    }
}

/// What chmod is told.
enum RightsChange {
    static func apply(_ text: [UInt8], to old: UInt16, isFolder: Bool, mask: UInt16) throws(Flow) -> UInt16 {
        if text.allSatisfy(\.isDigit) {
            guard let value = UInt16(text.text, radix: 8), value <= 0o7777 else {
                throw .failed("\(shown(text)) is no octal number up to 777")
            }
            return value & 0o777
        }
        var rights = old
        for part in text.split(separator: 44) {
            var rest = part[...]
            var who: UInt16 = 0
            while let letter = rest.first, "ugoa".utf8.contains(letter) {
                who |= [117: 0o700, 103: 0o070, 111: 0o007][letter] ?? 0o777
                rest.removeFirst()
            }
            let isAll = who == 0
            if isAll { who = 0o777 }
            guard !rest.isEmpty else { throw .failed("\(shown(part)): one of + - = belongs into it") }
            while let sign = rest.first {
                rest.removeFirst()
                guard "+-=".utf8.contains(sign) else { throw .failed("\(shown(part)): one of + - = belongs into it") }
                var bits: UInt16 = 0
                while let letter = rest.first, !"+-=".utf8.contains(letter) {
                    switch letter {
                    case 114: bits |= 0o444
                    case 119: bits |= 0o222
                    case 120: bits |= 0o111
                    case 88: if isFolder || old & 0o111 != 0 { bits |= 0o111 }
                    case 117: bits |= (old >> 6 & 7) * 0o111
                    case 103: bits |= (old >> 3 & 7) * 0o111
                    case 111: bits |= (old & 7) * 0o111
                    case 115, 116: break
                    default: throw .failed("\(shown(part)): there is no right \([letter].text)")
                    }
                    rest.removeFirst()
                }
                bits &= who
                if isAll, sign != 61 { bits &= ~mask }
                rights = sign == 43 ? rights | bits : sign == 45 ? rights & ~bits : rights & ~who | bits
            }
        }
        return rights
    }
}
