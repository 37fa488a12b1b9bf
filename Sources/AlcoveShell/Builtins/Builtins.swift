internal import AlcoveCore

typealias Builtin = @Sendable (Shell, [[UInt8]]) throws(Flow) -> Int32

/// The commands that belong to the shell itself.
enum Builtins {
    /// Those whose faults end the shell and whose assignments stay (XCU 2.14).
    static let special: [String: Builtin] = [
        ":": { (_, _) throws(Flow) in 0 }, ".": source, "break": leaveLoops, "continue": nextRound, "eval": eval,
        "source": source, "exec": exec, "exit": exit, "export": export, "readonly": readOnly, "return": leaveFunction,
        "set": set,
        "shift": shift, "times": times, "trap": trap, "unset": unset,
    ]

    static let ordinary: [String: Builtin] = [
        "[": test, "cd": changeFolder, "command": command, "echo": echo, "false": { (_, _) throws(Flow) in 1 },
        "builtin": builtin, "declare": declare, "dirs": folders, "disown": { (_, _) throws(Flow) in 0 },
        "getopts": getOptions, "hash": { (_, _) throws(Flow) in 0 }, "help": help, "jobs": jobs, "kill": kill,
        "let": calculate, "local": declare, "mapfile": readLines, "popd": leaveFolder, "pushd": enterFolder,
        "readarray": readLines, "shopt": shopt, "typeset": declare, "ulimit": limits,
        "printf": { (shell, words) throws(Flow) in
            try Printf.run(shell, words)
        }, "pwd": workingFolder, "read": read, "test": test, "true": { (_, _) throws(Flow) in 0 }, "type": type,
        "umask": mask, "wait": wait,
    ]

    static let names: [String] = (Array(special.keys) + Array(ordinary.keys)).sorted()

    // MARK: Control

    @Sendable private static func leaveLoops(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        guard let count = try rounds(shell, words) else { return 0 }
        throw .leaveLoops(count)
    }

    @Sendable private static func nextRound(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        guard let count = try rounds(shell, words) else { return 0 }
        throw .nextRound(count)
    }

