internal import AlcoveCore
internal import AlcoveTemplates
internal import Testing

/// What parsing costs over an answer of 32,000 tokens; figures are in docs/tool-calls.md.
struct ParsingCostTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let template: String
        let name: String
        let begin: String
        let end: String
        var testDescription: String { "\(name), \(template)" }
    }

    static let cases = [
        Case(template: "Qwen-Qwen3-0.6B", name: "text", begin: "", end: ""),
        Case(template: "Qwen-Qwen3-0.6B", name: "reasoning", begin: "<think>\n", end: "</think>\n\nDone."),
        Case(
            template: "Qwen-Qwen3-0.6B", name: "a file in a call",
            begin: "<tool_call>\n{\"name\": \"write_file\", \"arguments\": {\"path\": \"a\", \"content\": \"",
            end: "\"}}\n</tool_call>"),
        Case(
            template: "Qwen3.5-4B", name: "a file in a call",
            begin:
                "</think>\n\n<tool_call>\n<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\n",
            end: "\n</parameter>\n</function>\n</tool_call>"),
    ]

    /// A model that writes a token in half a millisecond is quicker than any there is.
    @Test(arguments: cases) func parsingTakesLittleOfTheTime(_ c: Case) throws {
        let isMeasured = getenv("ALCOVE_BENCH") != nil
        let words = [
            "let", " x", " =", " a", " <", " b", ";", " //", " one", " more", " word", " of", " the", " answer",
        ]
        let prepared = try StreamingOutputTests.prepare(c.template)
        let output = try StreamingOutput(parser: prepared.prompt.parser, markers: prepared.prompt.callMarkers)
        let count = isMeasured ? 32_000 : 4_000
        let start = Platform.monotonicNanoseconds
        var told = 0

        told += output.append(c.begin).count
        for index in 0..<count {
            let due = start + UInt64(index) * 500_000
            while Platform.monotonicNanoseconds < due {}
            told += output.append(words[index % words.count]).count
        }
        told += output.append(c.end).count
        let streamed = output.parsingTime
        let elapsed = Platform.monotonicNanoseconds - start
        told += output.finish().count

        let share = Double(streamed) / Double(elapsed)
        let last = Double(output.parsingTime - streamed) / 1e6
        if isMeasured {
            print("\(c): \(100 * share) % of \(elapsed / 1_000_000) ms, at the end \(last) ms, \(told) events")
        }
        #expect(share < 0.04)  // 0.02, and what a busy machine adds to a single parse
        #expect(told > 2)
    }
}
