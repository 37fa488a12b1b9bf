import AlcoveCore
import AlcoveStorage
import AlcoveWorkspace
import Testing

struct RankingTests {
    private func order(_ query: String, _ texts: [String]) -> [Int] {
        Ranking(query).hits(in: texts.map { Ranking.Document(id: $0, text: $0) }).map(\.index)
    }

    @Test func rareWordsCountMoreThanCommonOnes() {
        let texts = ["the cat and the dog", "the the the the", "a heron by the water"]

        #expect(order("the heron", texts).first == 2)
    }

    @Test func aPhraseComesBeforeItsScatteredWords() {
        #expect(order("red house", ["house that is red", "a red house here", "red and white house"]).first == 1)
    }

    @Test func moreOfTheQueryComesBeforeMoreOfOneWord() {
        #expect(order("apple pear", ["apple apple apple apple", "pear and apple"]).first == 1)
    }

    @Test func theTitleCountsMoreThanTheText() {
        let documents = [
            Ranking.Document(id: "a", title: "Other", text: "budget of the year"),
            Ranking.Document(id: "b", title: "Budget", text: "numbers of the year"),
        ]

        #expect(Ranking("budget").hits(in: documents).map(\.index) == [1, 0])
    }

    @Test func equalTextsKeepTheirOrder() {
        #expect(order("same", ["same text", "other", "same text", "same text"]) == [0, 2, 3])
        #expect(order("same", Array(repeating: "same", count: 100)) == Array(0..<50))
    }

    @Test func mistypedWordsAndPartsOfWordsAreFound() {
        #expect(order("kubernetse", ["a cat", "about kubernetes", "the end"]) == [1])
        #expect(order("rainfal", ["heavy rainfall today", "nothing"]) == [0])
    }

    @Test(arguments: [
        ("智能 模型", [1]), ("模型", [1]), ("天气", [0]), ("モデル", [2]), ("ภาษา", [3]), ("날씨", [4]),
    ])
    func scriptsWithoutSpaces(_ query: String, _ expected: [Int]) {
        let texts = ["今天天气很好", "人工智能模型在设备上运行", "このモデルは小さい", "ภาษาไทยไม่มีช่องว่าง", "오늘 날씨가 좋다"]

        #expect(order(query, texts) == expected)
    }

    @Test func aHitIsExplained() throws {
        let hit = try #require(
            Ranking("red house blue").hits(in: [Ranking.Document(id: "x", text: "the red house")]).first)

        #expect(hit.signals.found == ["red", "house"])
        #expect(hit.signals.phrase == 0.5)
        #expect(hit.signals.coverage > 0 && hit.signals.coverage < 1)
        #expect(hit.signals.score > 0 && hit.signals.score < 1)
    }

    @Test(arguments: ["", "  ", "!!!", "\u{0}", "\"", "😀😀", String(repeating: "word ", count: 50_000)])
    func strangeQueriesAreHarmless(_ query: String) {
        #expect(order(query, ["plain text", ""]).isEmpty)
    }
}

struct WorkspaceSearchTests {
    private func database(_ items: [KeptItem]) async throws -> Database {
        let database = try await Database.inMemory()
        try await database.write { for item in items { try $0.add(item) } }
        return database
    }

    private func titles(_ query: String, _ database: Database, kinds: Set<KeptKind> = []) async throws -> [String] {
        try await WorkspaceSearch(database).search(query, kinds: kinds).map { hit in
            switch hit.found {
            case .item(let item): item.title
            case .message(let message): message.title
            }
        }
    }

    @Test func findsAmongKindsAndOnlyThoseAskedFor() async throws {
        let database = try await database([
            .task("Water the garden"), KeptItem(kind: .memory, title: "The garden is north"),
            KeptItem(kind: .handoff, title: "Garden plans"), .task("Something else"),
        ])

        #expect(try await titles("garden", database).count == 3)
        #expect(try await titles("garden", database, kinds: [.task]) == ["Water the garden"])
        #expect(try await titles("gardne", database, kinds: [.memory]) == ["The garden is north"])
        #expect(try await titles("ocean", database).isEmpty)
    }

    /// The one item that has all words is found among thousands that have one of them, however old it is.
    @Test func theRightItemIsNotCrowdedOut() async throws {
        var items = [KeptItem.task("quarterly report for the lighthouse")]
        for number in 0..<1_500 { items.append(.task("report number \(number) for the office")) }
        for number in 0..<1_500 { items.append(.task("quarterly note number \(number)")) }
        let database = try await database(items)

        #expect(try await titles("quarterly report", database).first == "quarterly report for the lighthouse")
        #expect(try await titles("report of the lighthouse", database).first == "quarterly report for the lighthouse")
        #expect(try await titles("ighthous", database).first == "quarterly report for the lighthouse")
    }

    @Test(arguments: ["模", "模型", "智能模型"]) func findsShortWordsOfChinese(_ query: String) async throws {
        let database = try await database([.task("人工智能模型"), .task("买牛奶")])

        #expect(try await titles(query, database) == ["人工智能模型"])
    }

    @Test(arguments: [
        "\"", "a\"b OR c", "NEAR(x y)", "words:x", "*", "-x", "'; DROP TABLE kept; --", "^a", "(", "x AND",
    ])
    func aQueryIsTextNeverSyntax(_ query: String) async throws {
        let database = try await database([.task("before \(query) after"), .task("plain")])

        _ = try await titles(query, database)
        #expect(try await KeptStore(database).count() == 2)
    }

    @Test func chatsAreSearchedWhenAsked() async throws {
        let database = try await database([.task("Call the plumber")])
        let chats = ChatStore(database)
        let chat = try await chats.create()
        _ = try await chats.append(MessageDraft(role: .user, content: "my plumber is called Ann"), to: chat.id)

        let hits = try await WorkspaceSearch(database).search("plumber", chats: true)

        #expect(hits.contains { if case .message(let hit) = $0.found { hit.chat == chat.id } else { false } })
        #expect(try await titles("plumber", database) == ["Call the plumber"])
    }
}
