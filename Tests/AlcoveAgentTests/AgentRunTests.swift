import AlcoveAgent
import AlcoveCore
import AlcoveStorage
import Synchronization
import Testing

/// The loop: rounds, receipts, limits.
struct AgentRunTests {
    @Test func aCallIsRunReceiptedAndAnsweredToTheModel() async throws {
        let bench = try await RunBench()
        let tool = ProbeTool()
        let (events, model, turn) = try await bench.run(
            [[.text("Let me see."), .call("probe", ["q": "x"])], [.text("It is fine.")]], tools: [tool])

        #expect(tool.calls == [["q": "x"]])
        #expect(events.text == "Let me see.\n\nIt is fine.")
        #expect(events.finishedCalls.map(\.observation) == ["fine"])
        let second = model.requests[1].messages
        #expect(second.map(\.role) == [.user, .assistant, .tool])
        #expect(second[1].toolCalls.map(\.name) == ["probe"])
        #expect(second[2].content == "fine")
        let receipts = try await bench.receipts(turn)
        #expect(receipts.map(\.arguments) == [#"{"q":"x"}"#])
        #expect(receipts.map(\.outcome) == ["succeeded"])
        #expect(receipts.map(\.id.text) == events.finishedCalls.compactMap(\.receipt))
        #expect(events.end?.reason == .stop)
    }

    @Test func theDeclarationsAreTheSameInEveryRound() async throws {
        let bench = try await RunBench()
        let (_, model, _) = try await bench.run(
            [[.call("probe")], [.call("probe", ["q": "y"])], [.text("ok")]], tools: [ProbeTool(), ProbeTool("other")])

        #expect(model.requests.count == 3)
        #expect(Set(model.requests.map { $0.tools.map(\.name) }) == [["probe", "other"]])
    }

    @Test func unknownToolsAndBadArgumentsAreAnsweredAndNotRun() async throws {
        let bench = try await RunBench()
        let tool = ProbeTool()
        let (events, _, turn) = try await bench.run(
            [
                [
                    .call("prode"), .call("probe", ["q": 5]), .call("probe", ["p": "x"]),
                    .call(ToolCall(id: "r", name: "probe", arguments: "{")),
                ],
                [.text("ok")],
            ], tools: [tool])

        let told = events.finishedCalls.map(\.observation)
        #expect(told[0] == "There is no tool named prode. Did you mean probe? There are: probe.")
        #expect(told[1].contains("q should be text"))
        #expect(told[2].contains("p"))
        #expect(told.count == 4)
        #expect(events.finishedCalls.allSatisfy { !$0.succeeded && $0.receipt == nil })
        #expect(tool.calls.isEmpty)
        #expect(try await bench.receipts(turn).isEmpty)
    }

    /// Field report 12.
    @Test func theThirdEqualCallWithTheSameResultStopsTheRun() async throws {
        let bench = try await RunBench()
        let tool = ProbeTool()
        let (events, _, turn) = try await bench.run([[.call("probe", ["q": "/x"])]], tools: [tool])

        #expect(tool.calls.count == 3)
        #expect(events.end?.stoppedBy == "repeated tool call")
        #expect(try await bench.receipts(turn).count == 3)
    }

    @Test func equalCallsWithNewResultsGoOn() async throws {
        let bench = try await RunBench()
        let count = Mutex(0)
        let tool = ProbeTool { _, _ in
            ToolResult(succeeded: true, text: "\(count.withLock { $0 += 1; return $0 })")
        }
        let (events, _, _) = try await bench.run(
            Array(repeating: [.call("probe")], count: 5) + [[.text("done")]], tools: [tool])

        #expect(tool.calls.count == 5)
        #expect(events.end?.stoppedBy == nil)
    }

    @Test func aBoundedRunRefusesADuplicateAndEndsAfterThreeSteps() async throws {
        let bench = try await RunBench()
        let tool = ProbeTool()
        let (events, model, _) = try await bench.run(
            [
                [.call("probe", ["q": "1"]), .call("probe", ["q": "1"])], [.call("probe", ["q": "2"])],
                [.call("probe", ["q": "3"])], [.call("probe", ["q": "4"])],
            ], profile: .assistant, tools: [tool])

        #expect(tool.calls.map { $0["q"]?.string } == ["1", "2", "3"])
        #expect(events.finishedCalls[1].observation.contains("made already"))
        #expect(model.requests.last?.toolChoice == ToolChoice.none)
        #expect(events.end?.stoppedBy != nil)
    }

