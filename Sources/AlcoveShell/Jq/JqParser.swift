internal import AlcoveCore

/// Reads a filter. Nesting is counted.
struct JqParser {
    private enum Token: Equatable {
        case name(String)
        case field(String)
        case variable(String)
        case format(String)
        case number(Double)
        case text([Piece])
        case sign(String)
        case end
    }

    private struct Piece: Equatable {
        var text: String
        /// The source of a `\( )`.
        var inner: [UInt8]?
    }

    private var tokens: [Token] = []
    private var place = 0
    private var depth: Int

    static func filter(_ text: [UInt8], depth: Int = 0) throws(Flow) -> JqFilter {
        var parser = JqParser(depth: depth)
        try parser.read(text)
        if parser.peek == .end { return .identity }
        let filter = try parser.pipe()
        guard parser.peek == .end else { throw parser.unexpected() }
        return filter
    }

    private init(depth: Int) { self.depth = depth }

    private var peek: Token { tokens[place] }

    private func unexpected() -> Flow {
        let what: String
        switch peek {
        case .name(let name): what = name
        case .field(let name): what = "." + name
        case .variable(let name): what = "$" + name
        case .format(let name): what = "@" + name
        case .number(let number): what = "\(number)"
        case .text: what = "a string"
        case .sign(let sign): what = sign
        case .end: what = "the end"
        }
        return .failed("\(what) was not expected in the filter")
    }

    // MARK: Tokens

    private mutating func read(_ text: [UInt8]) throws(Flow) {
        var index = 0
        func byte(_ offset: Int = 0) -> UInt8 { index + offset < text.count ? text[index + offset] : 0 }
        func name() -> String {
            let start = index
            while byte().isInName || (byte() == 58 && byte(1) == 58) { index += byte() == 58 ? 2 : 1 }
            return Array(text[start..<index]).text
        }
        let signs = [
            "?//=", "?//", "|=", "+=", "-=", "*=", "/=", "%=", "//=", "==", "!=", "<=", ">=", "//", "..", "|", ",", "+",
            "-", "*", "/", "%", "=", "<", ">", "(", ")", "[", "]", "{", "}", ".", ":", ";", "?",
        ]
        .sorted { $0.count > $1.count }
        while index < text.count {
            let current = byte()
            if current.isBlank || current == 10 || current == 13 {
                index += 1
            } else if current == 35 {
                while index < text.count, text[index] != 10 { index += 1 }
            } else if current == 34 {
                index += 1
                tokens.append(.text(try string(text, &index)))
            } else if current == 46, byte(1).startsName {
                index += 1
                tokens.append(.field(name()))
            } else if current == 46, byte(1) == 34 {
                index += 2
                let pieces = try string(text, &index)
                tokens += [.sign("."), .text(pieces)]
            } else if current == 36, byte(1).startsName {
                index += 1
                tokens.append(.variable(name()))
            } else if current == 64, byte(1).startsName {
                index += 1
                tokens.append(.format(name()))
            } else if current.isDigit || (current == 46 && byte(1).isDigit) {
                let start = index
                while byte().isDigit || byte() == 46 { index += 1 }
                if byte() | 32 == 101, byte(1).isDigit || ((byte(1) == 43 || byte(1) == 45) && byte(2).isDigit) {
                    index += 2
                    while byte().isDigit { index += 1 }
                }
                tokens.append(.number(AwkNumber.prefix(Array(text[start..<index]))))
            } else if current.startsName {
                tokens.append(.name(name()))
            } else if let sign = signs.first(where: { text[index...].starts(with: $0.utf8) }) {
                tokens.append(.sign(sign))
                index += sign.utf8.count
            } else {
                throw .failed("\(shown([current])) was not expected in the filter")
            }
        }
        tokens.append(.end)
    }

