internal import AlcoveCore
internal import AlcoveSandbox

/// One run of a sed program over its inputs.
///
/// Stays on its thread.
final class SedRun {
    private let call: UtilityCall
    private let program: SedProgram
    private let isQuiet: Bool
    private var pattern: [UInt8] = []
    private var hold: [UInt8] = []
    private var number = 0
    private var hasSubstituted = false
    private var appended: [Appended] = []
    private var lastPattern: LibraryPattern?
    /// The line on which each range ends; nil outside it.
    private var ranges: [Int: Int] = [:]
    private var outputs: [[UInt8]: any ByteSink] = [:]
    private var inputs: [[UInt8]: LineReader] = [:]
    private var lines: SedLines
    private var out: [UInt8] = []
    private var steps = 0
    /// Where output goes instead of the standard output, for `-i`.
    private(set) var edited: [UInt8]?

    private enum Appended {
        case text([UInt8])
        case file([UInt8])
    }

    private enum End {
        case next
        case restart
        case quit(Int32, prints: Bool)
    }

    init(_ call: UtilityCall, _ program: SedProgram, isQuiet: Bool, lines: SedLines, isEdit: Bool) throws(Flow) {
        self.call = call
        self.program = program
        self.isQuiet = isQuiet || program.isQuiet
        self.lines = lines
        edited = isEdit ? [] : nil
        for command in program.commands {
            switch command.action {
            case .file(let letter, let name) where letter == 119 || letter == 87: try openOutput(name)
            case .substitute(let substitution): if let file = substitution.file { try openOutput(file) }
            default: break
            }
        }
    }

    private func openOutput(_ name: [UInt8]) throws(Flow) {
        guard outputs[name] == nil else { return }
        outputs[name] = try call.shell.open(name, for: .truncating).sink
    }

    func run() throws(Flow) -> Int32 {
        var status: Int32 = 0
        var keepsPattern = false
        loop: while true {
            if !keepsPattern {
                guard let line = try lines.next() else { break }
                pattern = line
                number += 1
                hasSubstituted = false
            }
            keepsPattern = false
            switch try cycle() {
            case .next: try endCycle(prints: true)
            case .restart:
                try endCycle(prints: false)
                keepsPattern = true
            case .quit(let code, let prints):
                try endCycle(prints: prints)
                status = code
                break loop
            }
        }
        try flush()
        return lines.isWhole ? status : max(status, 2)
    }

    // MARK: Output

    private func write(_ bytes: [UInt8]) throws(Flow) {
        if edited != nil {
            edited?.append(contentsOf: bytes)
            if edited?.count ?? 0 > Shell.longestValue { throw .failed("the edited file would be too large") }
            return
        }
        out += bytes
        if out.count > 1 << 15 { try flush() }
    }

    private func flush() throws(Flow) {
        if !out.isEmpty { try call.write(out) }
        out.removeAll(keepingCapacity: true)
    }

    /// A line, with a new line unless it is the last of an input that has none.
    private func writeLine(_ line: [UInt8]) throws(Flow) {
        try write(lines.hadEnd || !lines.isAtEnd() ? line + [10] : line)
    }

    private func endCycle(prints: Bool) throws(Flow) {
        if prints, !isQuiet { try writeLine(pattern) }
        for item in appended {
            switch item {
            case .text(let text): try write(text)
            case .file(let name):
                guard let source = try? call.shell.open(name, for: .reading).source else { continue }
                while true {
                    let piece = try source.read(1 << 16, isLine: false)
                    if piece.isEmpty { break }
                    try write(piece)
                }
            }
        }
        appended = []
        if lines.isInteractive { try flush() }
    }

    // MARK: Choosing

    private func matches(_ address: SedProgram.Address) throws(Flow) -> Bool {
        switch address {
        case .line(let line): return number == line
        case .last: return lines.isAtEnd()
        case .step(let first, let by):
            return by <= 0 ? number == first : number >= first && (number - first) % by == 0
        case .match(let given):
            guard let expression = given ?? lastPattern else {
                throw .failed("there is no expression before the empty one")
            }
            lastPattern = expression
            return expression.match(pattern) != nil
        }
    }

