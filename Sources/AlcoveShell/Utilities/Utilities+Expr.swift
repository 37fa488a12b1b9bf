/// `expr`, by the grammar of POSIX with GNU's words for texts.
private struct ExprParser {
    let words: [[UInt8]]
    var place = 0
    var depth = 0

    private func peek(_ signs: String...) -> String? {
        guard place < words.count else { return nil }
        let word = words[place].text
        return signs.contains(word) ? word : nil
    }

    private static func isNothing(_ value: [UInt8]) -> Bool {
        value.isEmpty || (value.drop { $0 == 45 }.allSatisfy { $0 == 48 } && value != [45])
    }

    private static func number(_ value: [UInt8]) throws(Flow) -> Int {
        guard let number = Int(value.text) else { throw .failed("\(shown(value)) is not a whole number") }
        return number
    }

    mutating func or() throws(Flow) -> [UInt8] {
        depth += 1
        defer { depth -= 1 }
        guard depth < 200 else { throw .failed("the expression is nested too deeply") }
        var left = try and()
        while peek("|") != nil {
            place += 1
            let right = try and()
            left = ExprParser.isNothing(left) ? (ExprParser.isNothing(right) ? [48] : right) : left
        }
        return left
    }

    private mutating func and() throws(Flow) -> [UInt8] {
        var left = try comparison()
        while peek("&") != nil {
            place += 1
            let right = try comparison()
            left = ExprParser.isNothing(left) || ExprParser.isNothing(right) ? [48] : left
        }
        return left
    }

    private mutating func comparison() throws(Flow) -> [UInt8] {
        var left = try sum()
        while let sign = peek("=", "==", "!=", "<", "<=", ">", ">=") {
            place += 1
            let right = try sum()
            let order: Int
            if let a = Int(left.text), let b = Int(right.text) {
                order = a < b ? -1 : a > b ? 1 : 0
            } else {
                order = left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
            }
            let holds =
                switch sign {
                case "=", "==": order == 0
                case "!=": order != 0
                case "<": order < 0
                case "<=": order <= 0
                case ">": order > 0
                default: order >= 0
                }
            left = holds ? [49] : [48]
        }
        return left
    }

    private mutating func sum() throws(Flow) -> [UInt8] {
        var left = try product()
        while let sign = peek("+", "-") {
            place += 1
            let (a, b) = (try ExprParser.number(left), try ExprParser.number(try product()))
            let (value, isOver) = sign == "+" ? a.addingReportingOverflow(b) : a.subtractingReportingOverflow(b)
            if isOver { throw .failed("the result is too large") }
            left = Array("\(value)".utf8)
        }
        return left
    }

    private mutating func product() throws(Flow) -> [UInt8] {
        var left = try match()
        while let sign = peek("*", "/", "%") {
            place += 1
            let (a, b) = (try ExprParser.number(left), try ExprParser.number(try match()))
            if sign != "*", b == 0 { throw .failed("division by zero") }
            let (value, isOver) =
                sign == "*"
                ? a.multipliedReportingOverflow(by: b)
                : sign == "/" ? a.dividedReportingOverflow(by: b) : a.remainderReportingOverflow(dividingBy: b)
            if isOver { throw .failed("the result is too large") }
            left = Array("\(value)".utf8)
        }
        return left
    }

    private static func matched(_ text: [UInt8], _ pattern: [UInt8]) throws(Flow) -> [UInt8] {
        let anchored = pattern.first == 94 ? pattern : [94] + pattern
        let expression = try LibraryPattern(anchored, isExtended: false)
        let groups = expression.groups(text)
        if expression.groups > 0 { return groups.flatMap { $0[1] }.map { Array(text[$0]) } ?? [] }
        return Array("\(groups?[0].map { Pattern.characters(Array(text[$0])) } ?? 0)".utf8)
    }

    private mutating func match() throws(Flow) -> [UInt8] {
        var left = try primary()
        while peek(":") != nil {
            place += 1
            left = try ExprParser.matched(left, try primary())
        }
        return left
    }

    private mutating func primary() throws(Flow) -> [UInt8] {
        guard place < words.count else { throw .failed("the expression ends too early") }
        let word = words[place]
        place += 1
        switch word.text {
        case "(":
            let value = try or()
            guard peek(")") != nil else { throw .failed("a ) is missing") }
            place += 1
            return value
        case "length" where place < words.count:
            return Array("\(Pattern.characters(try primary()))".utf8)
        case "match" where place + 1 < words.count:
            let text = try primary()
            return try ExprParser.matched(text, try primary())
        case "index" where place + 1 < words.count:
            let text = try primary()
            let set = try primary()
            return Array("\((text.firstIndex { set.contains($0) } ?? -1) + 1)".utf8)
        case "substr" where place + 2 < words.count:
            let text = try primary()
            let start = Int(try primary().text) ?? 0
            let count = Int(try primary().text) ?? 0
            guard start > 0, count > 0, start <= text.count else { return [] }
            return Array(text[start - 1..<min(text.count, start - 1 + min(count, text.count))])
        case "+" where place < words.count:
            place += 1
            return words[place - 1]
        default: return word
        }
    }

    static func value(_ words: [[UInt8]]) throws(Flow) -> [UInt8] {
        var parser = ExprParser(words: words)
        let value = try parser.or()
        guard parser.place == words.count else { throw .failed("\(shown(words[parser.place])) was not expected") }
        return value
    }
}

extension Utilities {
    @Sendable static func expr(_ call: UtilityCall) throws(Flow) -> Int32 {
        do throws(Flow) {
            var words = Array(call.words.dropFirst())
            if words.first == [45, 45] { words.removeFirst() }
            let value = try ExprParser.value(words)
            try call.write(value + [10])
            let isNothing = value.isEmpty || (value.drop { $0 == 45 }.allSatisfy { $0 == 48 } && value != [45])
            return isNothing ? 1 : 0
        } catch {
            guard case .failed(let what) = error else { throw error }
            try call.complain(what)
            return 2
        }
    }
}
