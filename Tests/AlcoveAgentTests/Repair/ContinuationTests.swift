import AlcoveAgent
import AlcoveCore
import Testing

struct ContinuationTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let text: String
        let expected: Bool
        var testDescription: String { text }
    }

    private static let long = "Forty characters are not many, but these are more. "

    static let cases = [
        Case(text: long, expected: true),
        Case(text: String(repeating: "a", count: 39), expected: false),
        Case(text: String(repeating: "a", count: 40), expected: true),
        Case(text: long + "<tool_call>{\"na", expected: false),
        Case(text: long + "<tool_call>{}</tool_call> and", expected: true),
        Case(text: long + "<tool_call>{}</tool_call><tool_call>", expected: false),
        Case(text: long + "<|tool_call>x<tool_call|>", expected: true),
        Case(text: long + "<|tool_call>x</tool_call>", expected: true),
        Case(text: long + "<function=read><parameter=path>x</parameter>", expected: false),
        Case(text: long + "<arg_key>a</arg_key><arg_value>b", expected: false),
        Case(text: "<think>" + long, expected: false),
        Case(text: "<think>" + long + "</think>So", expected: true),
        Case(text: long + "<|channel|>analysis", expected: false),
        Case(text: long + "<|channel|>analysis<|message|>Hm", expected: true),
        Case(text: long + "<|start|>assistant", expected: false),
    ]

    @Test(arguments: cases) func onlyWholePartsAreGoneOnFrom(_ c: Case) {
        #expect(Continuation.isPossible(from: c.text) == c.expected)
    }

    @Test func deadBackendsAreKnownByTheirWords() {
        for text in [
            "Recreate the backend", "it cannot recover in this process", "backend is in error state",
            "kIOGPUCommandBufferCallbackErrorBackgroundExecutionNotPermitted",
            "Insufficient Permission (to submit GPU work from background)", "Innocent victim of GPU error",
            "command buffer 0 failed with status 5",
        ] { #expect(BackendFault.isNamed(in: text), "\(text)") }
        for text in ["", "the command buffer is full", "failed with status 5", "context full"] {
            #expect(!BackendFault.isNamed(in: text), "\(text)")
        }
    }
}
