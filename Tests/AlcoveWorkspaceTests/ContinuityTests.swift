import AlcoveCore
import AlcoveStorage
import AlcoveWorkspace
import Testing

/// What is derived from what is kept, by rules alone.
struct ContinuityTests {
    private let database: Database
    private let start = Timestamp(milliseconds: 1_700_000_000_000)

    init() async throws { database = try await Database.inMemory() }

    @discardableResult
    private func keep(
        _ type: KnowledgeType, _ text: String, file: String? = nil, day: Int = 0
    ) async throws -> KeptItem {
        let item = KeptItem(
            kind: .knowledge, type: type.rawValue, title: KeptItem.title(of: text), text: text,
            provenance: Provenance(file: file), createdAt: start.adding(days: day))
        try await database.write { try $0.capture(item) }
        return item
    }

    private func insights(day: Int = 0) async throws -> [Insight] {
        let now = start.adding(days: day)
        return try await database.read { try Insights($0, now: now).all() }
    }

    @Test func everyFifthItemMakesADigestOfTheFive() async throws {
        var ids: [String] = []
        for number in 1...11 {
            ids.append(try await keep(number == 3 ? .decision : .note, "Backup disk number\(number)").id.text)
        }

        let digests = try await KeptStore(database).list(.knowledge, type: "digest").reversed().map(\.self)
        #expect(digests.count == 2)
        #expect(
            digests.map { $0.extras["items"]?.array?.compactMap(\.string) } == [Array(ids[..<5]), Array(ids[5..<10])])
        #expect(digests[0].title == "Digest: 4 notes, 1 decision")
        #expect(
            digests[0].text.hasPrefix(
                "- [note] Backup disk number1 (\(ids[0].prefix(8)))\n- [note] Backup disk number2"))
        #expect(digests[0].text.hasSuffix("In several of them: backup, disk."))
    }

    @Test func aQuestionIsOpenUntilSomethingAnswersIt() async throws {
        let question = try await keep(.question, "Which database holds the chats?")
        #expect(try await insights().map(\.kind) == [.openQuestion])
        #expect(try await insights()[0].items.map(\.id) == [question.id])

        try await keep(.fact, "The chats are in a SQLite database, which holds everything", day: 1)
        #expect(try await insights().isEmpty)
    }

    @Test func aTaskGoesStale() async throws {
        let task = KeptItem.task("Call the plumber", now: start)
        try await database.write { try $0.add(task) }

        #expect(try await insights(day: 13).isEmpty)
        let found = try #require(try await insights(day: 15).first)
        #expect(found.kind == .staleTask && found.items.map(\.id) == [task.id])
        #expect(
            found.text == "Nothing happened to the task \"Call the plumber\" (\(task.id.text.prefix(8))) for 15 days.")
        try await database.write { try $0.setTask(task.id, .done, at: .now) }
        #expect(try await insights(day: 15).isEmpty)
    }

    @Test(arguments: [
        ("The server listens on port 8080", "The server listens on port 9090", true),
        ("We ship on Friday", "We do not ship on Friday", true),
        ("聊天记录保存在手机上", "聊天记录不保存在手机上", true),
        ("The server listens on port 8080", "The client listens to birds at 5", false),
        ("We ship on Friday", "We ship on Friday", false),
    ])
    func whatDoesNotGoTogetherIsTold(_ first: String, _ second: String, _ expected: Bool) async throws {
        let one = try await keep(.fact, first), two = try await keep(.fact, second, day: 1)

        let found = try await insights().filter { $0.kind == .contradiction }

        #expect(found.map { $0.items.map(\.id) } == (expected ? [[one.id, two.id]] : []))
    }

    @Test func aDecisionRestsOnSomethingOrIsTold() async throws {
        let bare = try await keep(.decision, "Paint the shed green")
        try await keep(.decision, "Use SQLite storage for chats")
        try await keep(.fact, "SQLite storage keeps chats through a crash")
        try await keep(.decision, "Write everything in Swift", file: "notes.md")

        let found = try await insights()

        #expect(found.map(\.kind) == [.decisionWithoutEvidence])
        #expect(found[0].items.map(\.id) == [bare.id])
    }

    @Test func theReviewNamesWhatDecisionsRestOn() async throws {
        let fact = try await keep(.fact, "SQLite storage keeps chats through a crash")
        try await keep(.decision, "Use SQLite storage for chats")
        try await keep(.risk, "The disk fills up")
        let review = try await database.read { [start] in try ProjectReport.review(now: start, in: $0) }

        #expect(review.contains("rests on \"\(fact.title)\" (\(fact.id.text.prefix(8)))"))
        #expect(review.contains("The disk fills up (") && review.contains("nothing is kept against it"))
        let task = KeptItem.task("Watch how the disk fills", now: start)
        try await database.write { try $0.add(task) }
        let again = try await database.read { [start] in try ProjectReport.review(now: start, in: $0) }
        #expect(again.contains("task \"Watch how the disk fills\" (\(task.id.text.prefix(8))), open"))
    }

    @Test func theContextIsBoundedAndOfATopic() async throws {
        #expect(try await ProjectReport.context(topic: "", in: database) == "Nothing is kept yet.")
        for number in 1...20 { try await keep(.note, "Note number \(number) about bread") }
        let decision = try await keep(.decision, "Bake on Sundays")

        let whole = try await ProjectReport.context(topic: "", in: database)
        #expect(
            whole.hasPrefix("Decisions:\n- Bake on Sundays (\(decision.id.text.prefix(8)))\n\nNotes:\n- Note number 20")
        )
        #expect(whole.split(separator: "\n").count == 9)
        #expect(
            try await ProjectReport.context(topic: "sundays", in: database).hasPrefix("Decisions:\n- Bake on Sundays"))
        #expect(try await ProjectReport.context(topic: "zebra", in: database) == "Nothing is kept about \"zebra\".")
    }

    @Test func aHandoffCopiesTheLastWordsAndWhatIsOpen() async throws {
        let chats = ChatStore(database)
        let chat = try await chats.create()
        let said = (0..<10).map {
            MessageDraft(
                role: $0 % 2 == 0 ? .user : .assistant, content: "word \($0) " + String(repeating: "x", count: 300))
        }
        try await chats.replaceMessages(
            of: chat.id, with: said + [MessageDraft(role: .user, content: "create handoff")])
        let task = KeptItem.task("Buy milk", now: start)
        try await database.write { try $0.add(task) }
        try await keep(.decision, "Bake on Sundays")

        let contents = try await database.read { try HandoffContents(note: "Begin here.", chat: chat.id, in: $0) }

        #expect(contents.tasks.map(\.id) == [task.id.text])
        #expect(contents.decisions.map(\.title) == ["Bake on Sundays"])
        #expect(contents.excerpts.map { String($0.text.prefix(6)) } == (4..<10).map { "word \($0)" })
        #expect(contents.excerpts.allSatisfy { $0.text.count == 240 && $0.chat == chat.id.text })
        #expect(contents.text.hasPrefix("Begin here.\n\nOpen tasks:\n- Buy milk ("))
        #expect(HandoffContents(json: contents.json) == contents)
    }
}

