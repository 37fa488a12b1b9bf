package import AlcoveCore
internal import AlcoveDownloads
internal import Synchronization

/// One model being brought. Belongs to the app: any number may watch, and leaving stops nothing.
package final class DownloadJob: Sendable {
    package enum State: String, Sendable {
        case running = "Running"
        case completed = "Completed"
        case cancelled = "Cancelled"
        case failed = "Failed"
    }

    /// Where the job is; `received` and `total` are bytes of all its files.
    package struct Progress: Sendable, Hashable {
        package enum Phase: String, Sendable {
            /// Others are served first.
            case waiting
            case downloading, verifying
        }

        /// Empty once all are there.
        package var file = ""
        /// From 1.
        package var fileIndex = 1
        package var fileCount = 0
        package var phase = Phase.waiting
        package var received: UInt64 = 0
        package var total: UInt64 = 0
        package var bytesPerSecond: Double?
        package var etaSeconds: Double?
        /// Why nothing comes now, in the middle of a sentence.
        package var reason: String?
    }

    package enum Update: Sendable {
        case progress(Progress)
        case ended(State, (any UserFacingError)?)
    }

    package let id: String
    /// The optional files that were wanted, to be wanted again when the job is started anew.
    package let roles: Set<CatalogFile.Role>
    let stop = StopSignal()

    private struct Mutable {
        var state = DownloadJob.State.running
        var progress: Progress
        var error: (any UserFacingError)?
        var watchers: [Int: AsyncStream<Update>.Continuation] = [:]
        var nextWatcher = 0
        var meter = SpeedMeter()
        var told: UInt64 = 0
    }

    private let mutable: Mutex<Mutable>
    private let clock: @Sendable () -> UInt64

    /// Watchers hear of progress at most this often, in nanoseconds; of a new file or phase and of the end at once.
    private static let interval: UInt64 = 100_000_000

    init(id: String, roles: Set<CatalogFile.Role>, first: Progress, clock: @escaping @Sendable () -> UInt64) {
        self.id = id
        self.roles = roles
        self.clock = clock
        mutable = Mutex(Mutable(progress: first))
    }

    package var state: State { mutable.withLock { $0.state } }
    package var progress: Progress { mutable.withLock { $0.progress } }
    package var error: (any UserFacingError)? { mutable.withLock { $0.error } }
    package var watcherCount: Int { mutable.withLock { $0.watchers.count } }

    /// Where the job is, then whatever comes, up to its end. A slow reader misses steps and never the end.
    package func updates() -> AsyncStream<Update> {
        let (stream, continuation) = AsyncStream.makeStream(of: Update.self, bufferingPolicy: .bufferingNewest(2))
        let number = mutable.withLock { mutable -> Int? in
            continuation.yield(.progress(mutable.progress))
            guard mutable.state == .running else {
                continuation.yield(.ended(mutable.state, mutable.error))
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

    /// Notes progress of one file; called often, from the download's thread.
    ///
    /// - Parameter done: bytes of the files before it.
    func note(_ file: DownloadProgress, done: UInt64) {
        let now = clock()
        tell { mutable in
            var progress = mutable.progress
            progress.phase =
                switch file.phase {
                case .waiting: .waiting
                case .downloading: .downloading
                case .verifying: .verifying
                }
            progress.reason = file.reason
            // Checking counts no bytes twice.
            progress.received = done + (file.phase == .verifying ? file.total ?? file.received : file.received)
            let rate = mutable.meter.note(done + file.received, phase: file.phase, at: now)
            progress.bytesPerSecond = file.phase == .downloading ? rate : nil
            progress.etaSeconds = progress.bytesPerSecond.flatMap { rate in
                rate > 0 && progress.total >= progress.received
                    ? Double(progress.total - progress.received) / rate : nil
            }
            let isNews = progress.phase != mutable.progress.phase
            mutable.progress = progress
            guard isNews || now - mutable.told >= DownloadJob.interval else { return false }
            mutable.told = now
            return true
        }
    }

    /// Turns to another file, or waits for its turn.
    func begin(_ name: String, index: Int, done: UInt64, phase: Progress.Phase) {
        tell { mutable in
            mutable.progress.file = name
            mutable.progress.fileIndex = index
            mutable.progress.phase = phase
            mutable.progress.reason = nil
            mutable.progress.received = done
            return true
        }
    }

    /// Changes the progress and tells the watchers of it when the change says so.
    ///
    /// Outside the lock: to yield wakes a task, which needs that task's own lock, and who cancels the task holds that one
    /// while the stream's termination handler asks for ours.
    private func tell(_ change: (inout sending Mutable) -> Bool) {
        let (progress, watchers) = mutable.withLock { mutable in
            let isNews = change(&mutable)
            return (mutable.progress, isNews ? Array(mutable.watchers.values) : [])
        }
        for watcher in watchers { watcher.yield(.progress(progress)) }
    }

    func end(_ state: State, _ error: (any UserFacingError)? = nil) {
        let (progress, watchers) = mutable.withLock { mutable in
            mutable.state = state
            mutable.error = error
            mutable.progress.bytesPerSecond = nil
            mutable.progress.etaSeconds = nil
            mutable.progress.reason = nil
            if state == .completed {
                mutable.progress.file = ""
                mutable.progress.received = mutable.progress.total
            }
            defer { mutable.watchers = [:] }
            return (mutable.progress, Array(mutable.watchers.values))
        }
        // Outside the lock here too: to finish a stream calls its termination handler, which takes it.
        for watcher in watchers {
            watcher.yield(.progress(progress))
            watcher.yield(.ended(state, error))
            watcher.finish()
        }
    }
}

extension DownloadJob {
    /// `{id, state, running, error, progress}`
    package var json: JSONValue {
        mutable.withLock { mutable in
            [
                "id": .string(id), "state": .string(mutable.state.rawValue),
                "running": .bool(mutable.state == .running), "error": JSONValue(mutable.error?.sentence),
                "code": JSONValue(mutable.error?.code), "progress": mutable.progress.json,
            ]
        }
    }
}

extension DownloadJob.Progress {
    package var json: JSONValue {
        [
            "file": .string(file), "fileIndex": JSONValue(fileIndex), "fileCount": JSONValue(fileCount),
            "phase": .string(phase.rawValue), "received": .integer(Int64(received)), "total": .integer(Int64(total)),
            "fraction": .double(total > 0 ? Double(received) / Double(total) : 1),
            "bytesPerSecond": bytesPerSecond.map { .double($0.rounded()) } ?? .null,
            "etaSeconds": etaSeconds.map { .double($0.rounded(.up)) } ?? .null, "reason": JSONValue(reason),
        ]
    }
}