    /// A small model goes on calling as long as it may, and says nothing then.
    @Test func aBoundedRunThatOnlyRepeatsItselfIsAskedForItsAnswer() async throws {
        let bench = try await RunBench()
        let tool = ProbeTool()
        let (events, model, _) = try await bench.run(
            [[.call("probe", ["q": "1"])], [.call("probe", ["q": "1"])], [.text("It is fine.")]], profile: .assistant,
            tools: [tool])

        #expect(tool.calls.count == 1)
        #expect(model.requests.map(\.toolChoice) == [.auto, .auto, .none])
        #expect(events.text == "It is fine." && events.end?.stoppedBy == nil)
    }

    @Test func aRequiredCallThatSucceededIsFollowedByTheAnswer() async throws {
        let bench = try await RunBench()
        let rounds: [[ScriptedModel.Step]] = [[.call("probe", ["q": "1"])], [.text("It is fine.")]]

        let (_, bounded, _) = try await bench.run(
            rounds, profile: .assistant, tools: [ProbeTool()], toolChoice: .required)
        #expect(bounded.requests.map(\.toolChoice) == [.required, .none])
        // Open work goes on as it likes.
        let (_, open, _) = try await bench.run(rounds, tools: [ProbeTool()], toolChoice: .required)
        #expect(open.requests.map(\.toolChoice) == [.required, .auto])
        // One that failed may be made anew.
        let failing = ProbeTool { _, _ in .failed("not now") }
        let (_, again, _) = try await bench.run(
            rounds, profile: .assistant, tools: [failing], toolChoice: .required)
        #expect(again.requests.map(\.toolChoice) == [.required, .auto])
    }

    @Test func theRoundLimitAsksForAnAnswerAndThenEnds() async throws {
        let bench = try await RunBench()
        var profile = RunProfile.agent
        profile.roundsWithCode = 2
        let count = Mutex(0)
        let tool = ProbeTool { _, _ in ToolResult(succeeded: true, text: "\(count.withLock { $0 += 1; return $0 })") }
        let (events, model, _) = try await bench.run([[.call("probe")]], profile: profile, tools: [tool])

        #expect(tool.calls.count == 2)
        #expect(model.requests.count == 3)
        #expect(model.requests[2].messages.last?.content?.contains("No more tools") == true)
        #expect(events.end?.stoppedBy == "round limit")
    }

    @Test func onlySoManyCallsOfARoundAreRun() async throws {
        let bench = try await RunBench()
        let tool = ProbeTool()
        let many = (0..<12).map { ScriptedModel.Step.call("probe", ["q": .string("\($0)")]) }
        let (events, _, _) = try await bench.run([many, [.text("ok")]], tools: [tool])

        #expect(tool.calls.count == 8)
        #expect(events.finishedCalls.count == 9)
    }

    @Test func aLongResultIsCutAndSaysHowMuch() async throws {
        let bench = try await RunBench()
        let tool = ProbeTool(observationLimit: 1_000) { _, _ in
            ToolResult(succeeded: true, text: String(repeating: "é", count: 10_000))
        }
        let (events, _, _) = try await bench.run([[.call("probe")], [.text("ok")]], tools: [tool])

        let told = events.finishedCalls[0].observation
        #expect(told.utf8.count < 1_100)
        #expect(told.contains("[... 19000 bytes left out ...]"))
        #expect(!told.contains("\u{FFFD}"))
    }

    @Test func aBrokenCallIsAnsweredToTheModel() async throws {
        let bench = try await RunBench()
        let (events, model, _) = try await bench.run(
            [[.broken(BrokenToolCall(text: "<tool_call>{", reason: "It does not end."))], [.text("sorry")]],
            tools: [ProbeTool()])

        #expect(model.requests[1].messages.last?.content?.contains("It does not end.") == true)
        #expect(events.text == "sorry")
    }

    @Test func aRunOfToolsWithoutWordsSaysSo() async throws {
        let bench = try await RunBench()
        let (events, _, _) = try await bench.run([[.call("probe")], []], tools: [ProbeTool()])

        #expect(events.text.contains("the model wrote nothing"))
    }

    @Test func aStopDuringAToolEndsTheRunAndKeepsItsReceipt() async throws {
        let bench = try await RunBench()
        let tool = ProbeTool { _, context in
            await withCheckedContinuation { continuation in context.stop.whenSet { continuation.resume() } }
            return .failed("Stopped.")
        }
        let turn = try await bench.start(ScriptedModel(answers: [[.call("probe")], [.text("never")]]), tools: [tool])
        for try await event in turn.events() {
            if case .toolStarted = event.body { turn.stopSignal.set() }
        }

        #expect(turn.phase == .cancelled)
        #expect(try await bench.receipts(turn).map(\.outcome) == ["stopped"])
    }

