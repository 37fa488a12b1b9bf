import AlcoveCore
import Dispatch
import Synchronization

/// One request between the connection's thread, which may block, and the handler's task, which may not.
///
/// The thread sleeps on a semaphore until the task has something: output to send, or a wish for body bytes. The task
/// suspends until the thread has taken its output or brought the bytes.
final class HTTPExchange: Sendable {
    enum End {
        case finished
        case failed(any Error)
    }

    enum Event {
        case bodyWanted
        /// `head` comes once, with the first bytes or the end.
        case output(head: HTTPResponse?, bytes: [UInt8], end: End?)
        case peerLeft
        case stopping
        case timeout
    }

    private static let highWater = 65_536

    private struct State {
        /// The response of a stream that has not written yet.
        var pendingHead: HTTPResponse?
        var head: HTTPResponse?
        var bytes: [UInt8] = []
        var end: End?
        var waitingWriters: [CheckedContinuation<Void, Never>] = []
        var waitingReader: CheckedContinuation<[UInt8]?, any Error>?
        var readerIsNew = false
        var peerLeft = false
        var stopping = false
        var isClosed = false
    }

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    // MARK: The task's side

    func run(_ application: any HTTPApplication, _ request: HTTPRequest) async {
        do {
            let response = try await application.respond(to: request)
            guard case .stream(let stream) = response.body, request.method != "HEAD" else {
                return change { ($0.head, $0.end) = (response, .finished) }
            }
            state.withLock { $0.pendingHead = response }
            try await stream.produce(HTTPStreamWriter(exchange: self))
            change { state in
                if let head = state.pendingHead.take() { state.head = head }
                state.end = .finished
            }
        } catch {
            change { $0.end = .failed(error) }
        }
    }

    func write(_ bytes: [UInt8]) async throws {
        let mustWait = state.withLock { state -> Bool? in
            if state.isClosed { return nil }
            if let head = state.pendingHead.take() { state.head = head }
            if state.bytes.isEmpty { state.bytes = bytes } else { state.bytes += bytes }
            return state.bytes.count > HTTPExchange.highWater
        }
        guard let mustWait else { throw CancellationError() }
        wake.signal()
        if mustWait {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    if state.isClosed || state.bytes.count <= HTTPExchange.highWater { return true }
                    state.waitingWriters.append(continuation)
                    return false
                }
                if goesOn { continuation.resume() }
            }
        }
        if state.withLock({ $0.isClosed }) { throw CancellationError() }
    }

    func nextBodyChunk() async throws -> [UInt8]? {
        try await withCheckedThrowingContinuation { continuation in
            let isRefused = state.withLock { state in
                if state.isClosed || state.waitingReader != nil { return true }
                (state.waitingReader, state.readerIsNew) = (continuation, true)
                return false
            }
            if isRefused { continuation.resume(throwing: CancellationError()) }
            wake.signal()
        }
    }

    // MARK: The thread's side

    /// What happened next, waiting until the deadline at most.
    func nextEvent(until deadline: DispatchTime) -> Event {
        while true {
            if let event = takeEvent() { return event }
            if wake.wait(timeout: deadline) == .timedOut { return takeEvent() ?? .timeout }
        }
    }

    private func takeEvent() -> Event? {
        let (event, writers) = state.withLock { state -> (Event?, [CheckedContinuation<Void, Never>]) in
            if state.peerLeft {
                state.peerLeft = false
                return (.peerLeft, [])
            }
            if state.readerIsNew {
                state.readerIsNew = false
                return (.bodyWanted, [])
            }
            if state.head != nil || !state.bytes.isEmpty || state.end != nil {
                let event = Event.output(head: state.head.take(), bytes: state.bytes, end: state.end.take())
                state.bytes = []
                defer { state.waitingWriters = [] }
                return (event, state.waitingWriters)
            }
            if state.stopping {
                state.stopping = false
                return (.stopping, [])
            }
            return (nil, [])
        }
        for writer in writers { writer.resume() }
        return event
    }

    func deliverBody(_ result: Result<[UInt8]?, any Error>) {
        state.withLock { $0.waitingReader.take() }?.resume(with: result)
    }

    func notePeerLeft() { change { $0.peerLeft = true } }
    func noteStopping() { change { $0.stopping = true } }

    /// No more will be sent or read; whoever of the task waits is let go.
    func close() {
        let (writers, reader) = state.withLock { state in
            defer { (state.waitingWriters, state.waitingReader, state.isClosed) = ([], nil, true) }
            return (state.waitingWriters, state.waitingReader)
        }
        for writer in writers { writer.resume() }
        reader?.resume(throwing: CancellationError())
    }

    private func change(_ body: (inout sending State) -> Void) {
        state.withLock { body(&$0) }
        wake.signal()
    }
}
