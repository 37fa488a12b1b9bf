package import AlcoveCore
internal import Synchronization

/// The making of fast copies. It belongs to the app: any number may watch one, and leaving stops nothing.
package actor FastCopyJobs {
    package typealias Make =
        @Sendable (
            _ path: String, _ type: String?, _ stop: StopSignal,
            _ progress: @escaping @Sendable (FastCopyServices.Progress) -> Void
        ) async throws -> JSONValue

    private let make: Make
    /// The one under way; there is never a second.
    private(set) var current: FastCopyJob?

    init(make: @escaping Make) { self.make = make }

    /// Starts a making, or joins it when it is under way.
    ///
    /// - Throws: an `InputError` when another one is under way.
    func start(_ path: String, name: String, type: String?) throws(InputError) -> FastCopyJob {
        if let current {
            if current.path == path, current.type == type { return current }
            throw InputError(
                code: "optimize_busy", message: "A fast copy of \(current.name) is being made; one is made at a time.",
                hint: "Wait for it, or stop it.", place: .busy)
        }
        let job = FastCopyJob(path: path, name: name, type: type)
        current = job
        let task = Task {
            let result: Result<JSONValue, any Error>
            do {
                result = .success(try await make(path, type, job.stop) { job.note($0) })
            } catch {
                result = .failure(error)
            }
            // Nobody finds a job that has ended: whoever comes now starts another.
            current = nil
            job.end(result)
        }
        job.task.withLock { $0 = task }
        return job
    }

    /// Stops the one under way and waits for its end; false when there was none.
    @discardableResult
    package func cancel() async -> Bool {
        guard let job = current else { return false }
        job.stop.set()
        await job.task.withLock { $0 }?.value
        return true
    }
}

/// One fast copy being made.
final class FastCopyJob: Sendable {
    enum Update: Sendable {
        case progress(FastCopyServices.Progress)
        case ended(Result<JSONValue, any Error>)
    }

    let path: String
    let name: String
    let type: String?
    let stop = StopSignal()
    let task = Mutex<Task<Void, Never>?>(nil)

    private struct Mutable {
        var progress: FastCopyServices.Progress?
        var result: Result<JSONValue, any Error>?
        var watchers: [Int: AsyncStream<Update>.Continuation] = [:]
        var nextWatcher = 0
    }

    private let mutable = Mutex(Mutable())

    init(path: String, name: String, type: String?) {
        self.path = path
        self.name = name
        self.type = type
    }

    var progress: FastCopyServices.Progress? { mutable.withLock { $0.progress } }

    /// Where it is, then whatever comes, up to its end. A slow reader misses steps and never the end.
    func updates() -> AsyncStream<Update> {
        let (stream, continuation) = AsyncStream.makeStream(of: Update.self, bufferingPolicy: .bufferingNewest(2))
        let number = mutable.withLock { mutable -> Int? in
            if let progress = mutable.progress { continuation.yield(.progress(progress)) }
            if let result = mutable.result {
                continuation.yield(.ended(result))
                continuation.finish()
                return nil
            }
            mutable.nextWatcher += 1
            mutable.watchers[mutable.nextWatcher] = continuation
            return mutable.nextWatcher
        }
        if let number {
            continuation.onTermination = { [weak self] _ in
                self?.mutable.withLock { _ = $0.watchers.removeValue(forKey: number) }
            }
        }
        return stream
    }

    fileprivate func note(_ progress: FastCopyServices.Progress) {
        let watchers = mutable.withLock { mutable in
            mutable.progress = progress
            return Array(mutable.watchers.values)
        }
        // Outside the lock: to yield wakes a task, which needs that task's own lock, and who cancels the task holds that
        // one while the stream's termination handler asks for ours.
        for watcher in watchers { watcher.yield(.progress(progress)) }
    }

    fileprivate func end(_ result: Result<JSONValue, any Error>) {
        let watchers = mutable.withLock { mutable in
            mutable.result = result
            defer { mutable.watchers = [:] }
            return mutable.watchers.values
        }
        // Outside the lock: to finish a stream calls its termination handler, which takes it.
        for watcher in watchers {
            watcher.yield(.ended(result))
            watcher.finish()
        }
    }
}
