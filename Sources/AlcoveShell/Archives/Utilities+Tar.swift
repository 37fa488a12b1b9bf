internal import AlcoveCore
internal import AlcoveSandbox

private struct TarOptions {
    var action: UInt8?
    var file: [UInt8]?
    var packs = false
    var isVerbose = false
    var toOutput = false
    var folder = ""
    var strips = 0
    var excluded: [Pattern] = []
    var operands: [(folder: String, path: [UInt8])] = []
    var keepsOld = false

    init(_ call: UtilityCall) throws(Flow) {
        var rest = call.words.dropFirst()
        // The oldest way: letters without a dash, their values after them.
        if let first = rest.first, first.first != 45, !first.isEmpty {
            rest[rest.startIndex] = [45] + first
            let letters = rest.removeFirst()
            var valued: [UInt8] = []
            for letter in letters.dropFirst() {
                if "fCX".utf8.contains(letter) { valued.append(letter) } else { try flag(letter) }
            }
            for letter in valued {
                guard let value = rest.popFirst() else { throw .failed("the option \([letter].text) needs a value") }
                try set(letter, value, call)
            }
        }
        while let word = rest.popFirst() {
            guard word.first == 45, word.count > 1 else {
                operands.append((folder, word))
                continue
            }
            if word == [45, 45] {
                operands += rest.map { (folder, $0) }
                break
            }
            if word[1] == 45 {
                try long(word.text, &rest, call)
                continue
            }
            var place = 1
            while place < word.count {
                let letter = word[place]
                place += 1
                guard "fCX".utf8.contains(letter) else {
                    try flag(letter)
                    continue
                }
                guard let value = place < word.count ? Array(word[place...]) : rest.popFirst() else {
                    throw .failed("the option -\([letter].text) needs a value")
                }
                try set(letter, value, call)
                break
            }
        }
    }

    private mutating func flag(_ letter: UInt8) throws(Flow) {
        switch letter {
        case 99, 120, 116, 114, 117: action = letter
        case 122, 97: packs = packs || letter == 122
        case 118: isVerbose = true
        case 79: toOutput = true
        case 107: keepsOld = true
        case 112, 109, 104, 111, 119, 83, 80, 45: break
        case 106, 74: throw .failed("bzip2 and xz are not here; gzip (-z) is")
        default:
            throw .failed(
                "there is no option -\([letter].text). It has: -c -x -t -z -f FILE -C FOLDER -v -O -k, --strip-components=N, --exclude=PATTERN"
            )
        }
    }

    private mutating func set(_ letter: UInt8, _ value: [UInt8], _ call: UtilityCall) throws(Flow) {
        if letter == 102 {
            file = value == [45] ? nil : value
        } else if letter == 67 {
            folder = try call.shell.name(value)
        }
    }

    private mutating func long(_ text: String, _ rest: inout ArraySlice<[UInt8]>, _ call: UtilityCall) throws(Flow) {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        func value() throws(Flow) -> [UInt8] {
            if parts.count > 1 { return Array(parts[1].utf8) }
            guard let next = rest.popFirst() else { throw .failed("the option \(parts[0]) needs a value") }
            return next
        }
        switch parts[0] {
        case "--create": action = 99
        case "--extract", "--get": action = 120
        case "--list": action = 116
        case "--gzip", "--ungzip": packs = true
        case "--verbose": isVerbose = true
        case "--to-stdout": toOutput = true
        case "--file": try set(102, try value(), call)
        case "--directory": try set(67, try value(), call)
        case "--strip-components": strips = Int(try value().text) ?? 0
        case "--exclude": excluded.append(Pattern(try value()))
        case "--keep-old-files": keepsOld = true
        case "--no-same-owner", "--no-same-permissions", "--numeric-owner", "--sort", "--mtime", "--owner", "--group",
            "--format", "--overwrite":
            break
        default: throw .failed("there is no option \(shown(Array(text.utf8)))")
        }
    }
}

extension Utilities {
    @Sendable static func tar(_ call: UtilityCall) throws(Flow) -> Int32 {
        do throws(Flow) {
            let options = try TarOptions(call)
            switch options.action {
            case 99?: return try makeTar(call, options)
            case 120?, 116?: return try readTar(call, options)
            default: throw .failed("one of -c, -x and -t belongs after it")
            }
        } catch {
            guard case .failed(let what) = error else { throw error }
            try call.complain(what)
            return 2
        }
    }

