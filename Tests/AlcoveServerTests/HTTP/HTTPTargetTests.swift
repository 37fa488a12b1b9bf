import AlcoveCore
import Testing

@testable import AlcoveServer

struct HTTPTargetTests {
    struct Good: Sendable, CustomTestStringConvertible {
        let text: String
        let segments: [String]
        var query: [String] = []
        var authority: String?
        var testDescription: String { text }
    }

    static let good = [
        Good(text: "/", segments: []), Good(text: "*", segments: []),
        Good(text: "/a/b", segments: ["a", "b"]), Good(text: "//a//b/", segments: ["a", "b"]),
        Good(text: "/a%20b%2Fc/%C3%A9", segments: ["a b", "c", "é"]), Good(text: "/a+b", segments: ["a+b"]),
        Good(text: "/...", segments: ["..."]), Good(text: "/%252e%252e", segments: ["%2e%2e"]),
        Good(text: "/?a=1&b=x+y%26&c&=d&&e=f=g", segments: [], query: ["a=1", "b=x y&", "c=", "=d", "e=f=g"]),
        Good(text: "/x?../..", segments: ["x"], query: ["../..="]),
        Good(text: "http://h:1/a?b", segments: ["a"], query: ["b="], authority: "h:1"),
        Good(text: "HTTP://h", segments: [], authority: "h"),
    ]

    @Test(arguments: good) func readsPathAndQuery(_ c: Good) throws {
        let target = try HTTPTarget(parsing: c.text)

        #expect(target.segments == c.segments)
        #expect(target.query.map { "\($0.name)=\($0.value)" } == c.query)
        #expect(target.authority == c.authority)
    }

    static let bad = [
        "/..", "/a/../b", "/%2e%2e/x", "/%2E./x", "/.%2e", "/a%2f..%2fb", "/.", "/%2e", "/a\\b", "/..%5c..%5cx", "/%00",
        "/a%00.html", "/a%0d%0aX:y", "/%7f", "/%", "/%4", "/%zz", "/%+1", "/%c0%ae%c0%ae/x", "/%c0%af", "/%e0%80%ae",
        "/%ff", "/%ed%a0%80", "a", "", "https://h/", "ftp://h/", "/a#b", "/?a=%00", "/?%ff", "/?a=%c0%ae",
    ]

    @Test(arguments: bad) func refusesWhatOnlyAnAttackNeeds(_ text: String) {
        let error = #expect(throws: HTTPError.self) { try HTTPTarget(parsing: text) }
        #expect(error?.httpStatus == 400)
    }
}
