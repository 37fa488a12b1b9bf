internal import AlcoveCore

extension Shell {
    func run(_ list: CommandList) throws(Flow) {
        for item in list.items {
            if item.isBackground {
                try startJob(item.chain)
            } else {
                try run(item.chain)
            }
        }
    }

    private func run(_ chain: CommandChain) throws(Flow) {
        try control.check()
        try run(chain.first, isTested: !chain.rest.isEmpty)
        for (index, (link, pipeline)) in chain.rest.enumerated() where (link == .and) == (state.status == 0) {
            try run(pipeline, isTested: index < chain.rest.count - 1)
        }
    }

    private func run(_ pipeline: Pipeline, isTested: Bool) throws(Flow) {
        guard pipeline.isTimed else { return try runStages(of: pipeline, isTested: isTested) }
        let start = Platform.monotonicNanoseconds
        try runStages(of: pipeline, isTested: isTested)
        try state.files[2]?.sink?.write(Shell.times(since: start))
    }

    /// As `time` writes it; what the threads computed is not told apart from what others did.
    static func times(since start: UInt64) -> [UInt8] {
        let seconds = Double(Platform.monotonicNanoseconds - start) / 1e9
        let real = AwkNumber.printed("%.3fs", seconds.truncatingRemainder(dividingBy: 60)).text
        return Array("\nreal\t\(Int(seconds) / 60)m\(real)\nuser\t0m0.000s\nsys\t0m0.000s\n".utf8)
    }

    private func runStages(of pipeline: Pipeline, isTested: Bool) throws(Flow) {
        if isTested || pipeline.isNegated { tested += 1 }
        defer { if isTested || pipeline.isNegated { tested -= 1 } }
        if pipeline.commands.count == 1 {
            try run(pipeline.commands[0])
            state.stageStatuses = [state.status]
        } else {
            try runStages(pipeline.commands)
            if !pipeline.isNegated { try leaveAfterFailure() }
        }
        if pipeline.isNegated { state.status = state.status == 0 ? 1 : 0 }
    }

    /// What `set -e` asks for.
    func leaveAfterFailure() throws(Flow) {
        guard state.status != 0, tested == 0 else { return }
        if let action = state.traps["ERR"], !action.isEmpty, !isInTrap {
            isInTrap = true
            defer { isInTrap = false }
            let status = state.status
            try run(script: action)
            state.status = status
        }
        if state.options.has("e") { throw .exiting(state.status) }
    }

    // MARK: Stages and jobs

    /// A shell on its way to the thread that will own it.
    ///
    /// Unchecked: whoever makes it gives it away and keeps no reference.
    private final class Passage: @unchecked Sendable {
        private var shell: Shell?
        init(_ shell: Shell) { self.shell = shell }
        func take() -> Shell? {
            defer { shell = nil }
            return shell
        }
    }

    private func runStages(_ commands: [Command]) throws(Flow) {
        let jobs = try startStages(commands)
        var statuses: [Int32] = []
        for job in jobs { try statuses.append(control.wait(for: job)) }
        state.status = statuses.last ?? 0
        state.stageStatuses = statuses
        if state.options.pipeFail, let failed = statuses.last(where: { $0 != 0 }) { state.status = failed }
    }

    /// In a function of its own, so that no end of a pipe is still held here when the stages are waited for.
    private func startStages(_ commands: [Command]) throws(Flow) -> [Job] {
        var jobs: [Job] = []
        var input: PipeReader?
        for (index, command) in commands.enumerated() {
            let stage = subshell()
            if let input { stage.state.files[0] = OpenFile(source: input) }
            input = nil
            if index < commands.count - 1 {
                let pipe = Pipe.make(control)
                stage.state.files[1] = OpenFile(sink: pipe.writer)
                input = pipe.reader
            }
            try jobs.append(start(stage) { (shell) throws(Flow) in try shell.run(command) })
        }
        return jobs
    }

    private func startJob(_ chain: CommandChain) throws(Flow) {
        // What is killed by its number stops alone.
        let copy = subshell(under: control.child())
        copy.state.files[0] = OpenFile(source: NullStream())
        let job = try start(copy) { (shell) throws(Flow) in try shell.run(chain) }
        state.jobs.append(job)
        state.lastJob = job.number
        state.status = 0
    }

    /// Starts a script as a process of its own would run; for utilities that run commands.
    ///
    /// - Parameters:
    ///   - input: nil: the input of this shell.
    ///   - output: nil: its output.
    func startScript(
        _ script: [UInt8], input: OpenFile?, output: OpenFile?, under control: RunControl? = nil
    ) throws(Flow) -> Job {
        let copy = subshell(under: control)
        copy.tested = 0
        if let input { copy.state.files[0] = input }
        if let output { copy.state.files[1] = output }
        return try start(copy) { (shell) throws(Flow) in try shell.run(script: script) }
    }

