import AlcoveCore
import TestFolder
import Testing

@testable import AlcoveServer

struct FileResponseTests {
    struct RangeCase: Sendable, CustomTestStringConvertible {
        let text: String
        let size: Int
        let expected: ByteRange
        var testDescription: String { "\(text) of \(size)" }
    }

    static let ranges = [
        RangeCase(text: "bytes=0-0", size: 10, expected: .part(0..<1)),
        RangeCase(text: "bytes=2-5", size: 10, expected: .part(2..<6)),
        RangeCase(text: "Bytes=5-", size: 10, expected: .part(5..<10)),
        RangeCase(text: "bytes=0-", size: 10, expected: .part(0..<10)),
        RangeCase(text: "bytes=5-99", size: 10, expected: .part(5..<10)),
        RangeCase(text: "bytes=5-99999999999999999999999", size: 10, expected: .part(5..<10)),
        RangeCase(text: "bytes=-3", size: 10, expected: .part(7..<10)),
        RangeCase(text: "bytes=-30", size: 10, expected: .part(0..<10)),
        RangeCase(text: "bytes=10-", size: 10, expected: .unsatisfiable),
        RangeCase(text: "bytes=99999999999999999999999-", size: 10, expected: .unsatisfiable),
        RangeCase(text: "bytes=-0", size: 10, expected: .unsatisfiable),
        RangeCase(text: "bytes=0-", size: 0, expected: .unsatisfiable),
        RangeCase(text: "bytes=-5", size: 0, expected: .unsatisfiable),
        RangeCase(text: "bytes=5-2", size: 10, expected: .whole),
        RangeCase(text: "bytes=-", size: 10, expected: .whole), RangeCase(text: "bytes=", size: 10, expected: .whole),
        RangeCase(text: "bytes=a-b", size: 10, expected: .whole),
        RangeCase(text: "bytes=+1-2", size: 10, expected: .whole),
        RangeCase(text: "bytes=0-1,3-4", size: 10, expected: .whole),
        RangeCase(text: "lines=0-1", size: 10, expected: .whole),
        RangeCase(text: "bytes=--1", size: 10, expected: .whole),
    ]

    @Test(arguments: ranges) func readsARange(_ c: RangeCase) throws {
        #expect(ByteRange.read(c.text, size: c.size) == c.expected)
    }

    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func get(_ name: String, _ fields: HTTPHeaders = [:], method: String = "GET") -> HTTPResponse? {
        let request = HTTPRequest(
            method: method, target: try! HTTPTarget(parsing: "/x"), headers: fields, serverPort: 1)  // a fixed text
        return HTTPResponse.file([name], in: ConfinedFolder(folder.path), for: request)
    }

