extension ScriptParser {
    /// Where the bytes being read stand, which decides what is special in them.
    enum Surroundings {
        case word
        case doubleQuotes
        case hereDocument
        /// After an operator in `${...}` outside double quotes, or a pattern there.
        case operand
        /// The same within double quotes: single quotes are ordinary.
        case quotedOperand
        case arithmetic
        /// One of the three parts of `for ((;;))`.
        case clause
        /// Between brackets after a name.
        case key
        /// Up to a colon in `${v:a:b}`.
        case offset
        /// A pattern in `${v/p/w}`, outside double quotes or within.
        case replaced
        case quotedReplaced
        /// After `=~`: blanks end it, parentheses and bars do not.
        case expression

        var isQuoted: Bool {
            switch self {
            case .word, .operand, .replaced, .quotedReplaced, .key, .expression: false
            default: true
            }
        }

        var isArithmetic: Bool { self == .arithmetic || self == .clause || self == .offset }
    }

    /// nil, and nothing taken, when no word begins here.
    mutating func word() throws(SyntaxError) -> Word? {
        let start = line
        guard let byte = peek, !byte.endsWord || beginsProcess else { return nil }
        // Most words are letters and nothing else.
        var end = position
        while end < source.count, ScriptParser.isOrdinary(source[end]) { end += 1 }
        let opensGroup =
            end < source.count && end > position && opensGroup(source[end], source[position..<end].suffix(1))
        if !opensGroup, !beginsProcess, end == source.count || source[end].endsWord,
            end == source.count || !(source[end] == 60 || source[end] == 62) || end + 1 == source.count
                || source[end + 1] != 40
        {
            defer { position = end }
            return Word(parts: [.literal(Array(source[position..<end]))], line: start)
        }
        return Word(parts: try parts(in: .word), line: start)
    }

    /// `<(` and `>(`, which are part of a word.
    var beginsProcess: Bool { (peek == 60 || peek == 62) && peek(1) == 40 }

    private static func isOrdinary(_ byte: UInt8) -> Bool {
        switch byte {
        case 34, 36, 39, 92, 96: false  // " $ ' \ `
        default: !byte.endsWord
        }
    }

    /// The text of a here-document, which is the whole source.
    mutating func hereText() throws(SyntaxError) -> [WordPart] {
        guard depth <= ScriptParser.deepest else { return try nested { (_) throws(SyntaxError) in [] } }
        return try parts(in: .hereDocument)
    }

    /// Parts up to what ends them, which is not taken.
    mutating func parts(in place: Surroundings) throws(SyntaxError) -> [WordPart] {
        var parts: [WordPart] = []
        var literal: [UInt8] = []
        var parentheses = 0
        var brackets = 0
        func flush() {
            if !literal.isEmpty { parts.append(.literal(literal)) }
            literal = []
        }
        while let byte = peek {
            switch byte {
            case 10:
                if place == .word || (place == .expression && parentheses == 0) {
                    flush()
                    return parts
                }
                line += 1
                position += 1
                literal.append(10)
            case 92:
                let (bytes, isQuoted) = escape(in: place)
                if isQuoted {
                    flush()
                    parts.append(.quoted(bytes))
                } else {
                    literal += bytes
                }
            case 39
            where place == .word || place == .operand || place == .replaced || place == .quotedReplaced || place == .key
                || place == .expression:
                flush()
                parts.append(.quoted(try singleQuoted()))
            case 34 where place == .doubleQuotes:
                flush()
                return parts
            case 34 where place != .hereDocument && !place.isArithmetic:
                flush()
                try parts.append(doubleQuoted())
            case 34 where place.isArithmetic: position += 1
            case 36
            where peek(1) == 39
                && (place == .word || place == .operand || place == .key || place == .replaced || place == .expression
                    || place == .quotedOperand):
                flush()
                position += 1
                parts.append(.quoted(try escapedQuoted()))
            case 36 where peek(1) == 34 && (place == .word || place == .operand): position += 1
            case 36:
                if let part = try dollar(in: place) {
                    flush()
                    parts.append(part)
                } else {
                    literal.append(36)
                }
            case 96:
                flush()
                try parts.append(backquoted(in: place))
            case 125
            where place == .operand || place == .quotedOperand || place == .offset || place == .replaced
                || place == .quotedReplaced:
                flush()
                return parts
            case 47 where place == .replaced || place == .quotedReplaced:
                flush()
                return parts
            case 58 where place == .offset && parentheses == 0:
                flush()
                return parts
            case 63 where place == .offset:
                // The colon of a?b:c is not the end.
                parentheses += 1
                literal.append(byte)
                position += 1
            case 58 where place == .offset:
                parentheses -= 1
                literal.append(byte)
                position += 1
            case 59 where place == .clause && parentheses == 0:
                flush()
                return parts
            case 91 where place == .key:
                brackets += 1
                literal.append(byte)
                position += 1
            case 93 where place == .key:
                if brackets == 0 {
                    flush()
                    return parts
                }
                brackets -= 1
                literal.append(byte)
                position += 1
            case 40 where place.isArithmetic || place == .expression:
                parentheses += 1
                literal.append(byte)
                position += 1
            case 41 where place.isArithmetic:
                if parentheses == 0 {
                    flush()
                    return parts
                }
                parentheses -= 1
                literal.append(byte)
                position += 1
            case 41 where place == .expression && parentheses > 0:
                parentheses -= 1
                literal.append(byte)
                position += 1
            case 60 where place == .word && beginsProcess, 62 where place == .word && beginsProcess:
                flush()
                parts.append(try process())
            default:
                if place == .word, byte.endsWord, !opensGroup(byte, literal) {
                    flush()
                    return parts
                }
                if place == .word, byte == 40 {
                    literal += try group()
                    continue
                }
                if place == .expression, parentheses == 0, byte.endsWord, byte != 124 {
                    flush()
                    return parts
                }
                literal.append(byte)
                position += 1
            }
        }
        flush()
        return parts
    }