    private func string(_ text: [UInt8], _ index: inout Int) throws(Flow) -> [Piece] {
        var pieces: [Piece] = []
        var literal: [UInt8] = []
        while index < text.count, text[index] != 34 {
            guard text[index] == 92, index + 1 < text.count else {
                literal.append(text[index])
                index += 1
                continue
            }
            let letter = text[index + 1]
            index += 2
            switch letter {
            case 40:
                let start = index
                var open = 1
                while index < text.count {
                    if text[index] == 34 {
                        index += 1
                        while index < text.count, text[index] != 34 { index += text[index] == 92 ? 2 : 1 }
                    } else if text[index] == 40 {
                        open += 1
                    } else if text[index] == 41 {
                        open -= 1
                        if open == 0 { break }
                    }
                    index += 1
                }
                guard index < text.count else { throw .failed("a \\( is never closed in the filter") }
                pieces.append(.init(text: literal.text, inner: Array(text[start..<index])))
                literal = []
                index += 1
            case 110: literal.append(10)
            case 116: literal.append(9)
            case 114: literal.append(13)
            case 98: literal.append(8)
            case 102: literal.append(12)
            case 117:
                let (bytes, end) = EscapedText.read(text, index - 2, 117)
                literal += bytes
                index = end
            default: literal.append(letter)
            }
        }
        guard index < text.count else { throw .failed("a string is never closed in the filter") }
        index += 1
        pieces.append(.init(text: literal.text))
        return pieces
    }

    private mutating func take(_ sign: String) -> Bool {
        guard peek == .sign(sign) else { return false }
        place += 1
        return true
    }

    private mutating func takeName(_ name: String) -> Bool {
        guard peek == .name(name) else { return false }
        place += 1
        return true
    }

    private mutating func expect(_ sign: String) throws(Flow) { guard take(sign) else { throw unexpected() } }

    private mutating func expectName(_ name: String) throws(Flow) { guard takeName(name) else { throw unexpected() } }

    // MARK: Filters, loosest first

    private mutating func pipe() throws(Flow) -> JqFilter {
        depth += 1
        defer { depth -= 1 }
        guard depth < 200 else { throw .failed("the filter is nested too deeply") }
        if takeName("def") {
            let definition = try definition()
            return .define(definition, try pipe())
        }
        if takeName("label") {
            guard case .variable(let name) = peek else { throw unexpected() }
            place += 1
            try expect("|")
            return .label(name, try pipe())
        }
        let left = try comma()
        if takeName("as") {
            let pattern = try pattern()
            try expect("|")
            return .bind(left, pattern, try pipe())
        }
        if take("|") { return .pipe(left, try pipe()) }
        return left
    }

    private mutating func definition() throws(Flow) -> JqDefinition {
        guard case .name(let name) = peek else { throw unexpected() }
        place += 1
        var parameters: [String] = []
        if take("(") {
            repeat {
                switch peek {
                case .name(let parameter): parameters.append(parameter)
                case .variable(let parameter): parameters.append("$" + parameter)
                default: throw unexpected()
                }
                place += 1
            } while take(";")
            try expect(")")
        }
        try expect(":")
        let body = try pipe()
        try expect(";")
        return JqDefinition(name: name, parameters: parameters, body: body)
    }

    private mutating func pattern() throws(Flow) -> JqPattern {
        if case .variable(let name) = peek {
            place += 1
            return .name(name)
        }
        if take("[") {
            var parts: [JqPattern] = []
            repeat { parts.append(try pattern()) } while take(",")
            try expect("]")
            return .array(parts)
        }
        try expect("{")
        var parts: [JqPattern.Member] = []
        repeat {
            switch peek {
            case .variable(let name):
                place += 1
                parts.append(.init(key: .literal(.string(name)), pattern: take(":") ? try pattern() : .name(name)))
            case .name(let name):
                place += 1
                try expect(":")
                parts.append(.init(key: .literal(.string(name)), pattern: try pattern()))
            case .text:
                let key = try text(format: nil)
                try expect(":")
                parts.append(.init(key: key, pattern: try pattern()))
            default:
                try expect("(")
                let key = try pipe()
                try expect(")")
                try expect(":")
                parts.append(.init(key: key, pattern: try pattern()))
            }
        } while take(",")
        try expect("}")
        return .object(parts)
    }

