/// Reads a script, one complete command after the other, so that what stands before a fault still runs.
///
/// The grammar is that of the POSIX shell command language (XCU 2). Nesting is counted: a script that is deeper than
/// `deepest` is refused with a sentence, since the stack it would take is not endless.
package struct ScriptParser {
    /// Commands, substitutions and quotes within one another.
    package static let deepest = 200

    let source: [UInt8]
    var position = 0
    var line: Int
    var depth: Int
    /// Texts that begin after the next new line.
    var awaited: [HereDocument] = []
    /// Whether `@(a|b)` and its like are read as patterns: in `[[ ]]` always, elsewhere where `(` could mean nothing else.
    var takesGroups = true
    /// Where `$((` turned out to begin a command, not a calculation.
    var notArithmetic: Set<Int> = []

    package init(_ source: [UInt8], line: Int = 1) {
        self.init(source, line: line, depth: 0)
    }

    init(_ source: [UInt8], line: Int, depth: Int) {
        self.source = source
        self.line = line
        self.depth = depth
    }

    /// The commands up to the end of a line; nil at the end of the script.
    package mutating func next() throws(SyntaxError) -> CommandList? {
        try skipNewLines()
        guard position < source.count else { return nil }
        var list = CommandList()
        while true {
            try list.items.append(item())
            skipBlanks()
            guard let byte = peek else { break }
            if byte == 10 {
                try newLine()
                break
            }
            guard startsCommand, isSeparated else { throw unexpected() }
        }
        if peek == nil { try readAwaited() }
        return list
    }

    /// The whole script.
    package static func parse(_ source: [UInt8]) throws(SyntaxError) -> CommandList {
        var parser = ScriptParser(source)
        var all = CommandList()
        while let list = try parser.next() { all.items += list.items }
        return all
    }

    // MARK: Bytes

    var peek: UInt8? { position < source.count ? source[position] : nil }

    func peek(_ offset: Int) -> UInt8? { position + offset < source.count ? source[position + offset] : nil }

    mutating func take(_ text: StaticString) -> Bool {
        guard starts(text) else { return false }
        position += text.utf8CodeUnitCount
        return true
    }

    func starts(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard position + count <= source.count else { return false }
        for index in 0..<count where source[position + index] != text.utf8Start[index] { return false }
        return true
    }

    /// Blanks, continued lines and a comment.
    mutating func skipBlanks() {
        while position < source.count {
            let byte = source[position]
            if byte.isBlank {
                position += 1
            } else if byte == 92, peek(1) == 10 {
                position += 2
                line += 1
            } else if byte == 35 {
                while position < source.count, source[position] != 10 { position += 1 }
            } else {
                return
            }
        }
    }

    mutating func newLine() throws(SyntaxError) {
        position += 1
        line += 1
        try readAwaited()
    }

    mutating func skipNewLines() throws(SyntaxError) {
        skipBlanks()
        while peek == 10 {
            try newLine()
            skipBlanks()
        }
    }

    /// Counts one level of nesting while `body` runs.
    mutating func nested<Value>(
        _ body: (inout ScriptParser) throws(SyntaxError) -> Value
    ) throws(SyntaxError) -> Value {
        depth += 1
        defer { depth -= 1 }
        guard depth <= ScriptParser.deepest else {
            throw SyntaxError(line: line, "the script is nested more than \(ScriptParser.deepest) levels deep")
        }
        return try body(&self)
    }

    func unexpected(wanted: String? = nil) -> SyntaxError {
        let hint = wanted.map { "\($0.prefix(1).uppercased())\($0.dropFirst()) belongs here." }
        guard let byte = peek else {
            return SyntaxError(
                line: line, "the script ends too early" + (wanted.map { "; \($0) is missing" } ?? ""),
                isIncomplete: true)
        }
        if byte == 10 { return SyntaxError(line: line, "the line ends too early", hint: hint) }
        var end = position
        if byte.endsWord {
            end += peek(1) == byte && [38, 59, 60, 62, 124].contains(byte) ? 2 : 1
        } else {
            while end < source.count, !source[end].endsWord, end - position < 100 { end += 1 }
        }
        return SyntaxError(line: line, "\"\(shown(source[position..<end]))\" was not expected", hint: hint)
    }
}