    /// Whether a parenthesis here belongs to a pattern such as `@(a|b)`.
    private func opensGroup(_ byte: UInt8, _ literal: some Collection<UInt8>) -> Bool {
        guard byte == 40, takesGroups, let sign = Array(literal.suffix(1)).first else { return false }
        return [33, 42, 43, 63, 64].contains(sign)
    }

    /// The text of a group of patterns, its parentheses included.
    private mutating func group() throws(SyntaxError) -> [UInt8] {
        let start = line
        var out: [UInt8] = []
        var open = 0
        while let byte = peek {
            if byte == 10 { line += 1 }
            position += 1
            if byte == 39 {
                while let quoted = peek, quoted != 39 {
                    out += [92, quoted]
                    position += 1
                }
                position += 1
                continue
            }
            if byte == 34 {
                while let quoted = peek, quoted != 34 {
                    out += [92, quoted]
                    position += 1
                }
                position += 1
                continue
            }
            out.append(byte)
            if byte == 92, let next = peek {
                out.append(next)
                position += 1
            }
            if byte == 40 { open += 1 }
            if byte == 41 {
                open -= 1
                if open == 0 { return out }
            }
        }
        throw SyntaxError(line: start, "the ( of a pattern is never closed", isIncomplete: true)
    }

    private mutating func process() throws(SyntaxError) -> WordPart {
        let start = line
        let isInput = peek == 60
        position += 2
        return try nested { (parser) throws(SyntaxError) in
            var list = CommandList()
            try parser.skipNewLines()
            if parser.peek != 41 { list = try parser.list(wanted: "a command") }
            guard parser.take(")") else { throw parser.unexpected(wanted: "\")\"") }
            return .process(list, isInput: isInput, line: start)
        }
    }

    /// `$'...'`, with the escapes of C.
    private mutating func escapedQuoted() throws(SyntaxError) -> [UInt8] {
        let start = line
        position += 1
        var out: [UInt8] = []
        while let byte = peek, byte != 39 {
            if byte == 10 { line += 1 }
            guard byte == 92, let letter = peek(1) else {
                out.append(byte)
                position += 1
                continue
            }
            let (bytes, end) = EscapedText.read(source, position, letter)
            out += bytes
            position = end
        }
        guard take("'") else {
            throw SyntaxError(line: start, "the quote $' is never closed", isIncomplete: true)
        }
        return out
    }

    /// What a backslash and the byte after it mean; nothing at all for a continued line.
    private mutating func escape(in place: Surroundings) -> (bytes: [UInt8], isQuoted: Bool) {
        guard let next = peek(1) else {
            // A last backslash is itself.
            position += 1
            return ([92], true)
        }
        if next == 10 {
            position += 2
            line += 1
            return ([], false)
        }
        let isSpecial: Bool
        switch place {
        case .word, .operand, .replaced, .quotedReplaced, .key, .expression: isSpecial = true
        case .doubleQuotes: isSpecial = [34, 36, 92, 96].contains(next)
        case .hereDocument, .arithmetic, .clause, .offset: isSpecial = [36, 92, 96].contains(next)
        case .quotedOperand: isSpecial = [34, 36, 92, 96, 125].contains(next)
        }
        position += isSpecial ? 2 : 1
        return isSpecial ? ([next], true) : ([92], false)
    }

