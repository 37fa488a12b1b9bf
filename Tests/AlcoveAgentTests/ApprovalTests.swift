import AlcoveAgent
import AlcoveCore
import Synchronization
import Testing

/// T37: what is shown is what runs, and an answer counts once, for exactly that.
struct ApprovalTests {
    private let writing: [[ScriptedModel.Step]] = [[.call("probe", ["q": "x"])], [.text("ok")]]

    @Test func readsAreNotAskedAboutAndWritesAre() async throws {
        let bench = try await RunBench()
        let (events, _, _) = try await bench.run(
            [[.call("reads"), .call("writes")], [.text("ok")]],
            tools: [ProbeTool("reads"), ProbeTool("writes", effect: .writesWorkspace)])

        #expect(events.questions.map(\.tool) == ["writes"])
        #expect(events.finishedCalls.map(\.succeeded) == [true, true])
    }

    @Test func aRefusedCallIsNotRunAndTheModelIsTold() async throws {
        let bench = try await RunBench()
        let tool = ProbeTool(effect: .runsCode)
        let (events, model, turn) = try await bench.run(writing, tools: [tool]) { _ in .refused }

        #expect(tool.calls.isEmpty)
        #expect(events.outcomes == [.refused])
        #expect(model.requests[1].messages.last?.content?.contains("refused this action") == true)
        #expect(try await bench.receipts(turn).isEmpty)
    }

    @Test func allowingForTheChatCoversItsLikeAndNothingElse() async throws {
        let bench = try await RunBench()
        let (events, _, _) = try await bench.run(
            [[.call("w", ["q": "1"]), .call("w", ["q": "2"]), .call("c")], [.text("ok")]],
            tools: [ProbeTool("w", effect: .writesWorkspace), ProbeTool("c", effect: .runsCode)]
        ) { $0.mayBeRemembered ? .allowedForChat : .allowed }

        #expect(events.questions.map(\.tool) == ["w", "c"])
        #expect(events.questions.map(\.mayBeRemembered) == [true, false])
    }