    /// T38: a change of the store and its receipt are both there or neither.
    @Test func aChangeThatFailsLeavesNoReceiptAndSaysSo() async throws {
        let bench = try await RunBench()
        let tool = ProbeTool(effect: .writesStore) { _, _ in
            ToolResult(succeeded: true, text: "saved") { transaction in
                _ = try transaction.run("INSERT INTO settings (key, value, updated_at) VALUES ('a', '1', 1)")
                throw InputError(code: "x", message: "It broke.")
            }
        }
        let (events, _, turn) = try await bench.run([[.call("probe")], [.text("ok")]], tools: [tool])

        #expect(events.finishedCalls.map(\.succeeded) == [false])
        #expect(events.finishedCalls[0].observation.contains("nothing of it counts"))
        #expect(try await bench.receipts(turn).isEmpty)
        #expect(try await SettingsStore(bench.database).value("a") == nil)
    }

    @Test func everyEventComesBackFromTheLog() async throws {
        let bench = try await RunBench()
        let (events, _, turn) = try await bench.run(
            [[.reasoning("hm"), .text("a"), .call("probe", ["q": "x"])], [.text("b")]],
            tools: [ProbeTool(effect: .writesWorkspace)])

        let logged = try await TurnLog(bench.database).events(of: turn.id)
        let replayed = try logged.map { entry in
            try #require(TurnEvent.Body(kind: entry.kind, payload: try JSONValue(parsing: entry.payload)))
        }
        let shown = events.filter { if case .promptProgress = $0 { false } else { true } }
        #expect(replayed == shown)
        #expect(try await TurnLog(bench.database).turn(turn.id)?.state == .completed)
    }

    /// Field report 14.
    @Test func olderRoundsGoWhenTheWindowIsFullAndItIsSaidOnce() async throws {
        let bench = try await RunBench()
        let count = Mutex(0)
        let tool = ProbeTool { _, _ in
            ToolResult(
                succeeded: true,
                text: "\(count.withLock { $0 += 1; return $0 }) " + String(repeating: "word ", count: 1_200))
        }
        let (events, model, _) = try await bench.run(
            Array(repeating: [.call("probe")], count: 4) + [[.text("done")]], tools: [tool], contextLength: 4096,
            messages: [Message(role: .system, content: "Rules."), Message(role: .user, content: "The task.")])

        #expect(events.end?.reason == .stop)
        #expect(!events.notices.isEmpty)
        #expect(events.notices.allSatisfy { $0.contains("4096") })
        for request in model.requests {
            #expect(request.messages.first?.content == "Rules.")
            #expect(request.messages.contains { $0.content == "The task." })
            #expect(try await model.promptTokens(of: request) <= 4096 - 1024)
        }
        #expect(model.requests.last?.messages.last?.content?.hasPrefix("4 ") == true)
    }

    // MARK: Loops and long thoughts

    @Test func aPlainAnswerThatRepeatsItselfEndsWithANote() async throws {
        let bench = try await RunBench()
        let (events, model, _) = try await bench.run(
            [[.text(String(repeating: "again and ", count: 40)), .end(.repetition)]], profile: nil, tools: [])

        #expect(model.requests.count == 1)
        #expect(events.end?.reason == .repetition)
        #expect(events.text.hasSuffix("_The answer was ended because it repeated itself: “again and” came 40 times._"))
    }

    @Test func aRoundThatRepeatsItselfIsNotDoneAndTriedOnceMore() async throws {
        let bench = try await RunBench()
        let tool = ProbeTool()
        let loop = String(repeating: "x = 1; ", count: 30)
        let (events, model, _) = try await bench.run(
            [
                [.part(ToolCallPart(index: 0, name: "probe", arguments: loop)), .call("probe"), .end(.repetition)],
                [.text("done")],
            ], tools: [tool])

        #expect(tool.calls.isEmpty)
        #expect(events.end?.reason == .stop)
        #expect(events.reasoning.contains("“x = 1;” came 30 times. Trying once more."))
        let feedback = try #require(model.requests.last?.messages.last)
        #expect(feedback.role == .tool)
        #expect(feedback.content?.contains("“x = 1;” came 30 times") == true)
    }

    @Test func aSecondLoopEndsTheRun() async throws {
        let bench = try await RunBench()
        let loop: [ScriptedModel.Step] = [.text(String(repeating: "ha ", count: 100)), .end(.repetition)]
        let (events, model, _) = try await bench.run([loop], tools: [ProbeTool()])

        #expect(model.requests.count == 2)
        #expect(model.requests.last?.messages.last?.isFromHost == true)
        #expect(events.end?.stoppedBy == "repetition")
        #expect(events.text.hasSuffix("“ha” came 100 times._"))
    }

