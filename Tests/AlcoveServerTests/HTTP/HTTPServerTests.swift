import AlcoveCore
import Testing

@testable import AlcoveServer

/// The server over real sockets.
@Suite(.serialized) struct HTTPServerTests {
    static let echo: @Sendable (HTTPRequest) async throws -> HTTPResponse = { request in
        switch request.path {
        case "/refused": throw InputError(code: "no_good", message: "This is no good.", hint: "Try another.")
        case "/broken": throw ListenError.portBusy(port: 7)
        case "/secret": throw PrivateFailure()
        case "/injected":
            return HTTPResponse(headers: ["X-Name": "a\r\nSet-Cookie: b=c\0", "X\r\nY": "z"], body: .bytes([0x61]))
        case "/large": return HTTPResponse(body: .bytes(Array(repeating: 0x62, count: 300_000)))
        case "/ignores": return .text("ignored")
        case "/none": return HTTPResponse(status: 204)
        default:
            return HTTPResponse(body: .bytes(Array("\(request.method) ".utf8) + (try await request.body.collect())))
        }
    }

    struct PrivateFailure: Error {}

    @Test func connectionsAreKeptAndPipelinedRequestsAreAnsweredInOrder() async throws {
        let texts = try await withServer(handler: HTTPServerTests.echo) { port in
            let client = try TestClient(port: port)
            let one = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n"
            client.send(
                "\(one)one\(one)two"
                    + "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nthree\r\n0\r\n\r\n")
            var texts = try (0..<3).map { _ in try client.response().text }
            client.send("GET /none HTTP/1.1\r\nHost: a\r\n\r\nGET /large HTTP/1.1\r\nHost: a\r\n\r\n")
            texts.append(try client.response().text)
            texts.append("\(try client.response().body.count)")
            client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            let last = try client.response()
            texts.append("\(last.text)\(last.headers["connection"] ?? "") \(client.isClosed())")
            return texts
        }
        #expect(texts == ["POST one", "POST two", "PUT three", "", "300000", "GET close true"])
    }

    @Test func oldClientsAreClosedUnlessTheyAskOtherwise() async throws {
        let answers = try await withServer(handler: HTTPServerTests.echo) { port in
            let client = try TestClient(port: port)
            client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            let first = try client.response()
            client.send("GET / HTTP/1.0\r\n\r\n")
            let second = try client.response()
            return [first.headers["connection"], second.headers["connection"], "\(client.isClosed())"]
        }
        #expect(answers == ["keep-alive", "close", "true"])
    }

    @Test func headHasTheFieldsAndNoBody() async throws {
        let (head, next) = try await withServer(handler: HTTPServerTests.echo) { port in
            let client = try TestClient(port: port)
            client.send("HEAD /large HTTP/1.1\r\nHost: a\r\n\r\n")
            let head = try client.response(toHead: true)
            return (head.headers["content-length"], try client.get("/", port: port).text)
        }
        #expect(head == "300000")
        #expect(next == "GET ")
    }

    @Test func expectationIsAnsweredOnlyWhenTheBodyIsWanted() async throws {
        let (wanted, refused) = try await withServer(handler: HTTPServerTests.echo) { port in
            let head = "HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
            let client = try TestClient(port: port)
            client.send("POST / \(head)")
            let first = try client.response().status
            client.send("ok")
            let second = try client.response()
            client.send("POST /refused \(head)")
            let third = try client.response()
            return (
                "\(first) \(second.status) \(second.text)",
                "\(third.status) \(third.headers["connection"] ?? "") \(client.isClosed())"
            )
        }
        #expect(wanted == "100 200 POST ok")
        #expect(refused == "400 close true")
    }

    @Test func errorsAreDecidedInOnePlace() async throws {
        let lines = Noted<[String]>([])
        let log = Log { line in lines.change { $0.append(line) } }
        let answers = try await withServer(log: log, handler: HTTPServerTests.echo) { port in
            let client = try TestClient(port: port)
            return try ["/refused", "/broken", "/secret?token=hush", "/%2e%2e/x"].map {
                let response = try client.get($0, port: port)
                return (response.status, response.json ?? .null)
            }
        }

        #expect(answers.map(\.0) == [400, 500, 500, 400])
        #expect(answers[0].1 == ["error": "This is no good.", "code": "no_good", "hint": "Try another."])
        #expect(answers[1].1["code"] == "port_busy")
        #expect(answers[2].1["code"] == "internal")
        #expect(answers[3].1 == ["error": "The address holds a relative path segment.", "code": "bad_request"])
        let id = try #require(answers[2].1["id"]?.string)
        #expect(lines.value.contains { $0.contains(id) && $0.contains("PrivateFailure") })
        #expect(!lines.value.contains { $0.contains("hush") })
        #expect(!answers[2].1.text().contains("PrivateFailure"))
    }