    private func selects(_ index: Int, _ command: SedProgram.Command) throws(Flow) -> Bool {
        guard let first = command.first else { return true }
        guard let end = command.end else { return try matches(first) }
        if let last = ranges[index] {
            // Inside the range. A number that has passed already ended it with its first line.
            if case .address(let address) = end {
                switch address {
                case .line(let line):
                    if number >= line { ranges[index] = nil }
                    return number <= line
                default:
                    if try matches(address) { ranges[index] = nil }
                    return true
                }
            }
            if number >= last { ranges[index] = nil }
            return true
        }
        if case .line(0) = first, number == 1 || ranges[index] != nil, case .address(let address) = end {
            // `0,/re/`: the expression may match on the first line.
            if try !matches(address) { ranges[index] = .max }
            return true
        }
        guard try matches(first) else { return false }
        switch end {
        case .address(.line(let line)): if line > number { ranges[index] = line }
        case .address: ranges[index] = .max
        case .count(let count): if count > 0 { ranges[index] = number + count }
        case .multiple(let by): if by > 0, number % by != 0 { ranges[index] = (number / by + 1) * by }
        }
        return true
    }

    // MARK: Commands

    private func cycle() throws(Flow) -> End {
        var index = 0
        while index < program.commands.count {
            steps += 1
            if steps & 1023 == 0 { try call.control.check() }
            let command = program.commands[index]
            index += 1
            guard try selects(index - 1, command) != command.isNegated else {
                if case .open(let end) = command.action { index = end + 1 }
                continue
            }
            switch command.action {
            case .open, .close: break
            case .text(let letter, let text):
                switch letter {
                case 97: appended.append(.text(text))
                case 105: try write(text)
                default:
                    // A range is replaced once, at its end.
                    if command.end == nil || ranges[index - 1] == nil || command.isNegated { try write(text) }
                    return try deleted()
                }
            case .branch(let letter, let target):
                if letter == 98 {
                    index = target
                } else if hasSubstituted == (letter == 116) {
                    hasSubstituted = false
                    index = target
                } else {
                    hasSubstituted = false
                }
            case .file(let letter, let name): try useFile(letter, name)
            case .substitute(let substitution): try substitute(substitution)
            case .translate(let bytes, let characters): translate(bytes, characters)
            case .number(let letter, let value):
                switch letter {
                case 113: return .quit(Int32(truncatingIfNeeded: value & 0xFF), prints: true)
                case 81: return .quit(Int32(truncatingIfNeeded: value & 0xFF), prints: false)
                default: try write(SedRun.visible(pattern, width: value < 0 ? 70 : value) + [10])
                }
            case .plain(let letter): if let end = try perform(letter) { return end }
            }
        }
        return .next
    }

    private func deleted() throws(Flow) -> End {
        try endCycle(prints: false)
        guard let line = try lines.next() else { return .quit(0, prints: false) }
        pattern = line
        number += 1
        hasSubstituted = false
        return .restart
    }

    private func perform(_ letter: UInt8) throws(Flow) -> End? {
        switch letter {
        case 61: try write(Array("\(number)\n".utf8))
        case 100: return try deleted()
        case 68:
            guard let line = pattern.firstIndex(of: 10) else { return try deleted() }
            pattern.removeFirst(line + 1)
            return .restart
        case 103: pattern = hold
        case 71: pattern += [10] + hold
        case 104: hold = pattern
        case 72: hold += [10] + pattern
        case 120: swap(&pattern, &hold)
        case 110:
            if lines.isAtEnd() { return .quit(0, prints: true) }
            try endCycle(prints: true)
            pattern = try lines.next() ?? []
            number += 1
        case 78:
            if lines.isAtEnd() { return .quit(0, prints: true) }
            try endCycle(prints: false)
            pattern += [10] + (try lines.next() ?? [])
            number += 1
        case 112: try writeLine(pattern)
        case 80: try write(Array(pattern.prefix { $0 != 10 }) + [10])
        case 122: pattern = []
        case 70: try write(lines.name + [10])
        default: break
        }
        if pattern.count > Shell.longestValue || hold.count > Shell.longestValue {
            throw .failed("the text kept is longer than \(Shell.longestValue) bytes")
        }
        return nil
    }

    private func useFile(_ letter: UInt8, _ name: [UInt8]) throws(Flow) {
        switch letter {
        case 114: appended.append(.file(name))
        case 119: try outputs[name]?.write(pattern + [10])
        case 87: try outputs[name]?.write(Array(pattern.prefix { $0 != 10 }) + [10])
        default:
            if inputs[name] == nil {
                guard let source = try? call.shell.open(name, for: .reading).source else { return }
                inputs[name] = LineReader(source)
            }
            if let line = try inputs[name]?.next() { appended.append(.text(line + [10])) }
        }
    }

