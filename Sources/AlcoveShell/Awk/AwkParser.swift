internal import AlcoveCore

/// Reads tokens into an awk program. Nesting is counted, since the stack is not endless.
struct AwkParser {
    static let deepest = 300
    /// The variables awk itself uses, at fixed places.
    static let special = [
        "NF", "NR", "FNR", "FS", "OFS", "ORS", "RS", "FILENAME", "SUBSEP", "CONVFMT", "OFMT", "RSTART", "RLENGTH",
        "ENVIRON", "ARGC", "ARGV", "IGNORECASE",
    ]

    private let tokens: [AwkToken]
    private var place = 0
    private var depth = 0
    private var globals: [String: Int] = [:]
    private var names: [String] = []
    private var functions: [String: Int] = [:]
    private var bodies: [Int: AwkProgram.Function] = [:]
    private var locals: [String: Int] = [:]
    /// Where a bare `>` is a redirection, and where `in` belongs to a `for`.
    private var stopsAtGreater = false
    private var stopsAtIn = false

    static func program(_ text: [UInt8]) throws(Flow) -> AwkProgram {
        var parser = AwkParser(tokens: try AwkLexer.tokens(text))
        return try parser.program()
    }

    private init(tokens: [AwkToken]) {
        self.tokens = tokens
        for name in AwkParser.special { _ = global(name) }
        for (index, token) in tokens.enumerated() {
            guard token.kind == .word("function"), index + 1 < tokens.count else { continue }
            switch tokens[index + 1].kind {
            case .name(let name), .call(let name):
                if functions[name] == nil { functions[name] = functions.count }
            default: break
            }
        }
    }

    private mutating func global(_ name: String) -> Int {
        if let known = globals[name] { return known }
        globals[name] = names.count
        names.append(name)
        return names.count - 1
    }

    // MARK: Tokens

    private var kind: AwkToken.Kind { tokens[place].kind }

    private func fault(_ what: String) -> Flow { .failed("line \(tokens[place].line) of the program: \(what)") }

    private func unexpected(_ wanted: String? = nil) -> Flow {
        let what: String
        switch kind {
        case .number(let number): what = "\(number)"
        case .string(let text): what = "\"\(shown(text))\""
        case .expression(let text): what = "/\(shown(text))/"
        case .name(let name), .call(let name), .builtin(let name), .word(let name), .sign(let name): what = name
        case .newLine: what = "the end of the line"
        case .end: what = "the end of the program"
        }
        return fault("\(what) was not expected" + (wanted.map { "; \($0) belongs here" } ?? ""))
    }

    private mutating func take(_ sign: String) -> Bool {
        guard kind == .sign(sign) else { return false }
        place += 1
        return true
    }

    private mutating func takeWord(_ word: String) -> Bool {
        guard kind == .word(word) else { return false }
        place += 1
        return true
    }

    private mutating func expect(_ sign: String) throws(Flow) {
        guard take(sign) else { throw unexpected(sign) }
    }

    private mutating func skipNewLines() { while kind == .newLine { place += 1 } }

    private mutating func skipEnds() { while kind == .newLine || kind == .sign(";") { place += 1 } }

    private mutating func nested<Value>(_ body: (inout AwkParser) throws(Flow) -> Value) throws(Flow) -> Value {
        depth += 1
        defer { depth -= 1 }
        guard depth < AwkParser.deepest else { throw fault("the program is nested too deeply") }
        return try body(&self)
    }

    // MARK: Rules

    private mutating func program() throws(Flow) -> AwkProgram {
        var rules: [AwkProgram.Rule] = []
        skipEnds()
        while kind != .end {
            if takeWord("function") {
                try function()
            } else {
                rules.append(try rule())
            }
            skipEnds()
        }
        var all: [AwkProgram.Function] = []
        for index in 0..<functions.count {
            guard let body = bodies[index] else { throw .failed("a function of the program has no body") }
            all.append(body)
        }
        return AwkProgram(rules: rules, functions: all, globals: names)
    }

    private mutating func rule() throws(Flow) -> AwkProgram.Rule {
        var pattern = AwkProgram.Pattern.always
        if takeWord("BEGIN") {
            pattern = .begin
        } else if takeWord("END") {
            pattern = .end
        } else if kind != .sign("{") {
            let first = try expression()
            if take(",") {
                skipNewLines()
                pattern = .range(first, try expression())
            } else {
                pattern = .when(first)
            }
        }
        if kind == .sign("{") { return .init(pattern: pattern, body: try block()) }
        switch pattern {
        case .begin, .end: throw unexpected("{")
        default: return .init(pattern: pattern, body: nil)
        }
    }