    /// nil outside any loop.
    @Sendable private static func rounds(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int? {
        var count = 1
        if words.count > 1 {
            guard let number = Int(words[1].text), number > 0 else {
                throw try shell.fatal("\(words[0].text): \(shown(words[1])) is no number of loops")
            }
            count = number
        }
        return shell.loops == 0 ? nil : min(count, shell.loops)
    }

    @Sendable private static func status(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        guard words.count > 1 else { return shell.state.status }
        guard !words[1].isEmpty, words[1].allSatisfy(\.isDigit), let number = Int(words[1].text) else {
            throw try shell.fatal("\(words[0].text): \(shown(words[1])) is no status")
        }
        return Int32(truncatingIfNeeded: number & 0xFF)
    }

    @Sendable private static func exit(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        throw .exiting(try status(shell, words))
    }

    @Sendable private static func leaveFunction(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        throw .returning(try status(shell, words))
    }

    @Sendable private static func eval(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        shell.state.status = 0
        shell.depth += 1
        defer { shell.depth -= 1 }
        try shell.run(script: Array(words.dropFirst().joined(separator: [32])))
        return shell.state.status
    }

    @Sendable private static func source(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        guard words.count > 1 else { throw try shell.fatal(".: a file belongs after it") }
        let script: [UInt8]
        do throws(Flow) { script = try shell.contents(of: words[1]) } catch {
            guard case .failed(let what) = error else { throw error }
            throw try shell.fatal(".: \(what)")
        }
        shell.depth += 1
        shell.state.status = 0
        let positional = shell.state.positional
        if words.count > 2 { shell.state.positional = Array(words[2...]) }
        defer {
            shell.depth -= 1
            if words.count > 2 { shell.state.positional = positional }
        }
        do throws(Flow) { try shell.run(script: script) } catch {
            guard case .returning(let status) = error else { throw error }
            return status
        }
        return shell.state.status
    }

    @Sendable private static func exec(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        guard words.count > 1 else { return 0 }
        try shell.run(Array(words.dropFirst()), named: words[1].text, skipsFunctions: true)
        throw .exiting(shell.state.status)
    }

    // MARK: Variables

    @Sendable private static func export(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        try mark(shell, words, list: { $0.isExported }) { $0.isExported = true }
    }

    @Sendable private static func readOnly(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        try mark(shell, words, list: { $0.isReadOnly }) { $0.isReadOnly = true }
    }

    @Sendable private static func mark(
        _ shell: Shell, _ words: [[UInt8]], list: (ShellState.Variable) -> Bool,
        _ change: (inout ShellState.Variable) -> Void
    ) throws(Flow) -> Int32 {
        let names = words.dropFirst().filter { $0 != Array("-p".utf8) && $0 != Array("--".utf8) }
        if names.isEmpty {
            for (name, variable) in shell.state.variables.sorted(by: { $0.key < $1.key }) where list(variable) {
                let value = variable.scalar.map { [61] + quoted($0) } ?? []
                try shell.write(Array("\(words[0].text) \(name)".utf8) + value + [10])
            }
            return 0
        }
        if words.contains(Array("-f".utf8)) { return 0 }
        if words.contains(Array("-n".utf8)) {
            for word in names where word != Array("-n".utf8) { shell.state.variables[word.text]?.isExported = false }
            return 0
        }
        // Among the words only those after the options are names.
        let first = words.indices.dropFirst().first { words[$0].first != 45 } ?? words.count
        try shell.eachDeclared(words, from: first) { (name, assignment) throws(Flow) in
            if let assignment { try shell.assign(assignment) }
            change(&shell.state.variables[name, default: .init()])
        }
        return 0
    }

    @Sendable private static func unset(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        var ofFunctions = false
        for word in words.dropFirst() {
            switch word.text {
            case "-f": ofFunctions = true
            case "-v": ofFunctions = false
            case "-n": break
            case let name where ofFunctions: shell.state.functions[name] = nil
            case let name:
                if let bracket = word.firstIndex(of: 91), word.last == 93, Array(word[..<bracket]).isName {
                    let base = shell.meant(Array(word[..<bracket]).text)
                    let inner = Array(word[(bracket + 1)...].dropLast())
                    if inner == [64] || inner == [42] {
                        try shell.unset(base)
                    } else {
                        let key = try shell.key([.literal(inner)], of: base)
                        shell.state.variables[base]?.array?[key] = nil
                    }
                    continue
                }
                guard word.isName else { throw try shell.fatal("unset: \(shown(word)) is no name of a variable") }
                // What is no variable may be a function.
                if shell.state.variables[name] == nil, shell.state.functions[name] != nil {
                    shell.state.functions[name] = nil
                } else {
                    try shell.unset(name)
                }
            }
        }
        return 0
    }

    @Sendable private static func shift(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        let count = words.count > 1 ? Int(words[1].text) ?? -1 : 1
        guard count >= 0, count <= shell.state.positional.count else {
            throw try shell.fatal("shift: there are \(shell.state.positional.count) parameters")
        }
        shell.state.positional.removeFirst(count)
        return 0
    }

    @Sendable private static func set(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        if words.count == 1 {
            for (name, variable) in shell.state.variables.sorted(by: { $0.key < $1.key }) {
                guard let value = variable.scalar else { continue }
                try shell.write(Array("\(name)=".utf8) + quoted(value) + [10])
            }
            return 0
        }
        var rest = words.dropFirst()
        while let word = rest.first, let sign = word.first, sign == 45 || sign == 43, word.count > 1 {
            rest.removeFirst()
            if word == [45, 45] {
                shell.state.positional = Array(rest)
                return 0
            }
            for letter in word.dropFirst() {
                if letter == 111 {
                    guard let name = rest.popFirst() else { return try listOptions(shell) }
                    try setOption(shell, name.text, sign == 45)
                } else {
                    guard optionNames.values.contains(letter) else {
                        throw try shell.fatal("set: there is no option \([sign, letter].text)")
                    }
                    if sign == 45 {
                        shell.state.options.letters.insert(letter)
                    } else {
                        shell.state.options.letters.remove(letter)
                    }
                }
            }
        }
        if !rest.isEmpty { shell.state.positional = Array(rest) }
        return 0
    }

    static let optionNames: [String: UInt8] = [
        "allexport": 97, "errexit": 101, "noclobber": 67, "noglob": 102, "nounset": 117, "verbose": 118, "xtrace": 120,
        "monitor": 109, "notify": 98, "noexec": 110, "hashall": 104, "errtrace": 69, "functrace": 84, "physical": 80,
        "braceexpand": 66,
    ]

    static func setOption(_ shell: Shell, _ name: String, _ isOn: Bool) throws(Flow) {
        if name == "pipefail" {
            shell.state.options.pipeFail = isOn
        } else if let letter = optionNames[name] {
            if isOn { shell.state.options.letters.insert(letter) } else { shell.state.options.letters.remove(letter) }
        } else {
            let hint = didYouMean(name, among: Array(optionNames.keys) + ["pipefail"]).map { " " + $0 } ?? ""
            throw try shell.fatal("set: there is no option \(name).\(hint)")
        }
    }

    @Sendable private static func listOptions(_ shell: Shell) throws(Flow) -> Int32 {
        for name in (Array(optionNames.keys) + ["pipefail"]).sorted() {
            let isOn = optionNames[name].map(shell.state.options.letters.contains) ?? shell.state.options.pipeFail
            try shell.write(Array("\(name) \(isOn ? "on" : "off")\n".utf8))
        }
        return 0
    }

    @Sendable private static func trap(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        var rest = Array(words.dropFirst())
        if rest.first == [45, 45] { rest.removeFirst() }
        if rest.isEmpty {
            for (name, action) in shell.state.traps.sorted(by: { $0.key < $1.key }) {
                try shell.write(Array("trap -- ".utf8) + quoted(action) + Array(" \(name)\n".utf8))
            }
            return 0
        }
        var action: [UInt8]?
        if rest.count > 1, !rest[0].allSatisfy(\.isDigit) || rest[0].isEmpty {
            let first = rest.removeFirst()
            if first != [45] { action = first }
        }
        for word in rest {
            var name = word.text
            if name.hasPrefix("SIG") { name = String(name.dropFirst(3)) }
            name =
                ["0": "EXIT", "1": "HUP", "2": "INT", "3": "QUIT", "9": "KILL", "13": "PIPE", "15": "TERM"][name]
                ?? name
            guard signals.contains(name) else { throw try shell.fatal("trap: there is no signal \(shown(word))") }
            shell.state.traps[name] = action
        }
        return 0
    }

    private static let signals: Set<String> = [
        "EXIT", "HUP", "INT", "QUIT", "KILL", "PIPE", "TERM", "ALRM", "USR1", "USR2", "CHLD", "CONT", "STOP", "TSTP",
        "ERR", "DEBUG", "RETURN", "WINCH", "TTIN", "TTOU",
    ]

    @Sendable private static func times(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        let seconds = Double(clock()) / Double(CLOCKS_PER_SEC)
        let text = "\(Int(seconds) / 60)m\(Double(Int(seconds.truncatingRemainder(dividingBy: 60) * 100)) / 100)s"
        try shell.write(Array("\(text) 0m0.0s\n0m0.0s 0m0.0s\n".utf8))
        return 0
    }

    /// Fit to be read again by the shell.
    static func quoted(_ value: [UInt8]) -> [UInt8] {
        var out: [UInt8] = [39]
        for byte in value { out += byte == 39 ? [39, 92, 39, 39] : [byte] }
        return out + [39]
    }
}

extension Shell {
    func write(_ bytes: [UInt8]) throws(Flow) {
        guard let sink = state.files[1]?.sink else { throw .failed("the standard output is closed") }
        try sink.write(bytes)
    }

    /// A whole file, for `.` and `alcove sh FILE`.
    func contents(of path: [UInt8]) throws(Flow) -> [UInt8] {
        guard let source = try open(path, for: .reading).source else { return [] }
        var all: [UInt8] = []
        while true {
            let piece = try source.read(1 << 18, isLine: false)
            if piece.isEmpty { return all }
            all += piece
            if all.count > Shell.longestValue {
                throw .failed("\(shown(path)): a script may have \(Shell.longestValue) bytes")
            }
        }
    }
}
