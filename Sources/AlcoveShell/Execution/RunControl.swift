internal import AlcoveCore
internal import Synchronization

/// What all threads of one run share: whether it goes on, and what it may use.
final class RunControl: Sendable {
    let limits: CommandLimits
    /// Who runs Python and JavaScript; nil where nobody does.
    let scripts: ScriptUse?
    private let stopped = Atomic<Bool>(false)
    private let outgrown = Atomic<Bool>(false)
    private let threads = Mutex(0)
    private let pipes = Mutex<[WeakPipe]>([])
    private let ended = Gate()
    private let number = Atomic<Int>(0)

    /// The run this is a part of; what a part counts and waits at belongs to the whole.
    private let whole: RunControl?

    private struct WeakPipe { weak var pipe: Pipe? }

    init(_ limits: CommandLimits, scripts: ScriptUse? = nil) {
        self.limits = limits
        self.scripts = scripts
        whole = nil
    }

    private init(partOf parent: RunControl) {
        limits = parent.limits
        scripts = parent.scripts
        whole = parent
    }

    /// A part of the run that can be stopped by itself and ends with the whole.
    func child() -> RunControl { RunControl(partOf: self) }

    private var root: RunControl { whole?.root ?? self }

    var isStopped: Bool { stopped.load(ordering: .relaxed) || whole?.isStopped ?? false }

    // MARK: The thread's own

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key) { pointer in
            #if canImport(Darwin)
            Unmanaged<RunControl>.fromOpaque(pointer).release()
            #else
            if let pointer { Unmanaged<RunControl>.fromOpaque(pointer).release() }
            #endif
        }
        return key
    }()

    /// Says which part of the run this thread works for, so that it can be stopped where it waits.
    static func makeCurrent(_ control: RunControl) {
        if let old = pthread_getspecific(key) { Unmanaged<RunControl>.fromOpaque(old).release() }
        pthread_setspecific(key, Unmanaged.passRetained(control).toOpaque())
    }

    /// Whether the part this thread works for is stopped.
    static var isCurrentStopped: Bool {
        guard let pointer = pthread_getspecific(key) else { return false }
        return Unmanaged<RunControl>.fromOpaque(pointer).takeUnretainedValue().isStopped
    }

    func check() throws(Flow) { if isStopped { throw .stopped } }

    /// Ends the run because it grew without end. Each copy that fails would otherwise make room for another.
    func giveUp() {
        if let whole { return whole.giveUp() }
        outgrown.store(true, ordering: .sequentiallyConsistent)
        stop()
    }

    var hasGivenUp: Bool { root.outgrown.load(ordering: .sequentiallyConsistent) }

    /// Ends every thread of the run at its next step, those that wait included.
    func stop() {
        stopped.store(true, ordering: .sequentiallyConsistent)
        let root = root
        for entry in root.pipes.withLock({ $0 }) { entry.pipe?.wake() }
        root.ended.locked { root.ended.wake() }
    }

    func add(_ pipe: Pipe) {
        if let whole { return whole.add(pipe) }
        pipes.withLock { pipes in
            if pipes.count > 64, pipes.count & (pipes.count - 1) == 0 { pipes.removeAll { $0.pipe == nil } }
            pipes.append(WeakPipe(pipe: pipe))
        }
    }

    /// A number for `$!`, never used twice.
    func nextNumber() -> Int { root.number.add(1, ordering: .relaxed).newValue + Int(getpid()) }

    /// Starts one of the threads that stand for processes here.
    ///
    /// - Returns: false when the run has as many as it may.
    func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        if let whole { return whole.start(body) }
        let mayStart = threads.withLock { count in
            guard count < limits.processes else { return false }
            count += 1
            return true
        }
        guard mayStart else { return false }
        let hasStarted = startThread(name: "alcove.shell", stackBytes: Shell.stackBytes) { [self] in
            body()
            leave()
        }
        if !hasStarted { leave() }
        return hasStarted
    }

    private func leave() {
        threads.withLock { $0 -= 1 }
        ended.locked { ended.wake() }
    }

    /// Waits until no thread of the run is left.
    func waitForThreads() {
        ended.locked { while threads.withLock({ $0 }) > 0 { ended.wait() } }
    }

    /// Sleeps, or ends early with the run.
    func sleep(seconds: Double) throws(Flow) {
        let end = Platform.monotonicNanoseconds + UInt64(min(max(seconds, 0), 1e9) * 1e9)
        let ended = root.ended
        ended.locked {
            while !isStopped {
                let now = Platform.monotonicNanoseconds
                guard now < end else { return }
                ended.wait(seconds: Double(end - now) / 1e9)
            }
        }
        try check()
    }

    /// Waits for a job, or for the end of the run.
    func wait(for job: Job) throws(Flow) -> Int32 {
        var status: Int32?
        let ended = root.ended
        ended.locked {
            while !isStopped {
                status = job.status
                if status != nil { return }
                ended.wait()
            }
        }
        guard let status else { throw .stopped }
        return status
    }

    /// The same for whoever watches the run; nil when it was stopped, or time was up.
    func wait(for job: Job, seconds: Double) -> Int32? {
        let end = Platform.monotonicNanoseconds + UInt64(min(seconds, 1e9) * 1e9)
        let ended = root.ended
        return ended.locked {
            while true {
                if let status = job.status { return status }
                let now = Platform.monotonicNanoseconds
                guard !isStopped, now < end else { return nil }
                ended.wait(seconds: Double(end - now) / 1e9)
            }
        }
    }

    func finish(_ job: Job, _ status: Int32) {
        job.set(status)
        let ended = root.ended
        ended.locked { ended.wake() }
    }
}

/// A thread that stands for a process, and how it ended.
final class Job: Sendable {
    let number: Int
    private let control: RunControl?
    private let result = Mutex<Int32?>(nil)

    init(number: Int, control: RunControl? = nil) {
        self.number = number
        self.control = control
    }

    /// Stops what the job runs, and nothing else.
    func stop() { control?.stop() }

    var status: Int32? { result.withLock { $0 } }
    fileprivate func set(_ status: Int32) { result.withLock { $0 = status } }
}
