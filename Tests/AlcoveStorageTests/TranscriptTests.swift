import AlcoveCore
import AlcoveStorage
import Testing

/// Transcripts of older and other programs (T45): they open, and what we do not know stays as it came.
struct TranscriptTests {
    private static let old = """
        {"id":"00112233445566778899aabbccddeeff","title":"Holiday plans","createdAt":"2016-05-04T03:02:01.5Z",
         "updatedAt":"2016-05-05T00:00:00+02:00","modelId":null,"think":null,"skills":["pdf"],"skillsExplicit":true,
         "needsCacheReset":false,"theme":{"b":1,"a":[true,null,1e3]},"messages":[
           {"role":"user","content":"hi","imagePaths":[],"isVideo":false,"zebra":{"y":1,"x":2}},
           {"role":"assistant","content":null,"thinking":"hm","artifacts":[{"name":"a.txt","bytes":3,"url":"/u/a.txt"}]},
           {"content":[{"type":"text","text":"parts"}]},
           {"id":"msg_1","role":7,"createdAt":"long ago","content":"odd"},
           "just text", null]}
        """

    private func store() async throws -> ChatStore {
        ChatStore(try await Database.inMemory(), now: SteppingClock().now)
    }

    @Test func unknownMembersAndMissingIDsComeBackAsTheyCame() async throws {
        let store = try await store()

        let chat = try await store.importChat(ChatDocument(parsing: Array(Self.old.utf8)))
        let back = try #require(try await store.transcript(chat.id)).json

        let original = try JSONValue(parsing: Self.old)
        for key in ["id", "title", "modelId", "think", "skills", "skillsExplicit", "needsCacheReset", "theme"] {
            #expect(back[key] == original[key], "\(key)")
        }
        #expect(back["createdAt"] == "2016-05-04T03:02:01.500Z")
        #expect(back["updatedAt"] == "2016-05-04T22:00:00.000Z")
        let messages = try #require(back["messages"]?.array)
        let originals = try #require(original["messages"]?.array)
        #expect(messages.count == originals.count)
        for (message, original) in zip(messages, originals) {
            for (key, value) in original.object?.members ?? [] { #expect(message[key] == value, "\(key)") }
            #expect(message["id"]?.string?.isEmpty == false)
        }
        #expect(messages[4]["value"] == "just text")
    }

    @Test func openingAndSavingUnchangedRewritesNothing() async throws {
        let store = try await store()
        let chat = try await store.importChat(ChatDocument(parsing: Array(Self.old.utf8)))
        let before = try #require(try await store.transcript(chat.id))

        // As the page does it: what it read, sent back.
        let sent = try #require(before.json["messages"]?.array).map { MessageDraft(json: $0) }
        try await store.replaceMessages(of: chat.id, with: sent)

        #expect(try await store.transcript(chat.id) == before)
    }

    @Test func importingTwiceIsImportingOnce() async throws {
        let store = try await store()
        let document = try ChatDocument(parsing: Array(Self.old.utf8))

        let first = try await store.importChat(document)
        let kept = try await store.transcript(first.id)
        let second = try await store.importChat(document)
        let exported = try #require(kept).json
        _ = try await store.importChat(ChatDocument(json: exported))

        #expect(first == second)
        #expect(try await store.transcript(first.id) == kept)
        #expect(try await store.summaries().count == 1)
    }

    @Test func anOlderFileDoesNotUndoWhatWasSaidSince() async throws {
        let store = try await store()
        let document = try ChatDocument(parsing: Array(Self.old.utf8))
        let chat = try await store.importChat(document)
        _ = try await store.append(MessageDraft(role: .user, content: "since then"), to: chat.id)

        _ = try await store.importChat(document)

        #expect(try await store.transcript(chat.id)?.messages.last?.body.content == "since then")
    }

    @Test func bytesThatAreNotUTF8DoNotLoseTheChat() async throws {
        let store = try await store()
        let bytes =
            [0xEF, 0xBB, 0xBF] + Array(#"{"messages":[{"role":"user","content":"caf"#.utf8) + [0xE9]
            + Array(#""}]}"#.utf8)

        let chat = try await store.importChat(ChatDocument(parsing: bytes))

        #expect(chat.title == "caf\u{FFFD}")
    }

    @Test func whatIsNoChatIsRefused() async throws {
        #expect(throws: InputError.self) { try ChatDocument(parsing: Array("[1]".utf8)) }
        #expect(throws: JSONError.self) { try ChatDocument(parsing: Array("{".utf8)) }
    }
}
