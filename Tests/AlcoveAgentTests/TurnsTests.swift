import AlcoveAgent
import AlcoveCore
import Synchronization
import Testing

struct TurnsTests {
    private let question = TurnRequest(messages: [Message(role: .user, content: "Hello")])

    private func bodies(_ turn: Turn, from start: Int = 0) async throws -> [TurnEvent.Body] {
        var bodies: [TurnEvent.Body] = []
        for try await event in turn.events(from: start) { bodies.append(event.body) }
        return bodies
    }

    private func start(
        _ turns: Turns, _ model: ScriptedModel, key: String = "chat", recorded: Recorded = Recorded()
    ) async -> Turn {
        await turns.start(
            key: key, loop: AgentLoop(model: model), request: question, accept: { recorded.accept() },
            record: { recorded.record($0) })
    }

    @Test func everyReaderSeesTheSameEventsInOrder() async throws {
        let gate = StopSignal()
        let model = ScriptedModel(answers: [[.reasoning("Hm."), .text("Hi"), .wait(gate), .text(" there")]])
        let turn = await start(Turns(), model)
        async let early = bodies(turn)
        async let fromOne = bodies(turn, from: 1)
        gate.set()
        let first = try await early, second = try await fromOne

        let late = try await bodies(turn)

        #expect(first == late)
        #expect(second == Array(late.dropFirst()))
        #expect(
            late.prefix(4) == [
                .inputAccepted(messages: 1), .reasoning("Hm."), .text("Hi"), .text(" there"),
            ])
        guard case .finished(let end) = late.last else { return #expect(Bool(false), "no end") }
        #expect(end.reason == .stop)
    }

