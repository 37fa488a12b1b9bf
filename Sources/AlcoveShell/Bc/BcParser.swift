internal import AlcoveCore

/// A program of bc as values.
indirect enum BcExpression {
    case number([UInt8])
    case variable(String)
    case element(String, BcExpression)
    case assign(BcExpression, String, BcExpression)
    case step(BcExpression, by: Int, isBefore: Bool)
    case binary(String, BcExpression, BcExpression)
    case negative(BcExpression)
    case not(BcExpression)
    case call(String, [BcExpression])
}

indirect enum BcStatement {
    case expression(BcExpression)
    case text([UInt8])
    case print([BcStatement])
    case condition(BcExpression, BcStatement, BcStatement?)
    case loop(BcExpression, BcStatement)
    case count(BcExpression?, BcExpression?, BcExpression?, BcStatement)
    case block([BcStatement])
    case answer(BcExpression?)
    case leaveLoop
    case nextRound
    case quit
    case define(String, BcFunction)
}

struct BcFunction {
    var parameters: [String]
    var locals: [String]
    var body: [BcStatement]
}

/// Reads a program of bc, statement by statement.
struct BcParser {
    private enum Token: Equatable {
        case number([UInt8])
        case name(String)
        case text([UInt8])
        case sign(String)
        case newLine
        case end
    }

    private var tokens: [Token] = []
    private var place = 0
    private var depth = 0

    init(_ text: [UInt8]) throws(Flow) {
        var index = 0
        let signs = [
            "^=", "+=", "-=", "*=", "/=", "%=", "==", "!=", "<=", ">=", "&&", "||", "++", "--", "+", "-", "*", "/", "%",
            "^", "=", "<", ">", "!", "(", ")", "[", "]", "{", "}", ";", ",",
        ]
        while index < text.count {
            let byte = text[index]
            if byte == 92, index + 1 < text.count, text[index + 1] == 10 {
                index += 2
            } else if byte.isBlank || byte == 13 {
                index += 1
            } else if byte == 10 {
                tokens.append(.newLine)
                index += 1
            } else if byte == 35 {
                while index < text.count, text[index] != 10 { index += 1 }
            } else if text[index...].starts(with: [47, 42]) {
                while index < text.count, !text[index...].starts(with: [42, 47]) { index += 1 }
                index += 2
            } else if byte == 34 {
                let start = index + 1
                index = text[start...].firstIndex(of: 34) ?? text.count
                guard index < text.count else { throw .failed("a string is never closed") }
                tokens.append(.text(Array(text[start..<index])))
                index += 1
            } else if byte.isDigit || (65...70).contains(byte)
                || (byte == 46 && index + 1 < text.count
                    && (text[index + 1].isDigit || (65...70).contains(text[index + 1])))
            {
                let start = index
                while index < text.count, text[index].isDigit || (65...70).contains(text[index]) || text[index] == 46 {
                    index += 1
                }
                tokens.append(.number(Array(text[start..<index])))
            } else if byte == 46 {
                tokens.append(.name("last"))
                index += 1
            } else if (97...122).contains(byte) {
                let start = index
                while index < text.count, text[index].isInName { index += 1 }
                tokens.append(.name(Array(text[start..<index]).text))
            } else if let sign = signs.first(where: { text[index...].starts(with: $0.utf8) }) {
                tokens.append(.sign(sign))
                index += sign.utf8.count
            } else {
                throw .failed("\(shown([byte])) was not expected")
            }
        }
        tokens.append(.end)
    }

    private var peek: Token { tokens[place] }

    private func unexpected() -> Flow {
        switch peek {
        case .number(let text), .text(let text): .failed("\(shown(text)) was not expected")
        case .name(let name), .sign(let name): .failed("\(name) was not expected")
        case .newLine: .failed("the line ends too early")
        case .end: .failed("the program ends too early")
        }
    }

    private mutating func take(_ sign: String) -> Bool {
        guard peek == .sign(sign) else { return false }
        place += 1
        return true
    }

    private mutating func expect(_ sign: String) throws(Flow) { guard take(sign) else { throw unexpected() } }

    private mutating func skipLines() { while peek == .newLine { place += 1 } }

    /// nil at the end.
    mutating func next() throws(Flow) -> BcStatement? {
        while peek == .newLine || peek == .sign(";") { place += 1 }
        return peek == .end ? nil : try statement()
    }

    private mutating func statement() throws(Flow) -> BcStatement {
        depth += 1
        defer { depth -= 1 }
        guard depth < 200 else { throw .failed("the program is nested too deeply") }
        if case .text(let text) = peek {
            place += 1
            return .text(text)
        }
        if take("{") {
            var all: [BcStatement] = []
            while true {
                while peek == .newLine || peek == .sign(";") { place += 1 }
                if take("}") { return .block(all) }
                all.append(try statement())
            }
        }
        guard case .name(let name) = peek else { return .expression(try expression()) }
        switch name {
        case "if":
            place += 1
            try expect("(")
            let condition = try expression()
            try expect(")")
            skipLines()
            let then = try statement()
            let before = place
            while peek == .newLine || peek == .sign(";") { place += 1 }
            if peek == .name("else") {
                place += 1
                skipLines()
                return .condition(condition, then, try statement())
            }
            place = before
            return .condition(condition, then, nil)
        case "while":
            place += 1
            try expect("(")
            let condition = try expression()
            try expect(")")
            skipLines()
            return .loop(condition, try statement())
        case "for":
            place += 1
            try expect("(")
            let start = peek == .sign(";") ? nil : try expression()
            try expect(";")
            let condition = peek == .sign(";") ? nil : try expression()
            try expect(";")
            let step = peek == .sign(")") ? nil : try expression()
            try expect(")")
            skipLines()
            return .count(start, condition, step, try statement())
        case "break", "continue", "quit", "halt":
            place += 1
            return name == "break" ? .leaveLoop : name == "continue" ? .nextRound : .quit
        case "return":
            place += 1
            switch peek {
            case .newLine, .end, .sign(";"), .sign("}"): return .answer(nil)
            default: return .answer(try expression())
            }
        case "print":
            place += 1
            var all: [BcStatement] = []
            repeat {
                if case .text(let text) = peek {
                    place += 1
                    all.append(.text(text))
                } else {
                    all.append(.expression(try expression()))
                }
            } while take(",")
            return .print(all)
        case "define": return try definition()
        default: return .expression(try expression())
        }
    }

