/// What a sed script says, read from its text.
struct SedProgram {
    indirect enum Address {
        case line(Int)
        case last
        /// Every so many lines from a first one.
        case step(first: Int, by: Int)
        /// nil: the expression used last.
        case match(LibraryPattern?)
    }

    enum RangeEnd {
        case address(Address)
        /// `addr,+N` and `addr,~N`.
        case count(Int)
        case multiple(Int)
    }

    struct Substitution {
        enum Piece {
            case text([UInt8])
            case group(Int)
            /// `\U`, `\L`, `\u`, `\l` and `\E`.
            case letters(UInt8)
        }

        var pattern: LibraryPattern?
        var pieces: [Piece]
        var which = 1
        var isGlobal = false
        var prints = false
        var file: [UInt8]?
    }

    enum Action {
        case open(end: Int)
        case close
        case text(UInt8, [UInt8])
        case branch(UInt8, to: Int)
        case file(UInt8, [UInt8])
        case substitute(Substitution)
        case translate([UInt8: [UInt8]], characters: [[UInt8]: [UInt8]])
        case number(UInt8, Int)
        case plain(UInt8)
    }

    struct Command {
        var first: Address?
        var end: RangeEnd?
        var isNegated = false
        var action: Action
    }

    var commands: [Command] = []
    private var isExtended: Bool
    private var text: [UInt8]
    private var place = 0
    private var labels: [[UInt8]: Int] = [:]
    private var targets: [(command: Int, label: [UInt8])] = []
    private var blocks: [Int] = []

    /// Whether the script begins with `#n`.
    private(set) var isQuiet = false

    init(_ script: [UInt8], isExtended: Bool) throws(Flow) {
        text = script
        self.isExtended = isExtended
        if script.starts(with: [35, 110, 10]) || script == [35, 110] { isQuiet = true }
        try parse()
    }

    private func fault(_ what: String) -> Flow { .failed("character \(place + 1) of the script: \(what)") }

    private var peek: UInt8? { place < text.count ? text[place] : nil }

    private mutating func take() -> UInt8? {
        guard place < text.count else { return nil }
        place += 1
        return text[place - 1]
    }

    private mutating func skipBlanks() { while let byte = peek, byte.isBlank { place += 1 } }

    private mutating func parse() throws(Flow) {
        while true {
            while let byte = peek, byte.isBlank || byte == 10 || byte == 59 { place += 1 }
            guard let byte = peek else { break }
            if byte == 35 {
                while let byte = peek, byte != 10 { place += 1 }
                continue
            }
            try commands.append(command())
        }
        guard blocks.isEmpty else { throw fault("a { is never closed") }
        for (command, label) in targets {
            var target = commands.count
            if !label.isEmpty {
                guard let found = labels[label] else {
                    throw .failed("there is no label \(shown(label)) in the script")
                }
                target = found
            }
            if case .branch(let letter, _) = commands[command].action {
                commands[command].action = .branch(letter, to: target)
            }
        }
    }

    // MARK: Addresses

    private mutating func number() -> Int? {
        var value: Int?
        while let byte = peek, byte.isDigit {
            value = min((value ?? 0) * 10 + Int(byte) - 48, 1 << 40)
            place += 1
        }
        return value
    }

    private mutating func address() throws(Flow) -> Address? {
        guard let byte = peek else { return nil }
        if byte.isDigit {
            let first = number() ?? 0
            if peek == 126 {
                place += 1
                return .step(first: first, by: number() ?? 0)
            }
            return .line(first)
        }
        if byte == 36 {
            place += 1
            return .last
        }
        guard byte == 47 || byte == 92 else { return nil }
        place += 1
        var delimiter = byte
        if byte == 92 {
            guard let other = take(), other != 10 else { throw fault("a delimiter belongs after \\") }
            delimiter = other
        }
        let pattern = try delimited(by: delimiter, isPattern: true)
        var foldsCase = false
        var isMultiline = false
        while let flag = peek, flag == 73 || flag == 77 {
            if flag == 73 { foldsCase = true } else { isMultiline = true }
            place += 1
        }
        if pattern.isEmpty { return .match(nil) }
        return .match(try compiled(pattern, foldsCase: foldsCase, isMultiline: isMultiline))
    }

    private func compiled(_ pattern: [UInt8], foldsCase: Bool, isMultiline: Bool) throws(Flow) -> LibraryPattern {
        try LibraryPattern(pattern, isExtended: isExtended, foldsCase: foldsCase, isMultiline: isMultiline)
    }

