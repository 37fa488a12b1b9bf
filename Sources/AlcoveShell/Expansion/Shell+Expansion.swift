internal import AlcoveCore
internal import AlcoveSandbox

/// What an expansion is for.
private enum Purpose {
    /// One text: an assignment, a here-document.
    case text
    case pattern
}

extension Shell {
    /// The fields of a command's words.
    func fields(_ words: [Word]) throws(Flow) -> [[UInt8]] {
        var out: [[UInt8]] = []
        for word in words {
            if let plain = word.plain, !plain.isEmpty,
                !plain.contains(where: { $0 == 42 || $0 == 63 || $0 == 91 || $0 == 126 })
            {
                out.append(plain)
                continue
            }
            try control.check()
            var builder = FieldBuilder(separators: separators)
            try add(tilde(word.parts, afterColons: false), to: &builder, isQuoted: false)
            builder.end()
            for field in builder.fields {
                if field.hasPattern, !state.options.has("f"), let found = try files(matching: field.pattern) {
                    out += found
                } else {
                    out.append(field.text)
                }
            }
        }
        return out
    }

    /// One text with neither cutting nor files.
    func text(_ word: Word, isAssignment: Bool = false) throws(Flow) -> [UInt8] {
        if let plain = word.plain, !plain.contains(126) { return plain }
        return try text(tilde(word.parts, afterColons: isAssignment))
    }

    func text(_ parts: [WordPart], isQuoted: Bool = false) throws(Flow) -> [UInt8] {
        try joined(parts, .text, isQuoted: isQuoted)
    }

    func pattern(_ parts: [WordPart]) throws(Flow) -> Pattern {
        Pattern(try joined(parts, .pattern, isQuoted: false))
    }

    private func joined(_ parts: [WordPart], _ purpose: Purpose, isQuoted: Bool) throws(Flow) -> [UInt8] {
        var out: [UInt8] = []
        for part in parts {
            switch part {
            case .literal(let bytes): out += isQuoted && purpose == .pattern ? FieldBuilder.escaped(bytes) : bytes
            case .quoted(let bytes): out += purpose == .pattern ? FieldBuilder.escaped(bytes) : bytes
            case .doubleQuoted(let inner): out += try joined(inner, purpose, isQuoted: true)
            case .parameter(let expansion):
                if case .whenUnset(let sign, let orEmpty, let word) = expansion.operation, sign == 45 || sign == 43 {
                    let value = try value(of: expansion.parameter)
                    let isSet = value.map { !orEmpty || !$0.isEmpty } ?? false
                    if isSet == (sign == 43) {
                        out += try joined(
                            isQuoted ? word : tilde(word, afterColons: false), purpose, isQuoted: isQuoted)
                        continue
                    }
                    if sign == 43 { continue }
                }
                let value = try single(expansion, isQuoted: isQuoted)
                out += isQuoted && purpose == .pattern ? FieldBuilder.escaped(value) : value
            case .substitution(let list, let line):
                let value = try output(of: list, line: line)
                out += isQuoted && purpose == .pattern ? FieldBuilder.escaped(value) : value
            case .arithmetic(let inner): out += Array("\(try calculate(inner))".utf8)
            }
            if out.count > Shell.longestValue {
                throw try fatal("a word may have \(Shell.longestValue) bytes")
            }
        }
        return out
    }

    private func add(_ parts: [WordPart], to builder: inout FieldBuilder, isQuoted: Bool) throws(Flow) {
        for part in parts {
            switch part {
            case .literal(let bytes): if isQuoted { builder.add(quoted: bytes) } else { builder.add(literal: bytes) }
            case .quoted(let bytes): builder.add(quoted: bytes)
            case .doubleQuoted(let inner):
                if !isOnlyParameters(inner) { builder.add(quoted: []) }
                try add(inner, to: &builder, isQuoted: true)
            case .parameter(let expansion): try add(expansion, to: &builder, isQuoted: isQuoted)
            case .substitution(let list, let line):
                let value = try output(of: list, line: line)
                if isQuoted { builder.add(quoted: value) } else { builder.add(split: value) }
            case .arithmetic(let inner):
                let value = Array("\(try calculate(inner))".utf8)
                if isQuoted { builder.add(quoted: value) } else { builder.add(split: value) }
            }
        }
    }

    /// `"$@"` alone makes no field at all when there are no parameters.
    private func isOnlyParameters(_ parts: [WordPart]) -> Bool {
        guard parts.count == 1, case .parameter(let expansion) = parts[0], expansion.parameter == .special(64) else {
            return false
        }
        switch expansion.operation {
        case .value: return true
        case .whenUnset(43, _, _): return state.positional.isEmpty
        default: return false
        }
    }

