import AlcoveCore
import Testing

struct SSEParserTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        /// `type|data|id`
        let events: [String]
        var retry: Int?
        var testDescription: String { name }
    }

    static let cases = [
        Case(name: "one", text: "data: a\n\n", events: ["message|a|"]),
        Case(name: "no space", text: "data:a\n\ndata:  b\n\n", events: ["message|a|", "message| b|"]),
        Case(name: "several lines", text: "data: a\ndata\ndata: c\n\n", events: ["message|a\n\nc|"]),
        Case(name: "empty data", text: "data:\n\ndata\n\n", events: ["message||", "message||"]),
        Case(name: "no data", text: "event: x\n\ndata: a\n\n", events: ["message|a|"]),
        Case(name: "type", text: "event: x\ndata: a\n\ndata: b\n\n", events: ["x|a|", "message|b|"]),
        Case(
            name: "id stays", text: "id: 7\ndata: a\n\ndata: b\n\nid\ndata: c\n\n",
            events: ["message|a|7", "message|b|7", "message|c|"]),
        Case(name: "id with NUL", text: "id: 7\nid: a\0b\ndata: a\n\n", events: ["message|a|7"]),
        Case(
            name: "retry", text: "retry: 1500\nretry: 1x\nretry:\nretry: -3\ndata: a\n\n", events: ["message|a|"],
            retry: 1500),
        Case(name: "comments", text: ": keep-alive\n\ndata: a\n: x\n\n:\n\n", events: ["message|a|"]),
        Case(name: "unknown fields", text: "Data: x\nfoo: y\n data: z\ndata : q\ndata: a\n\n", events: ["message|a|"]),
        Case(name: "byte order mark", text: "\u{FEFF}data: a\n\n", events: ["message|a|"]),
        Case(name: "mark only at the start", text: "data: a\n\n\u{FEFF}data: b\n\n", events: ["message|a|"]),
        Case(name: "missing last blank line", text: "data: a\n\ndata: b\n", events: ["message|a|"]),
        Case(name: "unfinished line", text: "data: a\n\ndata: b", events: ["message|a|"]),
        Case(name: "colon in data", text: "data: a: b\n\n", events: ["message|a: b|"]),
        Case(name: "characters of every length", text: "data: é漢😸👩‍👩‍👧‍👦\nid: ü\n\n", events: ["message|é漢😸👩‍👩‍👧‍👦|ü"]),
        Case(name: "nothing", text: "\n\n\n", events: []),
    ]

    static func parse(_ chunks: [[UInt8]]) -> (events: [String], retry: Int?) {
        var parser = SSEParser()
        var events: [String] = []
        for chunk in chunks { events += parser.feed(chunk).map { "\($0.type)|\($0.data)|\($0.id)" } }
        return (events, parser.retryMilliseconds)
    }

    @Test("T25 T26: every split, three line endings", arguments: cases, ["\n", "\r", "\r\n"])
    func everySplitGivesTheSameEvents(_ c: Case, lineEnd: String) {
        let bytes = c.text.unicodeScalars.reduce(into: [UInt8]()) {
            $0 += $1 == "\n" ? Array(lineEnd.utf8) : Array(String($1).utf8)
        }

        for cut in 0...bytes.count {
            let parsed = SSEParserTests.parse([Array(bytes[..<cut]), Array(bytes[cut...])])
            #expect(parsed.events == c.events, "cut at \(cut)")
            #expect(parsed.retry == c.retry)
        }
        #expect(SSEParserTests.parse(bytes.map { [$0] }).events == c.events)
    }

    /// A line end cut in two once made two line ends, and so an event of half the lines.
    @Test("Field report 8") func carriageReturnAndLineFeedApartAreOneLineEnd() {
        let chunks = ["data: A\r\n", "data: B\r", "\n", "data: C\r\n", "\n"].map { Array($0.utf8) }
        let without = ["data: A\r\n", "data: B\r", "data: C\r\n", "\n"].map { Array($0.utf8) }

        #expect(SSEParserTests.parse(chunks).events == ["message|A\nB\nC|"])
        #expect(SSEParserTests.parse(without).events == ["message|A\nB\nC|"])
    }

    /// A client that read by lines lost the blank ones, and characters at the edge of a network read.
    @Test("Field report 9") func fiveThousandEventsArriveWholeInNetworkReads() {
        let bytes = (0..<5000).reduce(into: [UInt8]()) { $0 += Array("data: {\"i\":\($1),\"t\":\"漢😸\"}\n\n".utf8) }
        for size in [16_384, 16_383, 16_381, 1_000, 7] {
            let chunks = stride(from: 0, to: bytes.count, by: size).map {
                Array(bytes[$0..<min($0 + size, bytes.count)])
            }
            let events = SSEParserTests.parse(chunks).events
            #expect(events == (0..<5000).map { "message|{\"i\":\($0),\"t\":\"漢😸\"}|" }, "reads of \(size)")
        }
    }

    @Test func bytesThatAreNotUTF8BecomeReplacementCharacters() {
        #expect(
            SSEParserTests.parse([Array("data: a".utf8) + [0xFF] + Array("b\n\n".utf8)]).events == [
                "message|a\u{FFFD}b|"
            ])
    }

    @Test func anEventThatIsTooLongIsDroppedAloneAndMemoryStaysBounded() {
        var parser = SSEParser(maximumBytes: 100)
        var events: [ServerSentEvent] = []
        for _ in 0..<1000 { events += parser.feed(Array(repeating: 0x61, count: 1000)) }
        events += parser.feed(Array("\ndata: lost\n\ndata: a\n\n".utf8))
        for _ in 0..<1000 { events += parser.feed(Array("data: many lines\n".utf8)) }
        events += parser.feed(Array("\ndata: b\n\n".utf8))

        #expect(events.map(\.data) == ["a", "b"])
    }

    @Test func theIDOfAnUnfinishedEventIsNotTheLast() {
        var parser = SSEParser()
        _ = parser.feed(Array("id: 1\n\nid: 2\ndata: x\n".utf8))
        #expect(parser.lastEventID == "1")
        _ = parser.feed(Array("\n".utf8))
        #expect(parser.lastEventID == "2")
    }
}
