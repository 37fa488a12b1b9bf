internal import AlcoveCore
package import AlcoveDownloads

/// All downloads of the app's life, one at most for each model.
///
/// Starting one that runs joins it. Only a cancel stops it; what has arrived is kept, and starting it again goes on.
package actor Downloads {
    private let store: ModelStore
    private let slots: TransferSlots
    private let fetch: any HTTPFetch
    private let retries: RetrySchedule
    private let clock: @Sendable () -> UInt64
    /// Called with true when the first transfer begins and with false when the last has ended.
    private let busyChanged: @Sendable (Bool) -> Void
    private var running: [String: Task<Void, Never>] = [:]
    private var known: [String: DownloadJob] = [:]
    private var order: [String] = []
    private var isStopping = false

    package init(
        store: ModelStore, limits: TransferSlots.Limits = TransferSlots.Limits(),
        fetch: any HTTPFetch = DownloadThread.standardFetch, retries: RetrySchedule = RetrySchedule(),
        clock: @escaping @Sendable () -> UInt64 = { Platform.monotonicNanoseconds },
        busyChanged: @escaping @Sendable (Bool) -> Void = { _ in }
    ) {
        self.store = store
        self.fetch = fetch
        self.retries = retries
        self.clock = clock
        self.busyChanged = busyChanged
        slots = TransferSlots(limits: limits)
    }

    /// In the order they were started first.
    package var jobs: [DownloadJob] { order.compactMap { known[$0] } }
    package func job(_ id: String) -> DownloadJob? { known[id] }
    package var isBusy: Bool { !running.isEmpty }

    /// Starts bringing a model, or joins the job that does.
    ///
    /// - Parameters:
    ///   - roles: the optional files that are wanted.
    ///   - authorization: for the hosts of the entry's own addresses.
    /// - Throws: `InputError` for an entry that cannot be downloaded, and when its folder cannot be made.
    package func start(
        _ entry: CatalogEntry, roles: Set<CatalogFile.Role> = [], gate: AddressGate = AddressGate(),
        authorization: String? = nil
    ) async throws -> DownloadJob {
        guard entry.canBeDownloaded else {
            throw InputError(
                code: "not_downloadable",
                message: entry.origin == .embedded
                    ? "\(entry.name) comes with Alcove and cannot be downloaded."
                    : "\(entry.name) has no address to download it from.",
                hint: entry.origin == .embedded
                    ? "Run `make bootstrap` in the checkout if it is missing." : "Import it.")
        }
        // One that was just cancelled still holds its files.
        while let job = known[entry.id], let task = running[entry.id], job.stop.isSet { await task.value }
        if let job = known[entry.id], running[entry.id] != nil { return job }
        if isStopping { throw InputError(code: "stopping", message: "Alcove is stopping.", place: .busy) }
        try store.prepare(entry)
        let files = entry.files(with: roles)
        let there = files.reduce(0) { $0 + (store.isComplete($1, in: entry) ? $1.bytes : 0) }
        let job = DownloadJob(
            id: entry.id, roles: roles,
            first: DownloadJob.Progress(
                file: files[0].name, fileCount: files.count, received: there,
                total: files.reduce(0) { $0 + $1.bytes }), clock: clock)
        known[entry.id] = job
        if !order.contains(entry.id) { order.append(entry.id) }
        if running.isEmpty { busyChanged(true) }
        running[entry.id] = Task {
            let (state, error) = await bring(files, of: entry, job, gate, authorization)
            ended(job, state, error)
        }
        return job
    }

    /// Stops a job; false when none of that name runs.
    package func cancel(_ id: String) async -> Bool {
        guard let job = known[id], let task = running[id] else { return false }
        job.stop.set()
        await task.value
        return true
    }

    /// Lets go of a job that has ended, when its model is deleted.
    package func forget(_ id: String) {
        guard running[id] == nil else { return }
        known[id] = nil
        order.removeAll { $0 == id }
    }

    /// Stops all of them and lets none begin; what has arrived is kept.
    package func stopAll() async {
        isStopping = true
        for id in running.keys { known[id]?.stop.set() }
        for task in running.values { await task.value }
    }

    private func ended(_ job: DownloadJob, _ state: DownloadJob.State, _ error: (any UserFacingError)?) {
        running[job.id] = nil
        // Before the end is told: who hears of the last one finds nothing busy.
        if running.isEmpty { busyChanged(false) }
        job.end(state, error)
    }

    /// One file after another.
    private func bring(
        _ files: [CatalogFile], of entry: CatalogEntry, _ job: DownloadJob, _ gate: AddressGate,
        _ authorization: String?
    ) async -> (DownloadJob.State, (any UserFacingError)?) {
        var done = files.reduce(0) { $0 + (store.isComplete($1, in: entry) ? $1.bytes : 0) }
        for (index, file) in files.enumerated() where !store.isComplete(file, in: entry) {
            if job.stop.isSet { return (.cancelled, nil) }
            do {
                guard let url = file.url else { continue }
                var request = DownloadRequest(
                    address: try WebAddress(url), path: store.path(of: file, in: entry), gate: gate)
                request.expectedBytes = file.bytes
                request.expectedSHA256 = file.sha256
                request.authorization = authorization
                request.retries = retries
                job.begin(file.name, index: index + 1, done: done, phase: .waiting)
                try await transfer(request, job, done: done)
                done += file.bytes
            } catch DownloadError.cancelled {
                return (.cancelled, nil)
            } catch {
                let known = error as? any UserFacingError
                return (
                    .failed,
                    known ?? InputError(code: "download_failed", message: "The download failed.", place: .host)
                )
            }
        }
        return (.completed, nil)
    }

    private func transfer(_ request: DownloadRequest, _ job: DownloadJob, done: UInt64) async throws {
        let host = request.address.host
        let ticket = await slots.ticket()
        job.stop.whenSet { [slots] in Task { await slots.giveUp(ticket: ticket) } }
        guard await slots.acquire(host, ticket: ticket) else { throw DownloadError.cancelled(name: job.id) }
        do {
            _ = try await DownloadThread.run(request, stop: job.stop, fetch: fetch) { job.note($0, done: done) }
            await slots.release(host, ticket: ticket)
        } catch {
            await slots.release(host, ticket: ticket)
            throw error
        }
    }
}
