import AlcoveCore
import AlcoveStorage
import TestFolder
import Testing

/// What the store costs, printed; held against the budgets only when measuring (ALCOVE_BENCH). `docs/storage.md` has figures.
@Suite(.serialized) struct SpeedTests {
    /// Longer messages, as people write them; fills for some minutes.
    private static let isBench = getenv("ALCOVE_BENCH") != nil

    private func timed<Value>(
        best tries: Int = 1, _ body: () async throws -> Value
    ) async throws -> (milliseconds: Double, value: Value) {
        var (best, batch) = (Double.infinity, 0)
        while true {
            let start = Platform.monotonicNanoseconds
            let value = try await body()
            best = min(best, Double(Platform.monotonicNanoseconds - start) / 1e6)
            batch += 1
            if batch == tries { return (best, value) }
        }
    }

    @Test func aListOf500ChatsOf200TurnsTakesUnder100Milliseconds() async throws {
        let folder = try TemporaryFolder()
        let database = try await Database.open(folder: folder.path)
        let store = ChatStore(database)
        // In one go and by SQL, because 200,000 calls would take the test's time.
        let fill = try await timed {
            try await database.write { transaction in
                try transaction.run(
                    """
                    WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 499)
                    INSERT INTO chats (number, id, title, created_at, updated_at)
                        SELECT i + 1, printf('%032x', i), 'Chat ' || i, i, i FROM n
                    """)
                try transaction.run(
                    """
                    WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 199999)
                    INSERT INTO messages (chat, position, id, role, content, created_at)
                        SELECT i / 400 + 1, i % 400, printf('%032x', i), iif(i % 2, 'assistant', 'user'),
                            'turn ' || i || ?, i FROM n
                    """,
                    SpeedTests.isBench
                        ? String(repeating: " said the quick brown fox to the lazy dog", count: 8) : " fox")
            }
        }

        let list = try await timed(best: 5) { try await store.summaries().count }
        let found = try await timed(best: 3) { try await store.search("fox 7 turn 39").count }
        let none = try await timed(best: 3) { try await store.search("zebra").count }
        let short = try await timed(best: 3) { try await store.search("鼠").count }
        let last = try await store.summaries(limit: 1)[0].id
        let load = try await timed(best: 5) { try await store.transcript(last)?.messages ?? [] }
        let history = load.value.map { MessageDraft($0.body) }
        var more = history
        let resend = try await timed(best: 5) {
            more.append(MessageDraft(role: .user, content: "next"))
            try await store.replaceMessages(of: last, with: more)
        }
        await database.close()
        let reopen = try await timed(best: 5) { await (try Database.open(folder: folder.path)).close() }

        print(
            """
            store: 500 chats x 400 messages filled in \(fill.milliseconds) ms; list \(list.milliseconds); search \(found.milliseconds), nothing \(none.milliseconds), one \
            character \(short.milliseconds); load 400 messages \(load.milliseconds); resend with one more \(resend.milliseconds); open and close \(reopen.milliseconds); \
            file \(try folder.bytes(of: "alcove.db").count >> 20) MiB
            """)
        #expect(list.value == 500)
        #expect((found.value, none.value, short.value, load.value.count) == (50, 0, 0, 400))
        guard SpeedTests.isBench else { return }
        #expect(list.milliseconds < 100)
        #expect(reopen.milliseconds < 100)
    }

    @Test func aTurnOf10000EventsIsReplayedInUnder50Milliseconds() async throws {
        let folder = try TemporaryFolder()
        let database = try await Database.open(folder: folder.path)
        let log = TurnLog(database)
        let payload = #"{"text":" word","round":3,"source":"model"}"#
        var batches: [Double] = []

        for _ in 0..<10 {
            let turn = TurnID()
            try await log.begin(turn, chat: nil, profile: "agent")
            for start in stride(from: Int64(0), to: 10_000, by: 100) {
                let events = (start..<start + 100).map {
                    LoggedEvent(seq: $0, at: Timestamp(milliseconds: $0), kind: "text", payload: payload)
                }
                batches.append(try await timed { try await log.append(events, to: turn) }.milliseconds)
            }
        }
        let turn = try #require(try await log.recentTurns(limit: 1).first)
        let replay = try await timed(best: 5) { try await log.events(of: turn.id).count }
        // Each must differ: SQLite does not write what is there already.
        var durable: [Double] = []
        for count in 0..<50 {
            durable.append(
                try await timed { try await log.note(["round": JSONValue(count)], of: turn.id) }.milliseconds)
        }

        let middle = batches.sorted()[batches.count / 2] * 10  // of 100 events, in microseconds an event
        print(
            "store: 100,000 events, p50 \(middle) us an event; 10,000 replayed in \(replay.milliseconds) ms; durable write p50 \(durable.sorted()[25]) ms"
        )
        #expect(replay.value == 10_000)
        guard SpeedTests.isBench else { return }
        #expect(middle < 50)
        #expect(replay.milliseconds < 50)
    }
}
