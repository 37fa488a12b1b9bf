import AlcoveCore
import Synchronization
import Testing

@testable import AlcoveDownloads

/// What cannot be had from a server on loopback: https, and a stop at a chosen moment.
struct FileDownloadTests {
    private static let bytes = Array("the whole file, and nothing but the file".utf8)

    @Test func httpsIsNeverLeftForHTTP() throws {
        let folder = try Folder()
        let fetch = ScriptedFetch { request in
            request.address.scheme == .https
                ? (ResponseHead(status: 302, fields: [("Location", "http://example.org/m")]), [])
                : (ResponseHead(status: 200, fields: [("Content-Length", "3")]), [[1, 2, 3]])
        }

        #expect(
            throws: DownloadError.badRedirect(
                from: "https://example.org/m", reason: "leads from https to the unprotected http://example.org/m")
        ) { try folder.download("https://example.org/m?signature=secret", fetch) }
        #expect(fetch.requests.count == 1)
    }

    @Test func httpMayBecomeHTTPSAndCredentialsStay() throws {
        let folder = try Folder()
        let fetch = ScriptedFetch { request in
            request.address.scheme == .http
                ? (ResponseHead(status: 301, fields: [("Location", "https://example.org/m")]), [])
                : (ResponseHead(status: 200, fields: [("Content-Length", "40")]), [Self.bytes])
        }

        #expect(try folder.download("http://a:b@example.org/m", fetch) == 40)
        #expect(folder.file == Self.bytes)
        #expect(fetch.requests.map { $0.headers.contains { $0.name == "Authorization" } } == [true, false])
    }

    @Test func everyCutIsResumedToTheSameBytes() throws {
        for cut in 1..<Self.bytes.count {
            let folder = try Folder()
            let fetch = ScriptedFetch { request in
                let start = request.headers.first { $0.name == "Range" }.map { Int($0.value.dropFirst(6).dropLast())! }
                let fields = [("ETag", "\"1\""), ("Content-Length", "\(Self.bytes.count - (start ?? 0))")]
                guard let start else {
                    return (
                        ResponseHead(status: 200, fields: fields.map { ($0, $1) }), [Array(Self.bytes[..<cut]), nil]
                    )
                }
                let range = ("Content-Range", "bytes \(start)-\(Self.bytes.count - 1)/\(Self.bytes.count)")
                return (
                    ResponseHead(status: 206, fields: (fields + [range]).map { ($0, $1) }),
                    [Array(Self.bytes[start...])]
                )
            }

            #expect(try folder.download("https://example.org/m", fetch) == UInt64(Self.bytes.count))
            #expect(folder.file == Self.bytes)
            #expect(fetch.requests.count == 2)
        }
    }

    @Test func aStopKeepsWhatHasArrived() throws {
        let folder = try Folder()
        let stop = StopSignal()
        let fetch = ScriptedFetch { _ in
            (ResponseHead(status: 200, fields: [("Content-Length", "40"), ("ETag", "\"1\"")]), [[1, 2, 3], nil])
        }

        #expect(throws: DownloadError.cancelled(name: "m")) {
            try folder.download("https://example.org/m", fetch, stop: stop) { progress in
                if progress.received == 3 { stop.set() }
            }
        }
        #expect(folder.part == [1, 2, 3])
    }

    @Test func waitsDoubleAndAreBounded() {
        let schedule = RetrySchedule(attempts: 5, firstDelay: 1, longestDelay: 5)
        var counter = AttemptCounter(schedule: schedule)

        #expect((0..<5).map { _ in counter.delay(gained: 0, total: 100, asked: nil) } == [1, 2, 4, 5, nil])
        var forgiving = AttemptCounter(schedule: schedule)
        #expect(
            (0..<9).map { forgiving.delay(gained: $0 % 2 == 0 ? 0 : 1, total: 100, asked: nil) }
                == [1, 0, 1, 0, 1, 0, 1, 0, 1])
        #expect(schedule.delay(after: 1, asked: 3) == 3)
        #expect(schedule.delay(after: 1, asked: 3_000) == 5)
    }

    @Test func speedAndTimeLeftComeFromTheLastSeconds() {
        var meter = SpeedMeter()
        let second: UInt64 = 1_000_000_000

        #expect(meter.note(5_000, phase: .downloading, at: 0) == nil)
        #expect(meter.note(6_000, phase: .downloading, at: second) == 1_000)
        for tick in 2...20 as ClosedRange<UInt64> { _ = meter.note(6_000, phase: .downloading, at: tick * second) }
        #expect(meter.note(6_000, phase: .downloading, at: 21 * second) == 0)
        #expect(meter.note(100, phase: .verifying, at: 22 * second) == nil)
        let progress = DownloadProgress(phase: .downloading, received: 6_000, total: 10_000)
        #expect(SpeedMeter.secondsLeft(progress, rate: 1_000) == 4)
        #expect(SpeedMeter.secondsLeft(progress, rate: 0) == nil)
        #expect(TransferText.progress(progress, 1_000) == "6.0 kB of 10.0 kB (60 %), 1.0 kB/s, 4 s left")
    }
}

/// Answers each request from a closure; a nil piece is a connection that breaks.
private final class ScriptedFetch: HTTPFetch {
    typealias Answer = @Sendable (FetchRequest) -> (ResponseHead, [[UInt8]?])

    private let answer: Answer
    private let seen = Mutex<[FetchRequest]>([])

    init(_ answer: @escaping Answer) { self.answer = answer }

    var requests: [FetchRequest] { seen.withLock { $0 } }

    func get(
        _ request: FetchRequest, gate: AddressGate, stop: StopSignal, receiver: any FetchReceiver
    ) throws(FetchError) {
        seen.withLock { $0.append(request) }
        let (head, pieces) = answer(request)
        guard receiver.take(head) else { return }
        for piece in pieces {
            if stop.isSet { throw .stopped }
            guard let piece else { throw .interrupted("the connection was closed early") }
            if !piece.withUnsafeBytes({ receiver.take($0) }) { return }
        }
    }
}

/// A folder of a test's own.
private final class Folder {
    private let path: String

    init() throws {
        path = "/tmp/alcove-downloads-\(ChatID())"
        try #require(mkdir(path, 0o700) == 0)
    }

    deinit {
        for name in ["m", "m.part", "m.part.json"] { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    var file: [UInt8]? { read("m") }
    var part: [UInt8]? { read("m.part") }

    func download(
        _ url: String, _ fetch: any HTTPFetch, stop: StopSignal = StopSignal(),
        progress: (DownloadProgress) -> Void = { _ in }
    ) throws -> UInt64 {
        var request = DownloadRequest(address: try WebAddress(url), path: "\(path)/m")
        request.retries = RetrySchedule(attempts: 2, firstDelay: 0)
        return try FileDownload(request, fetch: fetch).run(stop: stop, progress: progress)
    }

    private func read(_ name: String) -> [UInt8]? {
        guard let file = fopen("\(path)/\(name)", "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 10)
        return Array(bytes[..<fread(&bytes, 1, bytes.count, file)])
    }
}
