import AlcoveCore
import Synchronization

/// What a client may take: time, memory, connections.
package struct HTTPServerLimits: Sendable {
    package var parser = HTTPRequestParser.Limits()
    /// How long a kept connection may say nothing.
    package var idle: Duration = .seconds(15)
    /// From the first byte of a request to the end of its header fields.
    package var header: Duration = .seconds(10)
    /// How long a body may keep us waiting in all, beside the time its bytes have earned.
    package var bodyGrace: Duration = .seconds(20)
    /// Least rate of a body once the grace is used up.
    package var bodyBytesPerSecond = 1_024
    /// Longest the client may take to accept 64 KiB.
    package var write: Duration = .seconds(20)
    /// How long the last answer may take to be read before the connection closes.
    package var linger: Duration = .seconds(2)
    /// How long a handler whose client has left may hold the connection.
    package var abandon: Duration = .seconds(2)
    package var connections = 2_048

    package init() {}
}

/// An HTTP/1.1 server on 127.0.0.1 that knows nothing of what it serves.
///
/// A thread a connection does all the blocking; handlers are tasks on the shared pool, which is never blocked. It can
/// be started again after `stop`, on the same port if that is wanted.
package final class HTTPServer: Sendable {
    private struct State {
        var listener: ListeningSocket?
        var connections: [Int: ConnectionHandle] = [:]
        var nextKey = 0
        /// Threads that hold a listener, one that is stopping included.
        var acceptors = 0
    }

    private let limits: HTTPServerLimits
    private let application: any HTTPApplication
    private let log: Log
    private let state = Mutex(State())

    package init(_ application: any HTTPApplication, limits: HTTPServerLimits = HTTPServerLimits(), log: Log = .silent)
    {
        self.application = application
        self.limits = limits
        self.log = log
    }

    /// The port listened on; nil while stopped.
    package var port: UInt16? { state.withLock { $0.listener?.port } }

    package var connectionCount: Int { state.withLock { $0.connections.count } }

    /// Listens, and returns the port once clients can connect.
    ///
    /// - Parameter port: 0 takes a free one.
    /// - Throws: `ListenError` when the port cannot be had.
    @discardableResult
    package func start(port: UInt16 = 0) throws(ListenError) -> UInt16 {
        precondition(self.port == nil, "the server is already started")
        DescriptorLimit.raise(to: 4 * limits.connections)
        let listener = try ListeningSocket(port: port)
        guard let watcher = PeerWatcher() else {
            throw .failed(port: port, reason: Platform.describe(errno: EMFILE))
        }
        state.withLock { ($0.listener, $0.acceptors) = (listener, $0.acceptors + 1) }
        let hasBegun = ServerThread.start {
            self.acceptClients(listener, watcher)
            listener.release()
            self.state.withLock { $0.acceptors -= 1 }
        }
        if !hasBegun {
            state.withLock { ($0.listener, $0.acceptors) = (nil, $0.acceptors - 1) }
            throw .failed(port: port, reason: Platform.describe(errno: EAGAIN))
        }
        return listener.port
    }

    /// Stops listening and lets what is under way come to its end.
    ///
    /// Idle connections close, open streams get their farewell and end, requests in flight have `grace` to be answered;
    /// what is left then is cut. To let streams end by themselves, end them before this is called.
    package func stop(grace: Duration = .seconds(20)) async {
        let handles = state.withLock { state -> [ConnectionHandle] in
            state.listener?.stop()
            state.listener = nil
            return Array(state.connections.values)
        }
        for handle in handles { handle.stop() }
        await waitUntilEmpty(grace)
        for handle in state.withLock({ Array($0.connections.values) }) { handle.socket.shutdownBoth() }
        await waitUntilEmpty(.seconds(1))
    }

    private func waitUntilEmpty(_ limit: Duration) async {
        let deadline = Platform.monotonicNanoseconds + limit.nanoseconds
        while state.withLock({ !$0.connections.isEmpty || $0.acceptors > 0 }), Platform.monotonicNanoseconds < deadline
        {
            // Uncancellable on purpose: a cancelled caller still wants its clients answered. Looked at every 5 ms, because
            // only the end of the host waits here and a signal from every connection would be paid for by all.
            await withCheckedContinuation { continuation in
                Task.detached {
                    try? await Task.sleep(for: .milliseconds(5))
                    continuation.resume()
                }
            }
        }
    }

    private func acceptClients(_ listener: ListeningSocket, _ watcher: PeerWatcher) {
        var failures = 0
        while true {
            switch listener.next() {
            case .connection(let socket):
                failures = 0
                serve(socket, listener, watcher)
            case .failed(let reason):
                if self.port != listener.port { return }
                failures += 1
                if failures % 50 == 1 { log("no client can be accepted (\(failures) times now): \(reason)") }
                // Out of descriptors or memory: trying at once would only burn a processor.
                usleep(UInt32(min(50 * failures, 1000)) * 1000)
            case .stopped: return
            }
        }
    }

    private func serve(_ socket: Socket, _ listener: ListeningSocket, _ watcher: PeerWatcher) {
        let handle = ConnectionHandle(socket)
        let key = state.withLock { state -> Int? in
            guard state.listener === listener, state.connections.count < limits.connections else { return nil }
            state.nextKey += 1
            state.connections[state.nextKey] = handle
            return state.nextKey
        }
        let port = listener.port  // not the listener itself: its port has to be free when it stops
        let isServed =
            key.map { key in
                ServerThread.start { [self] in
                    var connection = HTTPConnection(
                        handle: handle, limits: limits, application: application, watcher: watcher,
                        errors: ErrorResponses(log: log), port: port)
                    connection.run()
                    _ = state.withLock { $0.connections.removeValue(forKey: key) }
                }
            } ?? false
        if isServed { return }
        if let key { _ = state.withLock { $0.connections.removeValue(forKey: key) } }
        refuse(socket)
    }

    /// Says that there are too many connections, without reading or waiting.
    private func refuse(_ socket: Socket) {
        let error = HTTPError(
            503, code: "too_many_connections", "There are more than \(limits.connections) connections open.",
            hint: "Close some pages and try again.")
        let response = ErrorResponses(log: log).response(for: error, to: "-")
        guard case .bytes(let body) = response.body else { return }
        var headers = response.headers
        headers["Retry-After"] = "5"
        let head = ResponseHead.bytes(
            status: 503, headers: headers, length: .bytes(body.count), minorVersion: 1, keepsAlive: false,
            isStream: false)
        _ = socket.transmit(head + body, timeout: .zero)
        socket.shutdownWriting()
        // What the client has sent by now is read, or closing would reset the connection under the answer.
        withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) {
            _ = socket.receive(into: $0, timeout: .milliseconds(1))
        }
    }
}

/// Open files: the usual soft limit of 1,024 is fewer than the streams we promise.
private enum DescriptorLimit {
    static func raise(to wanted: Int) {
        #if canImport(Darwin)
        let resource = RLIMIT_NOFILE
        #else
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < rlim_t(wanted) else { return }
        limit.rlim_cur = min(rlim_t(wanted), limit.rlim_max)
        _ = setrlimit(resource, &limit)
    }
}