    /// Text up to an unescaped delimiter, which is taken.
    private mutating func delimited(by delimiter: UInt8, isPattern: Bool) throws(Flow) -> [UInt8] {
        var out: [UInt8] = []
        var isInSet = false
        while let byte = take() {
            if byte == 92, let next = peek {
                place += 1
                if next == delimiter, !isInSet {
                    // A delimiter that is special in patterns stays escaped.
                    if isPattern, "^$.*[]+?(){}|".utf8.contains(delimiter) { out.append(92) }
                    out.append(next)
                } else if isPattern, next == 110 {
                    out.append(10)
                } else if isPattern, next == 116 {
                    out.append(9)
                } else {
                    out += [92, next]
                }
                continue
            }
            if isPattern, byte == 91, !isInSet {
                isInSet = true
                out.append(byte)
                if peek == 94 {
                    out.append(94)
                    place += 1
                }
                if peek == 93 {
                    out.append(93)
                    place += 1
                }
                continue
            }
            if isPattern, isInSet, byte == 91, let kind = peek, kind == 58 || kind == 46 || kind == 61 {
                // A class within a set: its own closing bracket is not the set's.
                out += [91, kind]
                place += 1
                while let inner = take() {
                    out.append(inner)
                    if inner == kind, peek == 93 { break }
                }
                if let close = take() { out.append(close) }
                continue
            }
            if isInSet, byte == 93 { isInSet = false }
            if byte == delimiter, !isInSet { return out }
            if byte == 10, isPattern { throw fault("a pattern is never closed") }
            out.append(byte)
        }
        throw fault("\(shown([delimiter])) is missing at the end")
    }

    // MARK: Commands

    private mutating func command() throws(Flow) -> Command {
        var command = Command(first: try address(), action: .close)
        skipBlanks()
        if command.first != nil, peek == 44 {
            place += 1
            skipBlanks()
            if peek == 43 || peek == 126 {
                let isCount = take() == 43
                guard let number = number() else { throw fault("a number belongs after \(isCount ? "+" : "~")") }
                command.end = isCount ? .count(number) : .multiple(number)
            } else {
                guard let end = try address() else { throw fault("an address belongs after the comma") }
                command.end = .address(end)
            }
            skipBlanks()
        }
        while peek == 33 {
            command.isNegated = true
            place += 1
            skipBlanks()
        }
        guard let letter = take() else { throw fault("a command is missing") }
        command.action = try action(letter)
        return command
    }

    private mutating func action(_ letter: UInt8) throws(Flow) -> Action {
        switch letter {
        case 123:  // {
            blocks.append(commands.count)
            return .open(end: 0)
        case 125:  // }
            guard let start = blocks.popLast() else { throw fault("a } closes nothing") }
            commands[start].action = .open(end: commands.count)
            try end()
            return .close
        case 58:  // :
            skipBlanks()
            labels[label(), default: commands.count] = commands.count
            return .close
        case 97, 99, 105: return .text(letter, try addedText())  // a c i
        case 98, 84, 116:  // b T t
            skipBlanks()
            targets.append((commands.count, label()))
            return .branch(letter, to: 0)
        case 114, 82, 119, 87:  // r R w W
            skipBlanks()
            let name = restOfLine()
            guard !name.isEmpty else { throw fault("a file name belongs after \([letter].text)") }
            return .file(letter, name)
        case 115:  // s
            let substitution = try substitution()
            if substitution.file == nil { try end() }
            return .substitute(substitution)
        case 121:  // y
            let action = try translation()
            try end()
            return action
        case 113, 81, 108, 76:  // q Q l L
            skipBlanks()
            let count = number() ?? (letter == 108 ? -1 : 0)
            try end()
            return .number(letter, count)
        case 61, 68, 71, 72, 78, 80, 100, 103, 104, 110, 112, 120, 122, 70:
            try end()
            return .plain(letter)
        default:
            throw fault(
                "there is no command \(shown([letter])). It has: { } = : a b c d D F g G h H i l n N p P q Q r R s t T w W x y z"
            )
        }
    }

    /// What may follow a command on its line.
    private mutating func end() throws(Flow) {
        skipBlanks()
        guard let byte = peek else { return }
        switch byte {
        case 10, 59: place += 1
        case 125, 35: break
        default: throw fault("\(shown(text[place...].prefix(10))) was not expected after a command")
        }
    }

    private mutating func label() -> [UInt8] {
        let start = place
        while let byte = peek, byte != 10, byte != 59, byte != 125 { place += 1 }
        var label = Array(text[start..<place])
        while let last = label.last, last.isBlank { label.removeLast() }
        return label
    }

    private mutating func restOfLine() -> [UInt8] {
        let start = place
        while let byte = peek, byte != 10 { place += 1 }
        return Array(text[start..<place])
    }