    private mutating func names() throws(Flow) -> [String] {
        var names: [String] = []
        while case .name(let name) = peek {
            place += 1
            if take("[") {
                try expect("]")
                names.append(name + "[]")
            } else {
                names.append(name)
            }
            if !take(",") { break }
        }
        return names
    }

    private mutating func definition() throws(Flow) -> BcStatement {
        place += 1
        if peek == .name("void") { place += 1 }
        guard case .name(let name) = peek else { throw unexpected() }
        place += 1
        try expect("(")
        let parameters = try names()
        try expect(")")
        skipLines()
        try expect("{")
        while peek == .newLine || peek == .sign(";") { place += 1 }
        var locals: [String] = []
        if peek == .name("auto") {
            place += 1
            locals = try names()
        }
        var body: [BcStatement] = []
        while true {
            while peek == .newLine || peek == .sign(";") { place += 1 }
            if take("}") { return .define(name, BcFunction(parameters: parameters, locals: locals, body: body)) }
            body.append(try statement())
        }
    }

    // MARK: Expressions, loosest first

    private mutating func expression() throws(Flow) -> BcExpression {
        depth += 1
        defer { depth -= 1 }
        guard depth < 200 else { throw .failed("the expression is nested too deeply") }
        var left = try and()
        while take("||") { left = .binary("||", left, try and()) }
        return left
    }

    private mutating func and() throws(Flow) -> BcExpression {
        var left = try not()
        while take("&&") { left = .binary("&&", left, try not()) }
        return left
    }

    private mutating func not() throws(Flow) -> BcExpression {
        if take("!") { return .not(try not()) }
        return try comparison()
    }

    private mutating func comparison() throws(Flow) -> BcExpression {
        var left = try assignment()
        loop: while true {
            for sign in ["==", "!=", "<=", ">=", "<", ">"] where take(sign) {
                left = .binary(sign, left, try assignment())
                continue loop
            }
            return left
        }
    }

    private mutating func assignment() throws(Flow) -> BcExpression {
        let left = try sum()
        switch left {
        case .variable, .element:
            for sign in ["=", "+=", "-=", "*=", "/=", "%=", "^="] where take(sign) {
                return .assign(left, sign, try assignment())
            }
        default: break
        }
        return left
    }

    private mutating func sum() throws(Flow) -> BcExpression {
        var left = try product()
        while true {
            if take("+") {
                left = .binary("+", left, try product())
            } else if take("-") {
                left = .binary("-", left, try product())
            } else {
                return left
            }
        }
    }

    private mutating func product() throws(Flow) -> BcExpression {
        var left = try power()
        while true {
            if take("*") {
                left = .binary("*", left, try power())
            } else if take("/") {
                left = .binary("/", left, try power())
            } else if take("%") {
                left = .binary("%", left, try power())
            } else {
                return left
            }
        }
    }

    private mutating func power() throws(Flow) -> BcExpression {
        depth += 1
        defer { depth -= 1 }
        guard depth < 200 else { throw .failed("the expression is nested too deeply") }
        let base = try unary()
        return take("^") ? .binary("^", base, try power()) : base
    }

    private mutating func unary() throws(Flow) -> BcExpression {
        if take("-") {
            depth += 1
            defer { depth -= 1 }
            guard depth < 200 else { throw .failed("the expression is nested too deeply") }
            return .negative(try unary())
        }
        if take("++") { return .step(try primary(), by: 1, isBefore: true) }
        if take("--") { return .step(try primary(), by: -1, isBefore: true) }
        let value = try primary()
        switch value {
        case .variable, .element:
            if take("++") { return .step(value, by: 1, isBefore: false) }
            if take("--") { return .step(value, by: -1, isBefore: false) }
        default: break
        }
        return value
    }

    private mutating func primary() throws(Flow) -> BcExpression {
        switch peek {
        case .number(let text):
            place += 1
            return .number(text)
        case .sign("("):
            place += 1
            let value = try expression()
            try expect(")")
            // In parentheses an assignment is a value like any other.
            return .binary("+", value, .number([48]))
        case .name(let name):
            place += 1
            if take("(") {
                var arguments: [BcExpression] = []
                while !take(")") {
                    if !arguments.isEmpty { try expect(",") }
                    arguments.append(try expression())
                    if take("[") { try expect("]") }
                }
                return .call(name, arguments)
            }
            if take("[") {
                let index = try expression()
                try expect("]")
                return .element(name, index)
            }
            return .variable(name)
        default: throw unexpected()
        }
    }
}
