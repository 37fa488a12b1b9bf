internal import AlcoveCore

extension AwkRun {
    func value(_ expression: AwkExpression) throws(AwkEnd) -> AwkValue {
        switch expression {
        case .number(let number): return .number(number)
        case .string(let text): return .string(text)
        case .grouped(let inner): return try value(inner)
        case .matchesRecord(let text):
            return .number(try self.expression(text).match(currentRecord()) != nil ? 1 : 0)
        case .global(let index):
            if index == Special.fieldCount { _ = try field(1) }
            if globals[index].array != nil { throw fault("\(program.globals[index]) is an array and has no value") }
            return globals[index].value
        case .local(let index): return frames[frames.count - 1][index].value
        case .field(.number(let number)) where number >= 0 && number < 1e6: return try field(Int(number))
        case .field(let which): return try field(Int(clamping: whole(try value(which))))
        case .element(let name, let keys): return try array(name)[key(keys)]
        case .contains(let name, let keys): return .number(try array(name).has(key(keys)) ? 1 : 0)
        case .assign(let place, let right):
            let new = try value(right)
            try assign(place, new)
            return new
        case .change(let place, let sign, let right):
            let change = number(try value(right))
            let new = try AwkValue.number(arithmetic(sign, number(value(place)), change))
            try assign(place, new)
            return new
        case .step(let place, let by, let isBefore):
            let old = number(try value(place))
            try assign(place, .number(old + by))
            return .number(isBefore ? old + by : old)
        case .condition(let condition, let first, let second):
            return try isTrue(value(condition)) ? value(first) : value(second)
        case .and(let left, let right):
            guard isTrue(try value(left)) else { return .number(0) }
            return .number(isTrue(try value(right)) ? 1 : 0)
        case .or(let left, let right):
            if isTrue(try value(left)) { return .number(1) }
            return .number(isTrue(try value(right)) ? 1 : 0)
        case .not(let inner): return .number(isTrue(try value(inner)) ? 0 : 1)
        case .negative(let inner): return .number(-number(try value(inner)))
        case .positive(let inner): return .number(number(try value(inner)))
        case .arithmetic(let sign, let left, let right):
            let a = number(try value(left))
            return .number(try arithmetic(sign, a, number(try value(right))))
        case .compare(let comparison, let left, let right):
            let a = try value(left)
            return .number(compare(comparison, a, try value(right)) ? 1 : 0)
        case .match(let left, let right, let isNegated):
            let line = text(try value(left))
            let found = try pattern(right).match(line) != nil
            return .number(found != isNegated ? 1 : 0)
        case .join(let left, let right):
            let a = text(try value(left))
            let joined = a + text(try value(right))
            if joined.count > Shell.longestValue { throw fault("a text is longer than \(Shell.longestValue) bytes") }
            return .string(joined)
        case .call(let index, let arguments): return try callFunction(index, arguments)
        case .builtin(let name, let arguments): return try builtin(name, arguments)
        case .readLine(let target, let source): return try readLine(into: target, from: source)
        }
    }

    private func arithmetic(_ sign: UInt8, _ a: Double, _ b: Double) throws(AwkEnd) -> Double {
        switch sign {
        case 43: return a + b
        case 45: return a - b
        case 42: return a * b
        case 47:
            if b == 0 { throw fault("division by zero") }
            return a / b
        case 37:
            if b == 0 { throw fault("division by zero in %") }
            return fmod(a, b)
        default: return pow(a, b)
        }
    }

    private func compare(_ comparison: AwkExpression.Comparison, _ left: AwkValue, _ right: AwkValue) -> Bool {
        func numeric(_ value: AwkValue) -> Double? {
            switch value {
            case .number(let number): number
            case .unset: 0
            case .input(let text): AwkNumber.whole(text)
            case .string: nil
            }
        }
        let order: Int
        if let a = numeric(left), let b = numeric(right) {
            if a.isNaN || b.isNaN { return comparison == .notEqual }
            order = a < b ? -1 : a > b ? 1 : 0
        } else {
            let (a, b) = (text(left), text(right))
            order = a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
        }
        switch comparison {
        case .less: return order < 0
        case .lessOrEqual: return order <= 0
        case .equal: return order == 0
        case .notEqual: return order != 0
        case .greater: return order > 0
        case .greaterOrEqual: return order >= 0
        }
    }

    /// The expression an argument means: one written as such, or a text.
    func pattern(_ expression: AwkExpression) throws(AwkEnd) -> LibraryPattern {
        if case .matchesRecord(let text) = expression { return try self.expression(text) }
        return try self.expression(text(value(expression)))
    }

    /// Compiled once. The escapes of awk become what the C library understands.
    func expression(_ text: [UInt8]) throws(AwkEnd) -> LibraryPattern {
        if let known = expressions[text] { return known }
        let foldsCase = isTrue(globals[Special.foldsCase].value)
        let source = AwkRun.portable(text)
        let made = try inShell { () throws(Flow) in
            try LibraryPattern(source, isExtended: true, foldsCase: foldsCase)
        }
        if expressions.count > 500 { expressions = [:] }
        expressions[text] = made
        return made
    }

    private static func portable(_ text: [UInt8]) -> [UInt8] {
        guard text.contains(92) else { return text }
        var out: [UInt8] = []
        var place = 0
        var isInSet = false
        while place < text.count {
            let byte = text[place]
            if byte == 91, !isInSet {
                isInSet = true
                out.append(byte)
                place += 1
                if place < text.count, text[place] == 94 {
                    out.append(94)
                    place += 1
                }
                if place < text.count, text[place] == 93 {
                    out.append(93)
                    place += 1
                }
                continue
            }
            if byte == 93 { isInSet = false }
            guard byte == 92, place + 1 < text.count else {
                out.append(byte)
                place += 1
                continue
            }
            let letter = text[place + 1]
            if "abfnrtv01234567".utf8.contains(letter), !(letter == 98 && !isInSet) {
                let (bytes, end) = AwkLexer.escape(text, place)
                if !isInSet, let first = bytes.first, "^$.*[]+?(){}|\\".utf8.contains(first) { out.append(92) }
                out += bytes
                place = end
            } else {
                switch letter {
                case 47, 34, 38: out.append(letter)
                case 121 where !isInSet: out += [92, 98]  // \y is a word's edge
                case 92: out += isInSet ? [92] : [92, 92]
                default: out += isInSet ? [letter] : [92, letter]
                }
                place += 2
            }
        }
        return out
    }

    private func callFunction(_ index: Int, _ arguments: [AwkExpression]) throws(AwkEnd) -> AwkValue {
        let function = program.functions[index]
        guard arguments.count <= function.parameters else {
            throw fault("a function takes \(function.parameters) values and is given \(arguments.count)")
        }
        guard frames.count < AwkRun.deepestCall else {
            throw fault("functions call one another more than \(AwkRun.deepestCall) deep")
        }
        var cells: [AwkCell] = []
        for argument in arguments {
            let made = AwkCell()
            let given: AwkCell?
            switch argument {
            case .global(let index) where index != Special.fieldCount: given = globals[index]
            case .local(let index): given = frames[frames.count - 1][index]
            default: given = nil
            }
            if let given {
                if let array = given.array {
                    made.array = array
                } else {
                    made.value = given.value
                    if case .unset = given.value { made.origin = given }
                }
            } else {
                made.value = try value(argument)
            }
            cells.append(made)
        }
        while cells.count < function.parameters { cells.append(AwkCell()) }
        frames.append(cells)
        defer { frames.removeLast() }
        if case .answer(let value) = try execute(function.body) { return value }
        return .unset
    }
}
