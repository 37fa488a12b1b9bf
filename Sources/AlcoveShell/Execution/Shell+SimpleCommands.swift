internal import AlcoveCore
internal import AlcoveSandbox

extension Shell {
    func run(_ command: SimpleCommand) throws(Flow) {
        line = command.line
        substitutionStatus = 0
        let outerFiles = (processFiles, processJobs)
        (processFiles, processJobs) = ([], [])
        defer { closeProcesses(outerFiles) }
        var words: [[UInt8]] = []
        var declared: [Int: SimpleCommand.Assignment] = [:]
        if command.words.contains(where: { !$0.declared.isEmpty }) {
            for word in command.words {
                if let assignment = word.declared.first {
                    declared[words.count] = assignment
                    words.append(Array(assignment.name.utf8))
                } else {
                    words += try fields([word])
                }
            }
        } else {
            words = try fields(command.words)
        }
        guard let first = words.first else { return try assign(command) }
        if state.options.has("x") { try trace(words) }
        let outer = self.declared
        self.declared = declared
        defer { self.declared = outer }
        try run(words, named: first.text, command.redirections, command.assignments)
        try waitForProcesses()
    }

    /// Output that goes into `>(...)` is there when the command is done.
    private func waitForProcesses() throws(Flow) {
        guard !processFiles.isEmpty else { return }
        for number in processFiles { state.files[number] = nil }
        processFiles = []
        for job in processJobs { _ = try control.wait(for: job) }
        processJobs = []
    }

    private func closeProcesses(_ outer: ([Int], [Job])) {
        for number in processFiles { state.files[number] = nil }
        (processFiles, processJobs) = outer
    }

    private func trace(_ words: [[UInt8]]) throws(Flow) {
        let prefix = value("PS4") ?? Array("+ ".utf8)
        try state.files[2]?.sink?.write(prefix + words.joined(separator: [32]) + [10])
    }

    /// Assignments and redirections by themselves.
    private func assign(_ command: SimpleCommand) throws(Flow) {
        let files = state.files
        defer { state.files = files }
        guard try redirect(command.redirections) else {
            state.status = 2
            return
        }
        for assignment in command.assignments {
            try assign(assignment)
            if state.options.has("x") {
                try trace([
                    Array((assignment.name + "=").utf8) + (state.variables[meant(assignment.name)]?.scalar ?? [])
                ])
            }
        }
        state.status = substitutionStatus
    }

    /// Runs a command whose words are known.
    ///
    /// - Parameter skipsFunctions: As `command` asks.
    func run(
        _ words: [[UInt8]], named name: String, _ redirections: [Redirection] = [],
        _ assignments: [SimpleCommand.Assignment] = [], skipsFunctions: Bool = false
    ) throws(Flow) {
        let isSpecial = Builtins.special[name] != nil && !skipsFunctions
        let files = state.files
        var keepsFiles = false
        defer { if !keepsFiles { state.files = files } }
        guard try redirect(redirections) else {
            state.status = 2
            if isSpecial { throw .exiting(2) }
            return
        }
        var old: [(String, ShellState.Variable?)] = []
        for assignment in assignments {
            if !isSpecial { old.append((assignment.name, state.variables[assignment.name])) }
            try assign(assignment)
            if !isSpecial { state.variables[assignment.name]?.isExported = true }
        }
        defer { for (name, variable) in old.reversed() { state.variables[name] = variable } }

        if let builtin = Builtins.special[name] {
            if name == "exec", words.count == 1 { keepsFiles = true }
            state.status = try builtin(self, words)
        } else if !skipsFunctions, let body = state.functions[name] {
            try call(body, named: name, Array(words.dropFirst()))
        } else if let builtin = Builtins.ordinary[name] {
            state.status = try perform(name) { (shell) throws(Flow) in try builtin(shell, words) }
        } else if let utility = Utilities.all[Shell.baseName(name)] {
            state.status = try perform(Shell.baseName(name)) { (shell) throws(Flow) in
                try utility(UtilityCall(shell: shell, words: words))
            }
        } else if name.contains("/"), let reader = try interpreter(of: words[0]), let utility = Utilities.all[reader] {
            let copy = [Array(reader.utf8)] + words
            state.status = try perform(reader) { (shell) throws(Flow) in
                try utility(UtilityCall(shell: shell, words: copy))
            }
        } else {
            state.status = 127
            try complain(MissingCommand.sentence(name, functions: Array(state.functions.keys)))
        }
    }

    /// What reads the script a path means: it says so in its first line, or is executable text for a shell.
    private func interpreter(of path: [UInt8]) throws(Flow) -> String? {
        guard let name = try? name(path), let entry = try? here.stat(name), entry.kind == .file else { return nil }
        guard let start = try? here.openForReading(name),
            let text = try? FileStream(start, control).read(100, isLine: true)
        else { return nil }
        if text.starts(with: [35, 33]) {
            let line = text.text
            func names(_ program: String) -> Bool { line.contains("/" + program) || line.contains(" " + program) }
            if names("python") { return "python3" }
            if names("node") { return "node" }
            return ["sh", "bash", "dash", "ash", "zsh"].contains(where: names) ? "sh" : nil
        }
        return entry.isExecutable && !text.contains(0) ? "sh" : nil
    }

    /// The name a system would have it under: `/bin/ls` is `ls` here.
    static func baseName(_ name: String) -> String {
        for folder in ["/bin/", "/usr/bin/"] where name.hasPrefix(folder) {
            return String(name.dropFirst(folder.count))
        }
        return name
    }

    /// A command that is no special one: its faults are its own, and nobody's reading ends it as SIGPIPE would.
    private func perform(_ name: String, _ body: (Shell) throws(Flow) -> Int32) throws(Flow) -> Int32 {
        let outer = running
        running = name
        defer { running = outer }
        do throws(Flow) { return try body(self) } catch {
            guard case .failed(let what) = error else { throw error }
            try complain(what)
            return 1
        }
    }

    private func call(_ body: Command, named name: String, _ arguments: [[UInt8]]) throws(Flow) {
        state.calls.append(name)
        defer { state.calls.removeLast() }
        let positional = state.positional
        let outerLoops = loops
        let option = (state.variables["OPTIND"], state.optionOffset)
        state.positional = arguments
        loops = 0
        functions += 1
        locals.append([])
        defer {
            for (name, old) in (locals.popLast() ?? []).reversed() { state.variables[name] = old }
            state.positional = positional
            loops = outerLoops
            functions -= 1
            state.optionOffset = option.1
        }
        do throws(Flow) { try run(body) } catch {
            guard case .returning(let status) = error else { throw error }
            state.status = status
        }
    }
}
