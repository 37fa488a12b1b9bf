internal import AlcoveCore

extension Builtins {
    /// `declare`, `typeset` and `local`.
    @Sendable static func declare(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        var letters: Set<Character> = []
        var removed: Set<Character> = []
        var start = 1
        while start < words.count, let sign = words[start].first, sign == 45 || sign == 43, words[start].count > 1,
            shell.declared[start] == nil
        {
            if words[start] == [45, 45] {
                start += 1
                break
            }
            for letter in words[start].dropFirst() {
                let letter = Character(Unicode.Scalar(letter))
                guard "aAilurxgpfFnt".contains(letter) else {
                    throw .failed("there is no option -\(letter). It has: -a -A -f -F -g -i -l -n -p -r -u -x")
                }
                if sign == 45 { letters.insert(letter) } else { removed.insert(letter) }
            }
            start += 1
        }
        let isLocal = words[0].text == "local"
        if isLocal, shell.locals.isEmpty { throw try shell.fatal("local: works only in a function") }
        if letters.contains("f") || letters.contains("F") { return try functions(shell, words, start, letters) }
        if letters.contains("p") || start == words.count { return try list(shell, words, start) }
        try shell.eachDeclared(words, from: start) { (name, assignment) throws(Flow) in
            if !shell.locals.isEmpty, !letters.contains("g") { makeLocal(shell, name) }
            try prepare(shell, name, letters, removed)
            if letters.contains("n"), let assignment, case .word(let word) = assignment.value {
                shell.state.variables[name, default: .init()].refersTo = try shell.text(word).text
            } else if let assignment {
                try shell.assign(assignment)
            }
            if letters.contains("r") { shell.state.variables[name, default: .init()].isReadOnly = true }
        }
        return 0
    }

    private static func makeLocal(_ shell: Shell, _ name: String) {
        let last = shell.locals.count - 1
        guard !shell.locals[last].contains(where: { $0.name == name }) else { return }
        shell.locals[last].append((name, shell.state.variables[name]))
        // What was outside is seen until it is set; its kind is not taken over.
        if shell.state.variables[name]?.array != nil { shell.state.variables[name] = nil }
    }

    private static func prepare(
        _ shell: Shell, _ name: String, _ letters: Set<Character>, _ removed: Set<Character>
    ) throws(Flow) {
        var variable = shell.state.variables[name] ?? .init()
        if letters.contains("A") || letters.contains("a") {
            let isNamed = letters.contains("A")
            if variable.array == nil || variable.array?.isNamed != isNamed {
                if variable.array != nil, isNamed {
                    throw .failed("\(name): an array by numbers does not become one by names")
                }
                var array = ShellArray(isNamed: isNamed)
                if let value = variable.value { array[ShellArray.first] = value }
                variable.array = array
                variable.value = nil
            }
        }
        if letters.contains("i") { variable.isNumber = true }
        if letters.contains("x") { variable.isExported = true }
        if letters.contains("l") { variable.letters = 108 }
        if letters.contains("u") { variable.letters = 117 }
        if removed.contains("i") { variable.isNumber = false }
        if removed.contains("x") { variable.isExported = false }
        if removed.contains("l") || removed.contains("u") { variable.letters = nil }
        shell.state.variables[name] = variable
    }

    private static func functions(
        _ shell: Shell, _ words: [[UInt8]], _ start: Int, _ letters: Set<Character>
    ) throws(Flow) -> Int32 {
        let names = words.dropFirst(start).map(\.text)
        var status: Int32 = 0
        for name in names.isEmpty ? shell.state.functions.keys.sorted() : Array(names) {
            guard shell.state.functions[name] != nil else {
                status = 1
                continue
            }
            try shell.write(Array("\(letters.contains("F") && names.isEmpty ? "declare -f " : "")\(name)\n".utf8))
        }
        return status
    }

    private static func list(_ shell: Shell, _ words: [[UInt8]], _ start: Int) throws(Flow) -> Int32 {
        let names = words.dropFirst(start).map(\.text)
        var status: Int32 = 0
        for name in names.isEmpty ? shell.state.variables.keys.sorted() : Array(names) {
            guard let variable = shell.state.variables[name] else {
                try shell.complain("\(name): there is no such variable")
                status = 1
                continue
            }
            var flags = ""
            if let array = variable.array { flags += array.isNamed ? "A" : "a" }
            if variable.isNumber { flags += "i" }
            if variable.isReadOnly { flags += "r" }
            if variable.isExported { flags += "x" }
            var line = Array("declare -\(flags.isEmpty ? "-" : flags) \(name)".utf8)
            if let array = variable.array {
                line += Array("=(".utf8)
                for (index, key) in array.keys.enumerated() {
                    if index > 0 { line.append(32) }
                    line += [91] + key + Array("]=".utf8) + doubleQuoted(array[key] ?? [])
                }
                if array.isNamed, array.count > 0 { line.append(32) }
                line.append(41)
            } else if let value = variable.value {
                line += [61] + doubleQuoted(value)
            }
            try shell.write(line + [10])
        }
        return status
    }

