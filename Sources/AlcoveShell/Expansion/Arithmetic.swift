/// Why a calculation cannot be made.
struct ArithmeticError: Error {
    let what: String
}

/// The value of an expression of `$((...))`: 64-bit, signed, going round at the ends, with the operators of C.
struct Arithmetic {
    /// Where names get and leave their values.
    struct Variables {
        var value: (String) throws(ArithmeticError) -> [UInt8]?
        var set: (String, Int64) throws(ArithmeticError) -> Void
    }

    private let text: [UInt8]
    private var place = 0
    private var depth: Int
    /// Zero where the value counts; more in a branch that is not taken, which changes nothing.
    private var idle = 0
    private let variables: Variables

    static func value(
        _ text: [UInt8], depth: Int = 0, _ variables: Variables
    ) throws(ArithmeticError) -> Int64 {
        var parser = Arithmetic(text: text, depth: depth, variables: variables)
        parser.skip()
        if parser.place == text.count { return 0 }
        let value = try parser.comma()
        guard parser.place == text.count else { throw parser.unexpected() }
        return value
    }

    private init(text: [UInt8], depth: Int, variables: Variables) {
        self.text = text
        self.depth = depth
        self.variables = variables
    }

    // MARK: Reading

    private mutating func skip() {
        while place < text.count, text[place] == 32 || (9...13).contains(text[place]) { place += 1 }
    }

    private func byte(_ offset: Int = 0) -> UInt8 { place + offset < text.count ? text[place + offset] : 0 }

    private func unexpected() -> ArithmeticError {
        ArithmeticError(
            what: place < text.count
                ? "\"\(shown(text[place...]))\" was not expected in \"\(shown(text))\""
                : "\"\(shown(text))\" ends too early")
    }

    /// Takes an operator, unless what follows makes it another one.
    private mutating func take(_ operation: StaticString, unless next: StaticString = "") -> Bool {
        skip()
        let count = operation.utf8CodeUnitCount
        guard place + count <= text.count else { return false }
        for index in 0..<count where text[place + index] != operation.utf8Start[index] { return false }
        let after = byte(count)
        for index in 0..<next.utf8CodeUnitCount where next.utf8Start[index] == after && after != 0 { return false }
        place += count
        return true
    }

    private mutating func deeper() throws(ArithmeticError) {
        depth += 1
        guard depth < 200 else { throw ArithmeticError(what: "the expression is nested too deeply") }
    }

    // MARK: The grammar, loosest first

    private mutating func comma() throws(ArithmeticError) -> Int64 {
        var value = try assignment()
        while take(",") { value = try assignment() }
        return value
    }

    private mutating func assignment() throws(ArithmeticError) -> Int64 {
        try deeper()
        defer { depth -= 1 }
        skip()
        let start = place
        if byte().startsName {
            let name = try variable()
            skip()
            for (sign, apply) in Arithmetic.assignments where take(sign, unless: sign.utf8CodeUnitCount == 1 ? "=" : "")
            {
                let right = try assignment()
                if idle > 0 { return 0 }
                let old = sign.utf8CodeUnitCount == 1 ? 0 : try read(name)
                let value = try apply(old, right)
                try variables.set(name, value)
                return value
            }
            place = start
        }
        let condition = try binary(0)
        guard take("?") else { return condition }
        let first = try branch(condition != 0) { (parser) throws(ArithmeticError) in try parser.comma() }
        guard take(":") else { throw unexpected() }
        let second = try branch(condition == 0) { (parser) throws(ArithmeticError) in try parser.assignment() }
        return condition != 0 ? first : second
    }

    private mutating func branch(
        _ isTaken: Bool, _ body: (inout Arithmetic) throws(ArithmeticError) -> Int64
    ) throws(ArithmeticError) -> Int64 {
        if !isTaken { idle += 1 }
        defer { if !isTaken { idle -= 1 } }
        return try body(&self)
    }

