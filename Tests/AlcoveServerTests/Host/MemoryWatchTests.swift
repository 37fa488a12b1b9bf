import AlcoveAgent
import AlcoveCore
import Synchronization
import Testing

@testable import AlcoveServer

/// When memory is measured, and what happens when little is left.
struct MemoryWatchTests {
    /// Time that goes on when the test says so.
    private final class HandClock: Clock, Sendable {
        struct Instant: InstantProtocol {
            var offset = Swift.Duration.zero
            func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
            func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
            static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
        }

        private let state = Mutex(
            (sleepers: [Int: CheckedContinuation<Void, Never>](), next: 0, slept: [Swift.Duration]()))

        var now: Instant { Instant() }
        var minimumResolution: Swift.Duration { .zero }
        var slept: [Swift.Duration] { state.withLock { $0.slept } }
        var isSleptOn: Bool { state.withLock { !$0.sleepers.isEmpty } }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws {
            let number = state.withLock { state in
                defer { state.next += 1 }
                state.slept.append(deadline.offset)
                return state.next
            }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    if Task.isCancelled { return continuation.resume() }
                    state.withLock { $0.sleepers[number] = continuation }
                    // Cancelled between the two lines above: nobody else would wake it.
                    if Task.isCancelled { state.withLock { $0.sleepers.removeValue(forKey: number) }?.resume() }
                }
            } onCancel: {
                state.withLock { $0.sleepers.removeValue(forKey: number) }?.resume()
            }
            try Task.checkCancellation()
        }

        /// Ends the sleep that is under way, or the next.
        func tick() async {
            while !isSleptOn { await Task.yield() }
            let woken = state.withLock { state in
                defer { state.sleepers = [:] }
                return state.sleepers.values.map { $0 }
            }
            for continuation in woken { continuation.resume() }
        }
    }

    private static let plenty = MemoryReading(chargedBytes: 100 << 20, residentBytes: 120 << 20, leftBytes: 1 << 40)
    private static let little = MemoryReading(
        chargedBytes: 990 << 20, residentBytes: 995 << 20, machineTakenBytes: 3 << 30, limitBytes: 1000 << 20,
        leftBytes: 10 << 20)

    private func notes(_ watch: MemoryWatch, count: Int) async -> [MemoryWatch.Moment] {
        while watch.notes.count < count { await Task.yield() }
        return watch.notes.map(\.moment)
    }

    @Test func aTurnIsMeasuredEachHalfMinuteAndAfterIt() async throws {
        let clock = HandClock(), lines = Mutex([String]())
        let watch = MemoryWatch(
            clock: clock, measure: { Self.plenty }, giveBack: { 0 },
            write: { line in lines.withLock { $0.append(line) } })
        let turns = Turns { watch.follow($0) }
        let gate = StopSignal()
        let model = ScriptedModel(answers: [[.text("Hi"), .wait(gate), .text(" there")]])
        let turn = await turns.start(
            key: "chat", loop: AgentLoop(model: model),
            request: TurnRequest(messages: [Message(role: .user, content: "Hello")]), accept: {}, record: { _ in })

        await clock.tick()
        #expect(await notes(watch, count: 1) == [.duringATurn])
        await clock.tick()
        #expect(await notes(watch, count: 2) == [.duringATurn, .duringATurn])
        gate.set()
        await turn.waitForEnd()
        #expect(await notes(watch, count: 3) == [.duringATurn, .duringATurn, .afterATurn])

        #expect(Set(clock.slept) == [.seconds(30)])
        #expect(
            lines.withLock { $0.last }
                == "memory after a turn: 100 MB charged to Alcove, 120 MB resident, 1048576 MB left")
    }

    @Test func whenLittleIsLeftWhatServesSpeedIsGivenBack() async throws {
        let asked = Atomic<Int>(0)
        let watch = MemoryWatch(
            measure: { asked.load(ordering: .relaxed) == 0 ? Self.little : Self.plenty },
            giveBack: {
                asked.add(1, ordering: .relaxed)
                return 5
            })

        await watch.look(.afterATurn)
        await watch.look(.afterATurn)

        #expect(watch.notes.map(\.moment) == [.afterATurn, .beforeGivingBack, .afterGivingBack, .afterATurn])
        #expect(asked.load(ordering: .relaxed) == 1)
    }

    @Test func nobodyAsksTwiceAtOnceAndTheNotesAreBounded() async throws {
        let gate = StopSignal(), begun = StopSignal()
        let watch = MemoryWatch(
            measure: { Self.plenty },
            giveBack: {
                begun.set()
                while !gate.isSet { await Task.yield() }
                return 7
            })
        async let first = watch.giveMemoryBack()
        while !begun.isSet { await Task.yield() }
        #expect(await watch.giveMemoryBack() == 0)
        gate.set()
        #expect(await first == 7)

        for _ in 0..<50 { await watch.look(.afterATurn) }
        #expect(watch.notes.count == MemoryWatch.kept)
    }
}
