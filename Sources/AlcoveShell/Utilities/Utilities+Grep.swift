internal import AlcoveCore
internal import AlcoveSandbox

extension Utilities {
    @Sendable static func extendedGrep(_ call: UtilityCall) throws(Flow) -> Int32 {
        try grep(UtilityCall(shell: call.shell, words: [call.words[0], Array("-E".utf8)] + call.words.dropFirst()))
    }

    @Sendable static func fixedGrep(_ call: UtilityCall) throws(Flow) -> Int32 {
        try grep(UtilityCall(shell: call.shell, words: [call.words[0], Array("-F".utf8)] + call.words.dropFirst()))
    }

    @Sendable static func grep(_ call: UtilityCall) throws(Flow) -> Int32 {
        do throws(Flow) { return try search(call) } catch {
            guard case .failed(let what) = error else { throw error }
            try call.complain(what)
            return 2
        }
    }

    private static func search(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options(
            "EFGPivnclLqsowxhHrRaIzZUyb", valued: "efmABCdD",
            longNames: [
                "--include=": "1", "--exclude=": "2", "--exclude-dir=": "3", "--color=": "4", "--colour=": "4",
                "--color": "a", "--line-number": "n", "--ignore-case": "i", "--invert-match": "v", "--count": "c",
                "--recursive": "r", "--only-matching": "o", "--quiet": "q", "--silent": "q", "--extended-regexp": "E",
                "--fixed-strings": "F", "--perl-regexp": "P", "--word-regexp": "w", "--line-regexp": "x",
                "--files-with-matches": "l", "--files-without-match": "L", "--no-filename": "h", "--with-filename": "H",
                "--max-count=": "m", "--after-context=": "A", "--before-context=": "B", "--context=": "C",
                "--no-messages": "s", "--text": "a", "--regexp=": "e", "--file=": "f", "--null-data": "z",
            ])
        var operands = options.operands
        var patterns: [[UInt8]] = []
        for (letter, value) in options.all {
            if letter == "e" {
                patterns += value.split(separator: 10, omittingEmptySubsequences: false).map { Array($0) }
            }
            if letter == "f" {
                var lines = try call.shell.contents(of: value).split(separator: 10, omittingEmptySubsequences: false)
                if lines.last?.isEmpty == true { lines.removeLast() }
                patterns += lines.map { Array($0) }
            }
        }
        if options.values["e"] == nil, options.values["f"] == nil {
            guard !operands.isEmpty else { throw .failed("a pattern belongs after it") }
            patterns = operands.removeFirst().split(separator: 10, omittingEmptySubsequences: false).map { Array($0) }
        }
        if options.has("P") {
            var portable: [[UInt8]] = []
            for pattern in patterns { portable.append(try PerlPattern.portable(pattern)) }
            patterns = portable
        }
        let isRecursive = options.has("r") || options.has("R")
        let matcher = try LineMatcher(
            patterns, isFixed: options.has("F"), isExtended: options.has("E") || options.has("P"),
            foldsCase: options.has("i") || options.has("y"),
            wholeWords: options.has("w"), wholeLines: options.has("x"))
        var search = LineSearch(call: call, options: options, matcher: matcher)
        search.most = try call.number(options.values["m"]) ?? .max
        let around = try call.number(options.values["C"]) ?? 0
        search.before = try call.number(options.values["B"]) ?? around
        search.after = try call.number(options.values["A"]) ?? around
        if isRecursive {
            let filter = FileFilter(options)
            operands = try files(call, operands.isEmpty ? [[46]] : operands, named: !operands.isEmpty, filter)
        }
        search.showsNames = !options.has("h") && (options.has("H") || operands.count > 1 || isRecursive)
        if isRecursive, operands.isEmpty { return 1 }
        let isWhole = try call.eachInput(operands) { (name, source) throws(Flow) in
            if search.isDone { return }
            try search.run(name == [45] ? Array("(standard input)".utf8) : name, source)
        }
        if options.has("q"), search.hasFound { return 0 }
        return !isWhole ? 2 : search.hasFound ? 0 : 1
    }

    /// All files below folders, in order.
    private static func files(
        _ call: UtilityCall, _ operands: [[UInt8]], named: Bool, _ filter: FileFilter
    ) throws(Flow) -> [[UInt8]] {
        var found: [[UInt8]] = []
        var pending = try operands.reversed().map { (operand) throws(Flow) in try call.shell.name(operand) }
        while let path = pending.popLast() {
            try call.control.check()
            guard let entry = try? call.shell.here.linkStat(path), entry.kind == .folder else {
                found.append(Array(path.utf8))
                continue
            }
            guard let inside = try? call.shell.here.list(path) else { continue }
            for entry in inside.reversed() where filter.takes(entry) {
                pending.append(
                    path == "." && !named ? entry.name : (path.hasSuffix("/") ? path : path + "/") + entry.name)
            }
        }
        return found
    }
}