    func start(
        _ shell: Shell, _ body: @escaping @Sendable (Shell) throws(Flow) -> Void
    ) throws(Flow) -> Job {
        let job = Job(number: control.nextNumber(), control: shell.control)
        let passage = Passage(shell)
        let control = control
        let own = shell.control
        // The depth counts for the thread's own stack; that it grows without end is seen by the number of threads.
        let hasStarted = control.start {
            guard let shell = passage.take() else { return }
            shell.depth = min(shell.depth, 1)
            RunControl.makeCurrent(own)
            control.finish(job, shell.finish(body))
        }
        guard hasStarted else {
            throw try outgrown("more than \(control.limits.processes) commands would run at once")
        }
        return job
    }

    private func outgrown(_ what: String) throws(Flow) -> Flow {
        if !control.hasGivenUp { try complain("\(what); the script was ended") }
        control.giveUp()
        return .exiting(2)
    }

    // MARK: Commands

    func run(_ command: Command) throws(Flow) {
        depth += 1
        defer { depth -= 1 }
        guard depth < Shell.deepest else {
            throw try outgrown("commands are nested more than \(Shell.deepest) levels deep")
        }
        switch command {
        case .simple(let simple):
            try run(simple)
            try leaveAfterFailure()
        case .function(let name, let body):
            state.functions[name] = body
            state.status = 0
        case .compound(let compound, let redirections, let line):
            self.line = line
            guard !redirections.isEmpty else { return try run(compound) }
            let files = state.files
            let outer = (processFiles, processJobs)
            (processFiles, processJobs) = ([], [])
            defer {
                state.files = files
                (processFiles, processJobs) = outer
            }
            guard try redirect(redirections) else {
                state.status = 2
                return try leaveAfterFailure()
            }
            try run(compound)
        }
    }

    private func run(_ compound: CompoundCommand) throws(Flow) {
        switch compound {
        case .group(let list): try run(list)
        case .subshell(let list):
            let copy = subshell()
            copy.loops = 0
            state.status = copy.finish { (shell) throws(Flow) in try shell.run(list) }
            try control.check()
            try leaveAfterFailure()
        case .conditional(let branches, let otherwise):
            for branch in branches {
                if try holds(branch.condition) { return try run(branch.body) }
            }
            if let otherwise { return try run(otherwise) }
            state.status = 0
        case .loop(let condition, let body, let isUntil):
            var status: Int32 = 0
            try loop { (shell) throws(Flow) in
                guard try shell.holds(condition) != isUntil else {
                    shell.state.status = status
                    return false
                }
                try shell.run(body)
                status = shell.state.status
                return true
            }
        case .each(let name, let words, let body):
            let values = try words.map { (words) throws(Flow) in try fields(words) } ?? state.positional
            // Until a command has run, `$?` is that of the one before.
            if values.isEmpty { state.status = 0 }
            var index = 0
            try loop { (shell) throws(Flow) in
                guard index < values.count else { return false }
                index += 1
                try shell.set(name, values[index - 1])
                try shell.run(body)
                return true
            }
        case .choice(let subject, let arms):
            let value = try text(subject)
            var falls = false
            var hasRun = false
            for arm in arms {
                var matches = falls
                if !matches {
                    for word in arm.patterns where try pattern(tilde(word.parts, afterColons: false)).matches(value) {
                        matches = true
                        break
                    }
                }
                guard matches else { continue }
                hasRun = hasRun || !arm.body.items.isEmpty
                try run(arm.body)
                if !hasRun { state.status = 0 }
                if arm.end == .leave { return }
                falls = arm.end == .fallThrough
            }
            if !hasRun { state.status = 0 }
        case .arithmetic(let parts):
            state.status = try calculate(parts) != 0 ? 0 : 1
            try leaveAfterFailure()
        case .condition(let condition):
            state.status = try holds(condition) ? 0 : 1
            try leaveAfterFailure()
        case .count(let start, let condition, let step, let body):
            if !start.isEmpty { _ = try calculate(start) }
            var isFirst = true
            state.status = 0
            try loop { (shell) throws(Flow) in
                if !isFirst, !step.isEmpty { _ = try shell.calculate(step) }
                isFirst = false
                if !condition.isEmpty, try shell.calculate(condition) == 0 { return false }
                try shell.run(body)
                return true
            }
        }
    }

    private func holds(_ condition: CommandList) throws(Flow) -> Bool {
        tested += 1
        defer { tested -= 1 }
        try run(condition)
        return state.status == 0
    }

    private func loop(_ round: (Shell) throws(Flow) -> Bool) throws(Flow) {
        loops += 1
        defer { loops -= 1 }
        while true {
            try control.check()
            do throws(Flow) {
                if try !round(self) { return }
            } catch {
                switch error {
                case .leaveLoops(let count):
                    state.status = 0
                    if count > 1 { throw .leaveLoops(count - 1) }
                    return
                case .nextRound(let count):
                    state.status = 0
                    if count > 1 { throw .nextRound(count - 1) }
                default: throw error
                }
            }
        }
    }
}
