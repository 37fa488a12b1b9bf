import AlcoveCore
import AlcoveStorage
import Synchronization
import TestFolder
import Testing

struct DatabaseTests {
    private struct Stop: Error {}

    @Test func aThrowingWriteChangesNothing() async throws {
        let folder = try TemporaryFolder()
        let database = try await Database.open(folder: folder.path)
        let settings = SettingsStore(database)
        try await settings.set("kept", to: 1)

        await #expect(throws: Stop.self) {
            try await database.write { transaction in
                try transaction.run("DELETE FROM settings")
                throw Stop()
            }
        }

        #expect(try await settings.values() == ["kept": 1])
    }

    @Test func everyKindOfValueComesBack() async throws {
        let database = try await Database.inMemory()
        let values: [SQLValue] = [
            .null, .integer(.min), .real(-0.1), .text(""), .text("a\u{0}b"), .text("é😀"), .blob([]), .blob([0, 255]),
        ]

        let back = try await database.write { transaction in
            try values.map { value in
                try transaction.first("SELECT ?, typeof(?1)", value) { row -> SQLValue in
                    switch row.text(1) {
                    case "null": .null
                    case "integer": .integer(row.integer(0))
                    case "real": .real(row.double(0))
                    case "text": .text(row.text(0))
                    default: .blob(row.bytes(0))
                    }
                }
            }
        }

        #expect(back == values)
    }

    @Test func aStatementMayBeUsedWithinItself() async throws {
        let database = try await Database.inMemory()
        try await SettingsStore(database).set(["a": 1, "b": 2])

        let pairs = try await database.read { transaction in
            try transaction.rows("SELECT key FROM settings ORDER BY key") { outer in
                try transaction.rows("SELECT key FROM settings ORDER BY key") { outer.text(0) + $0.text(0) }
            }
        }

        #expect(pairs == [["aa", "ab"], ["ba", "bb"]])
    }

    /// The reader runs while a write transaction is open: the write's body itself waits for the reader to finish.
    @Test func readersDoNotWaitForAWriter() async throws {
        let folder = try TemporaryFolder()
        let database = try await Database.open(folder: folder.path)
        try await SettingsStore(database).set("a", to: 1)
        let (started, startedFeed) = AsyncStream<Void>.makeStream()
        let read = Mutex(false)

        async let write: Void = database.write { transaction in
            try transaction.run("DELETE FROM settings")
            startedFeed.yield()
            let end = Platform.monotonicNanoseconds + 20_000_000_000
            while !read.withLock({ $0 }), Platform.monotonicNanoseconds < end { usleep(200) }
        }
        for await _ in started { break }
        let seen = try await SettingsStore(database).value("a")
        read.withLock { $0 = true }
        try await write

        #expect(seen == 1, "the state before the write")
        #expect(try await SettingsStore(database).value("a") == nil)
    }

    @Test func cancellingATaskStopsItsRead() async throws {
        let folder = try TemporaryFolder()
        let database = try await Database.open(folder: folder.path)
        let (started, feed) = AsyncStream<Void>.makeStream()

        let endless = Task {
            try await database.read { transaction in
                feed.yield()
                return try transaction.first(
                    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
                ) { $0.integer(0) }
            }
        }
        for await _ in started { break }
        endless.cancel()

        await #expect(throws: StorageError.interrupted) { try await endless.value }
        #expect(try await database.read { try $0.first("SELECT 1") { $0.int(0) } } == 1)
    }

    @Test func interruptingUndoesTheWriteThatRuns() async throws {
        let folder = try TemporaryFolder()
        let database = try await Database.open(folder: folder.path)
        let (started, feed) = AsyncStream<Void>.makeStream()

        let endless = Task {
            try await database.write { transaction in
                try transaction.run("INSERT INTO settings VALUES ('a', '1', 0)")
                feed.yield()
                try transaction.run(
                    """
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
                    INSERT INTO notices (created_at, kind, message) SELECT max(i), '', '' FROM n
                    """)
            }
        }
        for await _ in started { break }
        // The body has begun, so what runs now is its write; it does not end by itself.
        database.interrupt()

        await #expect(throws: StorageError.interrupted) { _ = try await endless.value }
        #expect(try await SettingsStore(database).value("a") == nil)
    }

    @Test func aClosedDatabaseSaysSo() async throws {
        let folder = try TemporaryFolder()
        let database = try await Database.open(folder: folder.path)

        await database.close()

        await #expect(throws: StorageError.closed(path: database.path)) {
            try await database.write { try $0.run("DELETE FROM settings") }
        }
        await #expect(throws: StorageError.closed(path: database.path)) { try await SettingsStore(database).values() }
        #expect(folder.names == ["alcove.db", "alcove.lock"], "a clean end leaves no log")
    }

    @Test func settingsAreKeptByKey() async throws {
        let settings = SettingsStore(try await Database.inMemory())

        try await settings.set(["ui.theme": "dark", "ui.size": 12, "other": [1, ["a": nil]]])
        try await settings.set(["ui.size": nil, "ui.theme": "light"])

        #expect(try await settings.values(prefix: "ui.") == ["ui.theme": "light"])
        #expect(try await settings.value("other") == [1, ["a": nil]])
        #expect(try await settings.value("ui.size") == nil)
    }

    @Test func aNoticeIsPendingUntilItIsShown() async throws {
        let notices = Notices(try await Database.inMemory())
        try await notices.add(kind: "a", message: "First.", details: ["n": 1])
        try await notices.add(kind: "b", message: "Second.")

        let pending = try await notices.pending()
        try await notices.markShown(pending[0].number)

        #expect(pending.map(\.message) == ["First.", "Second."])
        #expect(pending[0].details == ["n": 1])
        #expect(try await notices.pending().map(\.kind) == ["b"])
    }
}
