extension ScriptParser {
    /// What stands in `[[ ]]`, up to the closing brackets.
    mutating func condition() throws(SyntaxError) -> Condition {
        var left = try conjunction()
        while true {
            try skipNewLines()
            guard take("||") else { return left }
            left = .or(left, try conjunction())
        }
    }

    private mutating func conjunction() throws(SyntaxError) -> Condition {
        var left = try term()
        while true {
            try skipNewLines()
            guard take("&&") else { return left }
            left = .and(left, try term())
        }
    }

    /// A text that stands by itself, whatever follows but more of a word.
    mutating func takeReservedText(_ text: StaticString) -> Bool {
        guard starts(text) else { return false }
        let end = position + text.utf8CodeUnitCount
        guard end == source.count || source[end].endsWord else { return false }
        position = end
        return true
    }

    private static let unary: Set<String> = [
        "-a", "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-n", "-o", "-p", "-r", "-s", "-t", "-u", "-v", "-w",
        "-x",
        "-z", "-G", "-L", "-N", "-O", "-R", "-S",
    ]
    private static let binary: Set<String> = [
        "=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef",
    ]

    private mutating func term() throws(SyntaxError) -> Condition {
        try skipNewLines()
        if takeReservedText("!") {
            return try nested { (parser) throws(SyntaxError) in .not(try parser.term()) }
        }
        if take("(") {
            return try nested { (parser) throws(SyntaxError) in
                let inner = try parser.condition()
                guard parser.take(")") else { throw parser.unexpected(wanted: "\")\"") }
                return inner
            }
        }
        if starts("]]") { throw unexpected(wanted: "a condition") }
        guard let first = try word() else { throw unexpected(wanted: "a condition") }
        skipBlanks()
        if let plain = first.plain?.text, ScriptParser.unary.contains(plain), !endsTerm {
            guard let operand = try word() else { throw unexpected(wanted: "a word") }
            skipBlanks()
            // `-n = x` compares the text -n.
            guard let sign = operand.plain?.text, ScriptParser.binary.contains(sign), !endsTerm else {
                return .unary(plain, operand)
            }
            return .binary(first, sign, try operandWord())
        }
        if endsTerm { return .word(first) }
        for sign in ["<", ">"] as [StaticString] where take(sign) {
            return .binary(first, "\(sign)", try operandWord())
        }
        if takeReservedText("=~") {
            skipBlanks()
            let parts = try parts(in: .expression)
            guard !parts.isEmpty else { throw unexpected(wanted: "an expression") }
            return .expression(first, parts)
        }
        guard let sign = try word()?.plain?.text else { throw unexpected(wanted: "a comparison") }
        guard ScriptParser.binary.contains(sign) else {
            throw SyntaxError(
                line: line, "\"\(shown(Array(sign.utf8)))\" is no comparison of [[ ]]",
                hint: "It has = == != =~ < > -eq -ne -lt -le -gt -ge -nt -ot -ef.")
        }
        return .binary(first, sign, try operandWord())
    }

    private var endsTerm: Bool {
        peek == nil || peek == 10 || peek == 41 || starts("&&") || starts("||") || starts("]]")
    }

    private mutating func operandWord() throws(SyntaxError) -> Word {
        skipBlanks()
        guard let word = try word() else { throw unexpected(wanted: "a word") }
        return word
    }
}