    private static func doubleQuoted(_ value: [UInt8]) -> [UInt8] {
        var out: [UInt8] = [34]
        for byte in value {
            if [34, 36, 92, 96].contains(byte) { out.append(92) }
            out.append(byte)
        }
        return out + [34]
    }

    @Sendable static func calculate(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        guard words.count > 1 else { throw .failed("an expression belongs after it") }
        var value: Int64 = 0
        for word in words.dropFirst() { value = try shell.calculate(word) }
        return value == 0 ? 1 : 0
    }

    /// Switches that change something here; others that scripts set are taken and mean what is done anyway.
    private static let shoptNames: Set<String> = [
        "nullglob", "dotglob", "nocaseglob", "nocasematch", "extglob", "globstar", "failglob", "lastpipe",
        "inherit_errexit", "expand_aliases", "checkwinsize", "cmdhist", "histappend", "sourcepath", "xpg_echo",
    ]

    @Sendable static func shopt(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        var isOn: Bool?
        var isQuiet = false
        var isSet = false
        var status: Int32 = 0
        for word in words.dropFirst() {
            switch word.text {
            case "-s": isOn = true
            case "-u": isOn = false
            case "-q": isQuiet = true
            case "-o": isSet = true
            case "-p": break
            case let name where isSet: if let isOn { try setOption(shell, name, isOn) }
            case let name:
                guard shoptNames.contains(name) else {
                    let hint = didYouMean(name, among: Array(shoptNames)).map { " " + $0 } ?? ""
                    throw .failed("there is no switch \(shown(word)).\(hint)")
                }
                if let isOn {
                    if isOn { shell.state.options.shopt.insert(name) } else { shell.state.options.shopt.remove(name) }
                } else {
                    let has = shell.state.options.shopt.contains(name)
                    if !has { status = 1 }
                    if !isQuiet { try shell.write(Array("\(name)\t\(has ? "on" : "off")\n".utf8)) }
                }
            }
        }
        return status
    }

    @Sendable static func builtin(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        guard words.count > 1 else { return 0 }
        let name = words[1].text
        guard let found = ordinary[name] ?? special[name] else {
            throw .failed("\(shown(words[1])): this is not a command of the shell itself")
        }
        return try found(shell, Array(words.dropFirst()))
    }

    @Sendable static func limits(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        if words.count < 3, !words.dropFirst().contains(where: { $0.first?.isDigit == true }) {
            try shell.write(Array("unlimited\n".utf8))
        }
        return 0
    }

    // MARK: Jobs

    @Sendable static func jobs(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        let onlyNumbers = words.contains(Array("-p".utf8))
        for (index, job) in shell.state.jobs.enumerated() {
            let what = job.status.map { $0 == 0 ? "Done" : "Exit \($0)" } ?? "Running"
            try shell.write(Array((onlyNumbers ? "\(job.number)\n" : "[\(index + 1)]  \(what)  \(job.number)\n").utf8))
        }
        return 0
    }

    /// Signals are for the jobs of this shell; there is nobody else.
    @Sendable static func kill(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        var rest = words.dropFirst()
        var isQuestion = false
        if let first = rest.first, first.first == 45, first.count > 1 {
            rest.removeFirst()
            if first == Array("-l".utf8) {
                try shell.write(Array("HUP INT QUIT KILL TERM\n".utf8))
                return 0
            }
            if first == Array("-s".utf8) || first == Array("-n".utf8) { isQuestion = rest.popFirst() == [48] }
            if first == Array("-0".utf8) { isQuestion = true }
        }
        guard !rest.isEmpty else { throw .failed("the number of a job belongs after it, as in kill $!") }
        var status: Int32 = 0
        for word in rest {
            let text = word.text
            var job = shell.state.jobs.first { "\($0.number)" == text }
            if text.hasPrefix("%"), let place = Int(text.dropFirst()), place > 0, place <= shell.state.jobs.count {
                job = shell.state.jobs[place - 1]
            }
            guard let job, !(isQuestion && job.status != nil) else {
                try shell.complain("\(shown(word)): there is no such job")
                status = 1
                continue
            }
            if !isQuestion { job.stop() }
        }
        return status
    }

    // MARK: Folders

    private static func showFolders(_ shell: Shell) throws(Flow) -> Int32 {
        let all = [shell.state.folder] + shell.state.folderStack.reversed()
        try shell.write(Array((all.joined(separator: " ") + "\n").utf8))
        return 0
    }

    @Sendable static func folders(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        if words.contains(Array("-c".utf8)) {
            shell.state.folderStack = []
            return 0
        }
        return try showFolders(shell)
    }

    @Sendable static func enterFolder(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        let old = shell.state.folder
        let target = words.count > 1 ? words[1] : shell.state.folderStack.popLast().map { Array($0.utf8) }
        guard let target else { throw .failed("there is no other folder to change with") }
        let status = try changeFolder(shell, [Array("cd".utf8), target])
        guard status == 0 else { return status }
        shell.state.folderStack.append(old)
        return try showFolders(shell)
    }

    @Sendable static func leaveFolder(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        guard let folder = shell.state.folderStack.popLast() else { throw .failed("the stack of folders is empty") }
        let status = try changeFolder(shell, [Array("cd".utf8), Array(folder.utf8)])
        return status == 0 ? try showFolders(shell) : status
    }
}