    private static let assignments: [(StaticString, @Sendable (Int64, Int64) throws(ArithmeticError) -> Int64)] = [
        ("=", { (_: Int64, b: Int64) throws(ArithmeticError) in b }),
        ("+=", { (a: Int64, b: Int64) throws(ArithmeticError) in a &+ b }),
        ("-=", { (a: Int64, b: Int64) throws(ArithmeticError) in a &- b }),
        ("*=", { (a: Int64, b: Int64) throws(ArithmeticError) in a &* b }),
        ("/=", { (a: Int64, b: Int64) throws(ArithmeticError) in try divide(a, b, remainder: false) }),
        ("%=", { (a: Int64, b: Int64) throws(ArithmeticError) in try divide(a, b, remainder: true) }),
        ("<<=", { (a: Int64, b: Int64) throws(ArithmeticError) in a &<< b }),
        (">>=", { (a: Int64, b: Int64) throws(ArithmeticError) in a &>> b }),
        ("&=", { (a: Int64, b: Int64) throws(ArithmeticError) in a & b }),
        ("^=", { (a: Int64, b: Int64) throws(ArithmeticError) in a ^ b }),
        ("|=", { (a: Int64, b: Int64) throws(ArithmeticError) in a | b }),
    ]

    private static func divide(_ a: Int64, _ b: Int64, remainder: Bool) throws(ArithmeticError) -> Int64 {
        guard b != 0 else { throw ArithmeticError(what: "division by zero") }
        if b == -1 { return remainder ? 0 : 0 &- a }
        return remainder ? a % b : a / b
    }

    /// Operators of two sides, one level after the other.
    private mutating func binary(_ level: Int) throws(ArithmeticError) -> Int64 {
        guard level < 10 else { return try power() }
        var left = try binary(level + 1)
        while true {
            switch level {
            case 0:
                guard take("||") else { return left }
                let isKnown = left != 0
                let right = try branch(!isKnown) { (parser) throws(ArithmeticError) in try parser.binary(1) }
                left = isKnown || right != 0 ? 1 : 0
            case 1:
                guard take("&&") else { return left }
                let isKnown = left == 0
                let right = try branch(!isKnown) { (parser) throws(ArithmeticError) in try parser.binary(2) }
                left = !isKnown && right != 0 ? 1 : 0
            case 2:
                guard take("|", unless: "|=") else { return left }
                left |= try binary(3)
            case 3:
                guard take("^", unless: "=") else { return left }
                left ^= try binary(4)
            case 4:
                guard take("&", unless: "&=") else { return left }
                left &= try binary(5)
            case 5:
                if take("==") {
                    left = left == (try binary(6)) ? 1 : 0
                } else if take("!=") {
                    left = left != (try binary(6)) ? 1 : 0
                } else {
                    return left
                }
            case 6:
                if take("<=") {
                    left = left <= (try binary(7)) ? 1 : 0
                } else if take(">=") {
                    left = left >= (try binary(7)) ? 1 : 0
                } else if take("<", unless: "<") {
                    left = left < (try binary(7)) ? 1 : 0
                } else if take(">", unless: ">") {
                    left = left > (try binary(7)) ? 1 : 0
                } else {
                    return left
                }
            case 7:
                if starts("<<"), byte(2) != 61, take("<<") {
                    left = left &<< (try binary(8))
                } else if starts(">>"), byte(2) != 61, take(">>") {
                    left = left &>> (try binary(8))
                } else {
                    return left
                }
            case 8:
                if take("+", unless: "=") {
                    left = left &+ (try binary(9))
                } else if take("-", unless: "=") {
                    left = left &- (try binary(9))
                } else {
                    return left
                }
            default:
                if take("*", unless: "=*") {
                    left = left &* (try binary(10))
                } else if take("/", unless: "=") {
                    left = try quotient(left, try binary(10), remainder: false)
                } else if take("%", unless: "=") {
                    left = try quotient(left, try binary(10), remainder: true)
                } else {
                    return left
                }
            }
        }
    }

    private mutating func starts(_ operation: StaticString) -> Bool {
        let before = place
        defer { place = before }
        return take(operation)
    }

    private func quotient(_ a: Int64, _ b: Int64, remainder: Bool) throws(ArithmeticError) -> Int64 {
        if idle > 0, b == 0 { return 0 }
        return try Arithmetic.divide(a, b, remainder: remainder)
    }

    private mutating func power() throws(ArithmeticError) -> Int64 {
        let base = try unary()
        guard take("**", unless: "=") else { return base }
        try deeper()
        defer { depth -= 1 }
        var exponent = try power()
        guard exponent >= 0 || idle > 0 else { throw ArithmeticError(what: "an exponent is less than 0") }
        var (result, factor): (Int64, Int64) = (1, base)
        while exponent > 0 {
            if exponent & 1 == 1 { result = result &* factor }
            factor = factor &* factor
            exponent >>= 1
        }
        return result
    }

