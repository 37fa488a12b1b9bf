import AlcoveCore
import AlcoveStorage
import Testing

struct SearchTests {
    private func store(_ messages: String...) async throws -> (ChatStore, ChatID) {
        let store = ChatStore(try await Database.inMemory(), now: SteppingClock().now)
        let chat = try await store.create()
        try await store.replaceMessages(
            of: chat.id,
            with: [MessageDraft(role: .user, content: "-")]
                + messages.map { MessageDraft(role: .assistant, content: $0) })
        return (store, chat.id)
    }

    @Test func findsWordsInsideWordsAndMarksThem() async throws {
        let (store, chat) = try await store("The Rainfall in Spain", "Nothing here")

        let hits = try await store.search("INFALL spain")

        #expect(hits.map(\.chat) == [chat])
        #expect(hits[0].snippet.map { $0.isMatch ? "<\($0.text)>" : $0.text }.joined() == "The Ra<infall> in <Spain>")
        #expect(try await store.search("rainfall France").isEmpty)
    }

    @Test(arguments: ["模型", "模", "人工智能", "智能 模型", "ИИ"]) func findsScriptsWithoutSpaces(_ query: String) async throws {
        let (store, _) = try await store("这是一个人工智能模型，在设备上运行。ИИ")

        let hits = try await store.search(query)

        #expect(hits.count == 1)
        #expect(hits.first?.snippet.contains { $0.isMatch } == true)
    }

    @Test(arguments: [
        "\"", "\"\"\"", "'", "foo\"bar", "*", "foo*", "-foo", "foo OR", "NOT foo", "NEAR(foo bar)", "content:foo",
        "^foo",
        "(foo", "foo)", "{a b}", "+foo", "%", "_", "\\", "a%b", "\\_", "'; DROP TABLE chats; --",
        "?1", ":x", "$x", "😀", "e\u{301}", "\u{202E}abc",
    ])
    func aQueryIsTextNeverSyntax(_ query: String) async throws {
        let (store, chat) = try await store("plain words only", "before \(query) after")

        let hits = try await store.search(query)

        // Every word of the query stands in the second message, and in none of the others.
        #expect(hits.map(\.chat) == [chat])
        #expect(hits.first?.snippet.map(\.text).joined() == "before \(query) after")
        #expect(try await store.counts().messages == 3)
    }

    @Test func blankAndHugeQueriesAreHarmless() async throws {
        let (store, _) = try await store("some text")

        #expect(try await store.search("").isEmpty)
        #expect(try await store.search(" \n\t").isEmpty)
        #expect(try await store.search(String(repeating: "word ", count: 100_000)).isEmpty)
        #expect(try await store.search("text", limit: 0).isEmpty)
        #expect(try await store.search("\u{0}some\u{0}text\u{1B}").count == 1)
    }

    @Test func theIndexFollowsEveryChange() async throws {
        let (store, chat) = try await store("elephants")

        try await store.replaceMessages(of: chat, with: [MessageDraft(role: .user, content: "giraffes")])
        #expect(try await store.search("elephants").isEmpty)
        #expect(try await store.search("giraffes").map(\.chat) == [chat])
        _ = try await store.delete(chat)
        #expect(try await store.search("giraffes").isEmpty)
        try await store.database.write {
            try $0.run("INSERT INTO message_index (message_index) VALUES ('integrity-check')")
        }
    }

    @Test func titlesComeFirstAndNewestBeforeOldest() async throws {
        let (store, first) = try await store("about apples", "more apples")
        let second = try await store.create()
        _ = try await store.append(MessageDraft(role: .user, content: "apples and pears"), to: second.id)
        let third = try await store.create()
        let drafts = ["-", "the last apples"].map { MessageDraft(role: .user, content: $0) }
        try await store.replaceMessages(of: third.id, with: drafts)

        let hits = try await store.search("apples", limit: 3)

        #expect(hits.map(\.chat) == [second.id, third.id, first])
        #expect(hits.map { $0.message == nil } == [true, false, false])
        #expect(hits[2].snippet.map(\.text).joined() == "more apples")
    }

    /// The limit counted messages once, and one chat used it up.
    @Test func aChatWithManyHitsHidesNoOther() async throws {
        let (store, old) = try await store("one apple")
        let busy = try await store.create()
        try await store.replaceMessages(
            of: busy.id,
            with: (0..<700).map { MessageDraft(role: .assistant, content: $0 == 0 ? "-" : "apple \($0)") })

        #expect(try await store.search("apple", limit: 2).map(\.chat) == [busy.id, old])
    }

    @Test func wordsMayStandInTheTitleAndInDifferentMessages() async throws {
        let (store, chat) = try await store("We fly to Lisbon", "The hotel is booked", "hotel and tickets, all booked")
        _ = try await store.rename(chat, to: "Holiday")
        let other = try await store.create()
        _ = try await store.append(MessageDraft(role: .user, content: "a hotel in Porto"), to: other.id)

        let spread = try await store.search("lisbon hotel")
        #expect(spread.map(\.chat) == [chat])
        #expect(try await store.search("HOLIDAY tickets").map(\.chat) == [chat])
        #expect(try await store.search("lisbon porto").isEmpty)
        // The message with the most words is shown, and of two such the newer one.
        let best = try #require(try await store.search("lisbon booked hotel").first)
        #expect(best.snippet.map(\.text).joined() == "hotel and tickets, all booked")
        #expect(best.snippet.filter(\.isMatch).map(\.text) == ["hotel", "booked"])
    }

    @Test func oneMessageWithAllWordsComesBeforeOthers() async throws {
        let (store, together) = try await store("red and blue")
        let apart = try await store.create()
        let drafts = ["-", "red", "blue"].map { MessageDraft(role: .user, content: $0) }
        try await store.replaceMessages(of: apart.id, with: drafts)

        #expect(try await store.search("blue red").map(\.chat) == [together, apart.id])
    }

    @Test func theExcerptIsWhereMostWordsAre() async throws {
        let filler = String(repeating: "nothing of note, apple. ", count: 200)
        let (store, _) = try await store(filler + "The apple and the größte Birne stand here. " + filler)

        let hit = try #require(try await store.search("apple birne größte").first)

        let text = hit.snippet.map(\.text).joined()
        #expect(text.contains("größte Birne") && text.hasPrefix("…") && text.hasSuffix("…") && text.utf8.count < 260)
        #expect(hit.snippet.filter(\.isMatch).map { $0.text.lowercased() }.contains("birne"))
    }

    @Test func commonWordsOfOtherScriptsAreFoundWhateverTheirCase() async throws {
        let store = ChatStore(try await Database.inMemory())
        let chat = try await store.create()
        let many = (0..<2_100).map { MessageDraft(role: .assistant, content: $0 == 0 ? "-" : "МОДЕЛЬ \($0)") }
        try await store.replaceMessages(of: chat.id, with: many)

        let hits = try await store.search("модель")

        #expect(hits.map(\.chat) == [chat.id])
        #expect(hits.first?.snippet.contains { $0.isMatch } == true)
    }

    @Test func systemAndToolTextIsNotFound() async throws {
        let store = ChatStore(try await Database.inMemory())
        let chat = try await store.create()
        let drafts = [Role.system, .tool, .developer].map { MessageDraft(role: $0, content: "hidden words") }

        try await store.replaceMessages(of: chat.id, with: drafts)

        #expect(try await store.search("hidden").isEmpty)
    }
}
