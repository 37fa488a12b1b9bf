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
        while end < source.count, end - position < 9 {
            let byte = source[end]
            guard byte &- 97 < 26 || byte == 33 || byte == 91 || byte == 123 || byte == 125 else { break }
            end += 1
        }
        guard end > position, end == source.count || source[end].endsWord else { return nil }
        let word = source[position..<end].withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        return ScriptParser.reserved.contains(word) ? word : nil
    }

    static let reserved: Set<String> = [
        "!", "{", "}", "[[", "case", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "then",
        "time", "until", "while",
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
        if peek == 59, peek(1) != 59, peek(1) != 38 { position += 1 }
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
        var isTimed = false
        while true {
            if takeReserved("!") {
                isNegated.toggle()
            } else if !isTimed, reservedWord == "time", timesPipeline {
                position += 4
                isTimed = true
                skipBlanks()
                if starts("-p "), isTimed { position += 2 }
            } else {
                break
            }
            skipBlanks()
        }
        var pipeline = Pipeline(isNegated: isNegated, isTimed: isTimed, commands: [try command()])
        while true {
            skipBlanks()
            guard peek == 124, peek(1) != 124 else { return pipeline }
            position += 1
            if peek == 38 {
                // `|&`: errors go the same way.
                position += 1
                let word = Word(parts: [.literal([49])], line: line)
                pipeline.commands[pipeline.commands.count - 1].add(
                    Redirection(descriptor: 2, kind: .duplicate(word, isInput: false)))
            }
            try skipNewLines()
            try pipeline.commands.append(command())
        }
    }

    /// `time` before a command, and not the name of one with options of its own.
    private var timesPipeline: Bool {
        var next = position + 4
        while next < source.count, source[next].isBlank { next += 1 }
        guard next < source.count else { return false }
        if source[next] == 45 { return source[next...].starts(with: [45, 112, 32]) }
        return ![10, 59, 38, 124, 41].contains(source[next])
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
        if peek == 40, peek(1) == 40, !notArithmetic.contains(position) {
            let before = self
            position += 2
            if let parts = try? nested({ (parser) throws(SyntaxError) in try parser.parts(in: .arithmetic) }),
                take("))")
            {
                return .arithmetic(parts)
            }
            var failed = notArithmetic
            failed.insert(before.position)
            self = before
            notArithmetic = failed
        }
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
            case "[[":
                parser.position += 2
                let condition = try parser.condition()
                guard parser.takeReservedText("]]") else { throw parser.unexpected(wanted: "\"]]\"") }
                return .condition(condition)
            case "function", "time": return nil
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
        if starts("((") { return try counting() }
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

    private mutating func counting() throws(SyntaxError) -> CompoundCommand {
        position += 2
        let start = try parts(in: .clause)
        guard take(";") else { throw unexpected(wanted: "\";\"") }
        let condition = try parts(in: .clause)
        guard take(";") else { throw unexpected(wanted: "\";\"") }
        let step = try parts(in: .clause)
        guard take("))") else { throw unexpected(wanted: "\"))\"") }
        skipBlanks()
        if peek == 59 { position += 1 }
        try skipNewLines()
        if reservedWord == "{" {
            position += 1
            let body = try list(wanted: "a command")
            try expect("}")
            return .count(start: start, condition: condition, step: step, body: body)
        }
        return .count(start: start, condition: condition, step: step, body: try loopBody())
    }

    private mutating func choice() throws(SyntaxError) -> CompoundCommand {
        position += 4
        skipBlanks()
        guard let subject = try word() else { throw unexpected(wanted: "a word") }
        try expect("in")
        var arms: [(patterns: [Word], body: CommandList, end: CompoundCommand.ArmEnd)] = []
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
            if reservedWord != "esac", !starts(";;"), !starts(";&") { body = try list(wanted: "a command") }
            try skipNewLines()
            var end = CompoundCommand.ArmEnd.leave
            var hasEnd = true
            if take(";;&") {
                end = .goOn
            } else if take(";&") {
                end = .fallThrough
            } else if !take(";;") {
                hasEnd = false
            }
            arms.append((patterns, body, end))
            if hasEnd { continue }
            try expect("esac")
            break
        }
        return .choice(subject: subject, arms: arms)
    }

    private mutating func simple() throws(SyntaxError) -> Command {
        if reservedWord == "function" { return try keywordFunction() }
        var command = SimpleCommand(line: line)
        var declares = false
        while true {
            skipBlanks()
            if let redirection = try redirection() {
                command.redirections.append(redirection)
                continue
            }
            let start = position
            if command.words.isEmpty || declares, let assignment = try assignment() {
                if declares {
                    var word = Word(line: line)
                    word.declared = [assignment]
                    command.words.append(word)
                } else {
                    command.assignments.append(assignment)
                }
                continue
            }
            guard let word = try word() else { break }
            command.words.append(word)
            guard command.words.count == 1 else { continue }
            if let name = word.plain { declares = ScriptParser.declaring.contains(name.text) }
            guard command.assignments.isEmpty, command.redirections.isEmpty else { continue }
            skipBlanks()
            if peek == 40 { return try function(named: word, from: start) }
        }
        guard !command.words.isEmpty || !command.assignments.isEmpty || !command.redirections.isEmpty else {
            throw unexpected(wanted: "a command")
        }
        return .simple(command)
    }

    /// Commands whose operands may be assignments, which are then not cut into fields.
    private static let declaring: Set<String> = ["declare", "export", "local", "readonly", "typeset"]

    /// `NAME=...`, `NAME+=...`, `NAME[key]=...` or `NAME=(...)`; nil, and nothing taken, when none begins here.
    private mutating func assignment() throws(SyntaxError) -> SimpleCommand.Assignment? {
        var end = position
        guard let first = peek, first.startsName else { return nil }
        while end < source.count, source[end].isInName { end += 1 }
        guard end < source.count, [61, 43, 91].contains(source[end]) else { return nil }
        let before = self
        let name = Array(source[position..<end]).text
        position = end
        var assignment = SimpleCommand.Assignment(name: name, value: .word(Word(line: line)))
        if peek == 91 {
            // Without an equals sign after it this is a pattern.
            guard let key = try? key(), peek == 61 || starts("+=") else {
                self = before
                return nil
            }
            assignment.key = key
        }
        if take("+=") {
            assignment.appends = true
        } else if !take("=") {
            self = before
            return nil
        }
        if peek == 40, assignment.key == nil {
            assignment.value = .list(try elements())
            return assignment
        }
        let start = line
        assignment.value = .word(try word() ?? Word(line: start))
        return assignment
    }

    private mutating func elements() throws(SyntaxError) -> [SimpleCommand.Assignment.Element] {
        position += 1
        var elements: [SimpleCommand.Assignment.Element] = []
        while true {
            try skipNewLines()
            if take(")") { return elements }
            var key: [WordPart]?
            if peek == 91 {
                let before = self
                if let parts = try? self.key(), take("=") { key = parts } else { self = before }
            }
            if key != nil {
                let start = line
                elements.append(.init(key: key, word: try word() ?? Word(line: start)))
            } else {
                guard let word = try word() else { throw unexpected(wanted: "\")\"") }
                elements.append(.init(word: word))
            }
        }
    }

    /// `function NAME { ... }`
    private mutating func keywordFunction() throws(SyntaxError) -> Command {
        position += 8
        skipBlanks()
        guard let name = try word()?.plain, !name.isEmpty else { throw unexpected(wanted: "a name") }
        skipBlanks()
        if take("(") {
            skipBlanks()
            guard take(")") else { throw unexpected(wanted: "\")\"") }
        }
        return try functionBody(name)
    }

    private mutating func function(named word: Word, from start: Int) throws(SyntaxError) -> Command {
        guard let name = word.plain, !name.isEmpty, name.allSatisfy({ $0.isInName || $0 == 45 || $0 == 46 || $0 == 58 })
        else {
            throw unexpected()
        }
        position += 1
        skipBlanks()
        guard take(")") else { throw unexpected(wanted: "\")\"") }
        return try functionBody(name)
    }

    private mutating func functionBody(_ name: [UInt8]) throws(SyntaxError) -> Command {
        try skipNewLines()
        let first = line
        guard let body = try compound() else { throw unexpected(wanted: "\"{\"") }
        let redirections = try redirections()
        return .function(name: name.text, body: .compound(body, redirections: redirections, line: first))
    }
}
