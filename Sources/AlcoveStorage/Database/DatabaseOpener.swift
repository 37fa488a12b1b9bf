/// Opens the store's database file: sets it up, checks it, brings it to our layout, or keeps it aside.
struct DatabaseOpener {
    let files: StorageFiles
    let now: Timestamp
    let stop: StopSignal

    /// A healthy database ready for use, and what was found on the way.
    ///
    /// - Throws: when the file must be left alone: no permission, no space, a newer layout, another program's file. A
    ///   damaged file is not thrown but renamed, and a fresh one begun.
    func open() throws(StorageError) -> (SQLiteConnection, Opening) {
        do throws(StorageError) {
            return try openExisting()
        } catch {
            switch error {
            case .corrupt, .notADatabase: break
            default: throw error
            }
            let kept = try files.keepAside(at: now)
            var (connection, opening) = try openExisting()
            opening.keptAside = KeptAside(path: kept, reason: error)
            SuspectMark(database: files.database).clear()
            return (connection, opening)
        }
    }

    private func openExisting() throws(StorageError) -> (SQLiteConnection, Opening) {
        let suspect = SuspectMark(database: files.database)
        // A clean end removes the log, so a log with something in it tells of an end that was not.
        let logBytes = StorageFiles.size(files.log) ?? 0
        var opening = Opening(wasUnclean: logBytes > 0)
        try files.makeDatabase()
        let connection = try SQLiteConnection(path: files.database, mode: .writer, stop: stop)
        // Before anything is set, as even that would write to a file that is not ours to change.
        let layout = try connection.identify()
        try connection.setUpWriter(fresh: layout == nil)
        let bytes = (StorageFiles.size(files.database) ?? 0) + logBytes
        if suspect.isSet || (opening.wasUnclean && bytes <= DatabaseOpener.checkedAtOnce) {
            try connection.quickCheck()
            suspect.clear()
        } else {
            opening.needsVerification = opening.wasUnclean
        }
        opening.previousLayout = layout ?? 0
        try connection.migrate(from: layout ?? 0)
        return (connection, opening)
    }

    /// Largest database that is checked before the first answer after an unclean end; 8 MiB takes about 20 ms. A larger
    /// one is checked by `Database.verify()`, beside the work.
    private static let checkedAtOnce: Int64 = 8 << 20
}

/// What opening the store found.
package struct Opening: Sendable {
    /// The program did not end properly last time.
    package var wasUnclean = false
    /// The host should call `Database.verify()` when it has time.
    package var needsVerification = false
    /// Layout the database had; 0 for a fresh one.
    package var previousLayout = 0
    /// The damaged database that was put out of the way, if there was one.
    package var keptAside: KeptAside?
    /// Turns that were running when the program last ended, now marked interrupted.
    package var interruptedTurns = 0
}

/// A damaged database that was renamed.
package struct KeptAside: Sendable {
    package let path: String
    package let reason: StorageError

    /// For the person.
    package var message: String {
        "The saved chats could not be read, so they were kept aside as \(path) and a fresh store was begun."
    }
}

extension SQLiteConnection {
    static func reader(path: String, stop: StopSignal) throws(StorageError) -> SQLiteConnection {
        let connection = try SQLiteConnection(path: path, mode: .reader, stop: stop)
        try connection.execute("PRAGMA trusted_schema=OFF; PRAGMA temp_store=MEMORY;")
        return connection
    }

    func setUpWriter(fresh: Bool) throws(StorageError) {
        // Only takes before the first table, yet would write to the file every time.
        if fresh { try execute("PRAGMA auto_vacuum=INCREMENTAL") }
        // cell_size_check finds damage where it is read.
        // temp_store: nothing of theirs in /tmp.
        // fullfsync: on Apple systems fsync leaves the data in the disk's own cache; elsewhere it changes nothing.
        // trusted_schema stays on, as SQLite 3.40 refuses FTS5 in triggers without it; readers have it off.
        try execute(
            """
            PRAGMA foreign_keys=ON;
            PRAGMA cell_size_check=ON;
            PRAGMA secure_delete=FAST;
            PRAGMA temp_store=MEMORY;
            PRAGMA synchronous=FULL;
            PRAGMA fullfsync=ON;
            PRAGMA journal_size_limit=16777216;
            """)
        if path == Database.memoryPath { return }
        let mode = try pragmaText("PRAGMA journal_mode=WAL")
        if mode != "wal" { throw .inputOutput(path: path, cause: "this disk does not allow a write-ahead log") }
    }

    /// - Throws: `StorageError.corrupt` with the first fault found.
    func quickCheck() throws(StorageError) {
        let answer = try pragmaText("PRAGMA quick_check(1)")
        if answer != "ok" { throw .corrupt(path: path, cause: answer) }
    }

    /// The layout of a database of ours; nil for an empty file.
    ///
    /// - Throws: `StorageError.foreign` and `.newer` for what we must leave alone.
    func identify() throws(StorageError) -> Int? {
        let found = Int(try pragmaInteger("PRAGMA user_version"))
        let application = try pragmaInteger("PRAGMA application_id")
        let tables = try pragmaInteger("SELECT count(*) FROM sqlite_schema")
        if application == 0, found == 0, tables == 0 { return nil }
        if application != Schema.applicationID { throw .foreign(path: path) }
        if found > Schema.version { throw .newer(path: path, found: found, known: Schema.version) }
        return found
    }

    /// Takes the steps from a layout to ours, each in a transaction of its own.
    func migrate(from layout: Int) throws(StorageError) {
        for version in layout..<Schema.version {
            try execute("BEGIN IMMEDIATE")
            do throws(StorageError) {
                try execute(Schema.steps[version])
                try execute("PRAGMA user_version=\(version + 1)")
                try execute("COMMIT")
            } catch {
                if isInTransaction { try? execute("ROLLBACK") }
                throw error
            }
        }
    }

    private func pragmaText(_ sql: String) throws(StorageError) -> String {
        let statement = try statement(sql)
        defer { statement.reset() }
        return try statement.step() ? statement.text(0) : ""
    }

    private func pragmaInteger(_ sql: String) throws(StorageError) -> Int64 {
        let statement = try statement(sql)
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : 0
    }
}