    private mutating func function() throws(Flow) {
        let name: String
        switch kind {
        case .name(let given), .call(let given): name = given
        default: throw unexpected("a name")
        }
        place += 1
        try expect("(")
        locals = [:]
        while !take(")") {
            skipNewLines()
            guard case .name(let parameter) = kind else { throw unexpected("a name") }
            place += 1
            locals[parameter] = locals.count
            skipNewLines()
            _ = take(",")
        }
        let parameters = locals.count
        skipNewLines()
        let body = try block()
        locals = [:]
        if let index = functions[name] { bodies[index] = .init(parameters: parameters, body: body) }
    }

    // MARK: Statements

    private mutating func block() throws(Flow) -> [AwkStatement] {
        try expect("{")
        var statements: [AwkStatement] = []
        skipEnds()
        while !take("}") {
            guard kind != .end else { throw unexpected("}") }
            statements.append(try statement())
            skipEnds()
        }
        return statements
    }

    private mutating func body() throws(Flow) -> [AwkStatement] {
        skipNewLines()
        if take(";") { return [] }
        if kind == .sign("{") { return try block() }
        return [try statement()]
    }

    /// What must follow a simple statement.
    private mutating func end() throws(Flow) {
        switch kind {
        case .newLine, .sign(";"): place += 1
        case .sign("}"), .end: break
        default: throw unexpected()
        }
    }

    private mutating func statement() throws(Flow) -> AwkStatement {
        try nested { (parser) throws(Flow) in try parser.anyStatement() }
    }

    private mutating func anyStatement() throws(Flow) -> AwkStatement {
        if kind == .sign("{") { return .block(try block()) }
        guard case .word(let word) = kind else {
            let statement = try simple()
            try end()
            return statement
        }
        switch word {
        case "if":
            place += 1
            try expect("(")
            let condition = try expression()
            try expect(")")
            let then = try body()
            let before = place
            skipEnds()
            if takeWord("else") { return .condition(condition, then, try body()) }
            place = before
            return .condition(condition, then, [])
        case "while":
            place += 1
            try expect("(")
            let condition = try expression()
            try expect(")")
            return .loop(condition, try body())
        case "do":
            place += 1
            let body = try body()
            skipEnds()
            guard takeWord("while") else { throw unexpected("while") }
            try expect("(")
            let condition = try expression()
            try expect(")")
            try end()
            return .loopAfter(body, condition)
        case "for": return try each()
        default:
            let statement = try simple()
            try end()
            return statement
        }
    }

    private mutating func each() throws(Flow) -> AwkStatement {
        place += 1
        try expect("(")
        if case .name(let name) = kind, tokens[place + 1].kind == .word("in"),
            case .name(let array) = tokens[place + 2].kind,
            tokens[place + 3].kind == .sign(")")
        {
            place += 4
            return .each(variable(name), arrayName(array), try body())
        }
        var start: AwkStatement?
        if kind != .sign(";") { start = try simple() }
        try expect(";")
        skipNewLines()
        var condition: AwkExpression?
        if kind != .sign(";") { condition = try expression() }
        try expect(";")
        skipNewLines()
        var step: AwkStatement?
        if kind != .sign(")") { step = try simple() }
        try expect(")")
        return .count(start, condition, step, try body())
    }

    private mutating func simple() throws(Flow) -> AwkStatement {
        guard case .word(let word) = kind else { return .expression(try expression()) }
        switch word {
        case "print", "printf":
            place += 1
            return try printing(isFormat: word == "printf")
        case "break", "continue", "next", "nextfile":
            place += 1
            return word == "break" ? .leaveLoop : word == "continue" ? .nextRound : word == "next" ? .next : .nextFile
        case "exit", "return":
            place += 1
            var value: AwkExpression?
            switch kind {
            case .newLine, .sign(";"), .sign("}"), .end: break
            default: value = try expression()
            }
            return word == "exit" ? .exit(value) : .answer(value)
        case "delete":
            place += 1
            guard case .name(let name) = kind else { throw unexpected("an array") }
            place += 1
            if take("[") {
                let keys = try list(until: "]")
                return .delete(arrayName(name), keys)
            }
            return .delete(arrayName(name), nil)
        case "getline", "in": return .expression(try expression())
        default: throw unexpected("a statement")
        }
    }

    private mutating func printing(isFormat: Bool) throws(Flow) -> AwkStatement {
        var arguments: [AwkExpression] = []
        let outer = stopsAtGreater
        stopsAtGreater = true
        defer { stopsAtGreater = outer }
        if kind == .sign("("), let close = closing(place), endsOutput(close + 1) {
            place += 1
            stopsAtGreater = false
            arguments = try list(until: ")")
            stopsAtGreater = true
        } else if !endsOutput(place) {
            arguments.append(try expression())
            while take(",") {
                skipNewLines()
                arguments.append(try expression())
            }
        }
        var output: AwkOutput?
        for (sign, kind) in [(">", AwkOutput.Kind.truncate), (">>", .append), ("|", .command)] where take(sign) {
            output = AwkOutput(kind: kind, target: try joined())
            break
        }
        if isFormat, arguments.isEmpty { throw unexpected("a format") }
        return isFormat ? .format(arguments, output) : .print(arguments, output)
    }