    private func add(
        _ expansion: ParameterExpansion, to builder: inout FieldBuilder, isQuoted: Bool
    ) throws(Flow) {
        if case .whenUnset(let sign, let orEmpty, let word) = expansion.operation, sign == 45 || sign == 43 {
            let value = try value(of: expansion.parameter)
            let isSet = value.map { !orEmpty || !$0.isEmpty } ?? false
            if isSet == (sign == 43) {
                return try addOperand(
                    isQuoted ? word : tilde(word, afterColons: false), to: &builder, isQuoted: isQuoted)
            }
            if sign == 43 {
                if isQuoted { builder.add(quoted: []) }
                return
            }
        }
        let isAll = expansion.parameter == .special(64) || (expansion.parameter == .special(42) && !isQuoted)
        var listsAll = false
        switch expansion.operation {
        case .value, .whenUnset: listsAll = isAll
        default: break
        }
        if listsAll {
            for (index, parameter) in state.positional.enumerated() {
                if index > 0 { builder.end() }
                if isQuoted { builder.add(quoted: parameter) } else { builder.add(split: parameter) }
            }
            return
        }
        let value = try single(expansion, isQuoted: isQuoted)
        if isQuoted { builder.add(quoted: value) } else { builder.add(split: value) }
    }

    /// The word after `-` or `+`: what is written in it without quotes is cut like an expansion.
    private func addOperand(_ parts: [WordPart], to builder: inout FieldBuilder, isQuoted: Bool) throws(Flow) {
        for part in parts {
            if !isQuoted, case .literal(let bytes) = part {
                builder.add(split: bytes)
            } else {
                try add([part], to: &builder, isQuoted: isQuoted)
            }
        }
    }

    // MARK: Parameters

    /// nil when it is not set.
    func value(of parameter: ParameterExpansion.Parameter) throws(Flow) -> [UInt8]? {
        switch parameter {
        case .variable("LINENO"): return Array("\(line)".utf8)
        case .variable(let name): return state.variables[name]?.value
        case .positional(0): return state.name
        case .positional(let number):
            return number <= state.positional.count ? state.positional[number - 1] : nil
        case .special(let sign):
            switch sign {
            case 42:
                let between = separators.first.map { [$0] } ?? []
                return state.positional.isEmpty ? nil : Array(state.positional.joined(separator: between))
            case 64: return state.positional.isEmpty ? nil : Array(state.positional.joined(separator: [32]))
            case 35: return Array("\(state.positional.count)".utf8)
            case 63: return Array("\(state.status)".utf8)
            case 45: return state.options.letters.sorted()
            case 36: return Array("\(getpid())".utf8)
            default: return state.lastJob.map { Array("\($0)".utf8) }
            }
        }
    }

    private func shownName(_ parameter: ParameterExpansion.Parameter) -> String {
        switch parameter {
        case .variable(let name): name
        case .positional(let number): "\(number)"
        case .special(let sign): [sign].text
        }
    }

    private func single(_ expansion: ParameterExpansion, isQuoted: Bool) throws(Flow) -> [UInt8] {
        let name = shownName(expansion.parameter)
        let found = try value(of: expansion.parameter)
        switch expansion.operation {
        case .whenUnset(let sign, let orEmpty, let word):
            if let found, !orEmpty || !found.isEmpty { return found }
            let value = try text(isQuoted ? word : tilde(word, afterColons: false), isQuoted: isQuoted)
            guard sign == 61 else {
                throw try fatal(
                    "\(name): \(word.isEmpty ? "parameter not set" + (orEmpty ? " or null" : "") : value.text)")
            }
            guard case .variable(let name) = expansion.parameter else {
                throw try fatal("\(name): cannot be assigned to")
            }
            try set(name, value)
            return value
        default: break
        }
        guard let found else {
            if state.options.has("u"), expansion.parameter != .special(64), expansion.parameter != .special(42) {
                throw try fatal("\(name): parameter not set")
            }
            if case .length = expansion.operation { return [48] }
            return []
        }
        switch expansion.operation {
        case .length:
            if expansion.parameter == .special(64) || expansion.parameter == .special(42) {
                return Array("\(state.positional.count)".utf8)
            }
            return Array("\(Pattern.characters(found))".utf8)
        case .trim(let isSuffix, let isLongest, let parts):
            return trimmed(found, try pattern(tilde(parts, afterColons: false)), isSuffix, isLongest)
        default: return found
        }
    }

    private func trimmed(_ value: [UInt8], _ pattern: Pattern, _ isSuffix: Bool, _ isLongest: Bool) -> [UInt8] {
        if let literal = pattern.literal {
            if isSuffix {
                return value.suffix(literal.count).elementsEqual(literal) ? value.dropLast(literal.count) : value
            }
            return value.starts(with: literal) ? Array(value.dropFirst(literal.count)) : value
        }
        // Lengths of what is cut away, in the order in which they are tried.
        let lengths = isLongest ? Array(stride(from: value.count, through: 0, by: -1)) : Array(0...value.count)
        for length in lengths {
            if control.isStopped { return value }
            if isSuffix {
                if pattern.matches(value.suffix(length)) { return value.dropLast(length) }
            } else if pattern.matches(value.prefix(length)) {
                return Array(value.dropFirst(length))
            }
        }
        return value
    }