    /// Very many events: those so far become one, numbers stay absolute, and every reader can put the words together.
    @Test func aVeryLongTurnCollapsesAndIsReadByAHundred() async throws {
        let count = Turn.eventLimit + 10_000
        let model = ScriptedModel(answers: [(0..<count).map { .text("\($0),") }])
        let turn = await start(Turns(), model)
        let whole = (0..<count).map { "\($0)," }.joined()

        await withTaskGroup(of: Bool.self) { group in
            for reader in 0..<100 {
                group.addTask {
                    var text = "", numbers: [Int] = []
                    do {
                        for try await event in turn.events() {
                            numbers.append(event.sequence)
                            switch event.body {
                            case .replaced(let words): text = words
                            case .text(let delta): text += delta
                            default: continue
                            }
                            // Some read slowly, so that what they come to is collapsed already.
                            if reader % 2 == 0, numbers.count % 5_000 == 0 { await Task.yield() }
                        }
                    } catch { return false }
                    return text == whole && numbers == numbers.sorted() && Set(numbers).count == numbers.count
                }
            }
            for await isRight in group { #expect(isRight) }
        }
        // The message, every word, the end.
        #expect(turn.eventCount == count + 2)
        let late = try await bodies(turn)
        guard case .replaced = late.first else { return #expect(Bool(false), "nothing was collapsed") }
        #expect(late.count < 20_000)
        #expect(try await bodies(turn, from: turn.eventCount + 5).isEmpty)
        #expect(try await bodies(turn, from: turn.eventCount - 1).count == 1)
    }

    @Test func anAnswerNobodyReadsIsRecordedBeforeItsLastEvent() async throws {
        let recorded = Recorded()
        let turn = await start(Turns(), ScriptedModel(answers: [[.text("Hi")]]), recorded: recorded)

        for try await event in turn.events() {
            guard case .finished = event.body else { continue }
            #expect(recorded.results.map(\.text) == ["Hi"])
        }
        #expect(recorded.acceptCount == 1)
    }

    @Test func aRefusalIsThrownToReadersAndRecordsNothing() async throws {
        let refusal = InputError(code: "prompt_too_long", message: "Too long.")
        let recorded = Recorded()
        let turn = await start(Turns(), ScriptedModel(answers: [[.fail(refusal)]]), recorded: recorded)

        await #expect(throws: refusal) { try await bodies(turn) }
        await #expect(throws: refusal) { try await bodies(turn) }
        #expect(turn.phase == .failed)
        #expect(recorded.acceptCount == 0)
        #expect(recorded.results.isEmpty)
    }

    @Test func aFailureAfterTheFirstWordKeepsTheWordsAndSaysWhy() async throws {
        let fault = InputError(code: "x", message: "It broke.")
        let recorded = Recorded()
        let turn = await start(Turns(), ScriptedModel(answers: [[.text("Half"), .fail(fault)]]), recorded: recorded)

        let last = try await bodies(turn).last

        guard case .finished(let end) = last else { return #expect(Bool(false), "no end") }
        #expect(end.reason == .error)
        #expect(end.error == "It broke.")
        #expect(recorded.results.map(\.text) == ["Half"])
        #expect(turn.phase == .failed)
    }

    @Test func stoppingKeepsWhatWasSaid() async throws {
        let never = StopSignal()
        let recorded = Recorded()
        let turn = await start(
            Turns(), ScriptedModel(answers: [[.text("One"), .wait(never), .text("Two")]]), recorded: recorded)
        for try await event in turn.events() where event.body == .text("One") { turn.stopSignal.set() }

        #expect(turn.phase == .cancelled)
        #expect(recorded.results.map(\.text) == ["One"])
        #expect(recorded.results.map(\.end.reason) == [.cancelled])
    }

    @Test func aNewTurnOfAChatStopsTheOldOneAndIsKeptAfterIt() async throws {
        let never = StopSignal()
        let turns = Turns()
        let both = Recorded()
        let first = await start(turns, ScriptedModel(answers: [[.text("old"), .wait(never)]]), recorded: both)
        for try await event in first.events() where event.body == .text("old") { break }
        let second = await start(turns, ScriptedModel(answers: [[.text("new")]]), recorded: both)
        _ = try await bodies(first)
        _ = try await bodies(second)

        #expect(first.phase == .cancelled)
        #expect(both.log == ["accept", "old", "accept", "new"])
        #expect(await turns.latest(for: "chat")?.id == second.id)
    }

    @Test func theWordsOfAStoppedTurnAreKeptWhenTheNewOneIsRefused() async throws {
        let never = StopSignal()
        let turns = Turns()
        let both = Recorded()
        let first = await start(turns, ScriptedModel(answers: [[.text("old"), .wait(never)]]), recorded: both)
        for try await event in first.events() where event.body == .text("old") { break }
        let refusal = InputError(code: "prompt_too_long", message: "Too long.")
        let second = await start(turns, ScriptedModel(answers: [[.fail(refusal)]]), recorded: both)
        await #expect(throws: refusal) { try await bodies(second) }
        _ = try await bodies(first)

        #expect(both.log == ["accept", "old"])
    }

    @Test func aRushOfTurnsOfOneChatIsKeptOneAfterAnother() async throws {
        let turns = Turns()
        let recorded = Recorded()
        var all: [Turn] = []
        for index in 0..<50 {
            let model = ScriptedModel(answers: [[.text("\(index)"), .wait(StopSignal())]])
            all.append(await start(turns, model, recorded: recorded))
        }
        all.last?.stopSignal.set()
        for turn in all { _ = try await bodies(turn) }

        // Each message is kept after the answer before it, if there was one by then.
        #expect(recorded.acceptCount == 50)
        let numbers = recorded.results.compactMap { Int($0.text) }
        #expect(numbers == numbers.sorted())
    }

    @Test func turnsOfOtherChatsGoOn() async throws {
        let gate = StopSignal()
        let turns = Turns()
        let first = await start(turns, ScriptedModel(answers: [[.text("a"), .wait(gate)]]), key: "one")
        let second = await start(turns, ScriptedModel(answers: [[.text("b")]]), key: "two")
        _ = try await bodies(second)
        #expect(first.phase == .running)
        gate.set()
        _ = try await bodies(first)

        #expect(first.phase == .completed)
    }

    @Test func atMostEightFinishedTurnsAreKept() async throws {
        let turns = Turns()
        var ids: [TurnID] = []
        for index in 0..<12 {
            let turn = await start(turns, ScriptedModel(answers: [[.text("x")]]), key: "\(index)")
            _ = try await bodies(turn)
            ids.append(turn.id)
        }

        var kept: [TurnID] = []
        for id in ids where try await turns.turn(id) != nil { kept.append(id) }

        #expect(kept == Array(ids.suffix(8)))
    }

    /// Driven, not waited for: the clock is the test's.
    @Test func anHourAfterItsEndATurnIsForgotten() async throws {
        let later = Mutex<UInt64>(0)
        let turns = Turns(now: { Platform.monotonicNanoseconds + later.withLock { $0 } })
        let turn = await start(turns, ScriptedModel(answers: [[.text("x")]]))
        _ = try await bodies(turn)

        later.withLock { $0 = 3_590 * 1_000_000_000 }
        #expect(await turns.latest(for: "chat")?.id == turn.id)
        later.withLock { $0 = 3_600 * 1_000_000_000 }

        #expect(await turns.latest(for: "chat") == nil)
        #expect(try await turns.turn(turn.id) == nil)
    }

    @Test func aReaderThatLeavesDoesNotStopTheTurn() async throws {
        let gate = StopSignal()
        let turn = await start(Turns(), ScriptedModel(answers: [[.text("a"), .wait(gate), .text("b")]]))
        let reader = Task { try await bodies(turn) }
        for try await event in turn.events() where event.body == .text("a") { break }
        reader.cancel()
        _ = try await reader.value
        gate.set()

        let all = try await bodies(turn)

        #expect(all.contains(.text("b")))
        #expect(turn.phase == .completed)
    }

    @Test func aHundredReadersOfOneTurnAgree() async throws {
        let gate = StopSignal()
        let words = (0..<200).map { ScriptedModel.Step.text("\($0) ") }
        let turn = await start(Turns(), ScriptedModel(answers: [[.wait(gate)] + words]))
        let all = try await withThrowingTaskGroup(of: [TurnEvent.Body].self) { group in
            for _ in 0..<100 { group.addTask { try await bodies(turn) } }
            gate.set()
            var all: [[TurnEvent.Body]] = []
            for try await bodies in group { all.append(bodies) }
            return all
        }

        #expect(Set(all.map(\.count)) == [202])
        #expect(all.allSatisfy { $0 == all[0] })
    }

    @Test func anAnswerThatCannotBeSavedSaysSo() async throws {
        let fault = InputError(code: "storage_full", message: "The disk is full.")
        let turn = await Turns().start(
            key: "k", loop: AgentLoop(model: ScriptedModel(answers: [[.text("x")]])), request: question, accept: {},
            record: { _ in throw fault })

        guard case .finished(let end) = try await bodies(turn).last else { return #expect(Bool(false), "no end") }

        #expect(end.error == "The answer could not be saved: The disk is full.")
    }

    /// What the store was told.
    private final class Recorded: Sendable {
        private let state = Mutex((accepts: 0, results: [TurnResult](), log: [String]()))
        var acceptCount: Int { state.withLock { $0.accepts } }
        var results: [TurnResult] { state.withLock { $0.results } }
        /// Both kinds of calls in their order.
        var log: [String] { state.withLock { $0.log } }

        func accept() {
            state.withLock { state in
                state.accepts += 1
                state.log.append("accept")
            }
        }
        func record(_ result: TurnResult) {
            state.withLock { state in
                state.results.append(result)
                state.log.append(result.text)
            }
        }
    }
}
