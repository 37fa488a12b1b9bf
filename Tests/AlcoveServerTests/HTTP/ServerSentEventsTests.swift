import AlcoveCore
import Testing

@testable import AlcoveServer

@Suite(.serialized) struct ServerSentEventsTests {
    private static let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test func headersAndFramesAreAsThePageExpects() async throws {
        let frames = AsyncStream<JSONValue> { continuation in
            continuation.yield(["token": "a\nb"])
            continuation.yield(["done": true])
            continuation.finish()
        }
        let (head, first, second) = try await withServer(
            handler: { _ in ServerSentEvents.response(frames, headers: ["X-Alcove-Turn": "t1"]) },
            { port in
                let client = try TestClient(port: port)
                client.send(ServerSentEventsTests.request)
                let head = try client.read(through: "\r\n\r\n")
                let body = try client.read(through: "0\r\n\r\n")
                client.send(ServerSentEventsTests.request)  // the connection is kept
                return (head, body, try client.response().status)
            })

        let lines = head.split(separator: "\r\n").map { String($0) }
        #expect(lines.first == "HTTP/1.1 200 OK")
        for line in [
            "Content-Type: text/event-stream", "Cache-Control: no-cache", "Connection: keep-alive",
            "X-Accel-Buffering: no", "Transfer-Encoding: chunked", "X-Alcove-Turn: t1",
        ] { #expect(lines.contains(line)) }
        #expect(first.contains("data: {\"token\":\"a\\nb\"}\n\n"))
        #expect(first.contains("data: {\"done\":true}\n\n"))
        #expect(second == 200)
    }

    @Test func aRefusalBeforeTheFirstFrameKeepsItsStatus() async throws {
        let answers = try await withServer(
            handler: { request in
                ServerSentEvents.response { send in
                    if request.path == "/missing" { throw HTTPError.notFound }
                    if request.path == "/late" {
                        try await send(["a": 1])
                        throw InputError(code: "later", message: "This came later.")
                    }
                }
            },
            { port in
                let client = try TestClient(port: port)
                return try ["/missing", "/empty", "/late", "/empty"].map {
                    let response = try client.get($0, port: port)
                    return "\(response.status) \(response.text)"
                }
            })
        #expect(answers[0] == #"404 {"error":"There is nothing at this address.","code":"not_found"}"#)
        #expect(answers[1] == "200 ")
        #expect(answers[2] == "200 data: {\"a\":1}\n\ndata: {\"error\":\"This came later.\",\"code\":\"later\"}\n\n")
        #expect(answers[3] == "200 ")
    }

    @Test func silenceIsBridgedOnlyAfterTheFirstFrame() async throws {
        let mayBegin = Noted(false)
        let (early, comments) = try await withServer(
            handler: { _ in
                ServerSentEvents.response(keepAliveInterval: .milliseconds(20)) { send in
                    while !mayBegin.value { try await Task.sleep(for: .milliseconds(1)) }
                    try await send(["a": 1])
                    try await Task.sleep(for: .seconds(60))
                }
            },
            { port in
                let client = try TestClient(port: port)
                client.send(ServerSentEventsTests.request)
                let early = try? client.read(through: "\r\n\r\n", within: .milliseconds(150))
                mayBegin.set(true)
                _ = try client.read(through: "data: {\"a\":1}\n\n")
                return (early, try (0..<3).map { _ in try client.read(through: ": keep-alive\n\n") }.count)
            })
        #expect(early == nil)
        #expect(comments == 3)
    }

    @Test func theProducerIsCancelledWhenItsReaderLeaves() async throws {
        let wasCancelled = Noted(false)
        let cancelled = try await withServer(
            handler: { _ in
                ServerSentEvents.response { send in
                    try await send(["a": 1])
                    do { try await Task.sleep(for: .seconds(60)) } catch { wasCancelled.set(true) }
                }
            },
            { port in
                var client: TestClient? = try TestClient(port: port)
                client?.send(ServerSentEventsTests.request)
                _ = try client?.read(through: "data: {\"a\":1}\n\n")
                client = nil
                return eventually { wasCancelled.value }
            })
        #expect(cancelled)
    }

    @Test func aProducerWaitsForASlowReader() async throws {
        let sent = Noted(0)
        let (held, all) = try await withServer(
            handler: { _ in
                let frame = ServerSentEvents.frame(["x": .string(String(repeating: "a", count: 60_000))])
                return HTTPResponse(
                    body: .stream(
                        HTTPStream { writer in
                            for _ in 0..<400 {
                                try await writer.write(frame)
                                sent.change { $0 += 1 }
                            }
                        }))
            },
            { port in
                let client = try TestClient(port: port)
                client.send(ServerSentEventsTests.request)
                var last = -1
                // Quiet for 100 ms: what the kernel and we will hold is held.
                _ = eventually {
                    defer { last = sent.value }
                    usleep(100_000)
                    return last > 0 && last == sent.value
                }
                let held = sent.value
                return (held, try client.response().body.count)
            })
        #expect(held < 400)
        #expect(all == 400 * (60_000 + 16))
    }

    @Test func anOpenStreamGetsAFrameWhenTheServerStops() async throws {
        let server = HTTPServer(
            ClosureApplication { _ in
                ServerSentEvents.response { send in
                    try await send(["a": 1])
                    try await Task.sleep(for: .seconds(60))
                }
            })
        let port = try server.start()
        let hasBegun = Noted(false)
        async let end = onThread {
            let client = try TestClient(port: port)
            client.send(ServerSentEventsTests.request)
            _ = try client.read(through: "data: {\"a\":1}\n\n")
            hasBegun.set(true)
            return try client.read(through: "0\r\n\r\n")
        }
        _ = try await onThread { eventually { hasBegun.value } }

        await server.stop()

        #expect(try await end.contains("data: {\"error\":\"Alcove is stopping.\",\"code\":\"server_stopping\"}\n\n"))
    }

    @Test func aThousandOpenStreamsAreServedInSixtyMegabytes() async throws {
        let before = Platform.residentBytes
        let count = 1_000
        let (received, used) = try await withServer(
            handler: { _ in
                ServerSentEvents.response { send in
                    try await send(["a": 1])
                    try await Task.sleep(for: .seconds(600))
                }
            },
            { port in
                let clients = try (0..<count).map { _ in
                    let client = try TestClient(port: port)
                    client.send(ServerSentEventsTests.request)
                    return client
                }
                let received = try clients.map { try $0.read(through: "data: {\"a\":1}\n\n") }.count
                return (received, Platform.residentBytes)
            })
        #expect(received == count)
        #expect(used < before + 60_000_000, "\((used - min(used, before)) / 1000) kB, the clients' share included")
    }
}
