internal import AlcoveCore

/// Runs a program of bc. Stays on its thread.
final class BcRun {
    private enum Completion {
        case normal, leaveLoop, nextRound, quit
        case answer(BigDecimal)
    }

    private let call: UtilityCall
    private var variables: [String: BigDecimal] = [:]
    private var arrays: [String: [Int: BigDecimal]] = [:]
    private var functions: [String: BcFunction] = [:]
    private var scale: Int
    private var inputBase = 10
    private var outputBase = 10
    private var depth = 0
    private var steps = 0
    private var writer: BlockWriter

    init(_ call: UtilityCall, hasLibrary: Bool) {
        self.call = call
        scale = hasLibrary ? 20 : 0
        writer = BlockWriter(call)
    }

    /// False when the program asks to end.
    func run(_ text: [UInt8]) throws(Flow) -> Bool {
        var parser = try BcParser(text)
        while let statement = try parser.next() {
            do throws(Flow) {
                if case .quit = try execute(statement) {
                    try writer.flush()
                    return false
                }
            } catch {
                try writer.flush()
                guard case .failed(let what) = error else { throw error }
                // As bc does: said, and the next statement is run.
                try call.complain(what)
            }
        }
        try writer.flush()
        return true
    }

    private func step() throws(Flow) {
        steps &+= 1
        if steps & 255 == 0 { try call.control.check() }
    }

    private func execute(_ statement: BcStatement) throws(Flow) -> Completion {
        try step()
        switch statement {
        case .expression(let expression):
            let value = try value(expression)
            if case .assign = expression { return .normal }
            variables["last"] = value
            try write(shown(value) + [10])
        case .text(let text): try writer.add(text)
        case .print(let parts):
            for part in parts {
                switch part {
                case .text(let text):
                    var out: [UInt8] = []
                    var place = 0
                    while place < text.count {
                        if text[place] == 92, place + 1 < text.count {
                            let letters: [UInt8: UInt8] = [
                                110: 10, 116: 9, 97: 7, 98: 8, 102: 12, 114: 13, 113: 34, 92: 92,
                            ]
                            out.append(letters[text[place + 1]] ?? text[place + 1])
                            place += 2
                        } else {
                            out.append(text[place])
                            place += 1
                        }
                    }
                    try writer.add(out)
                case .expression(let expression): try writer.add(shown(try value(expression)))
                default: break
                }
            }
        case .condition(let condition, let then, let otherwise):
            if try !value(condition).isZero { return try execute(then) }
            if let otherwise { return try execute(otherwise) }
        case .loop(let condition, let body):
            while try !value(condition).isZero {
                switch try execute(body) {
                case .leaveLoop: return .normal
                case .normal, .nextRound: continue
                case let other: return other
                }
            }
        case .count(let start, let condition, let step, let body):
            if let start { _ = try value(start) }
            while true {
                if let condition, try value(condition).isZero { break }
                switch try execute(body) {
                case .leaveLoop: return .normal
                case .normal, .nextRound: break
                case let other: return other
                }
                if let step { _ = try value(step) }
            }
        case .block(let statements):
            for statement in statements {
                let completion = try execute(statement)
                if case .normal = completion { continue }
                return completion
            }
        case .answer(let expression):
            return .answer(try expression.map { (e) throws(Flow) in try value(e) } ?? BigDecimal(0))
        case .leaveLoop: return .leaveLoop
        case .nextRound: return .nextRound
        case .quit: return .quit
        case .define(let name, let function): functions[name] = function
        }
        return .normal
    }

    private func write(_ bytes: [UInt8]) throws(Flow) { try writer.add(bytes) }

    // MARK: Values

    private func value(_ expression: BcExpression) throws(Flow) -> BigDecimal {
        try step()
        switch expression {
        case .number(let text): return BigDecimal(text, base: inputBase)
        case .variable(let name): return get(name)
        case .element(let name, let index): return arrays[name]?[try place(index)] ?? BigDecimal(0)
        case .negative(let inner): return try value(inner).negated
        case .not(let inner): return BigDecimal(try value(inner).isZero ? 1 : 0)
        case .assign(let place, let sign, let right):
            var new = try value(right)
            if sign != "=" { new = try calculate(String(sign.dropLast()), value(place), new) }
            try set(place, new)
            return new
        case .step(let place, let by, let isBefore):
            let old = try value(place)
            let new = old.plus(BigDecimal(by))
            try set(place, new)
            return isBefore ? new : old
        case .binary("&&", let left, let right):
            if try value(left).isZero { return BigDecimal(0) }
            return BigDecimal(try value(right).isZero ? 0 : 1)
        case .binary("||", let left, let right):
            if try !value(left).isZero { return BigDecimal(1) }
            return BigDecimal(try value(right).isZero ? 0 : 1)
        case .binary(let sign, let left, let right):
            let a = try value(left)
            return try calculate(sign, a, value(right))
        case .call(let name, let arguments): return try answer(name, arguments)
        }
    }

