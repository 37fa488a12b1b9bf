import AlcoveCore
import AlcoveStorage
import TestFolder
import Testing

struct CutOffTurnTests {
    private static let end: JSONValue = ["reason": "error"]
    private static let answer = MessageDraft(role: .assistant, content: "Half of it", extras: ["interrupted": true])

    private func begin(_ turn: TurnID, in chat: ChatID, _ database: Database) async throws {
        let log = TurnLog(database)
        try await log.begin(turn, chat: chat, profile: "chat")
        try await log.append(
            [LoggedEvent(seq: 0, at: Timestamp(milliseconds: 5_000), kind: "text", payload: "\"Half of it\"")], to: turn
        )
    }

    @Test func itsAnswerIsPutIntoTheChatOnce() async throws {
        let folder = try TemporaryFolder(), turn = TurnID()
        var database = try await Database.open(folder: folder.path)
        let chat = try await ChatStore(database).create()
        try await ChatStore(database).replaceMessages(of: chat.id, with: [MessageDraft(role: .user, content: "Why?")])
        try await begin(turn, in: chat.id, database)
        await database.close()

        for round in 1...3 {
            database = try await Database.open(folder: folder.path)
            let log = TurnLog(database)
            let cutOff = try await log.cutOffTurns()
            #expect(cutOff.map(\.id) == (round == 1 ? [turn] : []))
            let kept = try await log.close(turn, answer: CutOffTurnTests.answer, end: CutOffTurnTests.end)
            #expect(kept == (round == 1))
            let messages = try await ChatStore(database).transcript(chat.id)?.messages ?? []
            #expect(messages.map(\.body.content) == ["Why?", "Half of it"])
            #expect(messages.last?.createdAt == Timestamp(milliseconds: 5_000))
            let kinds = try await log.events(of: turn).map(\.kind)
            #expect(kinds == ["text", "finished"])
            let found = try await ChatStore(database).search("half").map(\.chat)
            #expect(found == [chat.id])
            await database.close()
        }
    }

    /// The chat is the person's: what stands in it now is not written over, nor is what they took away brought back.
    @Test(arguments: ["answered", "taken back", "another turn", "deleted"])
    func aChatThatHasGoneOnStaysAsItIs(_ how: String) async throws {
        let folder = try TemporaryFolder(), turn = TurnID()
        var database = try await Database.open(folder: folder.path)
        var store = ChatStore(database)
        let chat = try await store.create()
        try await store.replaceMessages(of: chat.id, with: [MessageDraft(role: .user, content: "Why?")])
        try await begin(turn, in: chat.id, database)
        await database.close()
        database = try await Database.open(folder: folder.path)
        store = ChatStore(database)
        switch how {
        case "answered": _ = try await store.append(MessageDraft(role: .assistant, content: "So."), to: chat.id)
        case "taken back": try await store.replaceMessages(of: chat.id, with: [])
        case "another turn": try await begin(TurnID(), in: chat.id, database)
        default: _ = try await store.delete(chat.id)
        }
        let before = try await store.transcript(chat.id)

        let kept = try await TurnLog(database).close(turn, answer: CutOffTurnTests.answer, end: CutOffTurnTests.end)

        #expect(!kept)
        let after = try await store.transcript(chat.id)
        #expect(after == before)
        let left = try await TurnLog(database).cutOffTurns()
        #expect(left.isEmpty)
        await database.close()
    }

    @Test func aTurnThatHadSaidNothingLeavesTheQuestion() async throws {
        let folder = try TemporaryFolder(), turn = TurnID()
        var database = try await Database.open(folder: folder.path)
        let chat = try await ChatStore(database).create()
        try await ChatStore(database).replaceMessages(of: chat.id, with: [MessageDraft(role: .user, content: "Why?")])
        try await TurnLog(database).begin(turn, chat: chat.id, profile: "chat")
        await database.close()
        database = try await Database.open(folder: folder.path)

        let kept = try await TurnLog(database).close(turn, answer: nil, end: CutOffTurnTests.end)

        #expect(!kept)
        let count = try await ChatStore(database).transcript(chat.id)?.messages.count
        #expect(count == 1)
        let kinds = try await TurnLog(database).events(of: turn).map(\.kind)
        #expect(kinds == ["finished"])
        await database.close()
    }
}
