import AlcoveStorage
import Testing

struct TimestampTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let milliseconds: Int64
        let text: String
        var testDescription: String { text }
    }

    static let cases = [
        Case(milliseconds: 0, text: "1970-01-01T00:00:00.000Z"),
        Case(milliseconds: -1, text: "1969-12-31T23:59:59.999Z"),
        Case(milliseconds: 951_827_696_789, text: "2000-02-29T12:34:56.789Z"),
        Case(milliseconds: 1_798_761_599_001, text: "2026-12-31T23:59:59.001Z"),
        Case(milliseconds: 4_107_542_400_000, text: "2100-03-01T00:00:00.000Z"),
    ]

    @Test(arguments: cases) func isWrittenAndReadBack(_ c: Case) {
        #expect(Timestamp(milliseconds: c.milliseconds).iso8601 == c.text)
        #expect(Timestamp(iso8601: c.text)?.milliseconds == c.milliseconds)
    }

    @Test func readsWhatOtherProgramsWrite() {
        let expected = Timestamp(iso8601: "2026-01-31T09:05:00.250Z")

        #expect(expected != nil)
        #expect(Timestamp(iso8601: "2026-01-31T10:05:00.2500000+01:00") == expected)
        #expect(Timestamp(iso8601: "2026-01-31 04:35:00.25-0430") == expected)
        #expect(Timestamp(iso8601: "2026-01-31T09:05")?.iso8601 == "2026-01-31T09:05:00.000Z")
    }

    @Test(arguments: ["", "yesterday", "2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00ZZ"])
    func refusesOtherText(_ text: String) {
        #expect(Timestamp(iso8601: text) == nil)
    }
}