/// What `--include`, `--exclude` and `--exclude-dir` ask.
private struct FileFilter {
    private var included: [Pattern] = []
    private var excluded: [Pattern] = []
    private var excludedFolders: [Pattern] = []

    init(_ options: UtilityCall.Options) {
        for (letter, value) in options.all {
            if letter == "1" { included.append(Pattern(value)) }
            if letter == "2" { excluded.append(Pattern(value)) }
            if letter == "3" { excludedFolders.append(Pattern(value)) }
        }
    }

    func takes(_ entry: FileEntry) -> Bool {
        let name = Array(entry.name.utf8)
        switch entry.kind {
        case .folder: return !excludedFolders.contains { $0.matches(name) }
        case .file:
            if excluded.contains(where: { $0.matches(name) }) { return false }
            return included.isEmpty || included.contains { $0.matches(name) }
        default: return false
        }
    }
}

/// Patterns of Perl's kind in terms of POSIX: what has no counterpart is refused.
enum PerlPattern {
    static func portable(_ text: [UInt8]) throws(Flow) -> [UInt8] {
        var out: [UInt8] = []
        var place = 0
        var isInSet = false
        let classes: [UInt8: String] = [100: "0-9", 119: "[:alnum:]_", 115: "[:space:]", 104: "[:blank:]"]
        while place < text.count {
            let byte = text[place]
            place += 1
            if byte == 92, place < text.count {
                let letter = text[place]
                place += 1
                if let inside = classes[letter] {
                    out += Array((isInSet ? inside : "[\(inside)]").utf8)
                } else if let inside = classes[letter | 32], !isInSet, letter < 97 {
                    out += Array("[^\(inside)]".utf8)
                } else if letter == 110 || letter == 116 || letter == 114 || letter == 101 {
                    out.append([110: 10, 116: 9, 114: 13, 101: 27][letter] ?? letter)
                } else if letter == 75 || letter == 71 || letter == 82 || letter == 88 {
                    throw .failed("\(shown(text)): \\\([letter].text) is Perl's and is not known here")
                } else {
                    out += isInSet && letter != 93 && letter != 92 ? [letter] : [92, letter]
                }
                continue
            }
            if byte == 91, !isInSet { isInSet = true } else if byte == 93, isInSet { isInSet = false }
            if byte == 40, !isInSet, place < text.count, text[place] == 63 {
                let next = place + 1 < text.count ? text[place + 1] : 0
                if next == 58 {
                    out.append(40)
                    place += 2
                    continue
                }
                throw .failed(
                    "\(shown(text)): (? groups that look ahead or behind are not known here; use sed or awk for what they leave out"
                )
            }
            if byte == 63, !isInSet, let last = out.last, [42, 43, 63, 125].contains(last), place >= 2,
                text[place - 2] != 92
            {
                throw .failed("\(shown(text)): *? and +? are not known here; a set such as [^x]* says the same")
            }
            out.append(byte)
        }
        return out
    }
}

/// Whether, and where, a line matches one of several patterns.
struct LineMatcher {
    private let fixed: [[UInt8]]
    private let compiled: [LibraryPattern]
    private let foldsCase: Bool
    private let wholeWords: Bool
    private let wholeLines: Bool

    init(
        _ patterns: [[UInt8]], isFixed: Bool, isExtended: Bool, foldsCase: Bool, wholeWords: Bool, wholeLines: Bool
    ) throws(Flow) {
        self.foldsCase = foldsCase
        self.wholeWords = wholeWords
        self.wholeLines = wholeLines
        let isPlain = patterns.allSatisfy { $0.allSatisfy { !"\\.[]*^$+?(){}|".utf8.contains($0) } }
        if isFixed || (isPlain && !patterns.contains([])) {
            fixed = foldsCase ? patterns.map { $0.map(Utilities.lowered) } : patterns
            compiled = []
        } else {
            fixed = []
            var all: [LibraryPattern] = []
            for pattern in patterns {
                all.append(try LibraryPattern(pattern, isExtended: isExtended, foldsCase: foldsCase))
            }
            compiled = all
        }
    }

