internal import AlcoveCore
internal import AlcoveSandbox

/// One shell: the main one, or a subshell with a copy of its state. Stays on its thread.
final class Shell {
    /// Virtual memory of a thread; what is not touched costs nothing.
    static let stackBytes = 64 << 20
    /// Commands, functions and substitutions within one another.
    static let deepest = 1000
    /// Bytes a substitution or a variable may have.
    static let longestValue = 64 << 20

    var state: ShellState
    let control: RunControl
    let paths: ConfinedPaths
    /// Of the command that runs.
    var line = 1
    var depth = 0
    var loops = 0
    var functions = 0
    /// Above zero where a failure is looked at, so that `set -e` does not end the shell.
    var tested = 0
    /// Values to put back at the end of a function, for each function that runs.
    var locals: [[(name: String, old: ShellState.Variable?)]] = []
    /// Of the last substitution in the command, which is its status when it has no name.
    var substitutionStatus: Int32 = 0
    var isSubshell = false
    var running: String?

    init(state: ShellState, control: RunControl, paths: ConfinedPaths) {
        self.state = state
        self.control = control
        self.paths = paths
    }

    /// A copy for `( )`, `$( )`, a stage of a pipeline or `&`.
    func subshell() -> Shell {
        let copy = Shell(state: state, control: control, paths: paths)
        copy.line = line
        copy.depth = depth
        copy.tested = tested
        copy.functions = functions
        copy.locals = functions > 0 ? [[]] : []
        copy.isSubshell = true
        // Ignored signals stay ignored; what was caught is not the copy's to catch.
        copy.state.traps = state.traps.filter { $0.value.isEmpty }
        copy.state.jobs = []
        return copy
    }

    /// Paths as this shell's folder has them.
    var here: ConfinedPaths {
        var paths = paths
        paths.folder = state.folder
        return paths
    }

    // MARK: Saying

    func complain(_ what: String) throws(Flow) {
        try state.files[2]?.sink?.write(
            Array("\(state.name.text): line \(line): \(running.map { $0 + ": " } ?? "")\(what)\n".utf8))
    }

    /// Says it and ends the shell, as faults of expansion and of special built-in commands do.
    func fatal(_ what: String) throws(Flow) -> Flow {
        try complain(what)
        return .exiting(2)
    }

    // MARK: Variables

    func value(_ name: String) -> [UInt8]? { state.variables[name]?.value }

    func set(_ name: String, _ value: [UInt8]) throws(Flow) {
        if state.variables[name]?.isReadOnly == true { throw try fatal("\(name): is read only") }
        if value.count > Shell.longestValue {
            throw try fatal("\(name): a value may have \(Shell.longestValue) bytes, not \(value.count)")
        }
        if name == "OPTIND" { state.optionOffset = 0 }
        state.variables[name, default: .init()].value = value
        if state.options.has("a") { state.variables[name]?.isExported = true }
    }

    func set(_ name: String, text: String) throws(Flow) { try set(name, Array(text.utf8)) }

    func unset(_ name: String) throws(Flow) {
        if state.variables[name]?.isReadOnly == true { throw try fatal("\(name): is read only") }
        state.variables[name] = nil
    }

    var separators: [UInt8] { state.variables["IFS"].map { $0.value ?? [32, 9, 10] } ?? [32, 9, 10] }

    // MARK: Running text

    /// Runs a script command by command; a fault in it is found after what stands before it has run.
    func run(script: [UInt8]) throws(Flow) {
        var parser = ScriptParser(script)
        while true {
            let list: CommandList?
            do throws(SyntaxError) { list = try parser.next() } catch {
                try say(error)
                throw .exiting(2)
            }
            guard let list else { return }
            try run(list)
        }
    }

    private func say(_ error: SyntaxError) throws(Flow) {
        try state.files[2]?.sink?.write(
            Array("\(state.name.text): \(error.sentence)\n".utf8))
        state.status = 2
    }

    /// Runs what a shell is for, then what it has for its exit. Never throws: this is the end.
    ///
    /// - Returns: the status, and whether the whole run is to end.
    func finish(_ body: (Shell) throws(Flow) -> Void) -> Int32 {
        var status = outcome(body)
        if let action = state.traps["EXIT"], !action.isEmpty, !control.isStopped {
            state.traps["EXIT"] = nil
            let kept = status
            state.status = status
            status = outcome { (shell) throws(Flow) in
                try shell.run(script: action)
                shell.state.status = kept
            }
        }
        state.files = [:]
        return status
    }

    private func outcome(_ body: (Shell) throws(Flow) -> Void) -> Int32 {
        do throws(Flow) {
            try body(self)
            return state.status
        } catch {
            switch error {
            case .exiting(let code), .returning(let code): return code
            case .unread: return 141
            case .stopped: return 143
            case .leaveLoops, .nextRound: return state.status
            case .failed(let what):
                try? complain(what)
                return 2
            }
        }
    }
}
