internal import AlcoveCore
internal import AlcoveSandbox

/// What `find` is asked, read from its words.
private indirect enum FindTest {
    case and(FindTest, FindTest)
    case or(FindTest, FindTest)
    case not(FindTest)
    case always(Bool)
    case name(Pattern, foldsCase: Bool, isPath: Bool)
    case expression(LibraryPattern)
    case kind(Set<Character>)
    case size(Int, unit: Int, sign: Int)
    case age(Int, unit: Int, sign: Int)
    case newer(Int64)
    case empty
    case rights(UInt16, UInt8)
    case prune
    case quit
    case print(UInt8)
    case format([UInt8])
    case delete
    case execute([[UInt8]], isInFolder: Bool)
    /// `-exec ... +`: the place of its collected paths.
    case collect(Int)
}

private struct FindParser {
    let call: UtilityCall
    var words: [[UInt8]]
    var place = 0
    var hasAction = false
    var least = 0
    var most = Int.max
    var depthFirst = false
    var collected: [[[UInt8]]] = []
    private var depth = 0

    init(call: UtilityCall, words: [[UInt8]]) {
        self.call = call
        self.words = words
    }

    mutating func or() throws(Flow) -> FindTest {
        depth += 1
        defer { depth -= 1 }
        guard depth < 100 else { throw .failed("the expression is nested too deeply") }
        var left = try and()
        while place < words.count, ["-o", "-or"].contains(words[place].text) {
            place += 1
            left = .or(left, try and())
        }
        return left
    }

    private mutating func and() throws(Flow) -> FindTest {
        var left = try not()
        while place < words.count, !["-o", "-or", ")"].contains(words[place].text) {
            if ["-a", "-and"].contains(words[place].text) { place += 1 }
            left = .and(left, try not())
        }
        return left
    }

    private mutating func not() throws(Flow) -> FindTest {
        guard place < words.count else { throw .failed("the expression ends too early") }
        if words[place] == [33] || words[place].text == "-not" {
            place += 1
            return .not(try not())
        }
        if words[place] == [40] {
            place += 1
            let inner = try or()
            guard place < words.count, words[place] == [41] else { throw .failed("a ) is missing") }
            place += 1
            return inner
        }
        return try test()
    }

    private mutating func value(_ name: String) throws(Flow) -> [UInt8] {
        guard place < words.count else { throw .failed("\(name) needs a value") }
        place += 1
        return words[place - 1]
    }

    private func signed(_ text: [UInt8]) throws(Flow) -> (Int, Int, [UInt8]) {
        var rest = text[...]
        var sign = 0
        if rest.first == 43 || rest.first == 45 { sign = rest.removeFirst() == 43 ? 1 : -1 }
        let digits = rest.prefix { $0.isDigit }
        guard let number = Int(Array(digits).text) else { throw .failed("\(shown(text)) is not a number") }
        return (number, sign, Array(rest.dropFirst(digits.count)))
    }

