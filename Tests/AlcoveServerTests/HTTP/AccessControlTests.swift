import AlcoveCore
import Testing

@testable import AlcoveServer

struct AccessControlTests {
    static let access = AccessControl(token: "secret")

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        var method = "GET"
        var target = "/api/x"
        var host: String? = "127.0.0.1:80"
        var fields: [String: String] = ["Authorization": "Bearer secret"]
        /// Status and code; nil when the request may pass.
        let expected: String?
        var port: UInt16 = 4000
        var testDescription: String { name }
    }

    static func host(_ host: String?, _ expected: String?, port: UInt16 = 4000, target: String = "/api/x") -> Case {
        Case(name: "host \(host ?? "none") \(target)", target: target, host: host, expected: expected, port: port)
    }

    static func fields(_ name: String, _ fields: [String: String], _ expected: String?, method: String = "GET") -> Case
    {
        var all = fields
        if all["Authorization"] == nil { all["Authorization"] = "Bearer secret" }
        return Case(name: name, method: method, host: "127.0.0.1:4000", fields: all, expected: expected)
    }

    static func token(_ name: String, _ fields: [String: String], _ expected: String?, target: String = "/api/x")
        -> Case
    {
        Case(name: name, target: target, host: "127.0.0.1:4000", fields: fields, expected: expected)
    }

    static let cases = [
        host("127.0.0.1:4000", nil), host("localhost:4000", nil), host("LocalHost:4000", nil), host("[::1]:4000", nil),
        host("127.0.0.1", nil, port: 80), host("127.0.0.1", "403 foreign_host"),
        host("127.0.0.1:4001", "403 foreign_host"), host("evil.example", "403 foreign_host"),
        host("evil.example:4000", "403 foreign_host"), host("127.0.0.1.evil.example:4000", "403 foreign_host"),
        host("localhost:4000.evil.example", "403 foreign_host"), host("127.0.0.2:4000", "403 foreign_host"),
        host("0.0.0.0:4000", "403 foreign_host"), host("user@127.0.0.1:4000", "403 foreign_host"),
        host("", "403 foreign_host"), host(nil, "403 foreign_host"),
        host("evil.example:4000", "403 foreign_host", target: "/health"),
        host("127.0.0.1:4000", nil, target: "/health"),
        host("127.0.0.1:4000", "403 foreign_host", target: "http://evil.example/health"),
        host("evil.example", nil, target: "http://127.0.0.1:4000/x"),
        host("evil.example", "403 foreign_host", target: "/?token=secret"),
        fields("own origin", ["Origin": "http://127.0.0.1:4000"], nil, method: "POST"),
        fields("other name of this machine", ["Origin": "http://localhost:4000"], "403 foreign_origin"),
        fields("null origin", ["Origin": "null"], "403 foreign_origin", method: "POST"),
        fields("null origin, reading", ["Origin": "null"], "403 foreign_origin"),
        fields("foreign origin", ["Origin": "https://evil.example"], "403 foreign_origin", method: "DELETE"),
        fields("other port", ["Origin": "http://127.0.0.1:4001"], "403 foreign_origin"),
        fields("other scheme", ["Origin": "https://127.0.0.1:4000"], "403 foreign_origin"),
        fields("empty origin", ["Origin": ""], "403 foreign_origin"),
        fields("cross-site", ["Sec-Fetch-Site": "cross-site"], "403 foreign_origin"),
        fields("same-site, another port", ["Sec-Fetch-Site": "same-site"], "403 foreign_origin"),
        fields("same-origin", ["Sec-Fetch-Site": "same-origin"], nil),
        fields("address bar", ["Sec-Fetch-Site": "none"], nil),
        token("no token", [:], "401 unauthorized"),
        token("wrong token", ["Authorization": "Bearer secreT"], "401 unauthorized"),
        token("longer token", ["Authorization": "Bearer secret2"], "401 unauthorized"),
        token("empty token", ["Authorization": "Bearer "], "401 unauthorized"),
        token("basic", ["Authorization": "Basic secret"], "401 unauthorized"),
        token("small bearer", ["Authorization": "bearer secret"], nil),
        token("cookie", ["Cookie": "a=b; alcove_token_4000=secret; c=d"], nil),
        token("wrong cookie", ["Cookie": "alcove_token_4000=wrong"], "401 unauthorized"),
        token("cookie of another port", ["Cookie": "alcove_token_4001=secret"], "401 unauthorized"),
        token("stale cookie beside the right one", ["Cookie": "alcove_token_4000=old; alcove_token_4000=secret"], nil),
        token("token in an address", [:], "401 unauthorized", target: "/api/x?token=secret"),
        token("static file", [:], "401 unauthorized", target: "/app.js"),
        token("the page", [:], "401 unauthorized", target: "/"),
        token("health", [:], nil, target: "/health"),
        token("below health", [:], "401 unauthorized", target: "/health/x"),
        token("entry", [:], "303 ", target: "/?token=secret"),
        token(
            "entry with a wrong token", ["Cookie": "alcove_token_4000=secret"], "401 unauthorized", target: "/?token=x"),
    ]

    @Test("T1 T2 T3", arguments: cases) func letsPassOrRefuses(_ c: Case) throws {
        var request = HTTPRequest(
            method: c.method, target: try HTTPTarget(parsing: c.target), serverPort: c.port)
        request.headers["Host"] = c.host
        for (name, value) in c.fields { request.headers[name] = value }

        let response = AccessControlTests.access.response(to: request)

        #expect(response.map { "\($0.status) \(AccessControlTests.code($0))" } == c.expected)
        #expect(response?.headers["Access-Control-Allow-Origin"] == nil)
    }

    private static func code(_ response: HTTPResponse) -> String {
        guard case .bytes(let bytes) = response.body else { return "" }
        return (try? JSONValue(parsing: bytes))?["code"]?.string ?? ""
    }

    @Test func entryTakesTheTokenOutOfTheAddress() throws {
        let request = HTTPRequest(
            method: "GET", target: try HTTPTarget(parsing: "/?token=secret"), headers: ["Host": "localhost:4000"],
            serverPort: 4000)

        let response = try #require(AccessControlTests.access.response(to: request))

        #expect(response.status == 303)
        #expect(response.headers["Location"] == "/")
        #expect(response.headers["Cache-Control"] == "no-store")
        #expect(response.headers["Set-Cookie"] == "alcove_token_4000=secret; Path=/; HttpOnly; SameSite=Strict")
    }

    @Test func aBrowserReadsTheRefusalAsAPage() throws {
        let request = HTTPRequest(
            method: "GET", target: try HTTPTarget(parsing: "/"),
            headers: ["Host": "127.0.0.1:4000", "Accept": "text/html,*/*;q=0.8"], serverPort: 4000)

        let response = try #require(AccessControlTests.access.response(to: request))

        guard case .bytes(let bytes) = response.body else { throw CancellationError() }
        #expect(response.status == 401)
        #expect(response.headers["Content-Type"] == "text/html; charset=utf-8")
        #expect(
            String(decoding: bytes, as: UTF8.self).contains(
                "<p>This page needs the key of the Alcove that is running now.</p>"))
    }

    @Test("T7") func tokensAreLongAndDiffer() {
        let tokens = Set((0..<1000).map { _ in AccessControl.newToken() })
        #expect(tokens.count == 1000)
        #expect(tokens.allSatisfy { $0.utf8.count == 48 && $0.utf8.allSatisfy { $0.hexDigit != nil } })
    }
}
