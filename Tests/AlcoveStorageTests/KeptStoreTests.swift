import AlcoveCore
import AlcoveStorage
import Testing

struct KeptStoreTests {
    private func store() async throws -> (KeptStore, Database) {
        let database = try await Database.inMemory()
        return (KeptStore(database), database)
    }

    @Test func everythingAnItemHoldsComesBack() async throws {
        let (store, database) = try await store()
        let provenance = Provenance(chat: "c", message: "m", run: "r", receipt: "q", file: "a.txt", offset: 12)
        let item = KeptItem(
            kind: .knowledge, type: "decision", title: "Use SQLite", text: "Because it is there.",
            provenance: provenance,
            createdAt: Timestamp(milliseconds: 5), extras: ["colour": "green"])

        try await database.write { try $0.add(item) }

        #expect(try await store.item(item.id) == item)
        #expect(try await store.list(.knowledge, type: "decision") == [item])
        #expect(try await store.list(.knowledge, type: "risk").isEmpty)
        #expect(try await store.list(.memory).isEmpty)
    }

    @Test func provenanceKeepsMembersItDoesNotKnow() {
        let json: JSONObject = ["chat": "c", "page": 7]

        #expect(Provenance(json: json).json == json)
    }

    @Test func aTaskIsCompletedOnceAndReopened() async throws {
        let (store, database) = try await store()
        let task = KeptItem.task("Buy milk")
        try await database.write { try $0.add(task) }

        try await database.write { try $0.setTask(task.id, .done, at: Timestamp(milliseconds: 9)) }

        let done = try #require(try await store.item(task.id))
        #expect(done.state == "done")
        #expect(done.finishedAt == Timestamp(milliseconds: 9))
        await #expect(throws: KeptError.stateUnchanged(title: "Buy milk", state: "done")) {
            try await database.write { try $0.setTask(task.id, .done, at: .now) }
        }
        try await database.write { try $0.setTask(task.id, .open, at: .now) }
        #expect(try await store.item(task.id)?.finishedAt == nil)
        await #expect(throws: KeptError.self) { try await database.write { try $0.setTask(KeptID(), .done, at: .now) } }
    }

    @Test func anItemIsFoundByIDTitleOrItsOnlyPart() async throws {
        let (store, database) = try await store()
        let milk = KeptItem.task("Buy milk"), more = KeptItem.task("Buy milk and eggs"),
            rate = KeptItem.task("100% sure")
        try await database.write { for item in [milk, more, rate] { try $0.add(item) } }

        #expect(try await store.find(milk.id.text, kind: .task).id == milk.id)
        #expect(try await store.find(String(more.id.text.prefix(8)), kind: .task).id == more.id)
        #expect(try await store.find("BUY MILK", kind: .task).id == milk.id)
        #expect(try await store.find("eggs", kind: .task).id == more.id)
        #expect(try await store.find("0% s", kind: .task).id == rate.id)
        let error = await #expect(throws: KeptError.self) { try await store.find("Buy", kind: .task) }
        #expect(error?.sentence.contains("\"Buy milk and eggs\"") == true)
        await #expect(throws: KeptError.missing(kind: .task, name: "_uy")) { try await store.find("_uy", kind: .task) }
        await #expect(throws: KeptError.self) { try await store.find(milk.id.text, kind: .memory) }
    }

    @Test func whatIsEmptyOrTooLongIsRefused() async throws {
        let (store, database) = try await store()
        let long = String(repeating: "x", count: Transaction.keptTitleLimit + 1)

        for item in [
            KeptItem.task(" \n"), .task(long),
            KeptItem(kind: .memory, title: "t", text: String(repeating: "y", count: Transaction.keptTextLimit + 1)),
        ] {
            await #expect(throws: KeptError.self) { try await database.write { try $0.add(item) } }
        }
        #expect(try await store.count() == 0)
    }

    /// The two indexes and the table agree after every kind of change.
    @Test func theIndexesFollow() async throws {
        let (_, database) = try await store()
        let item = KeptItem(kind: .knowledge, type: "note", title: "模型 café", text: "Īnternational 😀 words")
        func found(_ word: String) async throws -> Int {
            try await database.read {
                try $0.first("SELECT count(*) FROM kept_words WHERE kept_words MATCH ?", "\"\(word)\"") { $0.int(0) }
                    ?? 0
            }
        }
        try await database.write { try $0.add(item) }

        for word in ["模型", "模", "café", "words", "😀"] { #expect(try await found(word) == 1, "\(word)") }
        #expect(try await found("word") == 0)
        try await database.write { try $0.deleteKept(item.id) }
        #expect(try await found("模型") == 0)
        try await database.write { transaction in
            try transaction.run("INSERT INTO kept_words (kept_words) VALUES ('integrity-check')")
            try transaction.run("INSERT INTO kept_letters (kept_letters) VALUES ('integrity-check')")
        }
        await #expect(throws: KeptError.self) { try await database.write { try $0.deleteKept(item.id) } }
    }

    @Test func wordsOfSpacedAndSpacelessScripts() {
        #expect(KeptWords("Hello, WORLD-wide 3x!").indexed == ["hello", "world", "wide", "3x"])
        #expect(KeptWords("用SQLite存储").wanted == ["用", "sqlite", "存储"])
        #expect(KeptWords("人工智能").wanted == ["人工", "工智", "智能"])
        #expect(KeptWords("人工").indexed == ["人", "工", "人工"])
        #expect(KeptWords("हिन्दी भाषा").indexed.count == 2)
        #expect(KeptWords("").wanted.isEmpty)
        #expect(KeptWords(String(repeating: "a", count: 200)).pieces.count == 4)
    }
}