    private func get(_ name: String) -> BigDecimal {
        switch name {
        case "scale": BigDecimal(scale)
        case "ibase": BigDecimal(inputBase)
        case "obase": BigDecimal(outputBase)
        default: variables[name] ?? BigDecimal(0)
        }
    }

    private func place(_ index: BcExpression) throws(Flow) -> Int {
        guard let place = try value(index).int, place >= 0, place < 1 << 24 else {
            throw .failed("this is no place in an array")
        }
        return place
    }

    private func set(_ target: BcExpression, _ value: BigDecimal) throws(Flow) {
        switch target {
        case .element(let name, let index): arrays[name, default: [:]][try place(index)] = value
        case .variable("scale"):
            guard let new = value.int, (0...100_000).contains(new) else { throw .failed("scale goes from 0 to 100000") }
            scale = new
        case .variable("ibase"):
            guard let new = value.int, (2...16).contains(new) else { throw .failed("ibase goes from 2 to 16") }
            inputBase = new
        case .variable("obase"):
            guard let new = value.int, (2...1_000_000).contains(new) else { throw .failed("obase begins at 2") }
            outputBase = new
        case .variable(let name): variables[name] = value
        default: throw .failed("this is no place to assign to")
        }
    }

    private func calculate(_ sign: String, _ a: BigDecimal, _ b: BigDecimal) throws(Flow) -> BigDecimal {
        if a.digitCount + b.digitCount > BigDecimal.mostDigits {
            throw .failed("a number has more than \(BigDecimal.mostDigits) digits")
        }
        switch sign {
        case "+": return a.plus(b)
        case "-": return a.minus(b)
        case "*": return a.times(b, scale: scale)
        case "/":
            guard let result = a.divided(by: b, scale: scale) else { throw .failed("division by zero") }
            return result
        case "%":
            guard let result = a.remainder(by: b, scale: scale) else { throw .failed("division by zero") }
            return result
        case "^": return try power(a, b)
        case "==": return BigDecimal(a.compare(b) == 0 ? 1 : 0)
        case "!=": return BigDecimal(a.compare(b) != 0 ? 1 : 0)
        case "<": return BigDecimal(a.compare(b) < 0 ? 1 : 0)
        case "<=": return BigDecimal(a.compare(b) <= 0 ? 1 : 0)
        case ">": return BigDecimal(a.compare(b) > 0 ? 1 : 0)
        default: return BigDecimal(a.compare(b) >= 0 ? 1 : 0)
        }
    }

    private func power(_ base: BigDecimal, _ exponent: BigDecimal) throws(Flow) -> BigDecimal {
        guard var count = exponent.int else { throw .failed("the exponent is too large") }
        let isNegative = count < 0
        count = abs(count)
        if count > 1, base.digitCount > 1 || base.digitCount * count > 9,
            Double(base.digitCount) * Double(count) > Double(BigDecimal.mostDigits)
        {
            throw .failed("a number would have more than \(BigDecimal.mostDigits) digits")
        }
        let wanted = isNegative ? scale : min(base.scale * count, max(scale, base.scale))
        var result = BigDecimal(1)
        var factor = base
        while count > 0 {
            try call.control.check()
            if count & 1 == 1 { result = result.times(factor, scale: result.scale + factor.scale) }
            count >>= 1
            if count > 0 { factor = factor.times(factor, scale: 2 * factor.scale) }
        }
        if isNegative {
            guard let inverse = BigDecimal(1).divided(by: result, scale: wanted) else {
                throw .failed("division by zero")
            }
            return inverse
        }
        return result.scale > wanted ? result.scaled(to: wanted) : result
    }

