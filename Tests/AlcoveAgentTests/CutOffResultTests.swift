import AlcoveCore
import Testing

@testable import AlcoveAgent

struct CutOffResultTests {
    private static func step(_ call: String, ok: Bool = true) -> TurnEvent.Body {
        .toolFinished(
            ToolNote(
                call: call, tool: "shell", failure: ok ? nil : .failed, detail: "ls", observation: "a", round: 1,
                seconds: 1, receipt: "r"))
    }

    @Test func wordsReasoningStepsAndFilesAreThere() {
        var usage = Usage()
        usage.completionTokens = 4
        let note = ArtifactNote(call: "1", name: "a.txt", bytes: 2, url: "/a")
        let result = TurnResult.cutOff(
            after: [
                .inputAccepted(messages: 1), .reasoning("Hm"), .reasoning("m."), .text("One 😀"),
                .toolStarted(call: "1", tool: "shell", detail: "ls"), .artifact(note), Self.step("1"),
                .usage(usage), .text(" two"),
            ], because: "It ended.")

        #expect(result.text == "One 😀 two")
        #expect(result.reasoning == "Hmm.")
        #expect(result.steps.map(\.call) == ["1"])
        #expect(result.places == [6], "in UTF-16 units, as pages count")
        #expect(result.artifacts == [note])
        #expect(result.end.usage.completionTokens == 4)
        #expect(result.isCutOff && result.end.error == "It ended.")
    }

    @Test func wordsThatWereReplacedAreGone() {
        let result = TurnResult.cutOff(
            after: [.text("Wrong"), .replaced(text: "Ri"), .text("ght")], because: "It ended.")

        #expect(result.text == "Right")
    }

    @Test func aToolThatRanIsAStepThatFailed() {
        let result = TurnResult.cutOff(
            after: [
                .toolStarted(call: "1", tool: "shell", detail: "ls"), Self.step("1"),
                .toolStarted(call: "2", tool: "shell", detail: "make"),
                .toolOutput(call: "2", tool: "shell", text: "cc", seconds: 1),
            ], because: "It ended.")

        #expect(result.steps.map(\.succeeded) == [true, false])
        #expect(result.steps.last?.detail == "make")
        #expect(result.steps.last?.failure == .aborted)
    }
}