    // MARK: Tilde, arithmetic, substitution

    private func tilde(_ parts: [WordPart], afterColons: Bool) -> [WordPart] {
        guard !parts.isEmpty else { return parts }
        var out = parts
        for (index, part) in parts.enumerated().reversed() {
            guard case .literal(let bytes) = part, bytes.contains(126) else { continue }
            var pieces: [WordPart] = []
            var literal: [UInt8] = []
            for (place, byte) in bytes.enumerated() {
                let begins =
                    (place == 0 && index == 0) || (afterColons && place > 0 && bytes[place - 1] == 58)
                let next: UInt8? = place + 1 < bytes.count ? bytes[place + 1] : index + 1 < parts.count ? 0 : nil
                let ends = next == nil || next == 47 || (afterColons && next == 58)
                if byte == 126, begins, ends, let home = value("HOME") {
                    if !literal.isEmpty { pieces.append(.literal(literal)) }
                    literal = []
                    pieces.append(.quoted(home))
                } else {
                    literal.append(byte)
                }
            }
            if !literal.isEmpty { pieces.append(.literal(literal)) }
            out.replaceSubrange(index...index, with: pieces)
        }
        return out
    }

    func calculate(_ parts: [WordPart]) throws(Flow) -> Int64 { try calculate(try text(parts, isQuoted: true)) }

    func calculate(_ expression: [UInt8]) throws(Flow) -> Int64 {
        var flow: Flow?
        let variables = Arithmetic.Variables(
            value: { [self] (name) throws(ArithmeticError) in
                if let value = state.variables[name]?.value { return value }
                if state.options.has("u") { throw ArithmeticError(what: "\(name): parameter not set") }
                return nil
            },
            set: { [self] (name, value) throws(ArithmeticError) in
                do throws(Flow) { try set(name, text: "\(value)") } catch {
                    flow = error
                    throw ArithmeticError(what: "")
                }
            })
        do throws(ArithmeticError) { return try Arithmetic.value(expression, variables) } catch {
            if let flow { throw flow }
            throw try fatal("arithmetic: \(error.what)")
        }
    }

    /// What a substitution's commands write, without the new lines at its end.
    func output(of list: CommandList, line: Int) throws(Flow) -> [UInt8] {
        if list.items.isEmpty {
            substitutionStatus = 0
            return []
        }
        let copy = subshell()
        copy.depth += 1
        copy.tested = 0
        let collected = CollectedOutput(limit: Shell.longestValue)
        copy.state.files[1] = OpenFile(sink: collected)
        var jobs: [Job] = []
        substitutionStatus = copy.finish { (shell) throws(Flow) in
            defer { jobs = shell.state.jobs }
            try shell.run(list)
        }
        // Whoever still writes to it is waited for, as the end of a pipe would be.
        for job in jobs { _ = try control.wait(for: job) }
        try control.check()
        var bytes = collected.take()
        bytes.removeAll { $0 == 0 }
        while bytes.last == 10 { bytes.removeLast() }
        return bytes
    }

    // MARK: Files

    /// The files a pattern means, in order; nil when there are none.
    func files(matching pattern: [UInt8]) throws(Flow) -> [[UInt8]]? {
        let isAbsolute = pattern.first == 47
        var found: [String] = [isAbsolute ? "/" : ""]
        let pieces = pattern.split(separator: 47, omittingEmptySubsequences: true)
        let endsInFolder = pattern.last == 47
        for (index, piece) in pieces.enumerated() {
            try control.check()
            let isLast = index == pieces.count - 1
            let compiled = Pattern(Array(piece))
            var next: [String] = []
            for base in found {
                try control.check()
                let join = base.isEmpty || base.hasSuffix("/") ? base : base + "/"
                if let literal = compiled.literal {
                    guard let name = String(validating: literal, as: UTF8.self) else { continue }
                    // What comes before the first pattern need not be readable as a folder.
                    if !isLast || (try? here.linkStat(join + name)) != nil { next.append(join + name) }
                    continue
                }
                guard let entries = try? here.list(base.isEmpty ? "." : base, limit: 1_000_000) else { continue }
                for entry in entries
                where entry.name.utf8.first != 46 || piece.first == 46 || piece.starts(with: [92, 46]) {
                    guard compiled.matches(Array(entry.name.utf8)) else { continue }
                    if !isLast || endsInFolder {
                        guard entry.kind == .folder || entry.kind == .link else { continue }
                    }
                    next.append(join + entry.name)
                }
                if piece.first == 46 {
                    for name in [".", ".."] where compiled.matches(Array(name.utf8)) { next.append(join + name) }
                }
            }
            found = next
            if found.isEmpty { return nil }
        }
        if endsInFolder { found = found.filter { (try? here.stat($0))?.kind == .folder }.map { $0 + "/" } }
        if found.isEmpty { return nil }
        return found.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
    }
}