    private func answer(_ name: String, _ arguments: [BcExpression]) throws(Flow) -> BigDecimal {
        if let function = functions[name] { return try callFunction(function, arguments) }
        guard arguments.count == 1 else { throw .failed("there is no function \(name)") }
        let x = try value(arguments[0])
        switch name {
        case "sqrt":
            guard let root = x.squareRoot(scale: scale) else { throw .failed("a negative number has no square root") }
            return root
        case "length": return BigDecimal(max(x.digitCount, x.scale == 0 ? 1 : x.scale))
        case "scale": return BigDecimal(x.scale)
        case "abs": return x.isNegative ? x.negated : x
        case "e", "l", "s", "c", "a": return try series(name, x)
        default:
            let near =
                didYouMean(name, among: Array(functions.keys) + ["sqrt", "length", "scale"]).map { " " + $0 } ?? ""
            throw .failed("there is no function \(name).\(near)")
        }
    }

    private func callFunction(_ function: BcFunction, _ arguments: [BcExpression]) throws(Flow) -> BigDecimal {
        guard arguments.count == function.parameters.count else {
            throw .failed("a function takes \(function.parameters.count) values and is given \(arguments.count)")
        }
        depth += 1
        defer { depth -= 1 }
        guard depth < 500 else { throw .failed("functions call one another more than 500 deep") }
        var given: [(String, BigDecimal, [Int: BigDecimal])] = []
        for (parameter, argument) in Swift.zip(function.parameters, arguments) {
            if parameter.hasSuffix("[]"), case .variable(let name) = argument {
                given.append((String(parameter.dropLast(2)), BigDecimal(0), arrays[name] ?? [:]))
            } else {
                given.append((parameter, try value(argument), [:]))
            }
        }
        let names = function.parameters + function.locals
        let old = names.map { name in
            let plain = name.hasSuffix("[]") ? String(name.dropLast(2)) : name
            return (name, variables[plain], arrays[plain])
        }
        for name in function.locals {
            if name.hasSuffix("[]") { arrays[String(name.dropLast(2))] = [:] } else { variables[name] = BigDecimal(0) }
        }
        for (index, (name, value, array)) in given.enumerated() {
            if function.parameters[index].hasSuffix("[]") { arrays[name] = array } else { variables[name] = value }
        }
        defer {
            for (name, variable, array) in old.reversed() {
                if name.hasSuffix("[]") { arrays[String(name.dropLast(2))] = array } else { variables[name] = variable }
            }
        }
        for statement in function.body {
            switch try execute(statement) {
            case .answer(let value): return value
            case .quit: throw .exiting(0)
            default: continue
            }
        }
        return BigDecimal(0)
    }

    // MARK: The library of -l

