import AlcoveCore
import Testing

@testable import AlcoveDownloads

struct WebAddressTests {
    @Test func itsPartsAreRead() throws {
        let address = try WebAddress("HTTPS://Anna:s%40cret@Example.ORG.:8443/a b/ü?x=1#y".replacing(" ", with: "%20"))

        #expect(address.scheme == .https)
        #expect(address.host == "example.org")
        #expect(address.port == 8443)
        #expect(address.target == "/a%20b/%C3%BC?x=1")
        #expect(address.credentials == "Anna:s@cret")
        #expect(address.text == "https://example.org:8443/a%20b/%C3%BC?x=1")
        #expect(address.shown == "https://example.org:8443/a%20b/%C3%BC")
        #expect(try WebAddress("http://[2001:DB8::1]:80").text == "http://[2001:db8::1]/")
    }

    @Test(arguments: [
        "", "example.org", "ftp://x/", "http://", "http://@/", "http://x:0/", "http://x:65536/", "http://x:-1/",
        "http://[::1", "http://[x]/", "http://a\u{0}b/", "http://a b/", "http://a/\r\nX: y", "http://a/\tb",
        "http://ex%61mple.org/", "http://" + String(repeating: "a", count: 300) + "/",
        "http://x/" + String(repeating: "a", count: 9_000), "http://a\\b/",
    ]) func whatIsNoneIsRefused(_ text: String) {
        #expect(throws: DownloadError.self) { try WebAddress(text) }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let location: String
        let expected: String?
        var testDescription: String { location }
    }

    @Test(arguments: [
        Case(location: "https://other.org/y", expected: "https://other.org/y"),
        Case(location: "//other.org/y", expected: "https://other.org/y"),
        Case(location: "/y?z#f", expected: "https://example.org/y?z"),
        Case(location: "y", expected: "https://example.org/a/y"),
        Case(location: "../../../y/./z", expected: "https://example.org/y/z"),
        Case(location: "..", expected: "https://example.org/"),
        Case(location: "?q=/../x", expected: "https://example.org/a/b?q=/../x"),
        Case(location: "#only", expected: "https://example.org/a/b?c"),
        Case(location: "a/b:c", expected: "https://example.org/a/a/b:c"),
        Case(location: "/with space", expected: "https://example.org/with%20space"),
        Case(location: "javascript:alert(1)", expected: nil), Case(location: "file:///etc/passwd", expected: nil),
        Case(location: "data:text/plain,x", expected: nil), Case(location: "/a\u{0}", expected: nil),
        Case(location: "///x", expected: nil),
    ]) func redirectsAreResolved(_ c: Case) throws {
        let base = try WebAddress("https://u:p@example.org/a/b?c")

        #expect((try? base.resolving(c.location).text) == c.expected)
        if c.expected == nil { #expect(throws: DownloadError.self) { try base.resolving(c.location) } }
    }

    @Test func credentialsAreOnlyThoseOfTheAddressItself() throws {
        let base = try WebAddress("https://u:p@example.org/a")

        #expect(try base.resolving("/b").credentials == nil)
        #expect(!base.text.contains("u:p"))
    }
}
