import AlcoveCore
import AlcoveStorage
import Testing

@testable import AlcoveWorkspace

struct RunStoryTests {
    private func story(_ events: (String, JSONValue)...) -> RunStory {
        RunStory(
            events.enumerated().map {
                LoggedEvent(
                    seq: Int64($0.offset), at: Timestamp(milliseconds: Int64($0.offset)), kind: $0.element.0,
                    payload: $0.element.1.text())
            })
    }

    @Test func aRunIsToldWithItsCountersAndFailures() {
        let told = story(
            ("input_accepted", ["messages": 1]), ("checkpoint", ["phase": "plan", "call": .null]),
            ("notice", "Plan: 1. tasks_add."), ("call_parsed", ["id": "c", "tool": "tasks_add", "round": 2]),
            ("approval_asked", ["tool": "tasks_add", "effect": "changes what Alcove keeps"]),
            ("approval_answered", ["call": "c", "outcome": "allowed_for_chat"]),
            ("tool_started", ["tool": "tasks_add", "detail": "Buy milk"]),
            ("tool_finished", ["tool": "tasks_add", "ok": true, "detail": "Buy milk", "observation": "Added."]),
            (
                "tool_finished",
                [
                    "tool": "shell", "ok": false, "failure": "timeout",
                    "observation": .string(String(repeating: "x", count: 900)),
                ]
            ), ("checkpoint", ["phase": "reassess", "call": .null]),
            (
                "finished",
                ["reason": "error", "error": "It broke.", "elapsed": 1.5, "usage": ["prompt": 7, "completion": 3]]
            ))

        var counters = RunStory.Counters()
        (counters.rounds, counters.calls, counters.succeeded, counters.failed) = (2, 1, 1, 1)
        (counters.asked, counters.allowed, counters.promptTokens, counters.answerTokens) = (1, 1, 7, 3)
        counters.seconds = 1.5
        #expect(told.counters == counters && told.phase == "ended" && told.activeTool == nil)
        #expect(
            told.moments.map(\.what) == [
                .accepted, .notice, .asked, .answered, .started, .finished, .finished, .ended,
            ])
        #expect(told.moments[3].tool == "tasks_add" && told.moments[3].text == "allowed_for_chat")
        #expect(told.moments.last?.text == "It broke.")
        #expect(told.failures.map(\.failure) == ["timeout"] && told.failures[0].text.count == RunStory.textLimit)
    }

    @Test func aRunUnderWaySaysWhereItIs() {
        let told = story(
            ("call_parsed", ["id": "c", "tool": "tasks_add", "round": 1]),
            ("checkpoint", ["phase": "approve", "call": "c"]))

        #expect(told.phase == "approve" && told.activeTool == "tasks_add")
    }

    @Test func whatIsDamagedIsPassedOver() {
        let damaged = RunStory([
            LoggedEvent(seq: 0, at: Timestamp(milliseconds: 0), kind: "tool_finished", payload: "{")
        ])
        #expect(damaged.counters.failed == 1 && damaged.failures[0].tool == "")
        #expect(story(("later", 5)).moments.isEmpty)
    }
}