    private func series(_ name: String, _ x: BigDecimal) throws(Flow) -> BigDecimal {
        let wanted = scale
        let work = wanted + 12 + (x.int.map { abs($0) / 2 } ?? 1000)
        guard work < 3000 else { throw .failed("the number is too large for \(name)") }
        func quotient(_ a: BigDecimal, _ b: BigDecimal) -> BigDecimal { a.divided(by: b, scale: work) ?? BigDecimal(0) }
        func times(_ a: BigDecimal, _ b: BigDecimal) -> BigDecimal { a.times(b, scale: work).scaled(to: work) }
        func sum(_ first: BigDecimal, _ next: (BigDecimal, Int) -> BigDecimal) throws(Flow) -> BigDecimal {
            var term = first.scaled(to: work)
            var total = term
            var index = 1
            while !term.isZero {
                try call.control.check()
                term = next(term, index)
                total = total.plus(term)
                index += 1
            }
            return total
        }
        switch name {
        case "e":
            // Halved until it is small, then squared as often.
            var small = x.scaled(to: work)
            var halvings = 0
            while small.compare(BigDecimal(1)) > 0 || small.compare(BigDecimal(-1)) < 0 {
                small = quotient(small, BigDecimal(2))
                halvings += 1
            }
            var result = try sum(BigDecimal(1)) { term, index in quotient(times(term, small), BigDecimal(index)) }
            for _ in 0..<halvings { result = times(result, result) }
            return result.scaled(to: wanted)
        case "l":
            guard !x.isNegative, !x.isZero else { throw .failed("only numbers above 0 have a logarithm") }
            var value = x.scaled(to: work)
            var roots = BigDecimal(1)
            while value.compare(BigDecimal(2)) > 0 || value.compare(BigDecimal([46, 53], base: 10)) < 0 {
                value = (value.squareRoot(scale: work) ?? value).scaled(to: work)
                roots = roots.times(BigDecimal(2), scale: 0)
            }
            let ratio = quotient(value.minus(BigDecimal(1)), value.plus(BigDecimal(1)))
            let square = times(ratio, ratio)
            var power = ratio
            var total = ratio
            var odd = 3
            while true {
                try call.control.check()
                power = times(power, square)
                let term = quotient(power, BigDecimal(odd))
                if term.isZero { break }
                total = total.plus(term)
                odd += 2
            }
            return total.times(BigDecimal(2), scale: work).times(roots, scale: work).scaled(to: wanted)
        case "s", "c":
            let square = times(x.scaled(to: work), x.scaled(to: work)).negated
            let first = name == "s" ? x : BigDecimal(1)
            let shift = name == "s" ? 1 : 0
            return try sum(first) { term, index in
                quotient(times(term, square), BigDecimal((2 * index - 1 + shift) * (2 * index + shift)))
            }.scaled(to: wanted)
        default:
            // Half the angle until the tangent is small.
            var value = x.scaled(to: work)
            var doublings = BigDecimal(1)
            let small = BigDecimal([46, 49], base: 10)
            while value.compare(small) > 0 || value.compare(small.negated) < 0 {
                let root = times(value, value).plus(BigDecimal(1)).squareRoot(scale: work) ?? BigDecimal(1)
                value = quotient(value, root.plus(BigDecimal(1)))
                doublings = doublings.times(BigDecimal(2), scale: 0)
            }
            let square = times(value, value).negated
            var power = value
            var total = value
            var odd = 3
            while true {
                try call.control.check()
                power = times(power, square)
                let term = quotient(power, BigDecimal(odd))
                if term.isZero { break }
                total = total.plus(term)
                odd += 2
            }
            return total.times(doublings, scale: work).scaled(to: wanted)
        }
    }

    // MARK: Writing

    /// In the base of `obase`, long lines cut as bc cuts them.
    private func shown(_ value: BigDecimal) throws(Flow) -> [UInt8] {
        let text = outputBase == 10 ? value.text : try based(value)
        let bytes = Array(text.utf8)
        guard bytes.count > 68 else { return bytes }
        var out: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 68) {
            if start > 0 { out += [92, 10] }
            out += bytes[start..<min(bytes.count, start + 68)]
        }
        return out
    }

    private func based(_ value: BigDecimal) throws(Flow) -> String {
        let base = BigDecimal(outputBase)
        var whole = value.scaled(to: 0)
        let fraction = (value.isNegative ? value.negated : value).minus(whole.isNegative ? whole.negated : whole)
        whole.isNegative = false
        var digits: [Int] = []
        while !whole.isZero {
            try call.control.check()
            digits.insert(whole.remainder(by: base, scale: 0)?.int ?? 0, at: 0)
            whole = whole.divided(by: base, scale: 0) ?? BigDecimal(0)
        }
        let width = "\(outputBase - 1)".count
        func text(_ digit: Int) -> String {
            if outputBase <= 16 { return String(digit, radix: 16, uppercase: true) }
            let plain = "\(digit)"
            return " " + String(repeating: "0", count: width - plain.count) + plain
        }
        var out = digits.map(text).joined()
        if value.scale > 0 {
            out += "."
            var rest = fraction
            var unit = BigDecimal(1)
            while unit.digitCount <= value.scale {
                rest = rest.times(base, scale: rest.scale)
                let digit = rest.scaled(to: 0)
                out += text(digit.int ?? 0)
                rest = rest.minus(digit)
                unit = unit.times(base, scale: 0)
            }
        }
        if out.isEmpty { out = "0" }
        return (value.isNegative ? "-" : "") + out
    }
}

extension Utilities {
    @Sendable static func bc(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("lqsiw", longNames: ["--mathlib": "l", "--quiet": "q", "--standard": "s"])
        let run = BcRun(call, hasLibrary: options.has("l"))
        for operand in options.operands { if try !run.run(try call.shell.contents(of: operand)) { return 0 } }
        _ = try run.run(try call.all(call.input()))
        return 0
    }
}
