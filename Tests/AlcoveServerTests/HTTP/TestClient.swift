import AlcoveCore
import Synchronization
import Testing

@testable import AlcoveServer

/// A client of bytes: sends what it is told and reads with a deadline. For use on a thread that may block.
final class TestClient {
    struct Closed: Error {}
    struct TimedOut: Error {}

    struct Response {
        var status: Int
        var headers: HTTPHeaders
        var body: [UInt8]
        var text: String { String(decoding: body, as: UTF8.self) }
        var json: JSONValue? { try? JSONValue(parsing: body) }
    }

    let socket: Socket
    private var buffer: [UInt8] = []

    init(port: UInt16, address: UInt32 = 0x7F00_0001) throws {
        #if canImport(Darwin)
        let descriptor = AlcoveCore.socket(AF_INET, SOCK_STREAM, 0)
        #else
        let descriptor = AlcoveCore.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        socket = Socket(descriptor)
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_port = port.bigEndian
        target.sin_addr.s_addr = address.bigEndian
        let result = withUnsafePointer(to: &target) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result != 0 { throw Closed() }
        socket.prepare(sendTimeout: .seconds(20))
    }

    func send(_ text: String) { send(Array(text.utf8)) }
    func send(_ bytes: [UInt8]) { _ = socket.transmit(bytes, timeout: .seconds(20)) }

    /// Whether the server closes within the time; what it sends before is dropped.
    func isClosed(within limit: Duration = .seconds(10)) -> Bool {
        let deadline = Platform.monotonicNanoseconds + limit.nanoseconds
        while Platform.monotonicNanoseconds < deadline {
            do { try fill(.milliseconds(100)) } catch is Closed { return true } catch {}
        }
        return false
    }

    /// Bytes up to and with this text.
    func read(through end: String, within limit: Duration = .seconds(10)) throws -> String {
        let deadline = Platform.monotonicNanoseconds + limit.nanoseconds
        let mark = Array(end.utf8)
        while true {
            if let range = find(mark) {
                defer { buffer.removeSubrange(..<range) }
                return String(decoding: buffer[..<range], as: UTF8.self)
            }
            let now = Platform.monotonicNanoseconds
            if now >= deadline { throw TimedOut() }
            try fill(.nanoseconds(deadline - now))
        }
    }

    /// One whole response; `toHead` when there is no body whatever the fields say.
    func response(toHead: Bool = false) throws -> Response {
        var head = try read(through: "\r\n\r\n").split(separator: "\r\n", omittingEmptySubsequences: true)
        let status = Int(head.removeFirst().split(separator: " ")[1]) ?? 0
        var headers = HTTPHeaders()
        for line in head {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers.add(String(parts[0]), String(parts[1].trimmingBlanks()))
        }
        if toHead || status == 204 || status == 304 || status == 100 {
            return Response(status: status, headers: headers, body: [])
        }
        var body: [UInt8] = []
        if let length = headers["content-length"].flatMap({ Int($0) }) {
            body = try read(count: length)
        } else if headers["transfer-encoding"] == "chunked" {
            while let size = Int(try read(through: "\r\n").dropLast(), radix: 16) {
                body += try read(count: size)
                _ = try read(through: "\r\n")
                if size == 0 { break }
            }
        } else {
            while true { do { try fill(.seconds(10)) } catch is Closed { break } }
            body = buffer
        }
        return Response(status: status, headers: headers, body: body)
    }

    func get(_ target: String, port: UInt16, _ fields: String = "") throws -> Response {
        send("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\(fields)\r\n")
        return try response()
    }

    func read(count: Int) throws -> [UInt8] {
        while buffer.count < count { try fill(.seconds(10)) }
        defer { buffer.removeSubrange(..<count) }
        return Array(buffer[..<count])
    }

    private func find(_ mark: [UInt8]) -> Int? {
        guard buffer.count >= mark.count else { return nil }
        for start in 0...(buffer.count - mark.count) where buffer[start..<start + mark.count].elementsEqual(mark) {
            return start + mark.count
        }
        return nil
    }

    private func fill(_ timeout: Duration) throws {
        try withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 8) { piece in
            switch socket.receive(into: piece, timeout: timeout) {
            case .bytes(let count): buffer += UnsafeRawBufferPointer(piece)[..<count]
            case .end: throw Closed()
            case .timeout: throw TimedOut()
            }
        }
    }
}

/// An application that is one closure.
struct ClosureApplication: HTTPApplication {
    let handler: @Sendable (HTTPRequest) async throws -> HTTPResponse
    func respond(to request: HTTPRequest) async throws -> HTTPResponse { try await handler(request) }
}

/// Runs what blocks on a thread of its own: the shared pool has two threads, and the server's handlers need them.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        let started = ServerThread.start { continuation.resume(with: Result { try body() }) }
        precondition(started, "the system has no thread for a test's client")
    }
}

/// Serves for the time of `body`, which runs on a thread of its own.
func withServer<Value: Sendable>(
    _ application: any HTTPApplication, limits: HTTPServerLimits = HTTPServerLimits(), log: Log = .silent,
    _ body: @escaping @Sendable (UInt16) throws -> Value
) async throws -> Value {
    let server = HTTPServer(application, limits: limits, log: log)
    let port = try server.start()
    let result: Result<Value, any Error>
    do { result = .success(try await onThread { try body(port) }) } catch { result = .failure(error) }
    await server.stop(grace: .milliseconds(200))
    return try result.get()
}

func withServer<Value: Sendable>(
    limits: HTTPServerLimits = HTTPServerLimits(), log: Log = .silent,
    handler: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse,
    _ body: @escaping @Sendable (UInt16) throws -> Value
) async throws -> Value {
    try await withServer(ClosureApplication(handler: handler), limits: limits, log: log, body)
}

/// Waits until something is so, looking often; false past the limit.
func eventually(within limit: Duration = .seconds(10), _ condition: () -> Bool) -> Bool {
    let deadline = Platform.monotonicNanoseconds + limit.nanoseconds
    while Platform.monotonicNanoseconds < deadline {
        if condition() { return true }
        usleep(2_000)
    }
    return condition()
}

/// Something a handler notes and a test looks at.
final class Noted<Value: Sendable>: Sendable {
    private let state: Mutex<Value>
    init(_ value: Value) { state = Mutex(value) }
    var value: Value { state.withLock { $0 } }
    func set(_ value: Value) { state.withLock { $0 = value } }
    func change(_ body: @Sendable (inout Value) -> Void) { state.withLock { body(&$0) } }
}
