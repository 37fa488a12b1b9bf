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
    var isInTrap = false
    var running: String?
    /// Assignments among the words of the command that runs, by the place of the word.
    var declared: [Int: SimpleCommand.Assignment] = [:]
    /// Descriptors made for `<(...)` and `>(...)`, closed after the command; jobs that are then waited for.
    var processFiles: [Int] = []
    var processJobs: [Job] = []

    init(state: ShellState, control: RunControl, paths: ConfinedPaths) {
        self.state = state
        self.control = control
        self.paths = paths
    }

    /// A copy for `( )`, `$( )`, a stage of a pipeline or `&`.
    ///
    /// - Parameter own: What stops it, when that is not what stops this shell.
    func subshell(under own: RunControl? = nil) -> Shell {
        let copy = Shell(state: state, control: own ?? control, paths: paths)
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

    func value(_ name: String) -> [UInt8]? { state.variables[meant(name)]?.scalar }

    /// The variable a name means: itself, or what `declare -n` made it stand for.
    func meant(_ name: String) -> String {
        var name = name
        for _ in 0..<10 {
            guard let other = state.variables[name]?.refersTo else { return name }
            name = other
        }
        return name
    }

    func set(_ name: String, _ value: [UInt8]) throws(Flow) { try set(name, key: nil, value) }

    func set(_ name: String, text: String) throws(Flow) { try set(name, Array(text.utf8)) }

    /// Gives a variable or an element of it a value; an array without a key means its first.
    func set(_ given: String, key: [UInt8]?, _ value: [UInt8]) throws(Flow) {
        let name = meant(given)
        if state.variables[name]?.isReadOnly == true { throw try fatal("\(name): is read only") }
        if value.count > Shell.longestValue {
            throw try fatal("\(name): a value may have \(Shell.longestValue) bytes, not \(value.count)")
        }
        var value = value
        if let variable = state.variables[name] {
            if variable.isNumber { value = Array("\(try calculate(value))".utf8) }
            if let letters = variable.letters {
                value = Array((letters == 108 ? value.text.lowercased() : value.text.uppercased()).utf8)
            }
        }
        switch name {
        case "OPTIND": state.optionOffset = 0
        case "RANDOM": state.random = UInt64(bitPattern: Int64(value.text) ?? 0)
        case "SECONDS":
            let seconds = UInt64(max(0, Int(value.text) ?? 0))
            state.started = Platform.monotonicNanoseconds &- seconds &* 1_000_000_000
        default: break
        }
        if state.variables[name, default: .init()].array != nil || key != nil {
            if state.variables[name, default: .init()].array == nil {
                var array = ShellArray(isNamed: false)
                if let old = state.variables[name]?.value { array[ShellArray.first] = old }
                state.variables[name, default: .init()].array = array
                state.variables[name]?.value = nil
            }
            state.variables[name]?.array?[key ?? ShellArray.first] = value
        } else {
            state.variables[name, default: .init()].value = value
        }
        if state.options.has("a") { state.variables[name]?.isExported = true }
    }

    func unset(_ given: String) throws(Flow) {
        let name = meant(given)
        if state.variables[name]?.isReadOnly == true { throw try fatal("\(name): is read only") }
        state.variables[name] = nil
    }

    var separators: [UInt8] { state.variables["IFS"].map { $0.scalar ?? [32, 9, 10] } ?? [32, 9, 10] }

    // MARK: Running text

    /// Runs a script command by command; a fault in it is found after what stands before it has run.
    func run(script: [UInt8], from first: Int = 1) throws(Flow) {
        var parser = ScriptParser(script, line: first)
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