    private mutating func test() throws(Flow) -> FindTest {
        let name = words[place].text
        place += 1
        switch name {
        case "-name", "-iname", "-path", "-ipath", "-wholename":
            let folds = name.hasPrefix("-i")
            let pattern = try value(name)
            return .name(
                Pattern(folds ? pattern.map(Utilities.lowered) : pattern), foldsCase: folds,
                isPath: name.hasSuffix("path") || name.hasSuffix("wholename"))
        case "-regex", "-iregex":
            return .expression(
                try LibraryPattern(
                    Array("^(".utf8) + (try value(name)) + Array(")$".utf8), isExtended: true,
                    foldsCase: name == "-iregex"))
        case "-type": return .kind(Set(try value(name).text))
        case "-size":
            let (number, sign, unit) = try signed(try value(name))
            let units: [String: Int] = ["": 512, "b": 512, "c": 1, "w": 2, "k": 1024, "M": 1 << 20, "G": 1 << 30]
            guard let size = units[unit.text] else { throw .failed("-size: there is no unit \(shown(unit))") }
            return .size(number, unit: size, sign: sign)
        case "-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin":
            let (number, sign, _) = try signed(try value(name))
            return .age(number, unit: name.hasSuffix("min") ? 60 : 86_400, sign: sign)
        case "-newer":
            let path = try call.shell.name(try value(name))
            do throws(ConfinementError) { return .newer(try call.shell.here.stat(path).modified) } catch {
                throw .failed(error.sentence)
            }
        case "-empty": return .empty
        case "-perm":
            let text = try value(name)
            let sign = text.first == 45 || text.first == 47 ? text[0] : 0
            guard let bits = UInt16(text.drop { $0 == 45 || $0 == 47 }.map { $0 }.text, radix: 8) else {
                throw .failed("-perm: \(shown(text)) is no octal number")
            }
            return .rights(bits, sign)
        case "-executable": return .rights(0o111, 47)
        case "-readable", "-writable", "-true": return .always(true)
        case "-false": return .always(false)
        case "-prune": return .prune
        case "-quit": return .quit
        case "-print", "-print0":
            hasAction = true
            return .print(name == "-print" ? 10 : 0)
        case "-printf":
            hasAction = true
            return .format(try value(name))
        case "-delete":
            hasAction = true
            depthFirst = true
            return .delete
        case "-depth", "-d":
            depthFirst = true
            return .always(true)
        case "-follow", "-mount", "-xdev", "-noleaf", "-daystart": return .always(true)
        case "-maxdepth", "-mindepth":
            let number = try signed(try value(name)).0
            if name == "-maxdepth" { most = number } else { least = number }
            return .always(true)
        case "-exec", "-execdir", "-ok":
            hasAction = true
            var command: [[UInt8]] = []
            while true {
                guard place < words.count else { throw .failed("\(name) needs a ; or + at its end") }
                let word = words[place]
                place += 1
                if word == [59] { return .execute(command, isInFolder: name == "-execdir") }
                if word == [43], command.last == [123, 125] {
                    command.removeLast()
                    collected.append(command)
                    return .collect(collected.count - 1)
                }
                command.append(word)
            }
        default:
            let known = [
                "-name", "-iname", "-path", "-type", "-size", "-mtime", "-newer", "-exec", "-print", "-delete",
                "-maxdepth", "-mindepth", "-empty", "-perm", "-prune", "-regex",
            ]
            let near = didYouMean(name, among: known).map { " " + $0 } ?? " It has: \(known.joined(separator: " "))"
            throw .failed("there is no test \(shown(Array(name.utf8))).\(near)")
        }
    }
}

extension Utilities {
    @Sendable static func find(_ call: UtilityCall) throws(Flow) -> Int32 {
        var words = Array(call.words.dropFirst())
        while let word = words.first, ["-L", "-H", "-P"].contains(word.text) { words.removeFirst() }
        var paths: [[UInt8]] = []
        while let word = words.first, word.first != 45, word != [40], word != [33] {
            paths.append(word)
            words.removeFirst()
        }
        if paths.isEmpty { paths = [[46]] }
        var parser = FindParser(call: call, words: words)
        var test = words.isEmpty ? FindTest.always(true) : try parser.or()
        guard parser.place == words.count else { throw .failed("\(shown(words[parser.place])) was not expected") }
        if !parser.hasAction { test = .and(test, .print(10)) }
        var run = FindRun(call: call, parser: parser, test: test)
        return try run.all(paths)
    }
}

private struct FindRun {
    let call: UtilityCall
    let parser: FindParser
    let test: FindTest
    private var writer: BlockWriter
    private var waiting: [[[UInt8]]]
    private var status: Int32 = 0
    private var prunes = false
    private var hasQuit = false

    init(call: UtilityCall, parser: FindParser, test: FindTest) {
        self.call = call
        self.parser = parser
        self.test = test
        writer = BlockWriter(call)
        waiting = parser.collected.map { _ in [] }
    }

    mutating func all(_ paths: [[UInt8]]) throws(Flow) -> Int32 {
        for path in paths {
            let name = try call.shell.name(path)
            guard let entry = try call.trying({ (here) throws(ConfinementError) in try here.linkStat(name) }) else {
                status = 1
                continue
            }
            try visit(name, entry, 0, root: name)
            if hasQuit { break }
        }
        for index in waiting.indices { try flush(index) }
        try writer.flush()
        return status
    }

    private mutating func visit(_ path: String, _ entry: FileEntry, _ depth: Int, root: String) throws(Flow) {
        try call.control.check()
        guard depth <= ConfinedPaths.deepest else { throw .failed("\(path) is too deep") }
        prunes = false
        let isFirst = !parser.depthFirst
        if isFirst, depth >= parser.least { _ = try holds(test, path, entry, depth, root) }
        if entry.kind == .folder, depth < parser.most, !prunes, !hasQuit {
            let inside = try call.trying { (here) throws(ConfinementError) in try here.list(path) }
            if inside == nil { status = 1 }
            for entry in inside ?? [] {
                if hasQuit { return }
                try visit((path.hasSuffix("/") ? path : path + "/") + entry.name, entry, depth + 1, root: root)
            }
        }
        if !isFirst, depth >= parser.least, !hasQuit { _ = try holds(test, path, entry, depth, root) }
    }

