import AlcoveCore
import AlcoveStorage
import TestFolder
import Testing

struct TurnLogTests {
    private func events(_ range: Range<Int64>) -> [LoggedEvent] {
        range.map { LoggedEvent(seq: $0, at: Timestamp(milliseconds: $0), kind: "text", payload: "{\"n\":\($0)}") }
    }

    private func receipt(of turn: TurnID) -> Receipt {
        Receipt(
            turn: turn, tool: "add_task", arguments: #"{"title":"milk"}"#, signature: "abc", effect: "writes_store",
            outcome: "done", observation: "added", startedAt: Timestamp(milliseconds: 1),
            finishedAt: Timestamp(milliseconds: 2), extras: ["round": 1])
    }

    @Test func eventsAreReplayedFromAnyNumber() async throws {
        let log = TurnLog(try await Database.inMemory())
        let turn = TurnID()
        try await log.begin(turn, chat: nil, profile: "agent")
        try await log.append(events(0..<3), to: turn)
        try await log.append(events(3..<10), to: turn)

        #expect(try await log.events(of: turn) == events(0..<10))
        #expect(try await log.events(of: turn, from: 4, limit: 3) == events(4..<7))
        #expect(try await log.events(of: turn, from: -5) == events(0..<10))
        #expect(try await log.events(of: turn, from: 10) == [])
        #expect(try await log.events(of: TurnID()) == [])
    }

    @Test func aGapOrARepeatIsRefusedWhole() async throws {
        let log = TurnLog(try await Database.inMemory())
        let turn = TurnID()
        try await log.begin(turn, chat: nil, profile: "agent")
        try await log.append(events(0..<2), to: turn)

        await #expect(throws: StorageError.eventsOutOfOrder(turn, expected: 2, found: 3)) {
            try await log.append(events(3..<5), to: turn)
        }
        await #expect(throws: StorageError.eventsOutOfOrder(turn, expected: 2, found: 1)) {
            try await log.append(events(1..<3), to: turn)
        }
        await #expect(throws: StorageError.eventsOutOfOrder(turn, expected: 3, found: 4)) {
            try await log.append(events(2..<3) + events(4..<5), to: turn)
        }

        #expect(try await log.events(of: turn) == events(0..<2))
    }

    @Test func aTurnThatRanWhenTheProgramEndedIsInterruptedWithItsEvidence() async throws {
        let folder = try TemporaryFolder()
        let first = try await Database.open(folder: folder.path)
        let log = TurnLog(first)
        let chat = try await ChatStore(first).create()
        let (running, finished) = (TurnID(), TurnID())
        for turn in [finished, running] { try await log.begin(turn, chat: chat.id, profile: "agent") }
        try await log.append(events(0..<2), to: running)
        try await log.note(["phase": "execute"], of: running)
        try await log.finish(finished, .completed, reason: "stop")
        await first.close()

        let second = try await Database.open(folder: folder.path, now: Timestamp(milliseconds: 77))

        let again = TurnLog(second)
        #expect(second.opening.interruptedTurns == 1)
        let turn = try #require(try await again.turn(running))
        #expect(turn.state == .interrupted)
        #expect(turn.finishedAt == Timestamp(milliseconds: 77))
        #expect(turn.reason == "The program ended while this turn was running.")
        #expect(turn.progress == ["phase": "execute"])
        #expect(try await again.events(of: running) == events(0..<2))
        #expect(try await again.turns(of: chat.id).map(\.id) == [running, finished])
        #expect(try await again.turn(finished)?.state == .completed)
        try await again.finish(running, .completed, reason: "late")
        #expect(try await again.turn(running)?.state == .interrupted)
        await second.close()
    }

    @Test func aChangeAndItsReceiptAreThereTogetherOrNotAtAll() async throws {
        struct Stop: Error {}
        let database = try await Database.inMemory()
        let log = TurnLog(database)
        let turn = TurnID()
        try await log.begin(turn, chat: nil, profile: "assistant")
        let (good, bad) = (receipt(of: turn), receipt(of: turn))

        try await database.write { transaction in
            try transaction.run("INSERT INTO settings VALUES ('task', '1', 0)")
            try transaction.add(good)
        }
        await #expect(throws: Stop.self) {
            try await database.write { transaction in
                try transaction.run("DELETE FROM settings")
                try transaction.add(bad)
                throw Stop()
            }
        }

        #expect(try await log.receipts(of: turn) == [good])
        #expect(try await SettingsStore(database).value("task") == 1)
        await #expect(throws: StorageError.self) { try await database.write { try $0.add(receipt(of: TurnID())) } }
    }

    @Test func aDeletedChatTakesItsTurnsAndLeavesReceiptsWithoutTheirWords() async throws {
        let database = try await Database.inMemory()
        let log = TurnLog(database)
        let chat = try await ChatStore(database).create()
        let turn = TurnID()
        try await log.begin(turn, chat: chat.id, profile: "agent")
        try await log.append(events(0..<5), to: turn)
        let kept = receipt(of: turn)
        try await database.write { try $0.add(kept) }

        _ = try await ChatStore(database).delete(chat.id)

        #expect(try await log.turn(turn) == nil)
        #expect(try await database.read { try $0.first("SELECT count(*) FROM turn_events") { $0.int(0) } } == 0)
        var expected = kept
        expected.turn = nil
        expected.arguments = ""
        expected.observation = nil
        expected.extras = [:]
        #expect(try await log.recentReceipts(limit: 10) == [expected])
    }

    @Test func aJournalWritesWhatItTookInOrder() async throws {
        let log = TurnLog(try await Database.inMemory())
        let turn = TurnID()
        try await log.begin(turn, chat: nil, profile: "agent")
        let journal = TurnJournal(log, turn: turn)

        for count in 0..<5_000 { #expect(journal.record(kind: "text", payload: "\(count)") == Int64(count)) }
        try await journal.flush()

        #expect(try await log.events(of: turn).map(\.payload) == (0..<5_000).map { "\($0)" })
        try await journal.flush()
    }

    @Test func aJournalKeepsWhatCouldNotBeWritten() async throws {
        let log = TurnLog(try await Database.inMemory())
        let turn = TurnID()
        let journal = TurnJournal(log, turn: turn)
        journal.record(kind: "text", payload: "early")

        await #expect(throws: StorageError.turnMissing(turn)) { try await journal.flush() }
        try await log.begin(turn, chat: nil, profile: "agent")
        journal.record(kind: "text", payload: "late")
        try await journal.flush()

        #expect(try await log.events(of: turn).map(\.payload) == ["early", "late"])
    }

    @Test func eventsOfOldTurnsCanBeForgotten() async throws {
        let log = TurnLog(try await Database.inMemory(), now: { Timestamp(milliseconds: 100) })
        let (old, running) = (TurnID(), TurnID())
        for turn in [old, running] {
            try await log.begin(turn, chat: nil, profile: "agent")
            try await log.append(events(0..<4), to: turn)
        }
        try await log.finish(old, .failed, reason: nil)

        #expect(try await log.forgetEvents(ofTurnsFinishedBefore: Timestamp(milliseconds: 101)) == 4)
        #expect(try await log.events(of: running).count == 4)
        #expect(try await log.turn(old)?.state == .failed)
    }
}
