package import AlcoveCore

/// Evaluates arithmetic by a grammar of its own. Nothing is ever run as code, and every input ends quickly.
///
///     sum      = product { ("+" | "-") product }
///     product  = sign { ("*" | "/" | "%") sign }
///     sign     = ("+" | "-") sign | power
///     power    = value [ "^" sign ]
///     value    = number | name [ "(" sum { "," sum } ")" ] | "(" sum ")"
package enum Calculator {
    /// Longest expression, and deepest nesting.
    package static let lengthLimit = 1_000, depthLimit = 60

    package struct Answer: Sendable, Hashable {
        package var text: String
        /// Whether every digit is right.
        package var isExact: Bool
    }

    /// - Throws: `InputError` that says what is wrong and where.
    package static func evaluate(_ expression: String) throws(InputError) -> Answer {
        if expression.count > lengthLimit {
            throw InputError(
                code: "expression_too_long",
                message: "The expression has \(expression.count) characters; \(lengthLimit) is the most.")
        }
        var reader = ExpressionReader(expression)
        let value = try reader.all()
        switch value {
        case .exact(let number): return Answer(text: number.text, isExact: true)
        case .about(let number):
            guard number.isFinite else {
                throw InputError(code: "too_large", message: "The result is too large for a number.")
            }
            return Answer(text: short(number), isExact: false)
        }
    }

    /// Twelve significant digits: what is left of a double after a few steps.
    private static func short(_ number: Double) -> String {
        if number == 0 { return "0" }
        let exponent = Int(log10(abs(number)).rounded(.down))
        if exponent < -5 || exponent > 20 {
            let mantissa = number / pow(10, Double(exponent))
            return plain(mantissa, digits: 11) + "e\(exponent)"
        }
        return plain(number, digits: max(0, 11 - exponent))
    }

    private static func plain(_ number: Double, digits: Int) -> String {
        let unit = pow(10, Double(min(digits, 15)))
        let rounded = (number * unit).rounded() / unit
        let text = "\(rounded)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

/// A number of a calculation.
enum CalculatedNumber: Sendable {
    case exact(DecimalNumber)
    case about(Double)

    var double: Double {
        switch self {
        case .exact(let number): number.double
        case .about(let number): number
        }
    }
    var exact: DecimalNumber? { if case .exact(let number) = self { number } else { nil } }

    /// Exactly, where both are exact and the result can be kept.
    static func combine(
        _ left: CalculatedNumber, _ right: CalculatedNumber,
        exactly: (DecimalNumber, DecimalNumber) -> DecimalNumber?, about: (Double, Double) -> Double
    ) -> CalculatedNumber {
        if let a = left.exact, let b = right.exact, let result = exactly(a, b) { return .exact(result) }
        return .about(about(left.double, right.double))
    }
}
