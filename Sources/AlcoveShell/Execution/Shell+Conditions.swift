internal import AlcoveCore
internal import AlcoveSandbox

/// What `[[ ]]` asks.
extension Shell {
    func holds(_ condition: Condition) throws(Flow) -> Bool {
        switch condition {
        case .not(let inner): return try !holds(inner)
        case .and(let left, let right):
            guard try holds(left) else { return false }
            return try holds(right)
        case .or(let left, let right):
            if try holds(left) { return true }
            return try holds(right)
        case .word(let word): return try !text(word).isEmpty
        case .unary(let sign, let word): return try Builtins.holds(sign, text(word), self)
        case .binary(let left, let sign, let right): return try compare(left, sign, right)
        case .expression(let word, let parts): return try matches(word, parts)
        }
    }

    private func compare(_ left: Word, _ sign: String, _ right: Word) throws(Flow) -> Bool {
        let value = try text(left)
        switch sign {
        case "=", "==": return try pattern(tilde(right.parts, afterColons: false)).matches(value)
        case "!=": return try !pattern(tilde(right.parts, afterColons: false)).matches(value)
        case "-eq", "-ne", "-lt", "-le", "-gt", "-ge":
            let (a, b) = (try calculate(value), try calculate(text(right)))
            switch sign {
            case "-eq": return a == b
            case "-ne": return a != b
            case "-lt": return a < b
            case "-le": return a <= b
            case "-gt": return a > b
            default: return a >= b
            }
        default: return try Builtins.holds(value, sign, text(right), self)
        }
    }

    /// `=~`, with what the groups matched in BASH_REMATCH. Quoted parts mean themselves.
    private func matches(_ word: Word, _ parts: [WordPart]) throws(Flow) -> Bool {
        let value = try text(word)
        var expression: [UInt8] = []
        for part in parts {
            switch part {
            case .literal(let bytes): expression += bytes
            // A backslash before a letter has its meaning for expressions.
            case .quoted(let bytes) where bytes.count == 1 && (bytes[0].startsName || bytes[0].isDigit):
                expression += bytes[0].isDigit || bytes[0] == 95 ? bytes : [92] + bytes
            case .quoted, .doubleQuoted:
                for byte in try text([part]) {
                    if "^$.*[]+?(){}|\\".utf8.contains(byte) { expression.append(92) }
                    expression.append(byte)
                }
            default: expression += try text([part])
            }
        }
        let groups: [Range<Int>?]?
        do throws(Flow) { groups = try LibraryPattern(expression, isExtended: true).groups(value) } catch {
            guard case .failed(let what) = error else { throw error }
            try complain(what)
            return false
        }
        state.variables["BASH_REMATCH"] = .init(
            array: ShellArray((groups ?? []).map { range in range.map { Array(value[$0]) } ?? [] }))
        return groups != nil
    }
}
