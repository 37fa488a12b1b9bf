internal import AlcoveCore
internal import AlcoveSandbox

extension Builtins {
    @Sendable static func test(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        var arguments = Array(words.dropFirst())
        if words[0] == [91] {
            guard arguments.last == [93] else {
                try shell.complain("a ] belongs at the end")
                return 2
            }
            arguments.removeLast()
        }
        var condition = TestExpression(arguments: arguments, shell: shell)
        do throws(Flow) { return try condition.value() ? 0 : 1 } catch {
            guard case .failed(let what) = error else { throw error }
            try shell.complain(what)
            return 2
        }
    }
}

/// What `test` is given, by the rules for one to four words, then by those for longer expressions.
private struct TestExpression {
    let arguments: [[UInt8]]
    let shell: Shell
    private var place = 0
    private var depth = 0

    init(arguments: [[UInt8]], shell: Shell) {
        self.arguments = arguments
        self.shell = shell
    }

    mutating func value() throws(Flow) -> Bool {
        switch arguments.count {
        case 0: return false
        case 1: return !arguments[0].isEmpty
        case 3 where TestExpression.isBinary(arguments[1].text):
            return try binary(arguments[0], arguments[1].text, arguments[2])
        case 4 where arguments[0] == [33] && TestExpression.isBinary(arguments[2].text):
            return try !binary(arguments[1], arguments[2].text, arguments[3])
        default: break
        }
        let value = try or()
        guard place == arguments.count else { throw .failed("\(shown(arguments[place])) was not expected") }
        return value
    }

    private mutating func take(_ word: String) -> Bool {
        guard place < arguments.count, arguments[place].text == word else { return false }
        place += 1
        return true
    }

    private mutating func or() throws(Flow) -> Bool {
        var value = try and()
        while take("-o") { value = try and() || value }
        return value
    }

    private mutating func and() throws(Flow) -> Bool {
        var value = try not()
        while take("-a") { value = try not() && value }
        return value
    }

    private mutating func not() throws(Flow) -> Bool {
        depth += 1
        defer { depth -= 1 }
        guard depth < 200 else { throw .failed("the expression is nested too deeply") }
        if place + 1 < arguments.count, arguments[place] == [33] {
            place += 1
            return try !not()
        }
        return try primary()
    }

    private mutating func primary() throws(Flow) -> Bool {
        guard place < arguments.count else { throw .failed("the expression ends too early") }
        if place + 2 < arguments.count, TestExpression.isBinary(arguments[place + 1].text) {
            place += 3
            return try binary(arguments[place - 3], arguments[place - 2].text, arguments[place - 1])
        }
        if arguments[place] == [40] {
            place += 1
            let value = try or()
            guard take(")") else { throw .failed("a ) is missing") }
            return value
        }
        if place + 1 < arguments.count, TestExpression.unary.contains(arguments[place].text) {
            place += 2
            return try unary(arguments[place - 2].text, arguments[place - 1])
        }
        place += 1
        return !arguments[place - 1].isEmpty
    }

    private static let unary: Set<String> = [
        "-n", "-z", "-e", "-f", "-d", "-r", "-w", "-x", "-s", "-h", "-L", "-p", "-S", "-b", "-c", "-t", "-g", "-u",
        "-k", "-O", "-G", "-v", "-N",
    ]

    private static func isBinary(_ word: String) -> Bool {
        ["=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"].contains(word)
    }

    private func binary(_ left: [UInt8], _ sign: String, _ right: [UInt8]) throws(Flow) -> Bool {
        try Builtins.holds(left, sign, right, shell)
    }

    private func unary(_ sign: String, _ word: [UInt8]) throws(Flow) -> Bool { try Builtins.holds(sign, word, shell) }
}

extension Shell {
    /// Whether a variable or an element of one has a value.
    func isSet(_ word: [UInt8]) throws(Flow) -> Bool {
        if let bracket = word.firstIndex(of: 91), word.last == 93, Array(word[..<bracket]).isName {
            let name = meant(Array(word[..<bracket]).text)
            let inner = Array(word[(bracket + 1)...].dropLast())
            if inner == [64] || inner == [42] { return (state.variables[name]?.array?.count ?? 0) > 0 }
            return try value(of: .element(name, [.literal(inner)])) != nil
        }
        return try value(of: .variable(word.text)) != nil
    }
}

extension Builtins {
    /// A comparison of two words.
    static func holds(
        _ left: [UInt8], _ sign: String, _ right: [UInt8], _ shell: Shell
    ) throws(Flow) -> Bool {
        switch sign {
        case "=", "==": return left == right
        case "!=": return left != right
        case "<": return left.lexicographicallyPrecedes(right)
        case ">": return right.lexicographicallyPrecedes(left)
        case "-nt", "-ot", "-ef":
            let one = try? shell.here.stat(shell.name(left))
            let two = try? shell.here.stat(shell.name(right))
            if sign == "-ef" { return one != nil && one == two }
            let (a, b) = sign == "-nt" ? (one, two) : (two, one)
            guard let a else { return false }
            return a.modified > b?.modified ?? .min
        default: break
        }
        let a = try number(left)
        let b = try number(right)
        switch sign {
        case "-eq": return a == b
        case "-ne": return a != b
        case "-lt": return a < b
        case "-le": return a <= b
        case "-gt": return a > b
        default: return a >= b
        }
    }

    private static func number(_ bytes: [UInt8]) throws(Flow) -> Int64 {
        let text = bytes.drop { $0 == 32 || $0 == 9 }
        var end = text.endIndex
        while end > text.startIndex, text[end - 1] == 32 || text[end - 1] == 9 { end -= 1 }
        guard let value = Int64(Array(text[..<end]).text) else { throw .failed("\(shown(bytes)) is not a number") }
        return value
    }

    /// A question about one word.
    static func holds(_ sign: String, _ word: [UInt8], _ shell: Shell) throws(Flow) -> Bool {
        switch sign {
        case "-v": return try shell.isSet(word)
        case "-o":
            if word.text == "pipefail" { return shell.state.options.pipeFail }
            return optionNames[word.text].map(shell.state.options.letters.contains) ?? false
        case "-n": return !word.isEmpty
        case "-z": return word.isEmpty
        case "-t": return Int(word.text).flatMap { shell.state.files[$0] }?.isTerminal ?? false
        default: break
        }
        guard let name = String(validating: word, as: UTF8.self), !name.isEmpty else { return false }
        if ["/dev/null", "/dev/zero"].contains(name) { return ["-e", "-r", "-w", "-c"].contains(sign) }
        let isLink = sign == "-h" || sign == "-L"
        guard let entry = try? isLink ? shell.here.linkStat(name) : shell.here.stat(name) else { return false }
        switch sign {
        case "-f": return entry.kind == .file
        case "-d": return entry.kind == .folder
        case "-h", "-L": return entry.kind == .link
        case "-s": return entry.kind == .folder || entry.bytes > 0
        case "-x": return entry.kind == .folder || entry.isExecutable
        case "-p", "-S", "-b", "-c", "-g", "-u", "-k": return false
        default: return true
        }
    }
}