    private static func compare(_ value: Int, _ wanted: Int, _ sign: Int) -> Bool {
        sign == 0 ? value == wanted : sign > 0 ? value > wanted : value < wanted
    }

    private mutating func holds(
        _ test: FindTest, _ path: String, _ entry: FileEntry, _ depth: Int, _ root: String
    ) throws(Flow) -> Bool {
        switch test {
        case .and(let left, let right):
            guard try holds(left, path, entry, depth, root) else { return false }
            return try holds(right, path, entry, depth, root)
        case .or(let left, let right):
            if try holds(left, path, entry, depth, root) { return true }
            return try holds(right, path, entry, depth, root)
        case .not(let inner): return try !holds(inner, path, entry, depth, root)
        case .always(let value): return value
        case .name(let pattern, let folds, let isPath):
            let text = Array((isPath ? path : Utilities.parts(path).name).utf8)
            return pattern.matches(folds ? text.map(Utilities.lowered) : text)
        case .expression(let expression): return expression.match(Array(path.utf8)) != nil
        case .kind(let kinds):
            let letter: Character = [.file: "f", .folder: "d", .link: "l"][entry.kind] ?? "p"
            return kinds.contains(letter)
        case .size(let number, let unit, let sign):
            return FindRun.compare((entry.bytes + unit - 1) / unit, number, sign)
        case .age(let number, let unit, let sign):
            return FindRun.compare((time(nil) - Int(entry.modified / 1000)) / unit, number, sign)
        case .newer(let moment): return entry.modified > moment
        case .empty:
            if entry.kind == .file { return entry.bytes == 0 }
            return entry.kind == .folder && ((try? call.shell.here.list(path, limit: 1)) ?? []).isEmpty
        case .rights(let bits, let sign):
            return sign == 45
                ? entry.rights & bits == bits : sign == 47 ? entry.rights & bits != 0 : entry.rights == bits
        case .prune:
            prunes = true
            return true
        case .quit:
            hasQuit = true
            return true
        case .print(let end):
            try writer.add(path.utf8)
            try writer.add([end])
            return true
        case .format(let format):
            try writer.add(formatted(format, path, entry, depth, root))
            return true
        case .delete:
            if path == "." { return true }
            guard try call.trying({ (here) throws(ConfinementError) in try here.remove(path) }) != nil else {
                status = 1
                return false
            }
            return true
        case .execute(let command, let isInFolder):
            try writer.flush()
            let (folder, name) = isInFolder ? Utilities.parts(path) : ("", path)
            let given = Array((isInFolder ? "./" + name : path).utf8)
            let words = command.map { FindRun.filled($0, given) }
            return try call.run(words, in: isInFolder ? folder : nil) == 0
        case .collect(let index):
            waiting[index].append(Array(path.utf8))
            if waiting[index].count >= 5000 { try flush(index) }
            return true
        }
    }

    private mutating func flush(_ index: Int) throws(Flow) {
        guard !waiting[index].isEmpty else { return }
        try writer.flush()
        let words = parser.collected[index] + waiting[index]
        waiting[index] = []
        if try call.run(words) != 0 { status = 1 }
    }

    /// The word with each `{}` replaced.
    static func filled(_ word: [UInt8], _ path: [UInt8], _ mark: [UInt8] = [123, 125]) -> [UInt8] {
        var out: [UInt8] = []
        var place = 0
        while place < word.count {
            if word[place...].starts(with: mark) {
                out += path
                place += mark.count
            } else {
                out.append(word[place])
                place += 1
            }
        }
        return out
    }

