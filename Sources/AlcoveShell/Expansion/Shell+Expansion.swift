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
                !plain.contains(where: { $0 == 40 || $0 == 42 || $0 == 63 || $0 == 91 || $0 == 123 || $0 == 126 })
            {
                out.append(plain)
                continue
            }
            try control.check()
            for parts in try BraceExpansion.words(word.parts) { try addFields(parts, to: &out) }
        }
        return out
    }

    private func addFields(_ parts: [WordPart], to out: inout [[UInt8]]) throws(Flow) {
        var builder = FieldBuilder(separators: separators)
        try add(tilde(parts, afterColons: false), to: &builder, isQuoted: false)
        builder.end()
        for field in builder.fields {
            guard field.hasPattern, !state.options.has("f") else {
                out.append(field.text)
                continue
            }
            if let found = try files(matching: field.pattern) {
                out += found
            } else if !state.options.shopt.contains("nullglob") {
                out.append(field.text)
            }
        }
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
            case .process(let list, let isInput, let line): out += try process(list, isInput: isInput, line: line)
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
            case .process(let list, let isInput, let line):
                builder.add(quoted: try process(list, isInput: isInput, line: line))
            }
        }
    }

    /// `"$@"` alone makes no field at all when there are no parameters.
    private func isOnlyParameters(_ parts: [WordPart]) -> Bool {
        guard parts.count == 1, case .parameter(let expansion) = parts[0], let list = list(expansion.parameter),
            list.isSeparate
        else { return false }
        switch expansion.operation {
        case .value, .part, .replace, .letters, .trim, .transform: return true
        case .whenUnset(43, _, _): return list.values.isEmpty
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
        if let list = list(expansion.parameter), list.isSeparate || !isQuoted, hasList(expansion.operation) {
            for (index, value) in try changed(list.values, expansion, isQuoted: isQuoted).enumerated() {
                if index > 0 { builder.end() }
                if isQuoted { builder.add(quoted: value) } else { builder.add(split: value) }
            }
            return
        }
        let value = try single(expansion, isQuoted: isQuoted)
        if isQuoted { builder.add(quoted: value) } else { builder.add(split: value) }
    }

    private func hasList(_ operation: ParameterExpansion.Operation) -> Bool {
        switch operation {
        case .length: false
        default: true
        }
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
        case .variable(let name): return variable(name)
        case .positional(0): return state.name
        case .positional(let number):
            return number <= state.positional.count ? state.positional[number - 1] : nil
        case .element(let given, let parts):
            let name = meant(given)
            let key = try key(parts, of: name)
            if name == "PIPESTATUS" || name == "FUNCNAME" {
                let all = list(.elements(name, 64))?.values ?? []
                let index = Int(key.text) ?? 0
                return index < all.count ? all[index] : nil
            }
            guard let array = state.variables[name]?.array else {
                return key == ShellArray.first ? value(name) : nil
            }
            return array[key]
        case .indirect(let name):
            guard let other = value(name) else { return nil }
            if let number = Int(other.text), number >= 0 { return try value(of: .positional(number)) }
            if let bracket = other.firstIndex(of: 91), other.last == 93 {
                let inner = Array(other[(bracket + 1)...].dropLast())
                let parameter: ParameterExpansion.Parameter =
                    inner == [64] || inner == [42]
                    ? .elements(Array(other[..<bracket]).text, inner[0])
                    : .element(Array(other[..<bracket]).text, [.literal(inner)])
                return try value(of: parameter)
            }
            return variable(other.text)
        case .special(let sign):
            switch sign {
            case 35: return Array("\(state.positional.count)".utf8)
            case 63: return Array("\(state.status)".utf8)
            case 45: return state.options.letters.sorted()
            case 36: return Array("\(getpid())".utf8)
            case 33: return state.lastJob.map { Array("\($0)".utf8) }
            default: break
            }
        default: break
        }
        guard let list = list(parameter), !list.values.isEmpty else { return nil }
        let between: [UInt8] = list.isSeparate ? [32] : separators.first.map { [$0] } ?? []
        return Array(list.values.joined(separator: between))
    }

    private func variable(_ name: String) -> [UInt8]? {
        if let value = value(name) {
            // Set by hand or by the shell before: these go on by themselves.
            switch name {
            case "RANDOM", "SECONDS": break
            default: return value
            }
        }
        switch name {
        case "LINENO": return Array("\(line)".utf8)
        case "RANDOM":
            state.random = state.random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Array("\(state.random >> 33 & 0x7FFF)".utf8)
        case "SECONDS":
            return Array("\((Platform.monotonicNanoseconds &- state.started) / 1_000_000_000)".utf8)
        case "EPOCHSECONDS": return Array("\(time(nil))".utf8)
        case "BASHPID", "PPID": return Array("\(getpid())".utf8)
        case "UID", "EUID": return Array("1000".utf8)
        case "HOSTNAME": return Array("alcove".utf8)
        case "OSTYPE": return Array("alcove".utf8)
        case "FUNCNAME": return state.calls.last.map { Array($0.utf8) }
        case "PIPESTATUS": return state.stageStatuses.first.map { Array("\($0)".utf8) }
        default: return nil
        }
    }

    /// The values of a parameter that has several, and whether each stays by itself within quotes; nil for others.
    func list(_ parameter: ParameterExpansion.Parameter) -> (values: [[UInt8]], isSeparate: Bool)? {
        switch parameter {
        case .special(64): return (state.positional, true)
        case .special(42): return (state.positional, false)
        case .elements(let given, let sign):
            let name = meant(given)
            switch name {
            case "PIPESTATUS": return (state.stageStatuses.map { Array("\($0)".utf8) }, sign == 64)
            case "FUNCNAME": return (state.calls.reversed().map { Array($0.utf8) }, sign == 64)
            default: break
            }
            guard let variable = state.variables[name] else { return ([], sign == 64) }
            return (variable.array?.list ?? variable.value.map { [$0] } ?? [], sign == 64)
        case .keys(let given, let sign):
            guard let variable = state.variables[meant(given)] else { return ([], sign == 64) }
            return (variable.array?.keys ?? (variable.value == nil ? [] : [ShellArray.first]), sign == 64)
        case .names(let prefix, let sign):
            let names = state.variables.keys.filter { $0.hasPrefix(prefix) }.sorted()
            return (names.map { Array($0.utf8) }, sign == 64)
        default: return nil
        }
    }

    private func shownName(_ parameter: ParameterExpansion.Parameter) -> String {
        switch parameter {
        case .variable(let name): name
        case .positional(let number): "\(number)"
        case .special(let sign): [sign].text
        case .element(let name, _): "\(name)[...]"
        case .elements(let name, let sign): "\(name)[\([sign].text)]"
        case .keys(let name, let sign): "!\(name)[\([sign].text)]"
        case .indirect(let name): "!\(name)"
        case .names(let name, let sign): "!\(name)\([sign].text)"
        }
    }

    private func single(_ expansion: ParameterExpansion, isQuoted: Bool) throws(Flow) -> [UInt8] {
        let name = shownName(expansion.parameter)
        if let list = list(expansion.parameter) {
            switch expansion.operation {
            case .length: return Array("\(list.values.count)".utf8)
            case .whenUnset: break
            default:
                let between: [UInt8] = list.isSeparate ? [32] : separators.first.map { [$0] } ?? []
                return Array(try changed(list.values, expansion, isQuoted: isQuoted).joined(separator: between))
            }
        }
        let found = try value(of: expansion.parameter)
        switch expansion.operation {
        case .whenUnset(let sign, let orEmpty, let word):
            if let found, !orEmpty || !found.isEmpty { return found }
            let value = try text(isQuoted ? word : tilde(word, afterColons: false), isQuoted: isQuoted)
            guard sign == 61 else {
                throw try fatal(
                    "\(name): \(word.isEmpty ? "parameter not set" + (orEmpty ? " or null" : "") : value.text)")
            }
            switch expansion.parameter {
            case .variable(let name): try set(name, value)
            case .element(let name, let parts): try set(name, key: key(parts, of: meant(name)), value)
            default: throw try fatal("\(name): cannot be assigned to")
            }
            return value
        default: break
        }
        guard let found else {
            if state.options.has("u") { throw try fatal("\(name): parameter not set") }
            if case .length = expansion.operation { return [48] }
            return []
        }
        if case .length = expansion.operation { return Array("\(Pattern.characters(found))".utf8) }
        return try changed([found], expansion, isQuoted: isQuoted, isList: false).first ?? []
    }

    func trimmed(_ value: [UInt8], _ parts: [WordPart], _ isSuffix: Bool, _ isLongest: Bool) throws(Flow) -> [UInt8] {
        trimmed(value, try pattern(tilde(parts, afterColons: false)), isSuffix, isLongest)
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

    func tilde(_ parts: [WordPart], afterColons: Bool) -> [WordPart] {
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
                if let value = arithmeticValue(name) { return value }
                if state.options.has("u") { throw ArithmeticError(what: "\(name): parameter not set") }
                return nil
            },
            set: { [self] (name, value) throws(ArithmeticError) in
                do throws(Flow) {
                    let (base, key) = try arithmeticPlace(name)
                    try set(base, key: key, Array("\(value)".utf8))
                } catch {
                    flow = error
                    throw ArithmeticError(what: "")
                }
            })
        do throws(ArithmeticError) { return try Arithmetic.value(expression, variables) } catch {
            if let flow { throw flow }
            throw try fatal("arithmetic: \(error.what)")
        }
    }

    /// `name` or `name[key]`, as arithmetic has them.
    private func arithmeticPlace(_ name: String) throws(Flow) -> (String, [UInt8]?) {
        guard name.last == "]", let bracket = name.firstIndex(of: "[") else { return (name, nil) }
        let base = String(name[..<bracket])
        let inner = Array(name[name.index(after: bracket)...].dropLast().utf8)
        return (base, try key([.literal(inner)], of: meant(base)))
    }

    private func arithmeticValue(_ name: String) -> [UInt8]? {
        guard name.last == "]", let (base, key) = try? arithmeticPlace(name), let key else { return variable(name) }
        guard let array = state.variables[meant(base)]?.array else {
            return key == ShellArray.first ? variable(base) : nil
        }
        return array[key]
    }

    /// Starts the commands of `<(...)` or `>(...)`; the name under which their output or input is opened.
    private func process(_ list: CommandList, isInput: Bool, line: Int) throws(Flow) -> [UInt8] {
        let pipe = Pipe.make(control)
        let copy = subshell()
        copy.state.files[isInput ? 1 : 0] = isInput ? OpenFile(sink: pipe.writer) : OpenFile(source: pipe.reader)
        let job = try start(copy) { (shell) throws(Flow) in try shell.run(list) }
        var number = 63
        while state.files[number] != nil { number += 1 }
        state.files[number] = isInput ? OpenFile(source: pipe.reader) : OpenFile(sink: pipe.writer)
        processFiles.append(number)
        if !isInput { processJobs.append(job) }
        return Array("/dev/fd/\(number)".utf8)
    }

    /// The word of a `<` that is all there is in a substitution.
    private static func fileAlone(_ list: CommandList) -> Word? {
        guard list.items.count == 1, !list.items[0].isBackground, list.items[0].chain.rest.isEmpty,
            list.items[0].chain.first.commands.count == 1, !list.items[0].chain.first.isNegated,
            case .simple(let command) = list.items[0].chain.first.commands[0], command.words.isEmpty,
            command.assignments.isEmpty, command.redirections.count == 1,
            case .read(let word) = command.redirections[0].kind, command.redirections[0].descriptor == 0
        else { return nil }
        return word
    }

    /// What a substitution's commands write, without the new lines at its end.
    func output(of list: CommandList, line: Int) throws(Flow) -> [UInt8] {
        if list.items.isEmpty {
            substitutionStatus = 0
            return []
        }
        if let word = Shell.fileAlone(list) {
            // `$(<FILE)` is the file's contents.
            let path = try text(word)
            do throws(Flow) {
                var bytes = try contents(of: path)
                bytes.removeAll { $0 == 0 }
                while bytes.last == 10 { bytes.removeLast() }
                substitutionStatus = 0
                return bytes
            } catch {
                guard case .failed(let what) = error else { throw error }
                try complain(what)
                substitutionStatus = 1
                return []
            }
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

    /// What `**` means: the folder itself and everything below it that does not begin with a dot.
    private func folders(
        below base: String, into found: inout [String], onlyFolders: Bool, depth: Int
    ) throws(Flow) {
        try control.check()
        if depth == 0, onlyFolders { found.append(base) }
        guard depth < ConfinedPaths.deepest, found.count < 1_000_000 else { return }
        let join = base.isEmpty || base.hasSuffix("/") ? base : base + "/"
        for entry in (try? here.list(base.isEmpty ? "." : base)) ?? [] where entry.name.utf8.first != 46 {
            if entry.kind == .folder || !onlyFolders { found.append(join + entry.name) }
            if entry.kind == .folder {
                try folders(below: join + entry.name, into: &found, onlyFolders: onlyFolders, depth: depth + 1)
            }
        }
    }

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
            if piece.elementsEqual([42, 42]), state.options.shopt.contains("globstar") {
                for base in found { try folders(below: base, into: &next, onlyFolders: !isLast, depth: 0) }
                found = next
                if found.isEmpty { return nil }
                continue
            }
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
