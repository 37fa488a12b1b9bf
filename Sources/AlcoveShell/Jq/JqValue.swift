internal import AlcoveCore

/// What jq says about values: their order, their sums, their texts.
enum JqValue {
    static func number(_ value: Double) -> JSONValue {
        if value == value.rounded(.towardZero), abs(value) < 1e17 { return .integer(Int64(value)) }
        return .double(value)
    }

    static func double(_ value: JSONValue) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }

    static func kind(_ value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool: "boolean"
        case .integer, .double: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }

    static func isTrue(_ value: JSONValue) -> Bool {
        switch value {
        case .null, .bool(false): false
        default: true
        }
    }

    private static func rank(_ value: JSONValue) -> Int {
        switch value {
        case .null: 0
        case .bool(false): 1
        case .bool(true): 2
        case .integer, .double: 3
        case .string: 4
        case .array: 5
        case .object: 6
        }
    }

    /// Below zero, zero or above it, as the first comes before, with or after the second.
    static func compare(_ a: JSONValue, _ b: JSONValue) -> Int {
        let (x, y) = (rank(a), rank(b))
        if x != y { return x - y }
        switch (a, b) {
        case (.integer(let one), .integer(let two)): return one < two ? -1 : one > two ? 1 : 0
        case (.string(let one), .string(let two)):
            if one.utf8.elementsEqual(two.utf8) { return 0 }
            return Array(one.utf8).lexicographicallyPrecedes(Array(two.utf8)) ? -1 : 1
        case (.array(let one), .array(let two)):
            for (left, right) in zip(one, two) {
                let order = compare(left, right)
                if order != 0 { return order }
            }
            return one.count - two.count
        case (.object(let one), .object(let two)):
            let keys = (sortedKeys(one), sortedKeys(two))
            let order = compare(.array(keys.0.map { .string($0) }), .array(keys.1.map { .string($0) }))
            if order != 0 { return order }
            for key in keys.0 {
                let order = compare(one[key] ?? .null, two[key] ?? .null)
                if order != 0 { return order }
            }
            return 0
        default:
            guard let one = double(a), let two = double(b) else { return 0 }
            return one < two ? -1 : one > two ? 1 : 0
        }
    }

    static func sortedKeys(_ object: JSONObject) -> [String] {
        object.keys.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
    }

    static func calculate(_ sign: String, _ a: JSONValue, _ b: JSONValue) throws(JqEnd) -> JSONValue {
        switch sign {
        case "==": return .bool(compare(a, b) == 0)
        case "!=": return .bool(compare(a, b) != 0)
        case "<": return .bool(compare(a, b) < 0)
        case "<=": return .bool(compare(a, b) <= 0)
        case ">": return .bool(compare(a, b) > 0)
        case ">=": return .bool(compare(a, b) >= 0)
        default: break
        }
        if case .integer(let x) = a, case .integer(let y) = b, sign != "/", sign != "%" {
            let (value, isOver) =
                sign == "+"
                ? x.addingReportingOverflow(y)
                : sign == "-" ? x.subtractingReportingOverflow(y) : x.multipliedReportingOverflow(by: y)
            if !isOver { return .integer(value) }
        }
        if let x = double(a), let y = double(b) {
            switch sign {
            case "+": return number(x + y)
            case "-": return number(x - y)
            case "*": return number(x * y)
            case "/":
                if y == 0 { throw cannot("divided", a, b, "because the divisor is zero") }
                return number(x / y)
            default:
                let (one, two) = (Int64(clamping: Int(max(-9e18, min(9e18, x)))), Int64(max(-9e18, min(9e18, y))))
                if two == 0 { throw cannot("divided", a, b, "because the divisor is zero") }
                return .integer(one % abs(two == .min ? .max : two))
            }
        }
        switch (sign, a, b) {
        case ("+", .null, _): return b
        case ("+", _, .null): return a
        case ("+", .string(let x), .string(let y)): return .string(x + y)
        case ("+", .array(let x), .array(let y)): return .array(x + y)
        case ("+", .object(var x), .object(let y)):
            for (key, value) in y.members { x[key] = value }
            return .object(x)
        case ("-", .array(let x), .array(let y)):
            return .array(x.filter { one in !y.contains { compare($0, one) == 0 } })
        case ("*", .object(let x), .object(let y)): return .object(merged(x, y))
        case ("*", .string(let text), _), ("*", _, .string(let text)):
            guard let count = double(a) ?? double(b) else { break }
            if count <= 0 { return .null }
            guard Double(text.utf8.count) * count < Double(Shell.longestValue) else {
                throw .sentence("the text would be too long")
            }
            return .string(String(repeating: text, count: max(1, Int(count.rounded(.up)))))
        case ("/", .string(let x), .string(let y)): return .array(split(x, y).map { .string($0) })
        default: break
        }
        let names = ["+": "added", "-": "subtracted", "*": "multiplied", "/": "divided", "%": "divided"]
        throw cannot(names[sign] ?? "combined", a, b, nil)
    }

    private static func cannot(_ what: String, _ a: JSONValue, _ b: JSONValue, _ why: String?) -> JqEnd {
        .sentence("\(shownKind(a)) and \(shownKind(b)) cannot be \(what)\(why.map { " " + $0 } ?? "")")
    }

    static func shownKind(_ value: JSONValue) -> String {
        let text = self.text(value)
        return "\(kind(value)) (\(text.utf8.count > 40 ? String(text.prefix(37)) + "..." : text))"
    }

    private static func merged(_ a: JSONObject, _ b: JSONObject) -> JSONObject {
        var out = a
        for (key, value) in b.members {
            if case .object(let inner)? = out[key], case .object(let other) = value {
                out[key] = .object(merged(inner, other))
            } else {
                out[key] = value
            }
        }
        return out
    }

    static func split(_ text: String, _ separator: String) -> [String] {
        if text.isEmpty { return [] }
        if separator.isEmpty { return text.unicodeScalars.map { String(Character($0)) } }
        let (bytes, cut) = (Array(text.utf8), Array(separator.utf8))
        var out: [String] = []
        var start = 0
        var place = 0
        while place + cut.count <= bytes.count {
            if bytes[place] == cut[0], bytes[place..<place + cut.count].elementsEqual(cut) {
                out.append(Array(bytes[start..<place]).text)
                place += cut.count
                start = place
            } else {
                place += 1
            }
        }
        out.append(Array(bytes[start...]).text)
        return out
    }

    // MARK: Text

    static func text(_ value: JSONValue) -> String {
        var out: [UInt8] = []
        write(value, indent: nil, sorts: false, level: 0, into: &out)
        return out.text
    }

    static func numberText(_ value: Double) -> String {
        if value.isNaN { return "null" }
        let value = value.isInfinite ? (value < 0 ? -Double.greatestFiniteMagnitude : .greatestFiniteMagnitude) : value
        if value == value.rounded(.towardZero), abs(value) < 1e17 { return "\(Int64(value))" }
        return AwkNumber.printed("%.17g", value).text
    }

    static func write(
        _ value: JSONValue, indent: Int?, sorts: Bool, tab: Bool = false, level: Int, into out: inout [UInt8]
    ) {
        func line(_ level: Int) {
            guard let indent else { return }
            out.append(10)
            out += [UInt8](repeating: tab ? 9 : 32, count: tab ? level : indent * level)
        }
        switch value {
        case .integer(let number): out += Array("\(number)".utf8)
        case .double(let number):
            // As short as gives the same number back, in jq 1.6's manner up to 17 digits.
            out += Array(shortest(number).utf8)
        case .array(let values):
            if values.isEmpty { return out += Array("[]".utf8) }
            out.append(91)
            for (index, inner) in values.enumerated() {
                if index > 0 { out.append(44) }
                line(level + 1)
                write(inner, indent: indent, sorts: sorts, tab: tab, level: level + 1, into: &out)
            }
            line(level)
            out.append(93)
        case .object(let object):
            if object.isEmpty { return out += Array("{}".utf8) }
            out.append(123)
            for (index, key) in (sorts ? sortedKeys(object) : object.keys).enumerated() {
                if index > 0 { out.append(44) }
                line(level + 1)
                out += Array(JSONValue.string(key).text().utf8)
                out += indent == nil ? [58] : [58, 32]
                write(object[key] ?? .null, indent: indent, sorts: sorts, tab: tab, level: level + 1, into: &out)
            }
            line(level)
            out.append(125)
        default: out += Array(value.text().utf8)
        }
    }

    private static func shortest(_ number: Double) -> String {
        if number.isNaN { return "null" }
        if number.isInfinite { return numberText(number) }
        if number == number.rounded(.towardZero), abs(number) < 1e17 { return "\(Int64(number))" }
        for digits in 15...17 {
            let text = AwkNumber.printed("%.\(digits)g", number).text
            if Double(text) == number { return text }
        }
        return "\(number)"
    }
}
