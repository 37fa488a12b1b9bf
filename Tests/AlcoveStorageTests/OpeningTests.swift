import AlcoveCore
import AlcoveStorage
import TestFolder
import Testing

struct OpeningTests {
    private func fill(_ folder: TemporaryFolder, messages: Int = 2) async throws -> ChatID {
        let database = try await Database.open(folder: folder.path)
        let store = ChatStore(database)
        let chat = try await store.create()
        let drafts = (0..<messages).map {
            MessageDraft(role: .user, content: "message \($0) " + String(repeating: "x", count: 500))
        }
        try await store.replaceMessages(of: chat.id, with: drafts)
        await database.close()
        return chat.id
    }

    private func run(_ script: String, on path: String) throws {
        let raw = try SQLiteFixture(path: path)
        try raw.execute(script)
    }

    @Test func aFreshFolderIsMadeForItsOwnerOnly() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/a/b"

        let database = try await Database.open(folder: path)

        #expect(database.opening.previousLayout == 0)
        for (name, rights) in [("", 0o700), ("/alcove.db", 0o600), ("/alcove.db-wal", 0o600), ("/alcove.lock", 0o600)] {
            var status = stat()
            #expect(stat(path + name, &status) == 0)
            #expect(Int(status.st_mode & 0o777) == rights, "\(name)")
        }
        await database.close()
        for name in ["alcove.db", "alcove.lock"] { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    @Test func aSecondAlcoveIsRefusedAndTheFirstGoesOn() async throws {
        let folder = try TemporaryFolder()
        let first = try await Database.open(folder: folder.path)

        let error = await #expect(throws: StorageError.self) { _ = try await Database.open(folder: folder.path) }

        #expect(error?.code == "storage_in_use")
        #expect(
            error?.sentence
                == "Another Alcove, process \(getpid()), is already using \(folder.path). Use that one, end it, or choose another folder with --root."
        )
        try await SettingsStore(first).set("a", to: 1)
    }

    @Test func aSecondProcessIsRefused() async throws {
        let folder = try TemporaryFolder()
        let first = try await Database.open(folder: folder.path)

        let child = try Child(folder.path, "1")

        #expect(child.line() == "error storage_in_use")
        await first.close()
    }

    @Test func theFolderIsFreeAgainWhenTheDatabaseIsGone() async throws {
        let folder = try TemporaryFolder()
        for _ in 0..<3 { _ = try await fill(folder) }

        #expect(folder.names == ["alcove.db", "alcove.lock"])
    }

    @Test func aNewerLayoutIsRefusedAndLeftAlone() async throws {
        let folder = try TemporaryFolder()
        _ = try await fill(folder)
        try run("PRAGMA user_version = 99", on: folder.path + "/alcove.db")
        let before = try folder.bytes(of: "alcove.db")

        let error = await #expect(throws: StorageError.self) { _ = try await Database.open(folder: folder.path) }

        #expect(error?.code == "storage_newer")
        #expect(error?.message.contains("layout 99") == true)
        #expect(try folder.bytes(of: "alcove.db") == before)
        #expect(folder.names == ["alcove.db", "alcove.lock"])
    }

    @Test func anotherProgramsDatabaseIsRefusedAndLeftAlone() async throws {
        let folder = try TemporaryFolder()
        try run("CREATE TABLE recipes (name TEXT); INSERT INTO recipes VALUES ('soup')", on: folder.path + "/alcove.db")

        let error = await #expect(throws: StorageError.self) { _ = try await Database.open(folder: folder.path) }

        #expect(error?.code == "storage_foreign")
        #expect(folder.names == ["alcove.db", "alcove.lock"])
        try run("INSERT INTO recipes VALUES ('bread')", on: folder.path + "/alcove.db")
    }