    /// The text of `a`, `c` and `i`, on the same line or on those after a backslash.
    private mutating func addedText() throws(Flow) -> [UInt8] {
        skipBlanks()
        guard peek != nil else { throw fault("text belongs after a, c and i") }
        if peek == 92 {
            place += 1
            skipBlanks()
            if peek == 10 {
                place += 1
                // Blanks before the text stay, as GNU keeps them.
            } else if peek != nil {
                // One-line form with a backslash that keeps its blanks.
                while place > 0, text[place - 1].isBlank { place -= 1 }
            }
        }
        var out: [UInt8] = []
        while let byte = take() {
            if byte == 92 {
                guard let next = take() else { break }
                out.append(next)
                continue
            }
            if byte == 10 { break }
            out.append(byte)
        }
        return out + [10]
    }

    private mutating func substitution() throws(Flow) -> Substitution {
        guard let delimiter = take(), delimiter != 10, delimiter != 92 else {
            throw fault("a delimiter belongs after s")
        }
        let pattern = try delimited(by: delimiter, isPattern: true)
        let replacement = try rawReplacement(delimiter)
        var substitution = Substitution(pieces: [])
        var foldsCase = false
        var isMultiline = false
        flags: while let flag = peek {
            switch flag {
            case 103: substitution.isGlobal = true
            case 112: substitution.prints = true
            case 105, 73: foldsCase = true
            case 109, 77: isMultiline = true
            case 101: throw fault("s///e would start a program, and no program can be started here")
            case 119:
                place += 1
                skipBlanks()
                substitution.file = restOfLine()
                break flags
            case _ where flag.isDigit:
                guard let which = number(), which > 0 else { throw fault("a number of a match counts from 1") }
                substitution.which = which
                continue
            default: break flags
            }
            place += 1
        }
        if !pattern.isEmpty {
            substitution.pattern = try compiled(pattern, foldsCase: foldsCase, isMultiline: isMultiline)
        }
        substitution.pieces = try pieces(replacement, groups: substitution.pattern?.groups)
        return substitution
    }

    private mutating func rawReplacement(_ delimiter: UInt8) throws(Flow) -> [UInt8] {
        var out: [UInt8] = []
        while let byte = take() {
            if byte == 92, let next = take() {
                // An escaped delimiter is that byte, unless it means something here.
                if next == delimiter, next != 38 { out.append(next) } else { out += [92, next] }
                continue
            }
            if byte == delimiter { return out }
            out.append(byte)
        }
        throw fault("the s command is never closed")
    }

    private func pieces(_ raw: [UInt8], groups: Int?) throws(Flow) -> [Substitution.Piece] {
        var pieces: [Substitution.Piece] = []
        var literal: [UInt8] = []
        func flush() {
            if !literal.isEmpty { pieces.append(.text(literal)) }
            literal = []
        }
        var index = 0
        while index < raw.count {
            let byte = raw[index]
            index += 1
            if byte == 38 {
                flush()
                pieces.append(.group(0))
                continue
            }
            guard byte == 92, index < raw.count else {
                literal.append(byte)
                continue
            }
            let next = raw[index]
            index += 1
            switch next {
            case 48...57:
                let group = Int(next) - 48
                if let groups, group > groups {
                    throw fault("\\\(group) means a group the pattern does not have: it has \(groups)")
                }
                flush()
                pieces.append(.group(group))
            case 85, 76, 117, 108, 69:
                flush()
                pieces.append(.letters(next))
            case 110: literal.append(10)
            case 116: literal.append(9)
            case 114: literal.append(13)
            case 97: literal.append(7)
            case 102: literal.append(12)
            case 118: literal.append(11)
            default: literal.append(next)
            }
        }
        flush()
        return pieces
    }

    private mutating func translation() throws(Flow) -> Action {
        guard let delimiter = take(), delimiter != 10, delimiter != 92 else {
            throw fault("a delimiter belongs after y")
        }
        let from = characters(try rawReplacement(delimiter))
        let to = characters(try rawReplacement(delimiter))
        guard from.count == to.count else {
            throw fault("both parts of y must be equally long: \(from.count) and \(to.count) characters")
        }
        var bytes: [UInt8: [UInt8]] = [:]
        var longer: [[UInt8]: [UInt8]] = [:]
        for (one, other) in zip(from, to) {
            if one.count == 1 {
                bytes[one[0], default: other] = bytes[one[0]] ?? other
            } else {
                longer[one] = longer[one] ?? other
            }
        }
        return .translate(bytes, characters: longer)
    }

    private func characters(_ raw: [UInt8]) -> [[UInt8]] {
        var out: [[UInt8]] = []
        var index = 0
        while index < raw.count {
            if raw[index] == 92, index + 1 < raw.count {
                let next = raw[index + 1]
                out.append(next == 110 ? [10] : next == 116 ? [9] : next == 92 ? [92] : [next])
                index += 2
                continue
            }
            let length = Pattern.length(raw, index)
            out.append(Array(raw[index..<index + length]))
            index += length
        }
        return out
    }
}