    private mutating func singleQuoted() throws(SyntaxError) -> [UInt8] {
        let start = line
        position += 1
        let begin = position
        while let byte = peek, byte != 39 {
            if byte == 10 { line += 1 }
            position += 1
        }
        guard peek == 39 else {
            throw SyntaxError(line: start, "the quote ' is never closed", isIncomplete: true)
        }
        defer { position += 1 }
        return Array(source[begin..<position])
    }

    private mutating func doubleQuoted() throws(SyntaxError) -> WordPart {
        let start = line
        position += 1
        let parts = try nested { (parser) throws(SyntaxError) in try parser.parts(in: .doubleQuotes) }
        guard peek == 34 else {
            throw SyntaxError(line: start, "the quote \" is never closed", isIncomplete: true)
        }
        position += 1
        return .doubleQuoted(parts)
    }

    /// What a dollar sign begins; nil, with the sign taken, when that is nothing.
    private mutating func dollar(in place: Surroundings) throws(SyntaxError) -> WordPart? {
        let start = line
        position += 1
        guard let byte = peek else { return nil }
        switch byte {
        case 40:
            if peek(1) == 40, !notArithmetic.contains(position), let part = try arithmetic() { return part }
            position += 1
            return try nested { (parser) throws(SyntaxError) in
                var list = CommandList()
                try parser.skipNewLines()
                if parser.peek != 41 { list = try parser.list(wanted: "a command") }
                guard parser.take(")") else { throw parser.unexpected(wanted: "\")\"") }
                return .substitution(list, line: start)
            }
        case 123:
            position += 1
            return try nested { (parser) throws(SyntaxError) in
                .parameter(try parser.braced(in: place))
            }
        case _ where byte.startsName:
            let begin = position
            while let byte = peek, byte.isInName { position += 1 }
            let name = Array(source[begin..<position]).text
            return .parameter(.init(parameter: .variable(name), operation: .value, line: start))
        case _ where byte.isDigit:
            position += 1
            return .parameter(.init(parameter: .positional(Int(byte) - 48), operation: .value, line: start))
        case 33, 35, 36, 42, 45, 63, 64:
            position += 1
            return .parameter(.init(parameter: .special(byte), operation: .value, line: start))
        default: return nil
        }
    }

    /// nil, and nothing taken, when it is a substitution that begins with a subshell.
    private mutating func arithmetic() throws(SyntaxError) -> WordPart? {
        let before = self
        position += 2
        do throws(SyntaxError) {
            let parts = try nested { (parser) throws(SyntaxError) in try parser.parts(in: .arithmetic) }
            if take("))") { return .arithmetic(parts) }
            if peek == nil { throw unexpected(wanted: "\"))\"") }
        } catch {
            if depth >= ScriptParser.deepest { throw error }
        }
        var failed = notArithmetic
        failed.insert(before.position)
        self = before
        notArithmetic = failed
        return nil
    }

    private mutating func braced(in place: Surroundings) throws(SyntaxError) -> ParameterExpansion {
        let start = line
        var wantsLength = false
        if peek == 35, let next = peek(1), next != 125, lengthFollows() {
            wantsLength = true
            position += 1
        }
        let parameter = peek == 33 && !wantsLength ? try indirect() : try parameter()
        if wantsLength {
            guard take("}") else { throw badSubstitution(start) }
            return .init(parameter: parameter, operation: .length, line: start)
        }
        if take("}") { return .init(parameter: parameter, operation: .value, line: start) }
        let operation = try operation(in: place, start)
        guard take("}") else {
            throw SyntaxError(line: start, "the ${ is never closed", isIncomplete: true)
        }
        return .init(parameter: parameter, operation: operation, line: start)
    }

    private mutating func operation(
        in place: Surroundings, _ start: Int
    ) throws(SyntaxError) -> ParameterExpansion.Operation {
        let orEmpty = take(":")
        switch peek {
        case 45, 61, 63, 43:
            let sign = source[position]
            position += 1
            let word = try parts(in: place.isQuoted ? .quotedOperand : .operand)
            return .whenUnset(sign, orEmpty: orEmpty, word: word)
        case 35 where !orEmpty, 37 where !orEmpty:
            let sign = source[position]
            position += 1
            let isLongest = peek == sign
            if isLongest { position += 1 }
            return .trim(suffix: sign == 37, longest: isLongest, pattern: try parts(in: .operand))
        case 47 where !orEmpty:
            position += 1
            var kind = ParameterExpansion.Replacement.first
            if take("/") { kind = .all } else if take("#") { kind = .prefix } else if take("%") { kind = .suffix }
            let pattern = try parts(in: place.isQuoted ? .quotedReplaced : .replaced)
            let with = take("/") ? try parts(in: place.isQuoted ? .quotedOperand : .operand) : []
            return .replace(kind, pattern: pattern, with: with)
        case 94 where !orEmpty, 44 where !orEmpty:
            let sign = source[position]
            position += 1
            let isAll = peek == sign
            if isAll { position += 1 }
            return .letters(isUpper: sign == 94, isAll: isAll, pattern: try parts(in: .operand))
        case 64 where !orEmpty && peek(2) == 125:
            guard let letter = peek(1), "QEPAaUuLK".utf8.contains(letter) else { throw badSubstitution(start) }
            position += 2
            return .transform(letter)
        case _ where orEmpty:
            let from = try parts(in: .offset)
            let count = take(":") ? try parts(in: .offset) : nil
            return .part(from: from, count: count)
        default: throw badSubstitution(start)
        }
    }

