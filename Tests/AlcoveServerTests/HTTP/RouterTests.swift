import AlcoveCore
import Testing

@testable import AlcoveServer

struct RouterTests {
    static let router: Router = {
        var router = Router()
        router.get("/a") { _ in .text("a") }
        router.get("/a/{id}") { request in
            request.parameters["id"] == "declined" ? nil : .text("one \(request.parameters["id"] ?? "?")")
        }
        router.get("/a/{other}") { _ in .text("second") }
        router.post("/a/{id}/stop") { _ in .text("stopped") }
        router.delete("/a/{id}") { _ in .text("deleted") }
        router.get("/files/{*rest}") { .text($0.parameters["rest"] ?? "?") }
        router.get("/never") { _ in nil }
        router.post("/json", body: .json(upTo: 10)) {
            .text(String(decoding: try await $0.body.collect(), as: UTF8.self))
        }
        router.post("/upload", body: .multipart(upTo: 100)) { _ in .text("took it") }
        return router
    }()

    struct Case: Sendable, CustomTestStringConvertible {
        let method: String
        let path: String
        var type: String?
        var body = ""
        var coding: String?
        let expected: String
        var testDescription: String { "\(method) \(path) \(type ?? "") \(body)" }
    }

    static let cases = [
        Case(method: "GET", path: "/a", expected: "200 a"), Case(method: "HEAD", path: "/a", expected: "200 a"),
        Case(method: "GET", path: "/a/", expected: "200 a"), Case(method: "GET", path: "/A", expected: "404 not_found"),
        Case(method: "GET", path: "/a/7", expected: "200 one 7"),
        Case(method: "GET", path: "/a/x%20y", expected: "200 one x y"),
        Case(method: "GET", path: "/a/declined", expected: "200 second"),
        Case(method: "GET", path: "/a/7/stop", expected: "405 method_not_allowed Allow: POST"),
        Case(method: "PUT", path: "/a/7", expected: "405 method_not_allowed Allow: GET, DELETE, HEAD"),
        Case(method: "POST", path: "/a/7/stop", expected: "200 stopped"),
        Case(method: "DELETE", path: "/a/7", expected: "200 deleted"),
        Case(method: "GET", path: "/files/x/y/z", expected: "200 x/y/z"),
        Case(method: "GET", path: "/files", expected: "404 not_found"),
        Case(method: "GET", path: "/never", expected: "404 not_found"),
        Case(method: "GET", path: "/nowhere", expected: "404 not_found"),
        Case(method: "OPTIONS", path: "/a", expected: "405 method_not_allowed Allow: GET, HEAD"),
        Case(method: "POST", path: "/json", type: "application/json", body: "{}", expected: "200 {}"),
        Case(method: "POST", path: "/json", type: "Application/JSON; charset=utf-8", body: "{}", expected: "200 {}"),
        Case(method: "POST", path: "/json", type: "text/plain", body: "{}", expected: "415 unsupported_media_type"),
        Case(
            method: "POST", path: "/json", type: "application/x-www-form-urlencoded", body: "a=b",
            expected: "415 unsupported_media_type"),
        Case(
            method: "POST", path: "/json", type: "multipart/form-data; boundary=x", body: "x",
            expected: "415 unsupported_media_type"),
        Case(method: "POST", path: "/json", body: "{}", expected: "415 unsupported_media_type"),
        Case(method: "POST", path: "/json", type: "text/plain", expected: "415 unsupported_media_type"),
        Case(method: "POST", path: "/json", expected: "200 "),
        Case(
            method: "POST", path: "/json", type: "application/json", body: "[1,2,3,4,5,6]",
            expected: "413 body_too_large"),
        Case(
            method: "POST", path: "/json", type: "application/json", body: "{}", coding: "gzip",
            expected: "415 unsupported_content_encoding"),
        Case(
            method: "POST", path: "/upload", type: "multipart/form-data; boundary=x", body: "x", expected: "200 took it"
        ),
        Case(
            method: "POST", path: "/upload", type: "application/json", body: "{}",
            expected: "415 unsupported_media_type"),
    ]

    @Test(arguments: cases) func answers(_ c: Case) async throws {
        var request = HTTPRequest(
            method: c.method, target: try HTTPTarget(parsing: c.path), body: HTTPRequestBody(Array(c.body.utf8)),
            serverPort: 1)
        request.headers["content-type"] = c.type
        request.headers["content-encoding"] = c.coding

        let answer: String
        do {
            let response = try await RouterTests.router.respond(to: request)
            guard case .bytes(let bytes) = response.body else {
                Issue.record("no bytes")
                return
            }
            answer = "\(response.status) \(String(decoding: bytes, as: UTF8.self))"
        } catch let error as HTTPError {
            answer = "\(error.httpStatus) \(error.code)" + (error.headers["allow"].map { " Allow: \($0)" } ?? "")
        }

        #expect(answer == c.expected)
    }
}