    @Test func aFileThatIsNoDatabaseIsKeptAsideAndSaidSo() async throws {
        let folder = try TemporaryFolder()
        let bytes = Array(String(repeating: "These are my chats. ", count: 500).utf8)
        try folder.write(bytes, to: "alcove.db")

        let now = Timestamp(milliseconds: 1_700_000_000_000)
        let database = try await Database.open(folder: folder.path, now: now)

        let kept = "alcove.db.unreadable-2023-11-14T22-13-20.000Z"
        #expect(database.opening.keptAside?.path == "\(folder.path)/\(kept)")
        #expect(try folder.bytes(of: kept) == bytes)
        let notices = try await Notices(database).pending()
        #expect(
            notices.map(\.message) == [
                "The saved chats could not be read, so they were kept aside as \(folder.path)/\(kept) and a fresh store was begun."
            ])
        #expect(notices.first?.details?["code"] == "storage_not_a_database")
        _ = try await ChatStore(database).create()
    }

    @Test func twoKeptAsideInOneMomentDoNotMeet() async throws {
        let folder = try TemporaryFolder()
        let now = Timestamp(milliseconds: 0)
        for text in ["first file, not a database", "second file, not a database"] {
            try folder.write(Array(text.utf8), to: "alcove.db")
            let database = try await Database.open(folder: folder.path, now: now)
            await database.close()
        }

        #expect(
            folder.names == [
                "alcove.db", "alcove.db.unreadable-1970-01-01T00-00-00.000Z",
                "alcove.db.unreadable-1970-01-01T00-00-00.000Z-2", "alcove.lock",
            ])
    }

    @Test func damageFoundAtWorkIsKeptAsideAtTheNextStart() async throws {
        let folder = try TemporaryFolder()
        let chat = try await fill(folder, messages: 200)
        let page = try SQLiteFixture(path: folder.path + "/alcove.db").integer(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'messages'")
        var bytes = try folder.bytes(of: "alcove.db")
        for index in (page - 1) * 4096..<page * 4096 { bytes[index] = UInt8(truncatingIfNeeded: index &* 31) }
        try folder.write(bytes, to: "alcove.db")

        let damaged = try await Database.open(folder: folder.path)
        let error = await #expect(throws: StorageError.self) { _ = try await ChatStore(damaged).transcript(chat) }
        await damaged.close()
        let fresh = try await Database.open(folder: folder.path)

        #expect(error?.code == "storage_corrupt")
        let kept = try #require(fresh.opening.keptAside)
        #expect(try folder.bytes(of: String(kept.path.dropFirst(folder.path.count + 1))).count == bytes.count)
        #expect(try await ChatStore(fresh).summaries(includingEmpty: true).isEmpty)
        let saved = try await ChatStore(fresh).salvage(from: kept.path)
        #expect(saved.chats == 1 && !saved.isWhole, "the chat is there, its messages were on the damaged page")
        await fresh.close()
        let again = try await Database.open(folder: folder.path)
        #expect(again.opening.keptAside == nil)
    }

    @Test func aFolderInTheDatabasesPlaceIsRefused() async throws {
        let folder = try TemporaryFolder()
        mkdir(folder.path + "/alcove.db", 0o700)
        defer { rmdir(folder.path + "/alcove.db") }

        let error = await #expect(throws: StorageError.self) { _ = try await Database.open(folder: folder.path) }

        #expect(error?.sentence.contains("Is a directory") == true)
    }

    @Test func aFileInTheFoldersPlaceIsRefused() async throws {
        let folder = try TemporaryFolder()
        try folder.write([1], to: "data")

        let error = await #expect(throws: StorageError.self) {
            _ = try await Database.open(folder: folder.path + "/data")
        }

        #expect(error == .folderUnusable(path: folder.path + "/data", cause: "Not a directory"))
    }

    @Test func everyEarlierLayoutOpensWithAllItHeld() async throws {
        for fixture in LayoutFixture.all {
            let folder = try TemporaryFolder()
            try run(fixture.script, on: folder.path + "/alcove.db")

            let database = try await Database.open(folder: folder.path)

            #expect(database.opening.previousLayout == fixture.layout)
            let id = ChatID(unchecked: "0123456789abcdef0123456789abcdef")
            let transcript = try #require(try await ChatStore(database).transcript(id))
            #expect(try await KeptStore(database).count() == 0)
            try await database.write { try $0.add(KeptItem.task("Kept since")) }
            #expect(transcript.chat.title == "Named by hand")
            #expect(transcript.chat.extras == ["needsCacheReset": true, "colour": "green"])
            #expect(transcript.messages.map(\.body.content) == ["hello wide world", "bad \u{FFFD} bytes", nil])
            #expect(transcript.messages[2].body == MessageBody(role: nil, content: nil, extras: ["content": [1, 2]]))
            #expect(try await ChatStore(database).search("wide").map(\.message) == [MessageID("first")])
            // Opening rewrites nothing: the bytes that are not UTF-8 are still there.
            let raw = try await database.read {
                try $0.first("SELECT content FROM messages WHERE number = 2") { $0.bytes(0) }
            }
            #expect(raw == Array("bad ".utf8) + [0xFF] + Array(" bytes".utf8))
            await database.close()
        }
    }

    /// In the way of the step to layout 2 stands a table of that name; nobody's fault, and nothing is lost by it.
    @Test func aStepThatFailsLeavesTheLayoutBeforeIt() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/alcove.db"
        let first = try #require(LayoutFixture.all.first)
        try run(first.script + "CREATE TABLE receipts (mine TEXT); INSERT INTO receipts VALUES ('mine');", on: path)

        let error = await #expect(throws: StorageError.self) { _ = try await Database.open(folder: folder.path) }

        #expect(error?.message.contains("table receipts already exists") == true)
        let fixture = try SQLiteFixture(path: path)
        #expect(try fixture.integer("PRAGMA user_version") == 1)
        #expect(try fixture.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'turns'") == 0)
        #expect(try fixture.integer("SELECT count(*) FROM receipts") == 1)
        try fixture.execute("DROP TABLE receipts")
        let database = try await Database.open(folder: folder.path)
        #expect(database.opening.previousLayout == 1)
        await database.close()
    }

    @Test func anUncleanEndIsNoticedAndChecked() async throws {
        let folder = try TemporaryFolder()
        let child = try Child(folder.path, "7")
        for _ in 0..<5 { _ = child.line() }
        child.kill()
        while child.line() != nil {}

        let database = try await Database.open(folder: folder.path)

        #expect(database.opening.wasUnclean)
        #expect(!database.opening.needsVerification, "a small database is checked at once")
        try await database.verify()
        await database.close()
        let again = try await Database.open(folder: folder.path)
        #expect(!again.opening.wasUnclean)
    }

    @Test func whatCanBeReadOfADamagedDatabaseIsSaved() async throws {
        let folder = try TemporaryFolder()
        let old = try await Database.open(folder: folder.path)
        let chats = ChatStore(old)
        var before: [ChatTranscript] = []
        for number in 0..<40 {
            let chat = try await chats.create()
            try await chats.replaceMessages(
                of: chat.id,
                with: (0..<10).map {
                    MessageDraft(role: .user, content: "\(number).\($0) " + String(repeating: "x", count: 900))
                })
            before.append(try #require(try await chats.transcript(chat.id)))
        }
        await old.close()
        // One leaf of the messages, in the middle: found by its text.
        var bytes = try folder.bytes(of: "alcove.db")
        let needle = Array("20.5 xxx".utf8)
        let hit = try #require(bytes.indices.first { bytes[$0...].starts(with: needle) })
        for index in hit / 4096 * 4096..<(hit / 4096 + 1) * 4096 { bytes[index] = 0xFF }
        try folder.write(bytes, to: "damaged.db")
        let store = ChatStore(try await Database.inMemory())

        let saved = try await store.salvage(from: folder.path + "/damaged.db")
        let again = try await store.salvage(from: folder.path + "/damaged.db")

        #expect(saved.chats == 40 && !saved.isWhole)
        #expect((390..<400).contains(saved.messages))
        #expect(saved == again)
        #expect(try await store.transcript(before[0].chat.id) == before[0])
        #expect(try await store.transcript(before[39].chat.id) == before[39])
        #expect(!folder.names.contains { $0.contains("suspect") })
        await #expect(throws: StorageError.self) { try await store.salvage(from: folder.path + "/none.db") }
    }
}