    @Test func aThoughtWithoutEndIsAnsweredWithoutThinkingOnce() async throws {
        let bench = try await RunBench()
        let model = ScriptedModel(answers: [[.reasoning("Hm. "), .end(.thinkingBudget)], [.text("42")]])
        let turn = try await bench.start(model, profile: nil, tools: [], thinking: true)
        var events: [TurnEvent.Body] = []
        for try await event in turn.events() { events.append(event.body) }

        #expect(model.requests.map(\.thinking) == [true, false])
        #expect(events.text == "42")
        #expect(events.reasoning.contains("[The reasoning took all the room"))
        #expect(events.end?.reason == .stop)
    }

    /// A correction by the host is no task: what was asked for stays when room is made.
    @Test func whatTheHostWroteIsNotTakenForTheTask() {
        var note = Message(role: .user, content: "Your tool call could not be read.")
        note.isFromHost = true
        let groups = Compaction.groups([
            Message(role: .developer, content: "Rules."), Message(role: .user, content: "The task."),
            Message(role: .assistant, content: "Broken."), note,
        ])

        #expect(groups.map(\.mayGo) == [false, false, false])
        #expect(groups.map(\.messages.count) == [1, 1, 2])
    }

    // MARK: Room

    @Test func aPlainChatLetsItsOldestMessagesGoToo() async throws {
        let bench = try await RunBench()
        let words = String(repeating: "word ", count: 800)
        let (events, model, _) = try await bench.run(
            [[.text("done")]], profile: nil, tools: [],
            messages: [
                Message(role: .system, content: "Rules."), Message(role: .user, content: "first " + words),
                Message(role: .assistant, content: words), Message(role: .user, content: "second " + words),
                Message(role: .assistant, content: words), Message(role: .user, content: "And now?"),
            ])

        #expect(events.end?.reason == .stop)
        #expect(events.notices.count == 1)
        #expect(events.notices.first?.contains("2 earlier messages were left out") == true)
        let asked = try #require(model.requests.last?.messages.map { $0.content?.prefix(6) })
        #expect(asked == ["Rules.", "second", "word w", "And no"])
    }

    /// Measured on the product this grew from: requested tokens of the answer, window, what may not go.
    @Test(arguments: [
        (8192, 8192, 6200, 1024), (8192, 8192, 5191, 1500), (8192, 32768, 7200, 8192), (512, 8192, 7900, 512),
        (8192, 8192, 9000, 1024), (8192, 8192, 0, 2048),
    ])
    func roomForTheAnswerShrinksBesideALongTask(requested: Int, window: Int, protected: Int, reserve: Int) {
        #expect(Compaction.replyReserve(requested, window: window, protected: protected) == reserve)
    }

    @Test func aTaskThatLeavesLittleRoomIsAnsweredInIt() async throws {
        let bench = try await RunBench()
        let task = String(repeating: "word ", count: 3_200)
        let (events, model, _) = try await bench.run(
            [[.text("done")]], profile: nil, tools: [],
            messages: [
                Message(role: .user, content: "Hello."), Message(role: .assistant, content: "Hello."),
                Message(role: .user, content: task),
            ])

        #expect(events.end?.reason == .stop)
        #expect(model.requests.last?.messages.map(\.content) == [task])
    }

    /// Field report 13.
    @Test func aTaskThatCannotFitIsRefusedWithBothNumbers() async throws {
        let bench = try await RunBench()
        let model = ScriptedModel(answers: [[.text("never")]])
        let turn = try await bench.start(
            model, tools: [ProbeTool()],
            messages: [Message(role: .user, content: String(repeating: "word ", count: 9_600))])

        do {
            for try await _ in turn.events() {}
            Issue.record("it was not refused")
        } catch let error as any UserFacingError {
            #expect(error.code == "prompt_too_long")
            #expect(error.message.contains("4096") && error.message.contains("12"))
        }
        #expect(model.requests.isEmpty)
    }

    @Test func toolDescriptionsAreGeneral() {
        let tools: [any Tool] = [ShellTool(runner: NoRunner()), ReadFileTool(), WriteFileTool(), ApplyPatchTool()]
        let vendors = [
            "openai", "anthropic", "claude", "gpt", "codex", "google", "gemini", "apple", "microsoft", "github",
            "alcove",
            "llama", "python", "node", "debian", "git ", "powerpoint", "excel",
        ]
        for tool in tools {
            let text = (tool.declaration.description + tool.declaration.parameters.text()).lowercased()
            for vendor in vendors { #expect(!text.contains(vendor), "\(tool.declaration.name) names \(vendor)") }
        }
    }

    private struct NoRunner: CommandRunner {
        func run(
            _ request: CommandRequest, output: @escaping @Sendable (CommandOutput) -> Void
        ) async throws -> CommandResult { CommandResult(end: .exited(0), seconds: 0, outputBytes: 0) }
    }
}
