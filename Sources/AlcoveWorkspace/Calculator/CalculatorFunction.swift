internal import AlcoveCore

/// The functions and constants of the calculator.
enum CalculatorFunction {
    static let constants: [String: Double] = ["pi": .pi, "π": .pi, "e": exp(1)]

    static let names = [
        "abs", "ceil", "cos", "exp", "floor", "ln", "log10", "log2", "max", "min", "round", "sin", "sqrt", "tan",
    ]

    static func call(_ name: String, _ values: [CalculatedNumber], at place: Int) throws(InputError)
        -> CalculatedNumber
    {
        if name == "max" || name == "min" { return extreme(values, wantsMost: name == "max") }
        guard values.count == 1 else {
            throw InputError(
                code: "bad_expression", message: "\(name) takes one number, not \(values.count), at character \(place)."
            )
        }
        let value = values[0]
        if let exact = value.exact {
            switch name {
            case "abs": return .exact(exact.isNegative ? exact.negated : exact)
            case "floor": return .exact(exact.rounded(.down))
            case "ceil": return .exact(exact.rounded(.up))
            case "round": return .exact(exact.rounded(.toNearestOrAwayFromZero))
            case "sqrt": if let root = root(exact) { return .exact(root) }
            default: break
            }
        }
        let number = value.double
        let result: Double =
            switch name {
            case "abs": abs(number)
            case "floor": number.rounded(.down)
            case "ceil": number.rounded(.up)
            case "round": number.rounded(.toNearestOrAwayFromZero)
            case "sqrt": number.squareRoot()
            case "exp": exp(number)
            case "ln": log(number)
            case "log10": log10(number)
            case "log2": log2(number)
            case "sin": sin(number)
            case "cos": cos(number)
            default: tan(number)
            }
        guard !result.isNaN, number.isFinite, !(name.hasPrefix("l") && number <= 0) else {
            throw InputError(
                code: "not_a_number", message: "\(name) has no value for \(value.exact?.text ?? "\(number)").")
        }
        return .about(result)
    }

    private static func extreme(_ values: [CalculatedNumber], wantsMost: Bool) -> CalculatedNumber {
        var best = values[0]
        for value in values.dropFirst() {
            let isLess =
                if let a = value.exact, let b = best.exact, let less = a < b { less } else {
                    value.double < best.double
                }
            let isEqual = value.double == best.double
            if wantsMost ? !isLess && !isEqual : isLess { best = value }
        }
        return best
    }

    /// The root of a square; nil of anything else.
    private static func root(_ number: DecimalNumber) -> DecimalNumber? {
        if number.isNegative { return nil }
        // A double's root has 15 right digits, enough to find the root of a square of twice as many.
        let near = number.double.squareRoot()
        guard near < 1e15, let candidate = DecimalNumber(text: text(near)) else { return nil }
        return candidate * candidate == number ? candidate : nil
    }

    private static func text(_ number: Double) -> String {
        let text = "\(number)"
        return text.contains("e") ? "0" : text
    }
}