    @Test("T9") func nothingInAResponseFieldCanEndItsLine() async throws {
        let head = try await withServer(handler: HTTPServerTests.echo) { port in
            let client = try TestClient(port: port)
            client.send("GET /injected HTTP/1.1\r\nHost: a\r\n\r\n")
            return try client.read(through: "\r\n\r\n")
        }
        let lines = head.split(separator: "\r\n").map { String($0) }
        #expect(lines.contains("X-Name: a  Set-Cookie: b=c "))
        #expect(lines.contains("X__Y: z"))
        #expect(!lines.contains { $0.hasPrefix("Set-Cookie") })
    }

    @Test func everyResponseCarriesTheSecurityFields() async throws {
        let responses = try await withServer(handler: HTTPServerTests.echo) { port in
            try ["/", "/refused", "/secret", "/%00"].map { try TestClient(port: port).get($0, port: port).headers }
        }
        for headers in responses {
            for field in ResponseHead.security.fields { #expect(headers.values(field.name) == [field.value]) }
            #expect(headers["date"].flatMap(HTTPDate.seconds) != nil)
        }
    }

    @Test("T8") func bodiesPastTheLimitAreRefusedWhileTheyArrive() async throws {
        let handler: @Sendable (HTTPRequest) async throws -> HTTPResponse = { request in
            var request = request
            request.body.limit = 100_000
            return .text("\(try await request.body.collect().count)")
        }
        let statuses = try await withServer(handler: handler) { port in
            let declared = try TestClient(port: port)
            declared.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n")
            let first = try declared.response()
            let chunked = try TestClient(port: port)
            chunked.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in 0..<30 {
                chunked.send(
                    [0x31, 0x30, 0x30, 0x30, 0x0D, 0x0A] + Array(repeating: 0x61, count: 4096) + [0x0D, 0x0A])
            }
            let second = try chunked.response()
            return [first.status, second.status, first.headers["connection"] == "close" ? 1 : 0]
        }
        #expect(statuses == [413, 413, 1])
    }

    @Test func aLongBodyIsTakenInPiecesAndTheClientIsMadeToWait() async throws {
        let handler: @Sendable (HTTPRequest) async throws -> HTTPResponse = { request in
            var request = request
            request.body.limit = .max
            var (count, largest) = (0, 0)
            for try await chunk in request.body.chunks() {
                count += chunk.count
                largest = max(largest, chunk.count)
            }
            return .text("\(count) \(largest <= 81_920)")
        }
        let before = Platform.residentBytes
        let text = try await withServer(handler: handler) { port in
            let client = try TestClient(port: port)
            client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 104857600\r\n\r\n")
            let piece = [UInt8](repeating: 0x61, count: 1_048_576)
            for _ in 0..<100 { client.send(piece) }
            return try client.response().text
        }
        #expect(text == "104857600 true")
        #expect(Platform.residentBytes < before + 30_000_000)
    }

    @Test func aBodyNobodyReadDoesNotSpoilTheNextRequest() async throws {
        let texts = try await withServer(handler: HTTPServerTests.echo) { port in
            let client = try TestClient(port: port)
            client.send("POST /ignores HTTP/1.1\r\nHost: a\r\nContent-Length: 30000\r\n\r\n")
            let first = try client.response().text
            client.send(
                Array("GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n".utf8) + Array(repeating: 0x61, count: 30_000 - 35))
            return [first, try client.get("/", port: port).text]
        }
        #expect(texts == ["ignored", "GET "])
    }

    @Test("T8: a slow head, a slow body, a silent connection") func slowClientsAreLetGo() async throws {
        var limits = HTTPServerLimits()
        limits.idle = .milliseconds(150)
        limits.linger = .milliseconds(100)
        limits.header = .milliseconds(250)
        limits.bodyGrace = .milliseconds(250)
        let answers = try await withServer(limits: limits, handler: HTTPServerTests.echo) { port in
            let silent = try TestClient(port: port)
            let kept = try TestClient(port: port)
            let first = try kept.get("/", port: port).status
            let head = try TestClient(port: port)
            let body = try TestClient(port: port)
            body.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
            head.send("GET / HTTP/1.1\r\nHost: a\r\nX: ")
            // A byte now and then does not buy time.
            _ = eventually(within: .milliseconds(400)) {
                head.send("a")
                body.send("a")
                usleep(20_000)
                return false
            }
            return [
                "\(first)", "\(silent.isClosed())", "\(kept.isClosed())", "\(try head.response().status)",
                "\(head.isClosed())", "\(try body.response().status)", "\(body.isClosed())",
            ]
        }
        #expect(answers == ["200", "true", "true", "408", "true", "408", "true"])
    }

    @Test func aReaderThatStopsReadingIsLetGo() async throws {
        var limits = HTTPServerLimits()
        limits.write = .milliseconds(200)
        let hasEnded = Noted(false)
        let handler: @Sendable (HTTPRequest) async throws -> HTTPResponse = { _ in
            HTTPResponse(
                body: .stream(
                    HTTPStream { writer in
                        defer { hasEnded.set(true) }
                        while true { try await writer.write(Array(repeating: 0x61, count: 65_536)) }
                    }))
        }
        let ended = try await withServer(limits: limits, handler: handler) { port in
            let client = try TestClient(port: port)
            client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            return eventually { hasEnded.value } && client.socket.descriptor >= 0
        }
        #expect(ended)
    }

    @Test func aHandlerWhoseClientLeftIsCancelled() async throws {
        let (hasBegun, wasCancelled) = (Noted(false), Noted(false))
        let handler: @Sendable (HTTPRequest) async throws -> HTTPResponse = { _ in
            hasBegun.set(true)
            do { try await Task.sleep(for: .seconds(60)) } catch { wasCancelled.set(true) }
            return .text("late")
        }
        let cancelled = try await withServer(handler: handler) { port in
            var client: TestClient? = try TestClient(port: port)
            client?.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = eventually { hasBegun.value }
            client = nil
            return eventually { wasCancelled.value }
        }
        #expect(cancelled)
    }

    @Test func garbageGetsASentenceAndTheDoor() async throws {
        let answers = try await withServer(handler: HTTPServerTests.echo) { port in
            try ["\u{16}\u{3}\u{1}\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/3.0\r\n\r\n"].map { text in
                let client = try TestClient(port: port)
                client.send(text)
                let response = try client.response()
                return "\(response.status) \(response.json?["code"]?.string ?? "") \(client.isClosed())"
            }
        }
        #expect(answers == ["400 bad_request true", "400 bad_request true", "505 version_not_supported true"])
    }

    @Test func tooManyConnectionsAreToldSo() async throws {
        var limits = HTTPServerLimits()
        limits.connections = 2
        let statuses = try await withServer(limits: limits, handler: HTTPServerTests.echo) { port in
            let kept = try (0..<2).map { _ in try TestClient(port: port) }
            let first = try kept.map { try $0.get("/", port: port).status }
            return first + [try TestClient(port: port).get("/", port: port).status]
        }
        #expect(statuses == [200, 200, 503])
    }

    @Test("T4") func onlyLoopbackIsListenedOn() async throws {
        let reached = try await withServer(handler: HTTPServerTests.echo) { port in
            HTTPServerTests.otherAddresses().filter { (try? TestClient(port: port, address: $0)) != nil }
        }
        #expect(reached.isEmpty)
    }

    /// This machine's addresses outside 127.0.0.0/8.
    private static func otherAddresses() -> [UInt32] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        return sequence(first: first) { $0?.pointee.ifa_next }.compactMap { entry in
            guard let address = entry?.pointee.ifa_addr, address.pointee.sa_family == AF_INET else { return nil }
            let value = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee.sin_addr.s_addr }
            return UInt32(bigEndian: value) >> 24 == 127 ? nil : UInt32(bigEndian: value)
        }
    }

    @Test func aBusyPortIsNamedWithWhatToTry() async throws {
        let first = HTTPServer(ClosureApplication(handler: HTTPServerTests.echo))
        let port = try first.start()
        let second = HTTPServer(ClosureApplication(handler: HTTPServerTests.echo))

        let error = #expect(throws: ListenError.self) { try second.start(port: port) }

        #expect(error == .portBusy(port: port))
        #expect(error?.message == "Port \(port) of 127.0.0.1 is already in use by another program.")
        #expect(error?.hint?.contains("--port 0") == true)
        #expect(second.port == nil)
        await first.stop(grace: .zero)
    }

    @Test("T10") func aServerStartsAgainOnItsPort() async throws {
        let server = HTTPServer(ClosureApplication(handler: HTTPServerTests.echo))
        let port = try server.start()
        for _ in 0..<5 {
            let status = try await onThread { try TestClient(port: port).get("/", port: port).status }
            #expect(status == 200)
            await server.stop(grace: .zero)
            #expect(server.connectionCount == 0)
            let refused = try await onThread { (try? TestClient(port: port)) == nil }
            #expect(refused)
            #expect(try server.start(port: port) == port)
        }
        await server.stop(grace: .zero)
    }

    @Test func stoppingLetsARequestInFlightBeAnswered() async throws {
        let (hasBegun, mayEnd) = (Noted(false), Noted(false))
        let server = HTTPServer(
            ClosureApplication { _ in
                hasBegun.set(true)
                while !mayEnd.value { try await Task.sleep(for: .milliseconds(1)) }
                return .text("answered")
            })
        let port = try server.start()
        async let answer = onThread {
            let response = try TestClient(port: port).get("/", port: port)
            return "\(response.text) \(response.headers["connection"] ?? "")"
        }
        _ = try await onThread { eventually { hasBegun.value } }

        async let stopped: Void = server.stop(grace: .seconds(10))
        _ = try await onThread { eventually { server.port == nil } }
        mayEnd.set(true)

        #expect(try await answer == "answered close")
        await stopped
        #expect(server.connectionCount == 0)
    }
}
