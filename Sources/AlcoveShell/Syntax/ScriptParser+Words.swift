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

        var isQuoted: Bool { self != .word && self != .operand }
    }

    /// nil, and nothing taken, when no word begins here.
    mutating func word() throws(SyntaxError) -> Word? {
        let start = line
        guard let byte = peek, !byte.endsWord else { return nil }
        // Most words are letters and nothing else.
        var end = position
        while end < source.count, ScriptParser.isOrdinary(source[end]) { end += 1 }
        if end == source.count || source[end].endsWord {
            defer { position = end }
            return Word(parts: [.literal(Array(source[position..<end]))], line: start)
        }
        return Word(parts: try parts(in: .word), line: start)
    }

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
        func flush() {
            if !literal.isEmpty { parts.append(.literal(literal)) }
            literal = []
        }
        while let byte = peek {
            switch byte {
            case 10:
                if place == .word {
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
            case 39 where place == .word || place == .operand:
                flush()
                parts.append(.quoted(try singleQuoted()))
            case 34 where place == .doubleQuotes:
                flush()
                return parts
            case 34 where place != .hereDocument && place != .arithmetic:
                flush()
                try parts.append(doubleQuoted())
            case 34 where place == .arithmetic: position += 1
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
            case 125 where place == .operand || place == .quotedOperand:
                flush()
                return parts
            case 40 where place == .arithmetic:
                parentheses += 1
                literal.append(byte)
                position += 1
            case 41 where place == .arithmetic:
                if parentheses == 0 {
                    flush()
                    return parts
                }
                parentheses -= 1
                literal.append(byte)
                position += 1
            default:
                if place == .word, byte.endsWord {
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
        case .word, .operand: isSpecial = true
        case .doubleQuotes: isSpecial = [34, 36, 92, 96].contains(next)
        case .hereDocument, .arithmetic: isSpecial = [36, 92, 96].contains(next)
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
        let parameter = try parameter()
        if wantsLength {
            guard take("}") else { throw badSubstitution(start) }
            return .init(parameter: parameter, operation: .length, line: start)
        }
        if take("}") { return .init(parameter: parameter, operation: .value, line: start) }
        let operation: ParameterExpansion.Operation
        let orEmpty = take(":")
        switch peek {
        case 45, 61, 63, 43:
            let sign = source[position]
            position += 1
            let word = try parts(in: place.isQuoted ? .quotedOperand : .operand)
            operation = .whenUnset(sign, orEmpty: orEmpty, word: word)
        case 35 where !orEmpty, 37 where !orEmpty:
            let sign = source[position]
            position += 1
            let isLongest = peek == sign
            if isLongest { position += 1 }
            operation = .trim(suffix: sign == 37, longest: isLongest, pattern: try parts(in: .operand))
        default: throw badSubstitution(start)
        }
        guard take("}") else {
            throw SyntaxError(line: start, "the ${ is never closed", isIncomplete: true)
        }
        return .init(parameter: parameter, operation: operation, line: start)
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
            return .variable(Array(source[begin..<position]).text)
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

    private func badSubstitution(_ start: Int) -> SyntaxError {
        var end = position
        while end < source.count, source[end] != 125, source[end] != 10, end - position < 40 { end += 1 }
        return SyntaxError(
            line: start, "\"${...\(shown(source[position..<end]))}\" is not an expansion of this shell",
            hint:
                "It knows ${v-w}, ${v=w}, ${v?w}, ${v+w}, each also with a colon, ${#v}, ${v#p}, ${v##p}, ${v%p} and ${v%%p}."
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