    private func closing(_ start: Int) -> Int? {
        var open = 0
        for index in start..<tokens.count {
            if tokens[index].kind == .sign("(") { open += 1 }
            if tokens[index].kind == .sign(")") {
                open -= 1
                if open == 0 { return index }
            }
        }
        return nil
    }

    private func endsOutput(_ index: Int) -> Bool {
        switch tokens[index].kind {
        case .newLine, .end: true
        case .sign(let sign): [";", "}", ">", ">>", "|"].contains(sign)
        default: false
        }
    }

    // MARK: Names

    private mutating func variable(_ name: String) -> AwkExpression {
        if let local = locals[name] { return .local(local) }
        return .global(global(name))
    }

    private mutating func arrayName(_ name: String) -> AwkArrayName {
        if let local = locals[name] { return .local(local) }
        return .global(global(name))
    }

    private mutating func list(until sign: String) throws(Flow) -> [AwkExpression] {
        let outer = (stopsAtGreater, stopsAtIn)
        (stopsAtGreater, stopsAtIn) = (false, false)
        defer { (stopsAtGreater, stopsAtIn) = outer }
        var all: [AwkExpression] = []
        skipNewLines()
        while !take(sign) {
            if !all.isEmpty {
                try expect(",")
                skipNewLines()
            }
            all.append(try expression())
            skipNewLines()
        }
        return all
    }

    // MARK: Expressions, loosest first

    private mutating func expression() throws(Flow) -> AwkExpression {
        try nested { (parser) throws(Flow) in try parser.assignment() }
    }

    private static func isPlace(_ expression: AwkExpression) -> Bool {
        switch expression {
        case .global, .local, .field, .element: true
        default: false
        }
    }

    private mutating func assignment() throws(Flow) -> AwkExpression {
        let left = try condition()
        guard AwkParser.isPlace(left), case .sign(let sign) = kind else { return left }
        if sign == "=" {
            place += 1
            skipNewLines()
            return .assign(left, try expression())
        }
        guard sign.count == 2, sign.hasSuffix("="), let letter = sign.utf8.first, "+-*/%^".utf8.contains(letter) else {
            return left
        }
        place += 1
        skipNewLines()
        return .change(left, letter, try expression())
    }

    private mutating func condition() throws(Flow) -> AwkExpression {
        let value = try or()
        guard take("?") else { return value }
        skipNewLines()
        let first = try expression()
        skipNewLines()
        try expect(":")
        skipNewLines()
        return .condition(value, first, try expression())
    }

    private mutating func or() throws(Flow) -> AwkExpression {
        var left = try and()
        while take("||") {
            skipNewLines()
            left = .or(left, try and())
        }
        return left
    }

    private mutating func and() throws(Flow) -> AwkExpression {
        var left = try membership()
        while take("&&") {
            skipNewLines()
            left = .and(left, try membership())
        }
        return left
    }

    private mutating func membership() throws(Flow) -> AwkExpression {
        var left = try matching()
        while !stopsAtIn, kind == .word("in"), case .name(let name) = tokens[place + 1].kind {
            place += 2
            left = .contains(arrayName(name), [left])
        }
        return left
    }

    private mutating func matching() throws(Flow) -> AwkExpression {
        var left = try comparison()
        while kind == .sign("~") || kind == .sign("!~") {
            let isNegated = kind == .sign("!~")
            place += 1
            left = .match(left, try comparison(), isNegated: isNegated)
        }
        return left
    }

    private mutating func comparison() throws(Flow) -> AwkExpression {
        var left = try joined()
        while true {
            let comparison: AwkExpression.Comparison
            switch kind {
            case .sign("<"): comparison = .less
            case .sign("<="): comparison = .lessOrEqual
            case .sign("=="): comparison = .equal
            case .sign("!="): comparison = .notEqual
            case .sign(">="): comparison = .greaterOrEqual
            case .sign(">") where !stopsAtGreater: comparison = .greater
            case .sign("|") where tokens[place + 1].kind == .word("getline"):
                place += 2
                left = .readLine(into: try lineTarget(), from: .command(left))
                continue
            default: return left
            }
            place += 1
            left = .compare(comparison, left, try joined())
        }
    }

    /// Whether another operand follows, which is joined to the one before.
    private var operandFollows: Bool {
        switch kind {
        case .number, .string, .expression, .name, .call, .builtin: true
        case .sign(let sign): ["$", "!", "(", "-", "+", "++", "--"].contains(sign)
        default: false
        }
    }