    private func formatted(
        _ format: [UInt8], _ path: String, _ entry: FileEntry, _ depth: Int, _ root: String
    ) throws(Flow) -> [UInt8] {
        var out: [UInt8] = []
        var place = 0
        while place < format.count {
            let byte = format[place]
            if byte == 92, place + 1 < format.count {
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
            switch format[place - 1] {
            case 112: out += Array(path.utf8)
            case 102: out += Array(Utilities.parts(path).name.utf8)
            case 104: out += Array(Utilities.parts(path).parent.utf8)
            case 80: out += Array(path.dropFirst(root.count).drop { $0 == "/" }.utf8)
            case 115: out += Array("\(entry.bytes)".utf8)
            case 100: out += Array("\(depth)".utf8)
            case 109: out += Array(String(entry.rights, radix: 8).utf8)
            case 121: out += entry.kind == .file ? [102] : entry.kind == .folder ? [100] : [108]
            case 117, 103: out += Array("user".utf8)
            case 84:
                // %T@ or %T and a letter of strftime.
                guard place < format.count else { break }
                let letter = format[place]
                place += 1
                let seconds = Int(entry.modified / 1000)
                out +=
                    letter == 64
                    ? Array("\(seconds).0".utf8)
                    : Clock.text(seconds, [37, letter], isUTC: false, zone: call.shell.value("TZ"))
            case 116:
                out += Clock.text(
                    Int(entry.modified / 1000), Array("%a %b %e %H:%M:%S %Y".utf8), isUTC: false,
                    zone: call.shell.value("TZ"))
            case 37: out.append(37)
            default: out += [37, format[place - 1]]
            }
        }
        return out
    }
}

extension Utilities {
    @Sendable static func xargs(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("0rtxpe", valued: "nLIPdsaEi", stopsEarly: true)
        var command = options.operands
        if command.isEmpty { command = [Array("echo".utf8)] }
        var source = try call.input()
        if let file = options.values["a"], let opened = try call.shell.open(file, for: .reading).source {
            source = opened
        }
        let text = try call.all(source)
        let items: [[UInt8]]
        let mark = options.values["I"]
        if options.has("0") {
            items = text.split(separator: 0).map { Array($0) }
        } else if let delimiter = options.values["d"] {
            let byte = EscapedText.read(delimiter + [32], 0, delimiter.count > 1 ? delimiter[1] : 32).0.first
            let cut = delimiter.count > 1 ? byte ?? 10 : delimiter.first ?? 10
            var parts = text.split(separator: cut, omittingEmptySubsequences: false).map { Array($0) }
            if parts.last?.isEmpty == true { parts.removeLast() }
            items = parts
        } else if mark != nil || options.values["L"] != nil {
            items = text.split(separator: 10).map { Array($0.drop { $0.isBlank }) }.filter { !$0.isEmpty }
        } else {
            items = try XargsWords.read(text)
        }
        if items.isEmpty, options.has("r") || mark != nil { return 0 }
        var calls: [[[UInt8]]] = []
        if let mark {
            calls = items.map { item in command.map { FindRun.filled($0, item, mark) } }
        } else if let lines = try call.number(options.values["L"]) {
            for start in stride(from: 0, to: items.count, by: max(1, lines)) {
                var words = command
                for line in items[start..<min(items.count, start + max(1, lines))] {
                    words += try XargsWords.read(line)
                }
                calls.append(words)
            }
        } else {
            let most = max(1, try call.number(options.values["n"]) ?? 5000)
            for start in stride(from: 0, to: max(1, items.count), by: most) {
                calls.append(command + items[min(start, items.count)..<min(items.count, start + most)])
            }
        }
        return try run(call, calls, atOnce: max(1, try call.number(options.values["P"]) ?? 1), traces: options.has("t"))
    }

    private static func run(
        _ call: UtilityCall, _ calls: [[[UInt8]]], atOnce: Int, traces: Bool
    ) throws(Flow) -> Int32 {
        var status: Int32 = 0
        func note(_ code: Int32) {
            if code == 127 || code == 126 { status = code } else if code != 0, status == 0 { status = 123 }
        }
        var running: [Job] = []
        for words in calls {
            try call.control.check()
            if traces { try call.shell.state.files[2]?.sink?.write(Array(words.joined(separator: [32])) + [10]) }
            if atOnce == 1 {
                let code = try call.run(words, withInput: OpenFile(source: NullStream()))
                note(code)
                if code == 255 || code == 127 { return code == 255 ? 124 : 127 }
                continue
            }
            if running.count >= min(atOnce, 16) { note(try call.control.wait(for: running.removeFirst())) }
            running.append(try call.start(words, input: OpenFile(source: NullStream())))
        }
        for job in running { note(try call.control.wait(for: job)) }
        return status
    }
}

/// The words of xargs' input: blanks cut, quotes and backslashes do not.
private enum XargsWords {
    static func read(_ text: [UInt8]) throws(Flow) -> [[UInt8]] {
        var out: [[UInt8]] = []
        var word: [UInt8]?
        var quote: UInt8?
        var place = 0
        while place < text.count {
            let byte = text[place]
            place += 1
            if let open = quote {
                if byte == open { quote = nil } else { word = (word ?? []) + [byte] }
            } else if byte == 34 || byte == 39 {
                quote = byte
                word = word ?? []
            } else if byte == 92, place < text.count {
                word = (word ?? []) + [text[place]]
                place += 1
            } else if byte.isBlank || byte == 10 {
                if let done = word { out.append(done) }
                word = nil
            } else {
                word?.append(byte)
                if word == nil { word = [byte] }
            }
        }
        if let open = quote { throw .failed("the quote \([open].text) is never closed; -0 takes words as they are") }
        if let word { out.append(word) }
        return out
    }
}
