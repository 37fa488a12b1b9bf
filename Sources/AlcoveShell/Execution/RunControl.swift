internal import AlcoveCore
internal import Synchronization

/// What all threads of one run share: whether it goes on, and what it may use.
final class RunControl: Sendable {
    let limits: CommandLimits
    private let stopped = Atomic<Bool>(false)
    private let outgrown = Atomic<Bool>(false)
    private let threads = Mutex(0)
    private let pipes = Mutex<[WeakPipe]>([])
    private let ended = Gate()
    private let number = Atomic<Int>(0)

    private struct WeakPipe { weak var pipe: Pipe? }

    init(_ limits: CommandLimits) { self.limits = limits }

    var isStopped: Bool { stopped.load(ordering: .relaxed) }

    func check() throws(Flow) { if isStopped { throw .stopped } }

    /// Ends the run because it grew without end. Each copy that fails would otherwise make room for another.
    func giveUp() {
        outgrown.store(true, ordering: .sequentiallyConsistent)
        stop()
    }

    var hasGivenUp: Bool { outgrown.load(ordering: .sequentiallyConsistent) }

    /// Ends every thread of the run at its next step, those that wait included.
    func stop() {
        stopped.store(true, ordering: .sequentiallyConsistent)
        for entry in pipes.withLock({ $0 }) { entry.pipe?.wake() }
        ended.locked { ended.wake() }
    }

    func add(_ pipe: Pipe) {
        pipes.withLock { pipes in
            if pipes.count > 64, pipes.count & (pipes.count - 1) == 0 { pipes.removeAll { $0.pipe == nil } }
            pipes.append(WeakPipe(pipe: pipe))
        }
    }

    /// A number for `$!`, never used twice.
    func nextNumber() -> Int { number.add(1, ordering: .relaxed).newValue + Int(getpid()) }

    /// Starts one of the threads that stand for processes here.
    ///
    /// - Returns: false when the run has as many as it may.
    func start(_ body: @escaping @Sendable () -> Void) -> Bool {
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
        ended.locked { ended.wake() }
    }
}

/// A thread that stands for a process, and how it ended.
final class Job: Sendable {
    let number: Int
    private let result = Mutex<Int32?>(nil)

    init(number: Int) { self.number = number }

    var status: Int32? { result.withLock { $0 } }
    fileprivate func set(_ status: Int32) { result.withLock { $0 = status } }
}