    @Test(arguments: [ToolEffect.writesStore, .deletesFromStore, .network, .runsCode])
    func neverOfferedForAWholeChat(_ effect: ToolEffect) async throws {
        let bench = try await RunBench()
        bench.switches.withLock { $0.network = true }
        let turn = try await bench.start(ScriptedModel(answers: writing), tools: [ProbeTool(effect: effect)])
        for try await event in turn.events() {
            guard case .approvalAsked(let note) = event.body else { continue }
            await #expect(throws: ApprovalError.notOffered(id: note.id)) {
                try await bench.broker.answer(note.id, signature: note.signature, outcome: .allowedForChat)
            }
            try await bench.broker.answer(note.id, signature: note.signature, outcome: .refused)
        }
        #expect(bench.grants.effects(in: "chat").isEmpty)
    }

    @Test func anAnswerCountsOnceForItsPayloadItsRunAndItsTime() async throws {
        let bench = try await RunBench()
        let tool = ProbeTool(effect: .writesWorkspace)
        let turn = try await bench.start(ScriptedModel(answers: writing), tools: [tool])
        for try await event in turn.events() {
            guard case .approvalAsked(let note) = event.body else { continue }
            await #expect(throws: ApprovalError.otherPayload(id: note.id)) {
                try await bench.broker.answer(note.id, signature: note.signature + "0", outcome: .allowed)
            }
            await #expect(throws: ApprovalError.notWaiting(id: note.id)) {
                try await bench.broker.answer(note.id, signature: note.signature, outcome: .allowed, turn: TurnID())
            }
            await #expect(throws: ApprovalError.notWaiting(id: "x")) {
                try await bench.broker.answer("x", signature: note.signature, outcome: .allowed)
            }
            #expect(tool.calls.isEmpty)
            try await bench.broker.answer(note.id, signature: note.signature, outcome: .allowed)
            await #expect(throws: ApprovalError.notWaiting(id: note.id)) {
                try await bench.broker.answer(note.id, signature: note.signature, outcome: .allowed)
            }
        }
        #expect(tool.calls.count == 1)
    }

    @Test func twoSurfacesAnsweringAtOnceConsumeItOnce() async throws {
        let bench = try await RunBench()
        let tool = ProbeTool(effect: .writesWorkspace)
        let turn = try await bench.start(ScriptedModel(answers: writing), tools: [tool])
        for try await event in turn.events() {
            guard case .approvalAsked(let note) = event.body else { continue }
            let taken = await withTaskGroup(of: Bool.self) { group in
                for index in 0..<20 {
                    group.addTask {
                        do {
                            try await bench.broker.answer(
                                note.id, signature: note.signature, outcome: index % 2 == 0 ? .allowed : .refused)
                            return true
                        } catch {
                            return false
                        }
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(taken == 1)
        }
        #expect(tool.calls.count <= 1)
    }

    @Test func stoppingWithdrawsTheQuestion() async throws {
        let bench = try await RunBench()
        let turn = try await bench.start(
            ScriptedModel(answers: writing), tools: [ProbeTool(effect: .writesWorkspace)])
        var outcomes: [ApprovalOutcome] = []
        for try await event in turn.events() {
            if case .approvalAsked = event.body { turn.stopSignal.set() }
            if case .approvalAnswered(_, _, let outcome) = event.body { outcomes.append(outcome) }
        }

        #expect(outcomes == [.withdrawn])
        #expect(await bench.broker.questions.isEmpty)
    }

    @Test func aSwitchTurnedOffWhileAPersonThinksStillCounts() async throws {
        let bench = try await RunBench()
        let tool = ProbeTool(effect: .runsCode)
        let (events, _, _) = try await bench.run(writing, tools: [tool]) { _ in
            bench.switches.withLock { $0.runCode = false }
            return .allowed
        }

        #expect(tool.calls.isEmpty)
        #expect(events.finishedCalls[0].observation == "Running code is switched off (Settings, Run code).")
    }

    @Test func aTimeOfTenMinutesRunsOutAsNo() async throws {
        let broker = ApprovalBroker(clock: ImmediateClock())
        let note = ApprovalNote(
            id: "1", call: "c", tool: "t", shown: "x", effect: "", signature: "s", mayBeRemembered: false,
            expiresInSeconds: 600)

        let outcome = await broker.ask(note, of: TurnID(), stop: StopSignal(), whenAsked: {})

        #expect(outcome == .expired)
        await #expect(throws: ApprovalError.notWaiting(id: "1")) {
            try await broker.answer("1", signature: "s", outcome: .allowed)
        }
    }

    static let deceptions: [(String, String)] = [
        ("rm \u{202E}txt.exe", "rm ‹U+202E right-to-left override›txt.exe"),
        ("a\u{200B}b", "a‹U+200B invisible›b"), ("cat\u{00A0}x", "cat‹U+00A0 unusual space›x"),
        ("p\u{0430}ypal", "p‹U+0430 looks like another letter›ypal"), ("ls\r\nrm", "ls‹U+000D carriage return›↵\nrm"),
        ("a\u{1B}[2Kb", "a‹U+001B escape›[2Kb"), ("привет мир", "привет мир"), ("日本語 ok", "日本語 ok"),
        ("x\n", "x↵\n"), ("tag\u{E0041}", "tag‹U+E0041 tag›"),
    ]

    @Test(arguments: deceptions) func nothingDeceptiveStaysInvisible(_ text: String, _ shown: String) {
        #expect(VisibleText.make(text) == shown)
    }

    @Test func theWholePayloadIsShown() async throws {
        let bench = try await RunBench()
        let long = String(repeating: "a", count: 10_000) + "; rm -rf /"
        let (events, _, _) = try await bench.run(
            [[.call("probe", ["q": .string(long)])], [.text("ok")]], tools: [ProbeTool(effect: .runsCode)])

        #expect(events.questions[0].shown == long)
    }

    /// Time that is over at once.
    private struct ImmediateClock: Clock {
        struct Instant: InstantProtocol {
            var offset = Duration.zero
            func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
            func duration(to other: Instant) -> Duration { other.offset - offset }
            static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
        }
        var now: Instant { Instant() }
        var minimumResolution: Duration { .zero }
        func sleep(until deadline: Instant, tolerance: Duration?) async throws { try Task.checkCancellation() }
    }
}
