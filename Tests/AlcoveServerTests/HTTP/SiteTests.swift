import AlcoveCore
import TestFolder
import Testing

@testable import AlcoveServer

/// Access, files and routes together, over a socket.
@Suite(.serialized) struct SiteTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("<p>hello", to: "index.html")
        try folder.write("let a = 1", to: "app.js")
        try folder.folder("vendor")
        try folder.write("x", to: "vendor/lib.css")
    }

    private func site() -> Site {
        var router = Router()
        router.get("/health") { _ in .json(["ok": true]) }
        router.get("/api/x") { _ in .json(["x": 1]) }
        router.post("/api/x") { _ in .json(["x": 2]) }
        router.get("/api/events") { _ in ServerSentEvents.response { try await $0(["a": 1]) } }
        return Site(
            access: AccessControl(token: "secret"), router: router, files: StaticFiles(ConfinedFolder(folder.path)))
    }

    private static func answer(_ port: UInt16, _ line: String, _ fields: String = "", host: String? = nil) throws
        -> String
    {
        let client = try TestClient(port: port)
        client.send(
            "\(line) HTTP/1.1\r\nHost: \(host ?? "127.0.0.1:\(port)")\r\nAuthorization: Bearer secret\r\n\(fields)\r\n")
        let response = try client.response()
        let kind = response.headers["content-type"]?.prefix { $0 != ";" } ?? "-"
        return "\(response.status) \(kind) \(response.json?["code"]?.string ?? response.text)"
    }

    @Test("T6") func filesAreServedAndNothingElse() async throws {
        let (lines, secret) = (
            [
                "/", "/index.html", "/app.js", "/vendor/lib.css", "/none", "/vendor", "/..%2f..%2fetc/passwd",
                "//etc/passwd",
            ],
            try TemporaryFolder()
        )
        try secret.write("secret", to: "s")
        try folder.link("leak.txt", to: "\(secret.path)/s")
        let answers = try await withServer(site()) { port in
            try (lines + ["/leak.txt"]).map { try SiteTests.answer(port, "GET \($0)") }
                + [try SiteTests.answer(port, "POST /app.js")]
        }
        #expect(
            answers == [
                "200 text/html <p>hello", "200 text/html <p>hello", "200 text/javascript let a = 1", "200 text/css x",
                "404 application/json not_found", "404 application/json not_found", "400 application/json bad_request",
                "404 application/json not_found", "404 application/json not_found", "404 application/json not_found",
            ])
    }

    @Test("T1 T2 T5: events, files and routes alike") func foreignersAreRefusedEverywhere() async throws {
        let answers = try await withServer(site()) { port in
            try ["/", "/app.js", "/health", "/api/x", "/api/events", "/none"].flatMap { path in
                [
                    try SiteTests.answer(port, "GET \(path)", host: "evil.example"),
                    try SiteTests.answer(port, "GET \(path)", "Origin: null\r\n"),
                ]
            }
        }
        let form = try await withServer(site()) { port in
            try ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"].map {
                try SiteTests.answer(port, "POST /api/x", "Content-Type: \($0)\r\nContent-Length: 0\r\n")
            }
        }
        #expect(
            answers.allSatisfy {
                $0 == "403 application/json foreign_host" || $0 == "403 application/json foreign_origin"
            })
        #expect(form.allSatisfy { $0 == "415 application/json unsupported_media_type" })
    }

    @Test func anEditedFileIsServedAtOnceAndAnUnchangedOneIsNot() async throws {
        let folder = folder
        let answers = try await withServer(site()) { port in
            let client = try TestClient(port: port)
            let token = "Authorization: Bearer secret\r\n"
            let first = try client.get("/app.js", port: port, token)
            let tag = first.headers["etag"] ?? ""
            client.send("GET /app.js HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\(token)If-None-Match: \(tag)\r\n\r\n")
            let second = try client.response()
            try folder.write("let a = 22", to: "app.js")
            let third = try client.get("/app.js", port: port, "\(token)If-None-Match: \(tag)\r\n")
            let part = try client.get("/app.js", port: port, "\(token)Range: bytes=4-4\r\n")
            return ["\(second.status)", third.text, "\(part.status) \(part.text)", first.headers["cache-control"]]
        }
        #expect(answers == ["304", "let a = 22", "206 a", "no-cache"])
    }

    @Test func theEntryAddressSignsABrowserIn() async throws {
        let statuses = try await withServer(site()) { port in
            let client = try TestClient(port: port)
            let refused = try client.get("/", port: port).status
            let entry = try client.get("/?token=secret", port: port)
            let cookie = entry.headers["set-cookie"]?.prefix { $0 != ";" } ?? ""
            let page = try client.get(entry.headers["location"] ?? "?", port: port, "Cookie: \(cookie)\r\n")
            return [refused, entry.status, page.status, try client.get("/health", port: port).status]
        }
        #expect(statuses == [401, 303, 200, 200])
    }

    @Test func plumbingTellsRequestsAndEvents() {
        let http = plumbingHTTP(chunks: [Array("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhiGET".utf8)])
        let refused = plumbingHTTP(chunks: [Array("GET / HTTP/1.1\n".utf8)])
        let events = plumbingSSE(chunks: [Array("retry: 5\nid: 1\nevent: e\ndata: x\n\n".utf8)])

        #expect(
            http.text()
                == #"{"requests":[{"method":"POST","target":"/a","headers":[["Host","h"],["Content-Length","2"]],"#
                + #""body":"aGk="}],"error":null,"status":null,"incomplete":true}"#)
        #expect(refused["error"] == "A line of the request does not end in CR LF.")
        #expect(events.text() == #"{"events":[{"type":"e","data":"x","id":"1"}],"retry":5}"#)
        #expect(
            ["", "f", "fo", "foo", "foob"].map { Base64.text(Array($0.utf8)) } == [
                "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==",
            ])
    }
}
