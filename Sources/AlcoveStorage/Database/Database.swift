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
    /// Room for the time when the disk is full; nil where none is held.
    package let reserve: DiskReserve?

    private let lock: Mutex<InstanceLock?>
    private let writer: ConnectionQueue
    private let readers: [ConnectionQueue]
    private let turn = RoundRobin()

    static let memoryPath = ":memory:"

    private init(
        path: String, opening: Opening, reserve: DiskReserve?, lock: InstanceLock?, writer: ConnectionQueue,
        readers: [ConnectionQueue]
    ) {
        self.path = path
        self.opening = opening
        self.reserve = reserve
        self.lock = Mutex(lock)
        self.writer = writer
        self.readers = readers
    }

    /// Opens the database `alcove.db` in a folder, or begins one; the folder is made if need be.
    ///
    /// - Parameter reserve: Is given up when there is no room to open it otherwise.
    /// - Throws: `StorageError` when another Alcove has the folder, when it cannot be written, or when the database is of
    ///   a newer layout or another program's. Damage is not thrown: see `Opening.keptAside`.
    package static func open(
        folder: String, now: Timestamp = .now, reserve: DiskReserve? = nil
    ) async throws -> Database {
        try StorageFiles.makeFolder(folder)
        let lock = try InstanceLock(folder: folder)
        let files = StorageFiles(folder: folder)
        let writer = ConnectionQueue(path: files.database, label: "alcove.storage.writer")
        let opening = try await givingUp(reserve) {
            var opening = try await writer.open { stop in
                try DatabaseOpener(files: files, now: now, stop: stop).open()
            }
            let found = opening
            opening.interruptedTurns = try await givingUp(reserve) {
                try await writer.write(.powerLoss) { try $0.recordOpening(found, at: now) }
            }
            return opening
        }
        if reserve?.isGivenUp == true {
            _ = try? await writer.maintain { try Transaction(connection: $0).run("PRAGMA wal_checkpoint(TRUNCATE)") }
        }
        // Two, so that a long search does not hold up the list of chats.
        let readers = (1...2).map { ConnectionQueue(path: files.database, label: "alcove.storage.reader-\($0)") }
        return Database(
            path: files.database, opening: opening, reserve: reserve, lock: lock, writer: writer, readers: readers)
    }

    /// Tries once more without the reserve when there is no room.
    private static func givingUp<Value: Sendable>(
        _ reserve: DiskReserve?, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch let error as StorageError {
            guard case .diskFull = error, reserve?.giveUp() == true else { throw error }
            return try await body()
        }
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
        return Database(
            path: memoryPath, opening: opening, reserve: nil, lock: nil, writer: writer, readers: [])
    }

    /// Changes the database. Not stopped by the task's cancellation.
    ///
    /// On a full disk the body may run twice, the second time after the log was emptied or the reserve given up.
    @discardableResult
    package func write<Value: Sendable>(
        _ durability: Durability = .powerLoss, _ body: @Sendable (Transaction) throws -> Value
    ) async throws -> Value {
        if let reserve, reserve.isGivenUp, !DiskReserve.isSpendable, !reserve.take() {
            throw StorageError.diskFull(path: path)
        }
        do {
            return try await writer.write(durability, body)
        } catch let error as StorageError {
            guard case .diskFull = error, await makeRoom() else { throw error }
        }
        do {
            return try await writer.write(durability, body)
        } catch {
            // What a transaction that failed had put into the log would keep the room that others need.
            if case StorageError.diskFull = error { try? await emptyLog() }
            throw error
        }
    }

    /// Whether something could be done about a full disk: the log written back and emptied, or the reserve given up.
    private func makeRoom() async -> Bool {
        let log = path + "-wal"
        let before = StorageFiles.size(log) ?? 0
        try? await emptyLog()
        if let after = StorageFiles.size(log), after < before { return true }
        guard DiskReserve.isSpendable, reserve?.giveUp() == true else { return false }
        // At once: what the log holds needs its place in the database, which later there may be no room for.
        try? await emptyLog()
        return true
    }

    private func emptyLog() async throws {
        _ = try await writer.maintain { try Transaction(connection: $0).run("PRAGMA wal_checkpoint(TRUNCATE)") }
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
    ///
    /// Piece by piece, so that a full disk needs room for one piece only.
    package func compact() async throws {
        var before = Int.max
        while true {
            let rest = try await writer.maintain { connection in
                let transaction = Transaction(connection: connection)
                // A piece is 2 MiB: what is moved stands in the log until it is written back.
                try transaction.run("PRAGMA incremental_vacuum(512)")
                try transaction.run("PRAGMA wal_checkpoint(TRUNCATE)")
                return try transaction.first("PRAGMA freelist_count") { $0.int(0) } ?? 0
            }
            if rest == 0 || rest >= before { return }
            before = rest
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