    // MARK: Making

    private static func makeTar(_ call: UtilityCall, _ options: TarOptions) throws(Flow) -> Int32 {
        guard !options.operands.isEmpty else {
            throw .failed("an archive of nothing is not made; name files or folders")
        }
        var sink: any ByteSink = PassedToCall(call)
        if let file = options.file, let opened = try call.shell.open(file, for: .truncating).sink { sink = opened }
        let packs =
            options.packs || (options.file.map { $0.text.hasSuffix(".tgz") || $0.text.hasSuffix(".tar.gz") } ?? false)
        let packer = packs ? try Deflate(.gzip, level: 6) : nil
        func write(_ bytes: [UInt8], isLast: Bool = false) throws(Flow) {
            if let packer {
                try packer.take(bytes, isLast: isLast) { (piece) throws(Flow) in try sink.write(piece) }
            } else {
                try sink.write(bytes)
            }
        }
        var status: Int32 = 0
        let archive = options.file.flatMap { try? call.shell.here.stat($0.text) }
        func add(_ path: String, _ shownName: String, depth: Int) throws(Flow) {
            try call.control.check()
            guard depth <= ConfinedPaths.deepest else { throw .failed("\(path) is too deep") }
            let pathName = parts(shownName).name
            if options.excluded.contains(where: {
                $0.matches(Array(pathName.utf8)) || $0.matches(Array(shownName.utf8))
            }) {
                return
            }
            guard let found = try call.trying({ (here) throws(ConfinementError) in try here.linkStat(path) }) else {
                status = 2
                return
            }
            var entry = TarEntry(
                name: shownName, kind: .file, rights: found.rights, modified: Int(found.modified / 1000))
            if options.isVerbose {
                try call.shell.state.files[options.file == nil ? 2 : 1]?.sink?.write(
                    Array((shownName + (found.kind == .folder ? "/" : "") + "\n").utf8))
            }
            switch found.kind {
            case .folder:
                entry.kind = .folder
                entry.name = shownName.hasSuffix("/") ? shownName : shownName + "/"
                try write(entry.header())
                let inside = try call.trying { (here) throws(ConfinementError) in try here.list(path) }
                for child in inside ?? [] {
                    try add(
                        path + "/" + child.name, (shownName.hasSuffix("/") ? shownName : shownName + "/") + child.name,
                        depth: depth + 1)
                }
            case .link:
                entry.kind = .link
                entry.target = try call.confined { (here) throws(ConfinementError) in try here.readLink(path) }
                try write(entry.header())
            case .file:
                if let archive, archive == found { return }
                guard let source = try? call.shell.open(Array(path.utf8), for: .reading).source else {
                    try call.complain("\(path) cannot be read")
                    status = 2
                    return
                }
                entry.bytes = found.bytes
                try write(entry.header())
                // Exactly as many bytes as the header says, whatever happens to the file meanwhile.
                var left = found.bytes
                while left > 0 {
                    var piece = try source.read(min(left, 1 << 18), isLine: false)
                    if piece.isEmpty { piece = [UInt8](repeating: 0, count: min(left, 1 << 16)) }
                    try write(piece)
                    left -= piece.count
                }
                try write([UInt8](repeating: 0, count: TarEntry.padding(found.bytes)))
            case .special: try call.complain("\(path) is no file and is left out")
            }
        }
        for (folder, operand) in options.operands {
            let name = try call.shell.name(operand)
            var shownName = name
            while shownName.hasPrefix("/") { shownName.removeFirst() }
            if shownName.isEmpty || shownName.split(separator: "/").contains("..") {
                throw .failed("\(name): a name with .. would be refused when it is unpacked")
            }
            try add(folder.isEmpty || name.hasPrefix("/") ? name : folder + "/" + name, shownName, depth: 0)
        }
        try write([UInt8](repeating: 0, count: TarEntry.block * 2))
        if packer != nil { try write([], isLast: true) }
        return status
    }

    final class PassedToCall: ByteSink, @unchecked Sendable {
        private let call: UtilityCall
        init(_ call: UtilityCall) { self.call = call }
        func write(_ bytes: [UInt8]) throws(Flow) { try call.write(bytes) }
    }

    // MARK: Reading

