internal import AlcoveCore
internal import AlcoveSandbox

/// A regular expression of the C library, for lines without zero bytes.
final class LibraryPattern {
    private let raw = UnsafeMutablePointer<regex_t>.allocate(capacity: 1)

    init(_ pattern: [UInt8], isExtended: Bool, foldsCase: Bool) throws(Flow) {
        let flags = (isExtended ? REG_EXTENDED : 0) | (foldsCase ? REG_ICASE : 0)
        let code = (pattern + [0]).withUnsafeBytes {
            regcomp(raw, $0.bindMemory(to: CChar.self).baseAddress!, flags)
        }
        guard code == 0 else {
            var buffer = [CChar](repeating: 0, count: 200)
            regerror(code, raw, &buffer, buffer.count)
            raw.deallocate()
            throw .failed("\(shown(pattern)): \(buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }.text)")
        }
    }

    deinit {
        regfree(raw)
        raw.deallocate()
    }

    /// The first match at or after a place.
    func match(_ line: [UInt8], from place: Int = 0) -> Range<Int>? {
        var found = regmatch_t()
        let code = (line + [0]).withUnsafeBytes { buffer in
            regexec(
                raw, buffer.baseAddress!.advanced(by: place).assumingMemoryBound(to: CChar.self), 1, &found,
                place > 0 ? REG_NOTBOL : 0)
        }
        return code == 0 ? place + Int(found.rm_so)..<place + Int(found.rm_eo) : nil
    }
}

extension Utilities {
    @Sendable static func grep(_ call: UtilityCall) throws(Flow) -> Int32 {
        do throws(Flow) { return try search(call) } catch {
            guard case .failed(let what) = error else { throw error }
            try call.complain(what)
            return 2
        }
    }

    private static func search(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("EFGivnclLqsowxhHrRa", valued: "efmABC")
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
        let isRecursive = options.has("r") || options.has("R")
        let matcher = try LineMatcher(
            patterns, isFixed: options.has("F"), isExtended: options.has("E"), foldsCase: options.has("i"),
            wholeWords: options.has("w"), wholeLines: options.has("x"))
        var search = LineSearch(call: call, options: options, matcher: matcher)
        search.most = try call.number(options.values["m"]) ?? .max
        let around = try call.number(options.values["C"]) ?? 0
        search.before = try call.number(options.values["B"]) ?? around
        search.after = try call.number(options.values["A"]) ?? around
        if isRecursive { operands = try files(call, operands.isEmpty ? [[46]] : operands, named: !operands.isEmpty) }
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
    private static func files(_ call: UtilityCall, _ operands: [[UInt8]], named: Bool) throws(Flow) -> [[UInt8]] {
        var found: [[UInt8]] = []
        var pending = try operands.reversed().map { (operand) throws(Flow) in try call.shell.name(operand) }
        while let path = pending.popLast() {
            try call.control.check()
            guard let entry = try? call.shell.here.linkStat(path), entry.kind == .folder else {
                found.append(Array(path.utf8))
                continue
            }
            guard let inside = try? call.shell.here.list(path) else { continue }
            for entry in inside.reversed() where entry.kind == .folder || entry.kind == .file {
                pending.append(
                    path == "." && !named ? entry.name : (path.hasSuffix("/") ? path : path + "/") + entry.name)
            }
        }
        return found
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