    private mutating func joined() throws(Flow) -> AwkExpression {
        var left = try sum()
        while operandFollows, kind != .sign("-"), kind != .sign("+") { left = .join(left, try sum()) }
        return left
    }

    private mutating func sum() throws(Flow) -> AwkExpression {
        var left = try product()
        while true {
            if take("+") {
                left = .arithmetic(43, left, try product())
            } else if take("-") {
                left = .arithmetic(45, left, try product())
            } else {
                return left
            }
        }
    }

    private mutating func product() throws(Flow) -> AwkExpression {
        var left = try unary()
        while true {
            if take("*") {
                left = .arithmetic(42, left, try unary())
            } else if take("/") {
                left = .arithmetic(47, left, try unary())
            } else if take("%") {
                left = .arithmetic(37, left, try unary())
            } else {
                return left
            }
        }
    }

    private mutating func unary() throws(Flow) -> AwkExpression {
        try nested { (parser) throws(Flow) in
            if parser.take("!") { return .not(try parser.unary()) }
            if parser.take("-") { return .negative(try parser.unary()) }
            if parser.take("+") { return .positive(try parser.unary()) }
            return try parser.power()
        }
    }

    private mutating func power() throws(Flow) -> AwkExpression {
        let base = try postfix()
        guard take("^") else { return base }
        // Binds to the right, and its right side may have a sign.
        let right: AwkExpression = try nested { (parser) throws(Flow) in
            if parser.take("-") { return .negative(try parser.power()) }
            if parser.take("+") { return try parser.power() }
            if parser.take("!") { return .not(try parser.power()) }
            return try parser.power()
        }
        return .arithmetic(94, base, right)
    }

    private mutating func postfix() throws(Flow) -> AwkExpression {
        let value = try primary()
        guard AwkParser.isPlace(value) else { return value }
        if take("++") { return .step(value, by: 1, isBefore: false) }
        if take("--") { return .step(value, by: -1, isBefore: false) }
        return value
    }

    private mutating func lineTarget() throws(Flow) -> AwkExpression? {
        switch kind {
        case .sign("$"), .name: return try primary()
        default: return nil
        }
    }

    private mutating func primary() throws(Flow) -> AwkExpression {
        switch kind {
        case .number(let number):
            place += 1
            return .number(number)
        case .string(let text):
            place += 1
            return .string(text)
        case .expression(let text):
            place += 1
            return .matchesRecord(text)
        case .sign("$"):
            place += 1
            return try nested { (parser) throws(Flow) in
                if parser.take("++") { return .field(.step(try parser.primary(), by: 1, isBefore: true)) }
                if parser.take("--") { return .field(.step(try parser.primary(), by: -1, isBefore: true)) }
                if parser.take("-") { return .field(.negative(try parser.primary())) }
                return .field(try parser.primary())
            }
        case .sign("++"), .sign("--"):
            let isUp = kind == .sign("++")
            place += 1
            let value = try primary()
            guard AwkParser.isPlace(value) else { throw unexpected("a variable") }
            return .step(value, by: isUp ? 1 : -1, isBefore: true)
        case .sign("-"), .sign("+"), .sign("!"): return try unary()
        case .sign("("): return try parentheses()
        case .name(let name):
            place += 1
            if take("[") { return .element(arrayName(name), try list(until: "]")) }
            if functions[name] != nil {
                throw fault("the function \(name) is called with a parenthesis right after its name")
            }
            return variable(name)
        case .call(let name):
            guard let index = functions[name] else {
                let known = Array(functions.keys) + Array(AwkLexer.builtins)
                let near = didYouMean(name, among: known).map { " " + $0 } ?? ""
                throw fault("there is no function \(name).\(near)")
            }
            place += 2
            return .call(index, try list(until: ")"))
        case .builtin(let name):
            place += 1
            if take("(") { return .builtin(name, try list(until: ")")) }
            guard name == "length" else { throw unexpected("(") }
            return .builtin(name, [])
        case .word("getline"):
            place += 1
            let target = try lineTarget()
            if take("<") { return .readLine(into: target, from: .file(try primaryTarget())) }
            return .readLine(into: target, from: .main)
        default: throw unexpected("a value")
        }
    }

    /// The file of `getline <`, which binds tighter than joining.
    private mutating func primaryTarget() throws(Flow) -> AwkExpression { try postfix() }

    private mutating func parentheses() throws(Flow) -> AwkExpression {
        place += 1
        let all = try list(until: ")")
        guard !all.isEmpty else { throw unexpected("a value") }
        if all.count > 1 || (kind == .word("in") && !stopsAtIn) {
            if kind == .word("in"), case .name(let name) = tokens[place + 1].kind {
                place += 2
                return .contains(arrayName(name), all)
            }
            if all.count > 1 { throw unexpected("in") }
        }
        return .grouped(all[0])
    }
}