    private func bytes(_ response: HTTPResponse?) -> String? {
        guard case .file(let range)? = response?.body else { return nil }
        return range.bytes().map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func answersWholePartUnchangedAndUnsatisfiable() throws {
        try folder.write("0123456789", to: "a.txt")

        let whole = try #require(get("a.txt"))
        let tag = try #require(whole.headers["ETag"])
        let date = try #require(whole.headers["Last-Modified"])
        let part = get("a.txt", ["Range": "bytes=2-4"])
        let past = get("a.txt", ["Range": "bytes=20-"])

        #expect(whole.status == 200)
        #expect(bytes(whole) == "0123456789")
        #expect(whole.headers["Accept-Ranges"] == "bytes")
        #expect(whole.headers["Content-Type"] == "text/plain; charset=utf-8")
        #expect(part?.status == 206)
        #expect(part?.headers["Content-Range"] == "bytes 2-4/10")
        #expect(bytes(part) == "234")
        #expect(past?.status == 416)
        #expect(past?.headers["Content-Range"] == "bytes */10")
        #expect(get("a.txt", ["If-None-Match": tag])?.status == 304)
        #expect(get("a.txt", ["If-None-Match": "\"x\", W/\(tag)"])?.status == 304)
        #expect(get("a.txt", ["If-None-Match": "*"])?.status == 304)
        #expect(get("a.txt", ["If-None-Match": "\"x\""])?.status == 200)
        #expect(get("a.txt", ["If-None-Match": "\"x\"", "If-Modified-Since": date])?.status == 200)
        #expect(get("a.txt", ["If-Modified-Since": date])?.status == 304)
        #expect(get("a.txt", ["If-Modified-Since": "Thu, 01 Jan 1970 00:00:00 GMT"])?.status == 200)
        #expect(get("a.txt", ["Range": "bytes=2-4", "If-Range": tag])?.status == 206)
        #expect(get("a.txt", ["Range": "bytes=2-4", "If-Range": date])?.status == 206)
        #expect(get("a.txt", ["Range": "bytes=2-4", "If-Range": "W/\(tag)"])?.status == 200)
        #expect(get("a.txt", ["Range": "bytes=2-4", "If-Range": "\"old\""])?.status == 200)
        #expect(get("a.txt", ["Range": "bytes=2-4"], method: "HEAD")?.status == 200)
        #expect(get("none.txt") == nil)
    }

    @Test("T6") func nothingOutsideTheFolderIsOpened() throws {
        let outside = try TemporaryFolder()
        try outside.write("secret", to: "s")
        try outside.folder("d")
        try outside.write("secret", to: "d/s")
        try folder.write("inside", to: "a")
        try folder.folder("sub")
        try folder.write("inside", to: "sub/b")
        try folder.link("link", to: "\(outside.path)/s")
        try folder.link("folder", to: "\(outside.path)/d")
        try folder.link("sub/up", to: "..")
        mkfifo("\(folder.path)/pipe", 0o600)
        let confined = ConfinedFolder(folder.path)

        #expect(confined.open(["a"]) != nil)
        #expect(confined.open(["sub", "b"]) != nil)
        for segments in [
            [], ["link"], ["folder", "s"], ["sub", "up", "a"], ["..", "a"], ["sub", "..", "a"], ["."], ["sub"],
            ["pipe"],
            ["sub/b"], ["sub", "../a"], ["a\0"], [""], ["/etc/passwd"], ["a", "x"],
        ] { #expect(confined.open(segments) == nil, "\(segments)") }
    }

    struct NameCase: Sendable, CustomTestStringConvertible {
        let name: String
        let expected: String
        var testDescription: String { name }
    }

    static let names = [
        NameCase(name: "a b.txt", expected: #"attachment; filename="a b.txt""#),
        NameCase(name: "a\"b\\c.txt", expected: #"attachment; filename="c.txt""#),
        NameCase(
            name: "say \"hi\".txt",
            expected: #"attachment; filename="say _hi_.txt"; filename*=UTF-8''say%20%22hi%22.txt"#),
        NameCase(name: "x\r\nSet-Cookie: a=b", expected: #"attachment; filename="xSet-Cookie: a=b""#),
        NameCase(
            name: "größe.pdf", expected: #"attachment; filename="gr__e.pdf"; filename*=UTF-8''gr%C3%B6%C3%9Fe.pdf"#),
        NameCase(name: "100%.txt", expected: #"attachment; filename="100_.txt"; filename*=UTF-8''100%25.txt"#),
        NameCase(name: "../../etc/passwd", expected: #"attachment; filename="passwd""#),
        NameCase(name: "..", expected: #"attachment; filename="download""#),
        NameCase(name: "\0\u{85}", expected: #"attachment; filename="download""#),
    ]

    @Test("T9", arguments: names) func anyFileNameIsSafeInAHeader(_ c: NameCase) {
        #expect(ContentDisposition.attachment(c.name) == c.expected)
    }

    @Test func datesGoThereAndBack() {
        #expect(HTTPDate.text(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.text(0) == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(HTTPDate.text(951_782_400) == "Tue, 29 Feb 2000 00:00:00 GMT")
        for seconds in stride(from: 0, to: 4_000_000_000, by: 7_777_777) {
            #expect(HTTPDate.seconds(HTTPDate.text(seconds)) == seconds)
        }
        #expect(HTTPDate.seconds("yesterday") == nil)
    }
}