    private static func readTar(_ call: UtilityCall, _ options: TarOptions) throws(Flow) -> Int32 {
        var source: (any ByteSource)?
        if let file = options.file {
            source = try call.shell.open(file, for: .reading).source
        } else {
            source = try call.input()
        }
        let first = try source?.read(1 << 16, isLine: false) ?? []
        guard let raw = source else { return 2 }
        source = first.starts(with: [0x1F, 0x8B]) ? GunzipSource(raw, ahead: first) : AheadSource(raw, first)
        guard let source else { return 2 }
        func exactly(_ count: Int) throws(Flow) -> [UInt8] {
            var out: [UInt8] = []
            while out.count < count {
                let piece = try source.read(count - out.count, isLine: false)
                if piece.isEmpty { return out }
                out += piece
            }
            return out
        }
        var status: Int32 = 0
        var longName: String?
        var longTarget: String?
        var pax: [String: String] = [:]
        let wanted = options.operands.map { operand in
            var name = operand.path.text
            while name.hasSuffix("/") { name.removeLast() }
            return name
        }
        while true {
            try call.control.check()
            let header = try exactly(TarEntry.block)
            if header.isEmpty { break }
            guard header.count == TarEntry.block else { throw .failed("the archive ends too early") }
            guard let (read, letter) = try TarEntry.read(header) else { break }
            var entry = read
            if [76, 75, 120, 103].contains(letter) {
                guard entry.bytes < 1 << 20 else { throw .failed("a name in the archive is too long") }
                let bytes = try exactly(entry.bytes)
                _ = try exactly(TarEntry.padding(entry.bytes))
                let text = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                if letter == 76 { longName = text } else if letter == 75 { longTarget = text }
                if letter == 120 { pax = paxValues(bytes) }
                continue
            }
            if let name = pax["path"] ?? longName { entry.name = name }
            if let target = pax["linkpath"] ?? longTarget { entry.target = target }
            if let size = pax["size"].flatMap({ Int($0) }) { entry.bytes = size }
            (longName, longTarget, pax) = (nil, nil, [:])
            let isWanted =
                wanted.isEmpty || wanted.contains { entry.name == $0 || entry.name.hasPrefix($0 + "/") }
            let isLeftOut = options.excluded.contains { pattern in
                pattern.matches(Array(entry.name.utf8))
                    || entry.name.split(separator: "/").contains { pattern.matches(Array($0.utf8)) }
            }
            var left = entry.kind == .file || entry.kind == .other ? entry.bytes : 0
            let padding = TarEntry.padding(left)
            func eachPiece(_ body: ([UInt8]) throws(Flow) -> Void) throws(Flow) {
                while left > 0 {
                    let piece = try source.read(min(left, 1 << 18), isLine: false)
                    if piece.isEmpty { throw .failed("the archive ends too early") }
                    left -= piece.count
                    try body(piece)
                }
            }
            if isWanted, !isLeftOut {
                if options.action == 116 {
                    try call.write(Array((listed(entry, options.isVerbose, call) + "\n").utf8))
                } else {
                    if options.isVerbose { try call.write(Array((entry.name + "\n").utf8)) }
                    do throws(Flow) { try unpack(entry, call, options, eachPiece) } catch {
                        guard case .failed(let what) = error, left >= 0 else { throw error }
                        if what.hasSuffix("ends too early") { throw error }
                        try call.complain(what)
                        status = 2
                    }
                }
            }
            try eachPiece { (_) throws(Flow) in }
            _ = try exactly(padding)
        }
        return status
    }

    private static func paxValues(_ bytes: [UInt8]) -> [String: String] {
        var values: [String: String] = [:]
        var place = 0
        while place < bytes.count {
            guard let blank = bytes[place...].firstIndex(of: 32), let count = Int(Array(bytes[place..<blank]).text),
                count > 0, place + count <= bytes.count, blank < place + count
            else { break }
            let record = bytes[blank + 1..<place + count - 1]
            if let sign = record.firstIndex(of: 61) {
                values[Array(record[..<sign]).text] = Array(record[(sign + 1)...]).text
            }
            place += count
        }
        return values
    }

    private static func listed(_ entry: TarEntry, _ isVerbose: Bool, _ call: UtilityCall) -> String {
        guard isVerbose else { return entry.name }
        let kind = entry.kind == .folder ? "d" : entry.kind == .link ? "l" : "-"
        let date = Clock.text(entry.modified, Array("%Y-%m-%d %H:%M".utf8), isUTC: false, zone: call.shell.value("TZ"))
            .text
        let size = "\(entry.bytes)"
        let pad = String(repeating: " ", count: max(0, 9 - size.count))
        return "\(kind)\(rightsText(entry.rights)) user/user \(pad)\(size) \(date) \(entry.name)"
            + (entry.kind == .link ? " -> \(entry.target)" : "")
    }

