import Testing

@testable import AlcoveServer

struct EntryPointTests {
    @Test(arguments: [
        ("plain words", "plain words"), ("  a\tb \n", "a b"), ("a\r\nb\rc\u{2028}d", "a\nb\nc\nd"),
        ("a\u{1B}[31mred\u{7}\u{0}", "a[31mred"), ("pay \u{202E}001\u{2066} now\u{200B}", "pay 001 now"),
        ("\u{E0041}tag\u{F8FF}", "tag"), ("👩\u{200D}👧 می\u{200C}خواهم", "👩\u{200D}👧 می\u{200C}خواهم"),
        ("\u{200E}\n\t", ""), ("做 面包", "做 面包"),
    ])
    func wordsThatHideOrTurnAreLeftOut(_ text: String, _ expected: String) {
        #expect(EntryPoint.clean(text) == expected)
        #expect(EntryPoint.clean(EntryPoint.clean(text)) == expected)
    }

    @Test func longOnesAreCut() {
        #expect(EntryPoint.clean(String(repeating: "é", count: 10_000)).count == EntryPoint.lengthLimit)
    }
}