    private func substitute(_ substitution: SedProgram.Substitution) throws(Flow) {
        guard let expression = substitution.pattern ?? lastPattern else {
            throw .failed("there is no expression before the empty one")
        }
        lastPattern = expression
        var result: [UInt8] = []
        var from = 0
        var copied = 0
        var count = 0
        var hasChanged = false
        var previousEnd = -1
        while from <= pattern.count, let groups = expression.groups(pattern, from: from), let range = groups[0] {
            // An empty match right after another one is none.
            if range.isEmpty, range.lowerBound == previousEnd {
                guard range.lowerBound < pattern.count else { break }
                from = range.lowerBound + Pattern.length(pattern, range.lowerBound)
                continue
            }
            count += 1
            if count >= substitution.which {
                result += pattern[copied..<range.lowerBound]
                SedRun.replace(substitution.pieces, groups, pattern, into: &result)
                copied = range.upperBound
                hasChanged = true
                if !substitution.isGlobal { break }
            }
            previousEnd = range.upperBound
            if range.isEmpty {
                guard range.lowerBound < pattern.count else { break }
                from = range.lowerBound + Pattern.length(pattern, range.lowerBound)
                previousEnd = -1
            } else {
                from = range.upperBound
            }
            if count & 1023 == 0 { try call.control.check() }
            if result.count > Shell.longestValue {
                throw .failed("a line would be longer than \(Shell.longestValue) bytes")
            }
        }
        guard hasChanged else { return }
        result += pattern[copied...]
        pattern = result
        hasSubstituted = true
        if substitution.prints { try writeLine(pattern) }
        if let file = substitution.file { try outputs[file]?.write(pattern + [10]) }
    }

    private static func replace(
        _ pieces: [SedProgram.Substitution.Piece], _ groups: [Range<Int>?], _ line: [UInt8], into out: inout [UInt8]
    ) {
        var mode: UInt8 = 69
        var once: UInt8?
        func add(_ bytes: some Collection<UInt8>) {
            guard !bytes.isEmpty else { return }
            if mode == 69, once == nil { return out.append(contentsOf: bytes) }
            var text = String(decoding: Array(bytes), as: UTF8.self)
            if mode == 85 { text = text.uppercased() } else if mode == 76 { text = text.lowercased() }
            if let change = once, let first = text.first {
                let letter = String(first)
                text = (change == 117 ? letter.uppercased() : letter.lowercased()) + text.dropFirst()
                once = nil
            }
            out.append(contentsOf: text.utf8)
        }
        for piece in pieces {
            switch piece {
            case .text(let text): add(text)
            case .group(let number): if number < groups.count, let range = groups[number] { add(line[range]) }
            case .letters(let letter): if letter == 117 || letter == 108 { once = letter } else { mode = letter }
            }
        }
    }

    private func translate(_ bytes: [UInt8: [UInt8]], _ characters: [[UInt8]: [UInt8]]) {
        var out: [UInt8] = []
        var index = 0
        while index < pattern.count {
            let length = characters.isEmpty ? 1 : Pattern.length(pattern, index)
            if length == 1 {
                if let other = bytes[pattern[index]] { out += other } else { out.append(pattern[index]) }
            } else {
                let character = Array(pattern[index..<index + length])
                out += characters[character] ?? character
            }
            index += length
        }
        pattern = out
    }

    /// As `l` writes it: everything visible, folded.
    private static func visible(_ line: [UInt8], width: Int) -> [UInt8] {
        var out: [UInt8] = []
        var column = 0
        let names: [UInt8: String] = [
            92: "\\\\", 7: "\\a", 8: "\\b", 12: "\\f", 10: "\\n", 13: "\\r", 9: "\\t", 11: "\\v",
        ]
        for byte in line {
            let piece: [UInt8]
            if let name = names[byte] {
                piece = Array(name.utf8)
            } else if byte < 32 || byte > 126 {
                let digits = String(byte, radix: 8)
                piece = Array(("\\" + String(repeating: "0", count: 3 - digits.count) + digits).utf8)
            } else {
                piece = [byte]
            }
            if width > 1, column + piece.count > width - 1 {
                out += [92, 10]
                column = 0
            }
            out += piece
            column += piece.count
        }
        return out + [36]
    }
}
