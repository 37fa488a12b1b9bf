import AlcoveAgent
import AlcoveCore
import Testing

/// The ladder, with models that die at the seam.
struct EngineRepairTests {
    private static let long = "This answer is certainly longer than forty characters, and then "
    private static let died = ScriptedModel.Step.fail(RepairBench.Died())

    @Test func anAnswerGoesOnFromItsOwnWords() async throws {
        let bench = try await RepairBench([[.text(Self.long), Self.died]], [[.text("it ends.")]])
        let events = try await bench.turn()

        #expect(events.shown == Self.long + "it ends.")
        #expect(events.end?.reason == .stop && events.end?.error == nil)
        #expect(
            events.notices == ["The engine stopped working and was restarted; the answer goes on where it was."])
        #expect(bench.events.lines == ["load", "settle", "unload", "rebuild", "load"])
        let second = try #require(bench.requests.last?.first).messages
        #expect(second.map(\.role) == [.user, .assistant, .user])
        #expect(second[1].content == Self.long)
        #expect(second[2].content == Continuation.instruction && second[2].isFromHost)
        #expect(bench.clock.sleeps.isEmpty)
        #expect(await !bench.repair.isDead)
    }

    @Test func aShortAnswerBeginsAnewAndItsWordsAreTakenBack() async throws {
        let bench = try await RepairBench(
            [[.reasoning("Hm."), .text("Well, "), Self.died]], [[.reasoning("So."), .text("Yes.")]])
        let events = try await bench.turn()

        #expect(events.shown == "Yes.")
        #expect(events.contains(.replaced(text: "")))
        #expect(events.notices == ["The engine stopped working and was restarted; the answer begins anew."])
        #expect(try #require(bench.requests.last?.first).messages.map(\.role) == [.user])
    }

    @Test func nothingOfTheRepairIsInTheConversationOfTheNextRound() async throws {
        let bench = try await RepairBench(
            [[.text(Self.long), Self.died]], [[.text("I look."), .call("probe", id: "c")], [.text("Done.")]])
        let events = try await bench.turn(profile: .agent, tools: [ProbeTool()])

        #expect(events.shown == Self.long + "I look.\n\nDone.")
        let last = try #require(bench.requests.last?.last).messages
        #expect(last.map(\.role) == [.user, .assistant, .tool])
        #expect(last[1].content == Self.long + "I look." && last[1].toolCalls.count == 1)
    }

    @Test func aRoundThatBeginsAnewKeepsTheWordsOfTheRoundsBefore() async throws {
        let bench = try await RepairBench(
            [[.text("First."), .call("probe", id: "c")], [.text("Sec"), Self.died]], [[.text("Second.")]])
        let tool = ProbeTool()
        let events = try await bench.turn(profile: .agent, tools: [tool])

        #expect(events.shown == "First.\n\nSecond.")
        #expect(tool.calls.count == 1)
    }

    @Test func aTurnIsRetriedTwiceAndNoMore() async throws {
        let bench = try await RepairBench([[.text(Self.long), Self.died]])
        let events = try await bench.turn()

        #expect(bench.events.lines.count { $0 == "rebuild" } == 2)
        #expect(bench.clock.sleeps == [.seconds(15)])
        #expect(events.end?.reason == .error)
        #expect(events.end?.error?.contains("recreate the backend") ?? false)
        #expect(await bench.repair.isDead)
        // What was written is not lost.
        #expect(events.shown == Self.long + Self.long + Self.long)
    }

    @Test func aLaunchHasThreeRebuildsAfterLongerAndLongerPauses() async throws {
        let bench = try await RepairBench([[.text(Self.long), Self.died]])
        _ = try await bench.turn()
        let events = try await bench.turn()

        #expect(bench.clock.sleeps == [.seconds(15), .seconds(60)])
        #expect(await bench.repair.rebuilds == 3)
        #expect(
            events.end?.error
                == "The engine has failed again, after it was restarted 3 times. "
                + "End Alcove and start it again; what was written is kept.")
        let third = try await bench.turn()
        #expect(third.end?.reason == .error)
        #expect(bench.events.lines.count { $0 == "rebuild" } == 3)
    }

    @Test func otherFailuresAreNoReasonToRebuild() async throws {
        let fault = InputError(code: "x", message: "The prompt asks to recreate the backend.")
        for error: any Error in [fault, CancellationError(), InputError(code: "y", message: "No.", place: .host)] {
            let bench = try await RepairBench([[.text(Self.long), .fail(error)]])
            let events = try await bench.turn()

            #expect(events.end?.reason == .error)
            #expect(bench.events.lines == ["load"])
        }
    }

    /// Whatever a step says that dies while the app is away, it died of that.
    @Test func aStepThatDiesWithTheGateClosedIsMendedOnceItIsOpen() async throws {
        let reached = StopSignal(), goOn = StopSignal()
        let fault = InputError(code: "decode_failed", message: "Computing failed (status -3).", place: .host)
        let bench = try await RepairBench(
            [[.text(Self.long), .wait(goOn), .fail(fault)]], [[.text("it ends.")]])
        let turn = try await bench.start()
        let events = Task { try await turn.allEvents() }
        for try await event in turn.events() {
            if case .text = event.body { break }
        }
        reached.set()
        bench.gate.close()
        goOn.set()
        while bench.gate.waiting == 0 { await Task.yield() }
        #expect(bench.events.lines == ["load"])
        bench.gate.open()

        #expect(try await events.value.shown == Self.long + "it ends.")
        #expect(bench.events.lines == ["load", "settle", "unload", "rebuild", "load"])
    }

    @Test func aStopEndsTheWaitForTheGate() async throws {
        let goOn = StopSignal()
        let bench = try await RepairBench([[.text(Self.long), .wait(goOn), Self.died]])
        let turn = try await bench.start()
        for try await event in turn.events() {
            if case .text = event.body { break }
        }
        bench.gate.close()
        goOn.set()
        while bench.gate.waiting == 0 { await Task.yield() }
        turn.stopSignal.set()

        let events = try await turn.allEvents()
        #expect(events.shown == Self.long)
        #expect(bench.events.lines == ["load"])
    }

    @Test func twoTurnsThatFailAtOnceShareOneRebuild() async throws {
        let goOn = StopSignal()
        let bench = try await RepairBench(
            [[.text(Self.long), .wait(goOn), Self.died]], [[.text("it ends.")]])
        let turns = [try await bench.start(key: "a"), try await bench.start(key: "b")]
        for turn in turns {
            for try await event in turn.events() {
                if case .text = event.body { break }
            }
        }
        goOn.set()

        for turn in turns { #expect(try await turn.allEvents().shown == Self.long + "it ends.") }
        #expect(bench.events.lines.count { $0 == "rebuild" } == 1)
    }

    @Test func whatDiedUnseenIsMendedOnTheWayBack() async throws {
        let bench = try await RepairBench([[.text("Hello.")]])
        bench.gate.close()
        let model = try #require(await bench.host.ready?.model)
        await bench.repair.note(RepairBench.Died(), of: model, closuresBefore: 0)
        #expect(await bench.repair.isDead)
        try await bench.repair.returnToForeground()

        #expect(await !bench.repair.isDead && !bench.gate.isClosed)
        #expect(bench.events.lines == ["load", "settle", "unload", "rebuild", "load"])
        try await bench.repair.returnToForeground()
        #expect(bench.events.lines.count == 5)
    }

    @Test func aLoadWaitsForTheGateAndNotForEver() async throws {
        let bench = try await RepairBench([[.text("Hello.")]])
        bench.gate.close()
        // The clock's two minutes are over at once.
        try await bench.host.load("other")

        #expect(bench.clock.sleeps == [.seconds(120)])
        #expect(bench.events.lines == ["load", "unload", "load"])
        #expect(bench.gate.waiting == 0)
    }

    /// In the field: a stopped turn hung until the rebuild that another turn had asked for was over, or for ever before a
    /// gate that stayed closed.
    @Test func aStopDoesNotWaitForARebuildThatAnotherTurnWaitsFor() async throws {
        let goOn = StopSignal()
        let bench = try await RepairBench(
            [[.text(Self.long), .wait(goOn), Self.died]], [[.text("it ends.")]])
        let first = try await bench.start(key: "a"), second = try await bench.start(key: "b")
        for turn in [first, second] { await turn.untilItSpeaks() }
        bench.gate.close()
        goOn.set()
        while await bench.repair.waiting < 2 { await Task.yield() }
        second.stopSignal.set()

        #expect(try await second.allEvents().end?.reason == .cancelled)
        #expect(bench.events.lines == ["load"])
        bench.gate.open()
        #expect(try await first.allEvents().shown == Self.long + "it ends.")
        #expect(bench.events.lines == ["load", "settle", "unload", "rebuild", "load"])
    }

    @Test func aRebuildThatNobodyWaitsForIsGivenUp() async throws {
        let goOn = StopSignal()
        let bench = try await RepairBench([[.text(Self.long), .wait(goOn), Self.died]], [[.text("Yes.")]])
        let turns = [try await bench.start(key: "a"), try await bench.start(key: "b")]
        for turn in turns { await turn.untilItSpeaks() }
        bench.gate.close()
        goOn.set()
        while await bench.repair.waiting < 2 { await Task.yield() }
        for turn in turns { turn.stopSignal.set() }
        for turn in turns { #expect(try await turn.allEvents().end?.reason == .cancelled) }
        while bench.gate.waiting > 0 { await Task.yield() }

        // The next one has the rebuild that these did not wait for.
        #expect(await bench.repair.isDead)
        bench.gate.open()
        try await bench.repair.returnToForeground()
        #expect(bench.events.lines == ["load", "settle", "unload", "rebuild", "load"])
    }

    /// In the field: the second turn looked for a model while the first one's was loading, found none, and rebuilt again.
    @Test func aTurnThatFailsDuringARebuildWaitsForThatOne() async throws {
        let goOn = StopSignal(), rebuilding = StopSignal(), finish = StopSignal()
        let bench = try await RepairBench(
            [[.text(Self.long), .wait(goOn), Self.died]], [[.text("it ends.")]],
            during: {
                rebuilding.set()
                await finish.wait()
            })
        let failed = try #require(await bench.host.ready?.model)
        let turn = try await bench.start()
        await turn.untilItSpeaks()
        goOn.set()
        await rebuilding.wait()
        let late = Task { try await bench.repair.replacement(of: failed, stop: StopSignal()) }
        while await bench.repair.waiting < 2 { await Task.yield() }
        finish.set()

        let model = try await late.value
        let isAnother = (model as AnyObject) !== (failed as AnyObject)
        #expect(isAnother)
        #expect(try await turn.allEvents().shown == Self.long + "it ends.")
        #expect(bench.events.lines.count { $0 == "rebuild" } == 1)
    }

    @Test func anAnswerWhoseModelIsTakenAwayForAnotherTurnGoesOn() async throws {
        let fails = StopSignal(), unloaded = StopSignal()
        let bench = try await RepairBench(
            [[.text(Self.long), .wait(fails), Self.died], [.text(Self.long), .wait(unloaded), .end(.cancelled)]],
            [[.text("it ends.")]], whenUnloaded: { unloaded.set() })
        let first = try await bench.start(key: "a")
        await first.untilItSpeaks()
        let second = try await bench.start(key: "b")
        await second.untilItSpeaks()
        fails.set()

        for turn in [first, second] {
            let events = try await turn.allEvents()
            #expect(events.shown == Self.long + "it ends." && events.end?.reason == .stop)
        }
        #expect(bench.events.lines.count { $0 == "rebuild" } == 1)
    }

    @Test func aModelChosenDuringARebuildComesOnTheNewBackend() async throws {
        let goOn = StopSignal(), rebuilding = StopSignal(), finish = StopSignal()
        let bench = try await RepairBench(
            [[.text(Self.long), .wait(goOn), Self.died]], [[.text("it ends.")]],
            during: {
                rebuilding.set()
                await finish.wait()
            })
        let turn = try await bench.start()
        await turn.untilItSpeaks()
        goOn.set()
        await rebuilding.wait()
        let chosen = Task { try await bench.host.load("other") }
        while await !bench.isLoading("other") { await Task.yield() }
        finish.set()
        try await chosen.value

        #expect(try await turn.allEvents().shown == Self.long + "it ends.")
        #expect(bench.events.lines == ["load", "settle", "unload", "rebuild", "load"])
        #expect(await !bench.repair.isDead)
    }

    @Test func whatFailsForAProgramIsMendedForTheNextAndOnce() async throws {
        let bench = try await RepairBench([[Self.died]], [[.text("Yes.")]])
        let failed = try #require(await bench.host.ready?.model)
        // Two answers that died of the same; the second one is told when the first one's rebuild is over.
        for _ in 0..<2 { await bench.repair.mend(after: RepairBench.Died(), of: failed, closuresBefore: 0) }
        #expect(await !bench.repair.isDead)
        #expect(try await bench.turn().shown == "Yes.")
        let model = try #require(await bench.host.ready?.model)
        await bench.repair.mend(after: InputError(code: "x", message: "No."), of: model, closuresBefore: 0)

        #expect(bench.events.lines == ["load", "settle", "unload", "rebuild", "load"])
    }

    /// A load waits before a closed gate for as long as two minutes.
    @Test func aStopDoesNotWaitForALoadThatWaitsForTheGate() async throws {
        let stop = StopSignal()
        let bench = try await RepairBench([[.text("Hello.")]], waitsForTheClock: true)
        let failed = try #require(await bench.host.ready?.model)
        bench.gate.close()
        let load = Task { try await bench.host.load("other") }
        while bench.gate.waiting == 0 { await Task.yield() }
        let late = Task { try await bench.repair.replacement(of: failed, stop: stop) }
        stop.set()
        await #expect(throws: CancellationError.self) { _ = try await late.value }

        #expect(await bench.isLoading("other"))
        bench.gate.open()
        try await load.value
    }
}
