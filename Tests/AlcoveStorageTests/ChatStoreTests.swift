import AlcoveCore
import AlcoveStorage
import TestFolder
import Testing

struct ChatStoreTests {
    private func store() async throws -> ChatStore {
        ChatStore(try await Database.inMemory(), now: SteppingClock().now)
    }

    private func ask(_ text: String) -> MessageDraft { MessageDraft(role: .user, content: text) }
    private func answer(_ text: String) -> MessageDraft { MessageDraft(role: .assistant, content: text) }

    @Test func emptyChatsAreNotListed() async throws {
        let store = try await store()
        let empty = try await store.create()
        let first = try await store.create()
        let second = try await store.create(ChatChoices(modelID: "small"))
        _ = try await store.append(ask("two"), to: second.id)
        _ = try await store.append(ask("one"), to: first.id)

        let listed = try await store.summaries()

        #expect(listed.map(\.id) == [first.id, second.id])
        #expect(listed.map(\.title) == ["one", "two"])
        #expect(listed.map(\.modelID) == [nil, "small"])
        #expect(listed.map(\.messageCount) == [1, 1])
        #expect(try await store.summaries(includingEmpty: true).count == 3)
        #expect(try await store.summaries(limit: 1).map(\.id) == [first.id])
        #expect(try await store.mostRecentEmpty()?.id == empty.id)
        #expect(try await store.counts() == (chats: 2, messages: 2))
    }

    @Test func unchangedMessagesKeepTheirIDs() async throws {
        let store = try await store()
        let chat = try await store.create()
        let before = try await store.replaceMessages(of: chat.id, with: [ask("a"), answer("b"), ask("c"), answer("d")])

        let after = try await store.replaceMessages(
            of: chat.id, with: [ask("a"), answer("new"), ask("more"), ask("c"), answer("d"), ask("e")])

        #expect(after.map(\.body.content) == ["a", "new", "more", "c", "d", "e"])
        #expect(after[0] == before[0])
        #expect(!before.map(\.id).contains(after[1].id))
        #expect(try await store.transcript(chat.id)?.messages == after)
    }

    @Test func theEndKeepsItsRowsWhenTheMiddleGrows() async throws {
        let store = try await store()
        let chat = try await store.create()
        let before = try await store.replaceMessages(of: chat.id, with: [ask("a"), ask("y"), ask("z")])

        let after = try await store.replaceMessages(
            of: chat.id, with: [ask("a"), ask("b"), ask("c"), ask("y"), ask("z")])
        let shrunk = try await store.replaceMessages(of: chat.id, with: [ask("y"), ask("z")])

        #expect(after.suffix(2) == before.suffix(2))
        #expect(shrunk == Array(before.suffix(2)))
        #expect(try await store.transcript(chat.id)?.messages == shrunk)
    }

    @Test func aMessageKnownByItsIDIsChangedInPlace() async throws {
        let store = try await store()
        let chat = try await store.create()
        let before = try await store.replaceMessages(of: chat.id, with: [ask("a"), answer("b"), ask("c")])
        var edited = before.map { MessageDraft(id: $0.id, createdAt: $0.createdAt, $0.body) }
        edited[1].body.content = "better"
        edited[2].body.content = "other"
        edited.swapAt(1, 2)

        let after = try await store.replaceMessages(of: chat.id, with: edited)

        #expect(after.map(\.id) == [before[0].id, before[2].id, before[1].id])
        #expect(after.map(\.body.content) == ["a", "other", "better"])
        #expect(try await store.transcript(chat.id)?.messages == after)
    }

    @Test func twoMessagesWithOneIDAreTwoMessages() async throws {
        let store = try await store()
        let chat = try await store.create()
        let same = MessageDraft(id: MessageID("1"), MessageBody(role: "user", content: "a"))

        let after = try await store.replaceMessages(of: chat.id, with: [same, same])

        #expect(after.count == 2)
        #expect(after[0].id != after[1].id)
    }

    @Test func theSameHistoryAgainChangesNothing() async throws {
        let store = try await store()
        let chat = try await store.create()
        try await store.replaceMessages(of: chat.id, with: [ask("a")])
        let before = try await store.transcript(chat.id)

        try await store.replaceMessages(of: chat.id, with: [ask("a")])

        #expect(try await store.transcript(chat.id) == before)
    }

    @Test func anAnswerTakesThePlaceOfTheAnswerBeingWritten() async throws {
        let store = try await store()
        let chat = try await store.create()
        try await store.replaceMessages(of: chat.id, with: [ask("q"), answer("par")])

        let kept = try await store.recordAnswer(answer("partial, now whole"), in: chat.id)
        _ = try await store.append(ask("next"), to: chat.id)
        _ = try await store.recordAnswer(answer("second"), in: chat.id)

        let messages = try await store.transcript(chat.id)?.messages
        #expect(messages?.map(\.body.content) == ["q", "partial, now whole", "next", "second"])
        #expect(messages?[1] == kept)
    }

    @Test func choicesAreRecordedAsThePageSendsThem() async throws {
        let store = try await store()
        let chat = try await store.create()

        try await store.replaceMessages(
            of: chat.id, with: [ask("a")], choices: ChatChoices(modelID: "m", think: true, skills: ["pdf"]))
        let first = try await store.chat(chat.id)
        try await store.replaceMessages(of: chat.id, with: [ask("a")], choices: ChatChoices())
        let second = try await store.chat(chat.id)

        #expect(first?.modelID == "m" && first?.think == true && first?.skills == ["pdf"])
        #expect(first?.skillsExplicit == true)
        #expect(second?.modelID == "m" && second?.think == true && second?.skills == [])
        #expect(second?.skillsExplicit == false)
    }

    @Test func aGivenNameWinsOverTheMadeTitle() async throws {
        let store = try await store()
        let chat = try await store.create()
        _ = try await store.append(ask("first question"), to: chat.id)

        #expect(try await store.rename(chat.id, to: "  Mine ").title == "Mine")
        try await store.replaceMessages(of: chat.id, with: [ask("another question")])
        #expect(try await store.summaries().map(\.title) == ["Mine"])
        #expect(try await store.rename(chat.id, to: "a\u{202E}b\r\nc\u{1B}[1m").title == "ab  c[1m")
        #expect(try await store.rename(chat.id, to: " \u{2067}").title == "another question")
    }

    @Test func whatIsNotThereIsNamed() async throws {
        let store = try await store()
        let id = ChatID(unchecked: "00000000000000000000000000000001")

        #expect(try await store.transcript(id) == nil)
        #expect(try await store.delete(id) == false)
        await #expect(throws: StorageError.chatMissing(id)) { try await store.append(ask("a"), to: id) }
        await #expect(throws: StorageError.chatMissing(id)) { try await store.rename(id, to: "a") }
        #expect(StorageError.chatMissing(id).sentence == "There is no chat 00000000000000000000000000000001.")
    }

    @Test func deletedChatsLeaveNothingBehind() async throws {
        let folder = try TemporaryFolder()
        let database = try await Database.open(folder: folder.path)
        let store = ChatStore(database)
        for _ in 0..<20 {
            let chat = try await store.create()
            try await store.replaceMessages(of: chat.id, with: [ask(String(repeating: "xylophone ", count: 500))])
        }

        #expect(try await store.deleteAll() == 20)

        #expect(try await store.summaries(includingEmpty: true).isEmpty)
        #expect(try await store.search("xylophone").isEmpty)
        await database.close()
        let bytes = try folder.bytes(of: "alcove.db")
        #expect(String(decoding: bytes, as: UTF8.self).contains("xylophone") == false)
        #expect(bytes.count < 200_000)
    }
}