    func match(_ line: [UInt8], from start: Int = 0) -> Range<Int>? {
        var best: Range<Int>?
        func consider(_ range: Range<Int>) {
            if best.map({
                range.lowerBound < $0.lowerBound
                    || (range.lowerBound == $0.lowerBound && range.upperBound > $0.upperBound)
            }) ?? true {
                best = range
            }
        }
        if !compiled.isEmpty {
            for pattern in compiled {
                var place = start
                while let range = pattern.match(line, from: place) {
                    if accepts(range, line) {
                        consider(range)
                        break
                    }
                    place = range.lowerBound + 1
                    if place > line.count { break }
                }
            }
            return best
        }
        let text = foldsCase ? line.map(Utilities.lowered) : line
        for pattern in fixed {
            var place = start
            while let range = LineMatcher.find(pattern, in: text, from: place) {
                if accepts(range, line) {
                    consider(range)
                    break
                }
                place = range.lowerBound + 1
            }
        }
        return best
    }

    private func accepts(_ range: Range<Int>, _ line: [UInt8]) -> Bool {
        if wholeLines { return range == 0..<line.count }
        guard wholeWords else { return true }
        let before = range.lowerBound > 0 ? line[range.lowerBound - 1] : 32
        let after = range.upperBound < line.count ? line[range.upperBound] : 32
        return !before.isInName && !after.isInName
    }

    private static func find(_ pattern: [UInt8], in text: [UInt8], from place: Int) -> Range<Int>? {
        if pattern.isEmpty { return place <= text.count ? place..<place : nil }
        guard place + pattern.count <= text.count else { return nil }
        return text.withUnsafeBytes { text in
            pattern.withUnsafeBytes { pattern in
                var from = place
                while from + pattern.count <= text.count {
                    guard
                        let found = memchr(
                            text.baseAddress! + from, Int32(pattern[0]), text.count - from - pattern.count + 1)
                    else { return nil }
                    let at = UnsafeRawPointer(found) - text.baseAddress!
                    if memcmp(found, pattern.baseAddress!, pattern.count) == 0 { return at..<at + pattern.count }
                    from = at + 1
                }
                return nil
            }
        }
    }
}

/// What `grep` writes about one input after the other.
private struct LineSearch {
    let call: UtilityCall
    let options: UtilityCall.Options
    let matcher: LineMatcher
    var most = Int.max
    var before = 0
    var after = 0
    var showsNames = false
    private(set) var hasFound = false
    private var hasWritten = false

    init(call: UtilityCall, options: UtilityCall.Options, matcher: LineMatcher) {
        self.call = call
        self.options = options
        self.matcher = matcher
    }

    var isDone: Bool { options.has("q") && hasFound }

    mutating func run(_ name: [UInt8], _ source: any ByteSource) throws(Flow) {
        var writer = BlockWriter(call)
        var lines = LineReader(source)
        var number = 0
        var count = 0
        var held: [(Int, [UInt8])] = []
        var toShow = 0
        var lastShown = 0
        let isQuiet = options.has("q") || options.has("c") || options.has("l") || options.has("L")
        func prefix(_ number: Int, _ sign: UInt8) -> [UInt8] {
            (showsNames ? name + [sign] : []) + (options.has("n") ? Array("\(number)".utf8) + [sign] : [])
        }
        while count < most || toShow > 0, let line = try lines.next() {
            number += 1
            let range = matcher.match(line)
            guard count < most, (range != nil) != options.has("v") else {
                if toShow > 0, !isQuiet {
                    try writer.line(prefix(number, 45) + line)
                    lastShown = number
                    toShow -= 1
                } else if before > 0 {
                    held.append((number, line))
                    if held.count > before { held.removeFirst() }
                }
                continue
            }
            count += 1
            hasFound = true
            if options.has("q") { return }
            if options.has("l") || options.has("L") { break }
            if isQuiet { continue }
            if options.has("o") {
                guard !options.has("v") else { continue }
                var place = 0
                while let range = matcher.match(line, from: place) {
                    if !range.isEmpty { try writer.line(prefix(number, 58) + Array(line[range])) }
                    place = max(range.upperBound, range.lowerBound + (range.isEmpty ? 1 : 0))
                    if place > line.count { break }
                }
                continue
            }
            let firstNew = held.first?.0 ?? number
            if before + after > 0, hasWritten, firstNew > lastShown + 1 { try writer.line([45, 45]) }
            for (number, line) in held { try writer.line(prefix(number, 45) + line) }
            held = []
            try writer.line(prefix(number, 58) + line)
            hasWritten = true
            lastShown = number
            toShow = after
        }
        if options.has("c") { try writer.line((showsNames ? name + [58] : []) + Array("\(count)".utf8)) }
        if options.has("l"), count > 0 { try writer.line(name) }
        if options.has("L"), count == 0 { try writer.line(name) }
        try writer.flush()
    }
}
