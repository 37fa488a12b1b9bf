extension ScriptParser {
    /// Whether a command may begin here.
    var startsCommand: Bool {
        guard let byte = peek else { return false }
        switch byte {
        case 10, 38, 41, 59, 124: return false
        default: return true
        }
    }

    /// The reserved word that stands here, unquoted and by itself.
    var reservedWord: String? {
        var end = position
        while end < source.count, end - position < 6 {
            let byte = source[end]
            guard byte &- 97 < 26 || byte == 33 || byte == 123 || byte == 125 else { break }
            end += 1
        }
        guard end > position, end == source.count || source[end].endsWord else { return nil }
        let word = source[position..<end].withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        return ScriptParser.reserved.contains(word) ? word : nil
    }

    static let reserved: Set<String> = [
        "!", "{", "}", "case", "do", "done", "elif", "else", "esac", "fi", "for", "if", "in", "then", "until", "while",
    ]
    private static let closing: Set<String> = ["}", "do", "done", "elif", "else", "esac", "fi", "then"]

    mutating func takeReserved(_ word: String) -> Bool {
        guard reservedWord == word else { return false }
        position += word.utf8.count
        return true
    }

    mutating func expect(_ word: String) throws(SyntaxError) {
        try skipNewLines()
        guard takeReserved(word) else { throw unexpected(wanted: "\"\(word)\"") }
    }

    /// A chain and what ends it.
    mutating func item() throws(SyntaxError) -> CommandList.Item {
        let chain = try chain()
        skipBlanks()
        if peek == 38 {
            position += 1
            return .init(chain: chain, isBackground: true)
        }
        if peek == 59, peek(1) != 59 { position += 1 }
        return .init(chain: chain, isBackground: false)
    }

    /// Commands up to a word or a parenthesis that closes them; at least one.
    mutating func list(wanted: String) throws(SyntaxError) -> CommandList {
        var list = CommandList()
        while true {
            try skipNewLines()
            guard startsCommand else { break }
            if let word = reservedWord, ScriptParser.closing.contains(word) { break }
            try list.items.append(item())
            skipBlanks()
            // After a command with no separator only what closes the list may follow.
            if let byte = peek, byte != 10, startsCommand, !isSeparated,
                !(reservedWord.map(ScriptParser.closing.contains) ?? false)
            {
                throw unexpected()
            }
        }
        guard !list.items.isEmpty else { throw unexpected(wanted: wanted) }
        return list
    }

    /// Whether the command before this place was separated from what follows.
    var isSeparated: Bool {
        var before = position - 1
        while before >= 0, source[before].isBlank { before -= 1 }
        return before >= 0 && (source[before] == 59 || source[before] == 38 || source[before] == 10)
    }

    private mutating func chain() throws(SyntaxError) -> CommandChain {
        var chain = CommandChain(first: try pipeline())
        while true {
            skipBlanks()
            let link: CommandChain.Link
            if take("&&") { link = .and } else if take("||") { link = .or } else { return chain }
            try skipNewLines()
            chain.rest.append((link, try pipeline()))
        }
    }

    private mutating func pipeline() throws(SyntaxError) -> Pipeline {
        skipBlanks()
        var isNegated = false
        while takeReserved("!") {
            isNegated.toggle()
            skipBlanks()
        }
        var pipeline = Pipeline(isNegated: isNegated, commands: [try command()])
        while true {
            skipBlanks()
            guard peek == 124, peek(1) != 124 else { return pipeline }
            position += 1
            try skipNewLines()
            try pipeline.commands.append(command())
        }
    }

    private mutating func command() throws(SyntaxError) -> Command {
        skipBlanks()
        guard startsCommand else { throw unexpected(wanted: "a command") }
        let start = line
        if let compound = try compound() {
            return .compound(compound, redirections: try redirections(), line: start)
        }
        return try simple()
    }

    private mutating func redirections() throws(SyntaxError) -> [Redirection] {
        var all: [Redirection] = []
        while true {
            skipBlanks()
            guard let redirection = try redirection() else { return all }
            all.append(redirection)
        }
    }

    /// nil when no compound command begins here.
    private mutating func compound() throws(SyntaxError) -> CompoundCommand? {
        if peek == 40 {
            return try nested { (parser) throws(SyntaxError) in
                parser.position += 1
                let list = try parser.list(wanted: "a command")
                guard parser.peek == 41 else { throw parser.unexpected(wanted: "\")\"") }
                parser.position += 1
                return .subshell(list)
            }
        }
        guard let word = reservedWord else { return nil }
        return try nested { (parser) throws(SyntaxError) in
            switch word {
            case "{":
                parser.position += 1
                let list = try parser.list(wanted: "a command")
                try parser.expect("}")
                return .group(list)
            case "if": return try parser.conditional()
            case "while", "until":
                parser.position += 5
                let condition = try parser.list(wanted: "a condition")
                return .loop(condition: condition, body: try parser.loopBody(), isUntil: word == "until")
            case "for": return try parser.each()
            case "case": return try parser.choice()
            case "!": throw parser.unexpected()
            case "in": return nil
            default: throw parser.unexpected(wanted: "a command")
            }
        }
    }

    private mutating func loopBody() throws(SyntaxError) -> CommandList {
        try expect("do")
        let body = try list(wanted: "a command")
        try expect("done")
        return body
    }

    private mutating func conditional() throws(SyntaxError) -> CompoundCommand {
        var branches: [(condition: CommandList, body: CommandList)] = []
        position += 2
        while true {
            let condition = try list(wanted: "a condition")
            try expect("then")
            branches.append((condition, try list(wanted: "a command")))
            try skipNewLines()
            if takeReserved("elif") { continue }
            var otherwise: CommandList?
            if takeReserved("else") { otherwise = try list(wanted: "a command") }
            try expect("fi")
            return .conditional(branches: branches, otherwise: otherwise)
        }
    }

    private mutating func each() throws(SyntaxError) -> CompoundCommand {
        position += 3
        skipBlanks()
        let name = try word()
        guard let plain = name?.plain, plain.isName else {
            throw SyntaxError(
                line: line, "\"\(shown(source[position...].prefix(20)))\" cannot follow \"for\"",
                hint: "Write for NAME in WORDS; do COMMANDS; done.")
        }
        try skipNewLines()
        var words: [Word]?
        if takeReserved("in") {
            words = []
            skipBlanks()
            while let word = try word() {
                words?.append(word)
                skipBlanks()
            }
            guard peek == 59 || peek == 10 else { throw unexpected(wanted: "\";\" or a new line") }
            if peek == 59 { position += 1 }
        } else if peek == 59, peek(1) != 59 {
            position += 1
        }
        return .each(variable: plain.text, words: words, body: try loopBody())
    }

    private mutating func choice() throws(SyntaxError) -> CompoundCommand {
        position += 4
        skipBlanks()
        guard let subject = try word() else { throw unexpected(wanted: "a word") }
        try expect("in")
        var arms: [(patterns: [Word], body: CommandList)] = []
        while true {
            try skipNewLines()
            if takeReserved("esac") { break }
            _ = take("(")
            var patterns: [Word] = []
            repeat {
                skipBlanks()
                guard let pattern = try word() else { throw unexpected(wanted: "a pattern") }
                patterns.append(pattern)
                skipBlanks()
            } while take("|")
            guard take(")") else { throw unexpected(wanted: "\")\"") }
            try skipNewLines()
            var body = CommandList()
            if reservedWord != "esac", !starts(";;") { body = try list(wanted: "a command") }
            arms.append((patterns, body))
            try skipNewLines()
            if take(";;") { continue }
            try expect("esac")
            break
        }
        return .choice(subject: subject, arms: arms)
    }

    private mutating func simple() throws(SyntaxError) -> Command {
        var command = SimpleCommand(line: line)
        while true {
            skipBlanks()
            if let redirection = try redirection() {
                command.redirections.append(redirection)
                continue
            }
            let start = position
            guard let word = try word() else { break }
            if command.words.isEmpty, let assignment = ScriptParser.assignment(word) {
                command.assignments.append(assignment)
                continue
            }
            command.words.append(word)
            guard command.words.count == 1, command.assignments.isEmpty, command.redirections.isEmpty else { continue }
            skipBlanks()
            if peek == 40 { return try function(named: word, from: start) }
        }
        guard !command.words.isEmpty || !command.assignments.isEmpty || !command.redirections.isEmpty else {
            throw unexpected(wanted: "a command")
        }
        return .simple(command)
    }

    private mutating func function(named word: Word, from start: Int) throws(SyntaxError) -> Command {
        guard let name = word.plain, !name.isEmpty, name.allSatisfy({ $0.isInName || $0 == 45 || $0 == 46 }) else {
            throw unexpected()
        }
        position += 1
        skipBlanks()
        guard take(")") else { throw unexpected(wanted: "\")\"") }
        try skipNewLines()
        let first = line
        guard let body = try compound() else { throw unexpected(wanted: "\"{\"") }
        let redirections = try redirections()
        return .function(name: name.text, body: .compound(body, redirections: redirections, line: first))
    }

    /// `NAME=...`, when the name and the sign are not quoted.
    static func assignment(_ word: Word) -> SimpleCommand.Assignment? {
        guard case .literal(let bytes)? = word.parts.first, let sign = bytes.firstIndex(of: 61), sign > 0,
            Array(bytes[..<sign]).isName
        else { return nil }
        var value = Word(parts: Array(word.parts.dropFirst()), line: word.line)
        let rest = Array(bytes[(sign + 1)...])
        if !rest.isEmpty { value.parts.insert(.literal(rest), at: 0) }
        return .init(name: Array(bytes[..<sign]).text, value: value)
    }
}