    private mutating func unary() throws(ArithmeticError) -> Int64 {
        try deeper()
        defer { depth -= 1 }
        skip()
        if starts("++") || starts("--"), byte(2).startsName || byte(2) == 32 {
            let change: Int64 = byte() == 43 ? 1 : -1
            let before = place
            place += 2
            skip()
            if byte().startsName { return try step(variable(), by: change, isBefore: true) }
            place = before
        }
        if take("-") { return 0 &- (try unary()) }
        if take("+") { return try unary() }
        if take("~") { return ~(try unary()) }
        if take("!", unless: "=") { return try unary() == 0 ? 1 : 0 }
        if take("(") {
            let value = try comma()
            guard take(")") else { throw unexpected() }
            return value
        }
        if byte().isDigit { return try number() }
        guard byte().startsName else { throw unexpected() }
        let name = try variable()
        if take("++") { return try step(name, by: 1, isBefore: false) }
        if take("--") { return try step(name, by: -1, isBefore: false) }
        return idle > 0 ? 0 : try read(name)
    }

    private func step(_ name: String, by change: Int64, isBefore: Bool) throws(ArithmeticError) -> Int64 {
        if idle > 0 { return 0 }
        let old = try read(name)
        try variables.set(name, old &+ change)
        return isBefore ? old &+ change : old
    }

    /// A name, with what stands in brackets after it as it is written: the shell knows what kind of array it is.
    private mutating func variable() throws(ArithmeticError) -> String {
        let start = place
        while byte().isInName { place += 1 }
        guard byte() == 91 else { return Array(text[start..<place]).text }
        var open = 0
        while place < text.count {
            if byte() == 91 { open += 1 }
            if byte() == 93 { open -= 1 }
            place += 1
            if open == 0 { return Array(text[start..<place]).text }
        }
        throw ArithmeticError(what: "the [ in \"\(shown(text))\" is never closed")
    }

    private func read(_ name: String) throws(ArithmeticError) -> Int64 {
        guard let value = try variables.value(name), !value.isEmpty else { return 0 }
        // A value may be an expression itself; one that leads back to its own name ends at the limit.
        return try Arithmetic.value(value, depth: depth + 10, variables)
    }

    private mutating func number() throws(ArithmeticError) -> Int64 {
        let start = place
        while byte().isInName { place += 1 }
        if byte() == 35, let base = Int(Array(text[start..<place]).text) {
            let digits = place + 1
            place = digits
            while byte().isInName || byte() == 64 { place += 1 }
            guard (2...64).contains(base), let value = Arithmetic.digits(text[digits..<place], base: Int64(base)) else {
                throw ArithmeticError(what: "\"\(shown(text[start..<place]))\" is not a number")
            }
            return value
        }
        guard let value = Arithmetic.constant(text[start..<place]) else {
            throw ArithmeticError(what: "\"\(shown(text[start..<place]))\" is not a number")
        }
        return value
    }

    /// Digits of a base up to 64: letters, and beyond 36 small ones before capitals.
    private static func digits(_ digits: ArraySlice<UInt8>, base: Int64) -> Int64? {
        var value: Int64 = 0
        for byte in digits {
            let digit: Int64
            switch byte {
            case 48...57: digit = Int64(byte) - 48
            case 97...122: digit = Int64(byte) - 87
            case 65...90: digit = Int64(byte) - (base > 36 ? 29 : 55)
            case 64: digit = 62
            default: digit = 63
            }
            guard digit < base else { return nil }
            value = value &* base &+ digit
        }
        return digits.isEmpty ? nil : value
    }

    /// Decimal, octal after `0`, hexadecimal after `0x`. What is too large stays at the largest.
    static func constant(_ digits: some Collection<UInt8>) -> Int64? {
        var rest = Array(digits)
        var base: Int64 = 10
        if rest.count > 2, rest[0] == 48, rest[1] | 32 == 120 {
            base = 16
            rest.removeFirst(2)
        } else if rest.count > 1, rest[0] == 48 {
            base = 8
        }
        var value: Int64 = 0
        for byte in rest {
            let digit: Int64
            switch byte {
            case 48...57: digit = Int64(byte) - 48
            case 97...102: digit = Int64(byte) - 87
            case 65...70: digit = Int64(byte) - 55
            default: return nil
            }
            guard digit < base else { return nil }
            let (product, isOver) = value.multipliedReportingOverflow(by: base)
            let (sum, isOverToo) = product.addingReportingOverflow(digit)
            value = isOver || isOverToo ? .max : sum
        }
        return rest.isEmpty ? nil : value
    }
}
