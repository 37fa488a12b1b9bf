internal import AlcoveCore

extension Shell {
    func run(_ command: SimpleCommand) throws(Flow) {
        line = command.line
        substitutionStatus = 0
        let words = try fields(command.words)
        guard let first = words.first else { return try assign(command) }
        if state.options.has("x") { try trace(words) }
        try run(words, named: first.text, command.redirections, command.assignments)
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
            let value = try text(assignment.value, isAssignment: true)
            try set(assignment.name, value)
            if state.options.has("x") { try trace([Array((assignment.name + "=").utf8) + value]) }
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
            let value = try text(assignment.value, isAssignment: true)
            if !isSpecial { old.append((assignment.name, state.variables[assignment.name])) }
            try set(assignment.name, value)
            if !isSpecial { state.variables[assignment.name]?.isExported = true }
        }
        defer { for (name, variable) in old.reversed() { state.variables[name] = variable } }

        if let builtin = Builtins.special[name] {
            if name == "exec", words.count == 1 { keepsFiles = true }
            state.status = try builtin(self, words)
        } else if !skipsFunctions, let body = state.functions[name] {
            try call(body, Array(words.dropFirst()))
        } else if let builtin = Builtins.ordinary[name] {
            state.status = try perform(name) { (shell) throws(Flow) in try builtin(shell, words) }
        } else if let utility = Utilities.all[Shell.baseName(name)] {
            state.status = try perform(Shell.baseName(name)) { (shell) throws(Flow) in
                try utility(UtilityCall(shell: shell, words: words))
            }
        } else {
            state.status = 127
            try complain(MissingCommand.sentence(name, functions: Array(state.functions.keys)))
        }
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

    private func call(_ body: Command, _ arguments: [[UInt8]]) throws(Flow) {
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