    /// `rwxr-xr-x`
    static func rightsText(_ rights: UInt16) -> String {
        var text = ""
        for bit in (0..<9).reversed() { text += rights >> UInt16(bit) & 1 == 1 ? ["x", "w", "r"][bit % 3] : "-" }
        return text
    }

    /// Where an entry goes; names that lead out are refused, as are links.
    static func unpackedPath(_ name: String, strips: Int, in folder: String) throws(Flow) -> String? {
        var parts = name.split(separator: "/").filter { $0 != "." }.map(String.init)
        if name.hasPrefix("/") || parts.contains("..") {
            throw .failed("\(shown(Array(name.utf8))): this name would lead out of the folder, so it is left out")
        }
        if name.utf8.contains(0) || name.contains("\\") && parts.count == 1 && name.contains("..\\") {
            throw .failed("\(shown(Array(name.utf8))): this name is no file's, so it is left out")
        }
        guard parts.count > strips else { return nil }
        parts.removeFirst(strips)
        return (folder.isEmpty ? "" : folder + "/") + parts.joined(separator: "/")
    }

    private static func unpack(
        _ entry: TarEntry, _ call: UtilityCall, _ options: TarOptions,
        _ eachPiece: (([UInt8]) throws(Flow) -> Void) throws(Flow) -> Void
    ) throws(Flow) {
        if options.toOutput {
            if entry.kind == .file { try eachPiece { (piece) throws(Flow) in try call.write(piece) } }
            return
        }
        guard let path = try unpackedPath(entry.name, strips: options.strips, in: options.folder), !path.isEmpty else {
            return
        }
        switch entry.kind {
        case .folder: try call.confined { (here) throws(ConfinementError) in try here.makeFolders(path) }
        case .file:
            try openForUnpacking(path, call, keepsOld: options.keepsOld) { (sink) throws(Flow) in
                try eachPiece { (piece) throws(Flow) in try sink.write(piece) }
            }
            try call.confined { (here) throws(ConfinementError) in
                try here.setModified(path, seconds: entry.modified)
                try here.setRights(path, entry.rights | 0o600)
            }
        case .link:
            try call.confined { (here) throws(ConfinementError) in
                if path.contains("/") { try here.makeFolders(parts(path).parent) }
                if (try? here.linkStat(path)) != nil { try here.remove(path) }
                try here.makeLink(path, to: entry.target)
            }
        case .hardLink:
            guard let from = try unpackedPath(entry.target, strips: options.strips, in: options.folder) else { return }
            let bytes = try call.shell.contents(of: Array(from.utf8))
            try openForUnpacking(path, call, keepsOld: options.keepsOld) { (sink) throws(Flow) in try sink.write(bytes)
            }
        case .other: throw .failed("\(entry.name) is no file and is left out")
        }
    }

    static func openForUnpacking(
        _ path: String, _ call: UtilityCall, keepsOld: Bool, _ body: (any ByteSink) throws(Flow) -> Void
    ) throws(Flow) {
        try call.confined { (here) throws(ConfinementError) in
            if path.contains("/") { try here.makeFolders(parts(path).parent) }
            if let old = try? here.linkStat(path) {
                if keepsOld { throw .exists(path: path) }
                // Never written through: a link the archive brought may point anywhere.
                if old.kind != .folder { try here.remove(path) }
            }
        }
        guard let sink = try call.shell.open(Array(path.utf8), for: .truncating).sink else { return }
        try body(sink)
    }
}

/// A source some of whose bytes have been read already.
///
/// Stays on its thread.
final class AheadSource: ByteSource, @unchecked Sendable {
    private let source: any ByteSource
    private var ahead: [UInt8]

    init(_ source: any ByteSource, _ ahead: [UInt8]) {
        self.source = source
        self.ahead = ahead
    }

    func unread(_ bytes: [UInt8]) { ahead = bytes + ahead }

    func read(_ most: Int, isLine: Bool) throws(Flow) -> [UInt8] {
        if ahead.isEmpty { return try source.read(most, isLine: isLine) }
        let end = min(most, ahead.count)
        defer { ahead.removeFirst(end) }
        return Array(ahead[..<end])
    }
}