    private mutating func comma() throws(Flow) -> JqFilter {
        var left = try otherwise()
        while take(",") { left = .comma(left, try otherwise()) }
        return left
    }

    /// `//` binds to the right and looser than assignments' right sides.
    private mutating func otherwise() throws(Flow) -> JqFilter {
        let left = try assignment()
        if take("//") { return .otherwise(left, try otherwise()) }
        return left
    }

    private mutating func assignment() throws(Flow) -> JqFilter {
        let left = try or()
        for sign in ["=", "|=", "+=", "-=", "*=", "/=", "%=", "//="] where take(sign) {
            return .assign(sign, left, try otherwise())
        }
        return left
    }

    private mutating func or() throws(Flow) -> JqFilter {
        var left = try and()
        while takeName("or") { left = .or(left, try and()) }
        return left
    }

    private mutating func and() throws(Flow) -> JqFilter {
        var left = try comparison()
        while takeName("and") { left = .and(left, try comparison()) }
        return left
    }

    private mutating func comparison() throws(Flow) -> JqFilter {
        let left = try sum()
        for sign in ["==", "!=", "<=", ">=", "<", ">"] where take(sign) { return .binary(sign, left, try sum()) }
        return left
    }

    private mutating func sum() throws(Flow) -> JqFilter {
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

    private mutating func product() throws(Flow) -> JqFilter {
        var left = try postfix()
        while true {
            if take("*") {
                left = .binary("*", left, try postfix())
            } else if take("/") {
                left = .binary("/", left, try postfix())
            } else if take("%") {
                left = .binary("%", left, try postfix())
            } else {
                return left
            }
        }
    }

    private mutating func postfix() throws(Flow) -> JqFilter {
        depth += 1
        defer { depth -= 1 }
        guard depth < 200 else { throw .failed("the filter is nested too deeply") }
        if take("-") { return .negative(try postfix()) }
        var value = try primary()
        while true {
            if take("?") {
                value = .attempt(value, nil)
            } else if case .field(let name) = peek {
                place += 1
                value = .field(value, .literal(.string(name)))
            } else if peek == .sign("."), place + 1 < tokens.count, case .text = tokens[place + 1] {
                place += 1
                value = .field(value, try text(format: nil))
            } else if peek == .sign("."), place + 1 < tokens.count, tokens[place + 1] == .sign("[") {
                place += 1
            } else if take("[") {
                value = try brackets(value)
            } else if takeName("as") {
                let pattern = try pattern()
                try expect("|")
                return .bind(value, pattern, try pipe())
            } else {
                return value
            }
        }
    }

    private mutating func brackets(_ value: JqFilter) throws(Flow) -> JqFilter {
        if take("]") { return .each(value) }
        if take(":") {
            let end = try pipe()
            try expect("]")
            return .slice(value, nil, end)
        }
        let start = try pipe()
        if take(":") {
            if take("]") { return .slice(value, start, nil) }
            let end = try pipe()
            try expect("]")
            return .slice(value, start, end)
        }
        try expect("]")
        return .field(value, start)
    }

    private mutating func text(format: String?) throws(Flow) -> JqFilter {
        guard case .text(let pieces) = peek else { throw unexpected() }
        place += 1
        if pieces.count == 1, pieces[0].inner == nil { return .literal(.string(pieces[0].text)) }
        var out: [JqPiece] = []
        for piece in pieces {
            if !piece.text.isEmpty { out.append(.text(piece.text)) }
            if let inner = piece.inner { out.append(.filter(try JqParser.filter(inner, depth: depth + 1))) }
        }
        return .text(out, format: format)
    }

    private mutating func primary() throws(Flow) -> JqFilter {
        let token = peek
        switch token {
        case .number(let number):
            place += 1
            return .literal(JqValue.number(number))
        case .text: return try text(format: nil)
        case .format(let name):
            place += 1
            if case .text = peek { return try text(format: name) }
            return .format(name)
        case .variable(let name):
            place += 1
            return .variable(name)
        case .field(let name):
            place += 1
            return .field(.identity, .literal(.string(name)))
        case .sign("."):
            place += 1
            if case .text = peek { return .field(.identity, try text(format: nil)) }
            return .identity
        case .sign(".."):
            place += 1
            return .recurse
        case .sign("("):
            place += 1
            let inner = try pipe()
            try expect(")")
            return inner
        case .sign("["):
            place += 1
            if take("]") { return .array(nil) }
            let inner = try pipe()
            try expect("]")
            return .array(inner)
        case .sign("{"): return try object()
        case .name(let name):
            place += 1
            return try named(name)
        default: throw unexpected()
        }
    }

    private mutating func object() throws(Flow) -> JqFilter {
        place += 1
        var entries: [JqEntry] = []
        while !take("}") {
            if !entries.isEmpty { try expect(",") }
            let key: JqFilter
            var needsValue = false
            switch peek {
            case .name(let name):
                place += 1
                key = .literal(.string(name))
            case .variable(let name):
                place += 1
                if peek != .sign(":") {
                    entries.append(.init(key: .literal(.string(name)), value: .variable(name)))
                    continue
                }
                key = .variable(name)
            case .number(let number):
                place += 1
                key = .literal(.string(JqValue.text(JqValue.number(number))))
            case .text: key = try text(format: nil)
            case .format(let name):
                place += 1
                key = try text(format: name)
            default:
                try expect("(")
                key = try pipe()
                try expect(")")
                needsValue = true
            }
            if take(":") {
                var value = try objectValue()
                while take("|") { value = .pipe(value, try objectValue()) }
                entries.append(.init(key: key, value: value))
            } else {
                if needsValue { throw unexpected() }
                entries.append(.init(key: key, value: nil))
            }
        }
        return .object(entries)
    }

    private mutating func objectValue() throws(Flow) -> JqFilter { try otherwise() }

    private mutating func named(_ name: String) throws(Flow) -> JqFilter {
        switch name {
        case "null": return .literal(.null)
        case "true": return .literal(.bool(true))
        case "false": return .literal(.bool(false))
        case "if":
            let condition = try pipe()
            try expectName("then")
            let then = try pipe()
            if takeName("elif") { return .condition(condition, then, try named("if")) }
            var otherwise: JqFilter?
            if takeName("else") { otherwise = try pipe() }
            try expectName("end")
            return .condition(condition, then, otherwise)
        case "try":
            let body = try postfixOnly()
            return .attempt(body, takeName("catch") ? try postfixOnly() : nil)
        case "reduce", "foreach":
            let source = try postfixOnly()
            try expectName("as")
            let pattern = try pattern()
            try expect("(")
            let start = try pipe()
            try expect(";")
            let update = try pipe()
            if name == "reduce" {
                try expect(")")
                return .reduce(source, pattern, start, update)
            }
            let extract = take(";") ? try pipe() : nil
            try expect(")")
            return .foreach(source, pattern, start, update, extract)
        case "def":
            let definition = try definition()
            return .define(definition, try pipe())
        case "break":
            guard case .variable(let label) = peek else { throw unexpected() }
            place += 1
            return .leave(label)
        case "then", "else", "elif", "end", "as", "and", "or", "catch":
            place -= 1
            throw unexpected()
        default: break
        }
        var arguments: [JqFilter] = []
        if take("(") {
            repeat { arguments.append(try pipe()) } while take(";")
            try expect(")")
        }
        return .call(name, arguments)
    }

    /// A term without an `as` after it.
    private mutating func postfixOnly() throws(Flow) -> JqFilter {
        var value = try primary()
        while true {
            if take("?") {
                value = .attempt(value, nil)
            } else if case .field(let name) = peek {
                place += 1
                value = .field(value, .literal(.string(name)))
            } else if peek == .sign("."), place + 1 < tokens.count, tokens[place + 1] == .sign("[") {
                place += 1
            } else if take("[") {
                value = try brackets(value)
            } else {
                return value
            }
        }
    }
}