    /// After `${!`: a name's value is a name, or the keys of an array, or names that begin alike.
    private mutating func indirect() throws(SyntaxError) -> ParameterExpansion.Parameter {
        guard let next = peek(1), next.startsName else { return try parameter() }
        position += 1
        switch try parameter() {
        case .variable(let name):
            if (peek == 42 || peek == 64) && peek(1) == 125 {
                defer { position += 1 }
                return .names(name, source[position])
            }
            return .indirect(name)
        case .elements(let name, let sign): return .keys(name, sign)
        default: throw badSubstitution(line)
        }
    }

    /// Whether `#` here asks for a length: a parameter and the brace follow.
    private func lengthFollows() -> Bool {
        var copy = self
        copy.position += 1
        guard (try? copy.parameter()) != nil else { return false }
        return copy.peek == 125
    }

    private mutating func parameter() throws(SyntaxError) -> ParameterExpansion.Parameter {
        guard let byte = peek else {
            throw SyntaxError(line: line, "the ${ is never closed", isIncomplete: true)
        }
        let begin = position
        if byte.startsName {
            while let byte = peek, byte.isInName { position += 1 }
            let name = Array(source[begin..<position]).text
            guard peek == 91 else { return .variable(name) }
            if let sign = peek(1), sign == 64 || sign == 42, peek(2) == 93 {
                position += 3
                return .elements(name, sign)
            }
            return .element(name, try key())
        }
        if byte.isDigit {
            while let byte = peek, byte.isDigit { position += 1 }
            guard let number = Int(Array(source[begin..<position]).text) else { throw badSubstitution(line) }
            return .positional(number)
        }
        guard [33, 35, 36, 42, 45, 63, 64].contains(byte) else { throw badSubstitution(line) }
        position += 1
        return .special(byte)
    }

    /// What stands between brackets, which are taken.
    mutating func key() throws(SyntaxError) -> [WordPart] {
        let start = line
        position += 1
        let parts = try nested { (parser) throws(SyntaxError) in try parser.parts(in: .key) }
        guard take("]") else { throw SyntaxError(line: start, "the [ is never closed", isIncomplete: true) }
        return parts
    }

    private func badSubstitution(_ start: Int) -> SyntaxError {
        var end = position
        while end < source.count, source[end] != 125, source[end] != 10, end - position < 40 { end += 1 }
        return SyntaxError(
            line: start, "\"${...\(shown(source[position..<end]))}\" is not an expansion of this shell",
            hint:
                "It knows ${v-w}, ${v=w}, ${v?w}, ${v+w}, each also with a colon, ${#v}, ${v#p}, ${v##p}, ${v%p}, ${v%%p}, ${v/p/w}, ${v//p/w}, ${v:n:m}, ${v^^}, ${v,,}, ${!v}, ${a[i]} and ${a[@]}."
        )
    }

    /// The old form of a substitution: its text is unescaped first, then read as a script.
    private mutating func backquoted(in place: Surroundings) throws(SyntaxError) -> WordPart {
        let start = line
        position += 1
        var text: [UInt8] = []
        while let byte = peek, byte != 96 {
            if byte == 92, let next = peek(1) {
                if [36, 92, 96].contains(next) || (next == 34 && (place == .doubleQuotes || place == .quotedOperand)) {
                    text.append(next)
                } else {
                    text += [92, next]
                }
                if next == 10 { line += 1 }
                position += 2
                continue
            }
            if byte == 10 { line += 1 }
            text.append(byte)
            position += 1
        }
        guard take("`") else {
            throw SyntaxError(line: start, "the quote ` is never closed", isIncomplete: true)
        }
        let script = text
        let list = try nested { (parser) throws(SyntaxError) in
            var inner = ScriptParser(script, line: start, depth: parser.depth)
            var list = CommandList()
            while let more = try inner.next() { list.items += more.items }
            return list
        }
        return .substitution(list, line: start)
    }
}
