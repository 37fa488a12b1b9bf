package import AlcoveCore
package import AlcoveSandbox
internal import Synchronization

/// Runs scripts in this process: a POSIX shell with its utilities, on threads, with no child process.
///
/// Everything a script opens goes through `ConfinedPaths`. This is the whole public API of the module beside the parser.
package struct ShellSession: Sendable {
    package enum Input: Sendable {
        case bytes([UInt8])
        /// The descriptors 0, 1 and 2 of this process, for `alcove sh`.
        case host
    }

    /// What is run: `$0` and the positional parameters with it.
    package struct Program: Sendable {
        package var script: [UInt8]
        package var name: String
        package var arguments: [[UInt8]]
        /// Letters as `set` has them.
        package var options: [UInt8] = []

        package init(script: [UInt8], name: String = "sh", arguments: [[UInt8]] = []) {
            self.script = script
            self.name = name
            self.arguments = arguments
        }
    }

    private let paths: ConfinedPaths
    private let environment: [String: String]
    private let limits: CommandLimits
    private let scripts: ScriptUse?

    /// - Parameter scripts: Who runs `python3` and `node`; without, they are not there.
    package init(
        paths: ConfinedPaths, environment: [String: String] = [:], limits: CommandLimits = CommandLimits(),
        scripts: ScriptUse? = nil
    ) {
        var paths = paths
        paths.names = .any
        self.paths = paths
        self.environment = environment
        self.limits = limits
        self.scripts = scripts
    }

    /// Runs a program to its end on this thread's watch: it blocks until every thread of the run is gone.
    ///
    /// Commands left running with `&` end with the script, as they do in a sandbox whose first process ends.
    package func run(
        _ program: Program, input: Input, stop: StopSignal = StopSignal(),
        output: @escaping @Sendable (CommandOutput) -> Void
    ) throws(SandboxError) -> CommandResult {
        let start = Platform.monotonicNanoseconds
        let control = RunControl(limits, scripts: scripts)
        let counter = OutputCounter(limit: limits.outputBytes, pass: output)
        var state = ShellState(folder: ConfinedPaths.workspaceName)
        state.name = Array(program.name.utf8)
        state.positional = program.arguments
        state.options.letters = Set(program.options)
        for (name, value) in environment {
            state.variables[name] = .init(value: Array(value.utf8), isExported: true)
        }
        state.variables["PWD"] = .init(value: Array(ConfinedPaths.workspaceName.utf8), isExported: true)
        state.variables["OPTIND"] = .init(value: [49])
        if state.variables["PATH"] == nil {
            state.variables["PATH"] = .init(value: Array("/usr/bin:/bin".utf8), isExported: true)
        }
        if state.variables["HOME"] == nil {
            state.variables["HOME"] = .init(value: Array(ConfinedPaths.workspaceName.utf8), isExported: true)
        }
        switch input {
        case .bytes(let bytes):
            state.files[0] = OpenFile(source: StoredInput(bytes))
            state.files[1] = OpenFile(sink: PassedOutput { counter.add(.standardOutput($0)) })
            state.files[2] = OpenFile(sink: PassedOutput { counter.add(.standardError($0)) })
        case .host:
            for number in 0...2 {
                let stream = HostStream(Int32(number), control)
                state.files[number] = OpenFile(
                    source: number == 0 ? stream : nil, sink: number == 0 ? nil : stream,
                    isTerminal: isatty(Int32(number)) == 1)
            }
        }
        let job = Job(number: 0)
        let first = FirstState(state)
        let paths = paths
        let hasStarted = control.start {
            guard let state = first.take() else { return }
            let shell = Shell(state: state, control: control, paths: paths)
            control.finish(job, shell.finish { (shell) throws(Flow) in try shell.run(script: program.script) })
        }
        guard hasStarted else { throw .noResources(cause: "the system has no thread to give") }
        stop.whenSet { control.stop() }
        let ended = control.wait(for: job, seconds: limits.seconds)
        control.stop()
        control.waitForThreads()
        let seconds = Double(Platform.monotonicNanoseconds - start) / 1e9
        let end: CommandResult.End =
            control.hasGivenUp ? .exited(2) : ended.map { .exited($0) } ?? (stop.isSet ? .stopped : .timedOut)
        return CommandResult(
            end: stop.isSet ? .stopped : end, seconds: seconds, outputBytes: counter.total)
    }
}

/// Hands the first state to the thread that will own it.
///
/// Unchecked: made here, taken once there, never shared.
private final class FirstState: @unchecked Sendable {
    private var state: ShellState?
    init(_ state: ShellState) { self.state = state }
    func take() -> ShellState? {
        defer { state = nil }
        return state
    }
}

/// Passes output on in order, one piece at a time, and drops what is too much.
private final class OutputCounter: Sendable {
    private let limit: Int
    private let pass: @Sendable (CommandOutput) -> Void
    private let count = Mutex(0)

    init(limit: Int, pass: @escaping @Sendable (CommandOutput) -> Void) {
        self.limit = limit
        self.pass = pass
    }

    var total: Int { count.withLock { $0 } }

    func add(_ output: CommandOutput) {
        count.withLock { count in
            let bytes: [UInt8]
            switch output {
            case .standardOutput(let piece), .standardError(let piece): bytes = piece
            }
            let room = limit - count
            count += bytes.count
            guard room > 0 else { return }
            if bytes.count <= room { return pass(output) }
            let kept = Array(bytes[..<room])
            if case .standardOutput = output { pass(.standardOutput(kept)) } else { pass(.standardError(kept)) }
        }
    }
}

/// What the shell knows, for pages that list it.
package enum ShellNames {
    package static var builtins: [String] { Builtins.names }
    package static var utilities: [String] { Utilities.names }
}
