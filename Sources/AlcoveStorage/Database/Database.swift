internal import AlcoveCore
internal import Synchronization

/// The one SQLite database of a root folder: a writer, readers that never wait for it, and the folder's lock.
///
/// Every body runs in a transaction on a queue of the database's own, never on the shared pool. What a `write` changed is
/// on the disk when it returns, all of it, or none of it when it throws.
package final class Database: Sendable {
    /// The database file.
    package let path: String
    /// What was found when it was opened.
    package let opening: Opening

    private let lock: Mutex<InstanceLock?>
    private let writer: ConnectionQueue
    private let readers: [ConnectionQueue]
    private let turn = RoundRobin()

    static let memoryPath = ":memory:"

    private init(
        path: String, opening: Opening, lock: InstanceLock?, writer: ConnectionQueue, readers: [ConnectionQueue]
    ) {
        self.path = path
        self.opening = opening
        self.lock = Mutex(lock)
        self.writer = writer
        self.readers = readers
    }

    /// Opens the database `alcove.db` in a folder, or begins one; the folder is made if need be.
    ///
    /// - Throws: `StorageError` when another Alcove has the folder, when it cannot be written, or when the database is of
    ///   a newer layout or another program's. Damage is not thrown: see `Opening.keptAside`.
    package static func open(folder: String, now: Timestamp = .now) async throws -> Database {
        try StorageFiles.makeFolder(folder)
        let lock = try InstanceLock(folder: folder)
        let files = StorageFiles(folder: folder)
        let writer = ConnectionQueue(path: files.database, label: "alcove.storage.writer")
        var opening = try await writer.open { stop in
            try DatabaseOpener(files: files, now: now, stop: stop).open()
        }
        let found = opening
        opening.interruptedTurns = try await writer.write(.powerLoss) { try $0.recordOpening(found, at: now) }
        // Two, so that a long search does not hold up the list of chats.
        let readers = (1...2).map { ConnectionQueue(path: files.database, label: "alcove.storage.reader-\($0)") }
        return Database(path: files.database, opening: opening, lock: lock, writer: writer, readers: readers)
    }

    /// A database in memory that goes when it is let go; for tests and for chats that leave no trace.
    package static func inMemory() async throws -> Database {
        let writer = ConnectionQueue(path: memoryPath, label: "alcove.storage.memory")
        let opening = try await writer.open { stop in
            let connection = try SQLiteConnection(path: memoryPath, mode: .writer, stop: stop)
            try connection.setUpWriter(fresh: true)
            try connection.migrate(from: 0)
            return (connection, Opening())
        }
        return Database(path: memoryPath, opening: opening, lock: nil, writer: writer, readers: [])
    }

    /// Changes the database. Not stopped by the task's cancellation.
    @discardableResult
    package func write<Value: Sendable>(
        _ durability: Durability = .powerLoss, _ body: @Sendable (Transaction) throws -> Value
    ) async throws -> Value {
        try await writer.write(durability, body)
    }

    /// Reads one unchanging state of the database. Cancelling the task stops it: it then throws `.interrupted`.
    package func read<Value: Sendable>(_ body: @Sendable (Transaction) throws -> Value) async throws -> Value {
        if readers.isEmpty { return try await writer.read(body) }
        return try await readers[turn.next(below: readers.count)].read(body)
    }

    /// Stops what runs now, writes included, from any thread; it throws `.interrupted`, and a write is undone.
    package func interrupt() {
        writer.stop.raise()
        for reader in readers { reader.stop.raise() }
    }

    /// Reads the whole file for damage, beside the work: about a second for 300 MB.
    ///
    /// - Throws: `StorageError.corrupt`; the file is then marked, and the next start keeps it aside.
    package func verify() async throws {
        try await read { try $0.connection.quickCheck() }
    }

    /// Gives deleted space back to the disk and empties the log.
    package func compact() async throws {
        try await writer.maintain { connection in
            let transaction = Transaction(connection: connection)
            try transaction.run("PRAGMA incremental_vacuum")
            try transaction.run("PRAGMA wal_checkpoint(TRUNCATE)")
        }
    }

    /// Ends cleanly: waits for what runs, writes the log back and removes it, then lets go of the folder. Later calls throw `.closed`.
    package func close() async {
        for reader in readers { await reader.close() }
        await writer.close()
        lock.withLock { $0 = nil }
    }
}

extension Transaction {
    /// Does the bookkeeping of a start; gives the number of turns it found running.
    fileprivate func recordOpening(_ opening: Opening, at moment: Timestamp) throws -> Int {
        if let kept = opening.keptAside {
            let details: JSONValue = ["path": .string(kept.path), "code": .string(kept.reason.code)]
            try addNotice(kind: "storage_kept_aside", message: kept.message, details: details, at: moment)
        }
        return try interruptRunningTurns(at: moment)
    }
}
