/// One token of an awk program.
struct AwkToken {
    enum Kind: Equatable {
        case number(Double)
        case string([UInt8])
        case expression([UInt8])
        case name(String)
        /// A name with a parenthesis right after it.
        case call(String)
        case builtin(String)
        case word(String)
        case sign(String)
        case newLine
        case end
    }

    var kind: Kind
    var line: Int
}

/// Reads an awk program's text into tokens.
struct AwkLexer {
    private let text: [UInt8]
    private var place = 0
    private var line = 1
    private var tokens: [AwkToken] = []

    static let words: Set<String> = [
        "BEGIN", "END", "function", "func", "if", "else", "while", "for", "do", "break", "continue", "next", "nextfile",
        "exit", "return", "delete", "in", "getline", "print", "printf",
    ]
    static let builtins: Set<String> = [
        "length", "substr", "index", "split", "sub", "gsub", "match", "sprintf", "sin", "cos", "atan2", "exp", "log",
        "sqrt", "int", "rand", "srand", "tolower", "toupper", "system", "close", "fflush", "gensub", "systime",
        "strftime", "mktime", "asort", "asorti", "and", "or", "xor", "lshift", "rshift", "compl", "strtonum",
    ]

    static func tokens(_ text: [UInt8]) throws(Flow) -> [AwkToken] {
        var lexer = AwkLexer(text: text)
        try lexer.run()
        return lexer.tokens
    }

    private init(text: [UInt8]) { self.text = text }

    private func byte(_ offset: Int = 0) -> UInt8 { place + offset < text.count ? text[place + offset] : 0 }

    private func fault(_ what: String) -> Flow { .failed("line \(line) of the program: \(what)") }

    private mutating func add(_ kind: AwkToken.Kind) { tokens.append(AwkToken(kind: kind, line: line)) }

    /// Whether a slash here begins an expression and is no division.
    private var expressionMayBegin: Bool {
        switch tokens.last?.kind {
        case .number?, .string?, .expression?, .name?, .builtin?: false
        case .sign(let sign)?: ![")", "]", "$", "++", "--"].contains(sign)
        default: true
        }
    }

    private mutating func run() throws(Flow) {
        while place < text.count {
            let current = text[place]
            switch current {
            case 32, 9, 13: place += 1
            case 10:
                add(.newLine)
                place += 1
                line += 1
            case 92 where byte(1) == 10 || (byte(1) == 13 && byte(2) == 10):
                place += byte(1) == 10 ? 2 : 3
                line += 1
            case 35: while place < text.count, text[place] != 10 { place += 1 }
            case 34: try string()
            case 47 where expressionMayBegin: try expression()
            case _ where current.isDigit || (current == 46 && byte(1).isDigit): number()
            case _ where current.startsName: name()
            default: try sign()
            }
        }
        add(.newLine)
        add(.end)
    }

    private mutating func number() {
        let start = place
        if byte() == 48, byte(1) | 32 == 120 {
            place += 2
            while byte().isDigit || (97...102).contains(byte() | 32) { place += 1 }
        } else {
            while byte().isDigit { place += 1 }
            if byte() == 46 {
                place += 1
                while byte().isDigit { place += 1 }
            }
            if byte() | 32 == 101 {
                let digits = byte(1) == 43 || byte(1) == 45 ? 2 : 1
                if byte(digits).isDigit {
                    place += digits
                    while byte().isDigit { place += 1 }
                }
            }
        }
        let digits = Array(text[start..<place])
        add(
            .number(
                digits.count > 2 && digits[1] | 32 == 120
                    ? Double(Arithmetic.constant(digits) ?? 0) : AwkNumber.prefix(digits)))
    }

    private mutating func name() {
        let start = place
        while byte().isInName { place += 1 }
        let name = Array(text[start..<place]).text
        if AwkLexer.words.contains(name) {
            add(.word(name == "func" ? "function" : name))
        } else if AwkLexer.builtins.contains(name) {
            add(.builtin(name))
        } else {
            add(byte() == 40 ? .call(name) : .name(name))
        }
    }

    private mutating func string() throws(Flow) {
        place += 1
        var out: [UInt8] = []
        while place < text.count, text[place] != 34 {
            if text[place] == 10 { throw fault("a string is never closed") }
            guard text[place] == 92, place + 1 < text.count else {
                out.append(text[place])
                place += 1
                continue
            }
            if text[place + 1] == 10 {
                place += 2
                line += 1
            } else if text[place + 1] == 47 {
                out.append(47)
                place += 2
            } else {
                let (bytes, end) = AwkLexer.escape(text, place)
                out += bytes
                place = end
            }
        }
        guard place < text.count else { throw fault("a string is never closed") }
        place += 1
        add(.string(out))
    }

    /// What a backslash and what follows it mean, and where the text goes on. An unknown one stays as it is.
    static func escape(_ text: [UInt8], _ place: Int) -> ([UInt8], Int) {
        let letter = text[place + 1]
        let simple: [UInt8: UInt8] = [97: 7, 98: 8, 102: 12, 110: 10, 114: 13, 116: 9, 118: 11, 92: 92, 34: 34]
        if let byte = simple[letter] { return ([byte], place + 2) }
        if (48...55).contains(letter) {
            var value = 0
            var end = place + 1
            while end < text.count, end - place < 4, (48...55).contains(text[end]) {
                value = value * 8 + Int(text[end]) - 48
                end += 1
            }
            return ([UInt8(truncatingIfNeeded: value)], end)
        }
        return ([92, letter], place + 2)
    }

    private mutating func expression() throws(Flow) {
        place += 1
        var out: [UInt8] = []
        var isInSet = false
        while place < text.count, isInSet || text[place] != 47 {
            let current = text[place]
            if current == 10 { break }
            if current == 92, place + 1 < text.count {
                if text[place + 1] == 47 { out.append(47) } else { out += [92, text[place + 1]] }
                place += 2
                continue
            }
            if current == 91, !isInSet {
                isInSet = true
                out.append(current)
                place += 1
                if byte() == 94 {
                    out.append(94)
                    place += 1
                }
                if byte() == 93 {
                    out.append(93)
                    place += 1
                }
                continue
            }
            if isInSet, current == 91, byte(1) == 58 {
                while place < text.count, !(text[place] == 58 && byte(1) == 93 && text[place - 1] != 91) {
                    out.append(text[place])
                    place += 1
                }
                out += [58, 93]
                place += 2
                continue
            }
            if isInSet, current == 93 { isInSet = false }
            out.append(current)
            place += 1
        }
        guard byte() == 47 else { throw fault("an expression / / is never closed") }
        place += 1
        add(.expression(out))
    }

    private static let signs = [
        "**=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "**", "==", "<=", ">=", "!=", "!~", ">>",
        "{",
        "}", "(", ")", "[", "]", ";", ",", "+", "-", "*", "/", "%", "^", "!", ">", "<", "|", "?", ":", "~", "$", "=",
    ]

    private mutating func sign() throws(Flow) {
        for sign in AwkLexer.signs where text[place...].starts(with: sign.utf8) {
            place += sign.utf8.count
            add(.sign(sign == "**" ? "^" : sign == "**=" ? "^=" : sign))
            return
        }
        throw fault("\(shown([text[place]])) was not expected")
    }
}
