internal import AlcoveCore

/// Reads an expression from left to right and calculates on the way.
struct ExpressionReader {
    private let letters: [Character]
    private var position = 0
    private var depth = 0

    init(_ text: String) { letters = text.map { ExpressionReader.plain[$0] ?? $0 } }

    /// How people and keyboards write the signs.
    private static let plain: [Character: Character] = [
        "×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "＋": "+", "－": "-", "＊": "*", "／": "/", "（": "(", "）": ")",
        "，": ",", "．": ".", "％": "%", "＾": "^", "０": "0", "１": "1", "２": "2", "３": "3", "４": "4", "５": "5",
        "６": "6", "７": "7", "８": "8", "９": "9",
    ]

    mutating func all() throws(InputError) -> CalculatedNumber {
        skipSpace()
        if position == letters.count { throw fault("There is no expression.") }
        let value = try sum()
        if position < letters.count { throw unexpected() }
        return value
    }

    private mutating func sum() throws(InputError) -> CalculatedNumber {
        var value = try product()
        while true {
            if take("+") {
                value = CalculatedNumber.combine(value, try product(), exactly: { $0 + $1 }, about: { $0 + $1 })
            } else if take("-") {
                value = CalculatedNumber.combine(
                    value, try product(), exactly: { $0 + $1.negated }, about: { $0 - $1 })
            } else {
                return value
            }
        }
    }

    private mutating func product() throws(InputError) -> CalculatedNumber {
        var value = try sign()
        while true {
            if take("*") {
                value = CalculatedNumber.combine(value, try sign(), exactly: { $0 * $1 }, about: { $0 * $1 })
            } else if take("/") {
                let divisor = try sign()
                if divisor.double == 0 { throw fault("Nothing can be divided by zero.", code: "division_by_zero") }
                value = CalculatedNumber.combine(value, divisor, exactly: { $0 / $1 }, about: { $0 / $1 })
            } else if take("%") {
                guard position < letters.count, !"+*/%^),".contains(letters[position]) else {
                    throw fault(
                        "% is the remainder of a division and needs a number after it; for percent, divide by 100.")
                }
                let divisor = try sign()
                if divisor.double == 0 { throw fault("Nothing can be divided by zero.", code: "division_by_zero") }
                value = CalculatedNumber.combine(
                    value, divisor, exactly: { $0 % $1 }, about: { $0.truncatingRemainder(dividingBy: $1) })
            } else {
                return value
            }
        }
    }

    private mutating func sign() throws(InputError) -> CalculatedNumber {
        try enter()
        defer { depth -= 1 }
        if take("+") { return try sign() }
        if take("-") {
            switch try sign() {
            case .exact(let number): return .exact(number.negated)
            case .about(let number): return .about(-number)
            }
        }
        return try power()
    }

    private mutating func power() throws(InputError) -> CalculatedNumber {
        let base = try value()
        guard take("^") else { return base }
        let exponent = try sign()
        if let whole = exponent.exact?.whole, let number = base.exact, abs(whole) <= 1_000 {
            if whole >= 0, let result = number.power(whole) { return .exact(result) }
            if whole < 0 {
                if number.isZero { throw fault("Nothing can be divided by zero.", code: "division_by_zero") }
                if let divisor = number.power(-whole), let result = DecimalNumber(whole: 1) / divisor {
                    return .exact(result)
                }
            }
        }
        let result = pow(base.double, exponent.double)
        if result.isNaN { throw fault("A negative number has no such power.", code: "not_a_number") }
        return .about(result)
    }

    private mutating func value() throws(InputError) -> CalculatedNumber {
        guard position < letters.count else { throw fault("The expression ends where a number should be.") }
        let letter = letters[position]
        if take("(") {
            try enter()
            defer { depth -= 1 }
            let value = try sum()
            if !take(")") { throw fault(position < letters.count ? unexpectedText() : "A parenthesis is not closed.") }
            return value
        }
        if letter.isASCII, letter.isNumber || letter == "." { return try number() }
        if letter.isLetter || letter == "π" || letter == "√" { return try name() }
        throw unexpected()
    }

    private mutating func number() throws(InputError) -> CalculatedNumber {
        let start = position
        func isDigit(_ at: Int) -> Bool { at < letters.count && letters[at].isASCII && letters[at].isNumber }
        while isDigit(position) { position += 1 }
        if position < letters.count, letters[position] == "." {
            position += 1
            while isDigit(position) { position += 1 }
        }
        if position - start == 1, letters[start] == "." { throw fault("A point needs digits.") }
        if position < letters.count, letters[position] == "e" || letters[position] == "E" {
            var end = position + 1
            if end < letters.count, letters[end] == "-" || letters[end] == "+" { end += 1 }
            if isDigit(end) {
                while isDigit(end) { end += 1 }
                position = end
            }
        }
        let text = String(letters[start..<position])
        if position < letters.count, letters[position] == "." { throw fault("A number has one point only.") }
        skipSpace()
        if isDigit(position) { throw fault("Two numbers stand side by side; write 1000, not 1 000.") }
        if let exact = DecimalNumber(text: text) { return .exact(exact) }
        guard let number = Double(text), number.isFinite else {
            throw fault("The number \(text.prefix(40)) is too large.", code: "too_large")
        }
        return .about(number)
    }

    private mutating func name() throws(InputError) -> CalculatedNumber {
        let start = position
        if letters[position] == "√" {
            position += 1
            skipSpace()
            return try CalculatorFunction.call("sqrt", [try value()], at: start + 1)
        }
        while position < letters.count, letters[position].isLetter || letters[position].isNumber { position += 1 }
        let name = String(letters[start..<position]).lowercased()
        skipSpace()
        if let constant = CalculatorFunction.constants[name] { return .about(constant) }
        guard CalculatorFunction.names.contains(name) else {
            let near = didYouMean(name, among: CalculatorFunction.names).map { " \($0)" } ?? ""
            throw InputError(
                code: "unknown_name", message: "There is no function or constant \"\(name.prefix(40))\".\(near)",
                hint:
                    "There are: \((CalculatorFunction.names + CalculatorFunction.constants.keys.sorted()).joined(separator: ", "))."
            )
        }
        guard take("(") else { throw fault("\(name) needs its numbers in parentheses.") }
        try enter()
        defer { depth -= 1 }
        var arguments = [try sum()]
        while take(",") { arguments.append(try sum()) }
        if !take(")") { throw fault(position < letters.count ? unexpectedText() : "A parenthesis is not closed.") }
        return try CalculatorFunction.call(name, arguments, at: start + 1)
    }

    // MARK: Letters

    private mutating func skipSpace() {
        while position < letters.count, letters[position].isWhitespace { position += 1 }
    }

    private mutating func take(_ letter: Character) -> Bool {
        guard position < letters.count, letters[position] == letter else { return false }
        position += 1
        skipSpace()
        return true
    }

    private mutating func enter() throws(InputError) {
        depth += 1
        if depth > 3 * Calculator.depthLimit { throw fault("The expression is nested too deeply.") }
    }

    private func unexpectedText() -> String {
        position < letters.count
            ? "\"\(letters[position])\" does not belong at character \(position + 1)."
            : "The expression ends too early."
    }

    private func unexpected() -> InputError {
        if position < letters.count, letters[position] == "," {
            return fault("A comma parts the numbers of a function; write 1000, not 1,000.")
        }
        if position < letters.count, letters[position] == "=" {
            return fault("There is nothing to solve here; leave out \"=\".")
        }
        return fault(unexpectedText())
    }

    private func fault(_ message: String, code: String = "bad_expression") -> InputError {
        InputError(code: code, message: message)
    }
}
