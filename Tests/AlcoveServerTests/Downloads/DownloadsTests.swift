import AlcoveCore
import AlcoveDownloads
import Dispatch
import Synchronization
import Testing

@testable import AlcoveServer

struct DownloadsTests {
    @Test func startingTwiceIsOneJobAndOneTransfer() async throws {
        let folder = Folder()
        let fetch = HeldFetch()
        let downloads = Downloads(store: ModelStore(folder: folder.path), fetch: fetch)

        let first = try await downloads.start(entry("one"))
        let second = try await downloads.start(entry("one"))
        fetch.open()

        #expect(first === second)
        #expect(await end(of: first) == .completed)
        #expect(fetch.count == 1)
        #expect(ModelStore(folder: folder.path).status(of: entry("one")).state == .installed)
    }

    @Test func busyRisesOnceAndFallsOnce() async throws {
        let folder = Folder()
        let fetch = HeldFetch()
        let seen = Signals()
        let downloads = Downloads(
            store: ModelStore(folder: folder.path), fetch: fetch, busyChanged: { seen.note($0) })

        let jobs = [try await downloads.start(entry("one")), try await downloads.start(entry("two"))]
        fetch.open()
        for job in jobs { #expect(await end(of: job) == .completed) }

        #expect(seen.all == [true, false])
        #expect(await !downloads.isBusy)
    }

    @Test func aCancelledJobIsStartedAnewAndAllAreStoppedAtTheEnd() async throws {
        let folder = Folder()
        let fetch = HeldFetch()
        let downloads = Downloads(store: ModelStore(folder: folder.path), fetch: fetch)
        let first = try await downloads.start(entry("one"))

        #expect(await downloads.cancel("one"))
        #expect(await end(of: first) == .cancelled)
        #expect(await !downloads.cancel("one"))
        let second = try await downloads.start(entry("one"))
        #expect(second !== first && second.state == .running)
        await downloads.stopAll()

        #expect(second.state == .cancelled)
        await #expect(throws: InputError.self) { try await downloads.start(entry("one")) }
    }

    @Test func aWatcherThatLeavesIsForgottenAndStopsNothing() async throws {
        let folder = Folder()
        let fetch = HeldFetch()
        let downloads = Downloads(store: ModelStore(folder: folder.path), fetch: fetch)
        let job = try await downloads.start(entry("one"))

        let watcher = Task { for await _ in job.updates() {} }
        while job.watcherCount == 0 { await Task.yield() }
        watcher.cancel()
        await watcher.value
        while job.watcherCount > 0 { await Task.yield() }

        #expect(job.state == .running)
        fetch.open()
        #expect(await end(of: job) == .completed)
        // Whoever comes late hears the end at once.
        #expect(await end(of: job) == .completed)
    }

    @Test func moreThanTheLimitWaitTheirTurn() async throws {
        let folder = Folder()
        let fetch = HeldFetch()
        let downloads = Downloads(
            store: ModelStore(folder: folder.path), limits: TransferSlots.Limits(total: 2, perHost: 1), fetch: fetch)

        let jobs = [
            try await downloads.start(entry("one")), try await downloads.start(entry("two")),
            try await downloads.start(entry("three", host: "b.example")),
            try await downloads.start(entry("four", host: "c.example")),
        ]
        while fetch.count < 2 { await Task.yield() }

        #expect(fetch.hosts == ["a.example", "b.example"])
        #expect(await downloads.cancel("two"))
        #expect(jobs[1].state == .cancelled)
        fetch.open()
        for job in [jobs[0], jobs[2], jobs[3]] { #expect(await end(of: job) == .completed) }
        #expect(fetch.count == 3)
    }

    private func entry(_ id: String, host: String = "a.example") -> CatalogEntry {
        CatalogEntry(
            id: id, name: id,
            files: [
                CatalogFile(
                    role: .weights, name: "\(id).gguf", url: "https://\(host)/\(id)", bytes: 3,
                    sha256: SHA256.hex([1, 2, 3]))
            ], origin: .own)
    }

    private func end(of job: DownloadJob) async -> DownloadJob.State? {
        for await update in job.updates() {
            if case .ended(let state, _) = update { return state }
        }
        return nil
    }
}

/// Answers three bytes, once it is opened.
private final class HeldFetch: HTTPFetch {
    private let seen = Mutex<[String]>([])
    private let gate = StopSignal()

    var hosts: [String] { seen.withLock { $0.sorted() } }
    var count: Int { seen.withLock { $0.count } }

    func open() { gate.set() }

    func get(
        _ request: FetchRequest, gate addresses: AddressGate, stop: StopSignal, receiver: any FetchReceiver
    ) throws(FetchError) {
        seen.withLock { $0.append(request.address.host) }
        let woken = DispatchSemaphore(value: 0)
        gate.whenSet { woken.signal() }
        stop.whenSet { woken.signal() }
        woken.wait()
        if stop.isSet { throw .stopped }
        guard receiver.take(ResponseHead(status: 200, fields: [("Content-Length", "3")])) else { return }
        _ = [1, 2, 3].map { UInt8($0) }.withUnsafeBytes { receiver.take($0) }
    }
}

private final class Signals: Sendable {
    private let list = Mutex<[Bool]>([])

    var all: [Bool] { list.withLock { $0 } }
    func note(_ value: Bool) { list.withLock { $0.append(value) } }
}

/// A folder of a test's own, two levels deep at most.
private final class Folder {
    let path = "/tmp/alcove-store-\(ChatID())"

    init() { mkdir(path, 0o700) }

    deinit {
        for name in Folder.names(path) {
            for inner in Folder.names("\(path)/\(name)") { unlink("\(path)/\(name)/\(inner)") }
            rmdir("\(path)/\(name)")
        }
        rmdir(path)
    }

    private static func names(_ path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