struct CodeInspectionTests {
    private func rules(_ code: String) -> [String] { CodeInspection(code).findings.map { "\($0.line) \($0.rule)" } }

    @Test(arguments: [
        ("x = eval(text)", ["1 runs_text"]), ("retrieval(text)", []), ("# eval(text)", []), ("s = \"eval(text)\"", []),
        ("subprocess.run(c, shell=True)", ["1 runs_command"]), ("password = \"hunter2hunter2\"", ["1 secret"]),
        ("password = input()", []), ("a = 1 // TODO: later", ["1 left_over"]),
        ("f(\"http://example.org\")", ["1 plain_http"]), ("f(\"http://127.0.0.1:1\")", []),
        ("q = \"SELECT * FROM t WHERE a = \" + name", ["1 built_query"]),
        ("try:\n    f()\nexcept: pass", ["3 swallowed_error"]), ("f(a, (b)", ["1 unclosed_bracket"]),
        ("f(a))", ["1 stray_bracket"]), ("/* never ended", ["1 unclosed_comment"]), ("it's fine // don't", []),
        ("x = \"(((((((\"", []), ("((((((()))))))", ["1 deep_nesting"]),
    ])
    func findsWhatDeservesALook(_ code: String, _ expected: [String]) { #expect(rules(code) == expected) }

    @Test func itIsBounded() {
        let found = CodeInspection(String(repeating: "eval(x)\n", count: 100_000))

        #expect(found.findings.count == CodeInspection.findingLimit)
        #expect(found.lineCount <= CodeInspection.lengthLimit)
        #expect(CodeInspection("").text == "0 lines, 0 of them comments. Nothing stands out.")
    }
}

extension Timestamp {
    fileprivate func adding(days: Int) -> Timestamp { Timestamp(milliseconds: milliseconds + Int64(days) * 86_400_000) }
}
