/// One connection and the queue it lives on.
actor ConnectionQueue {
    private let executor: QueueExecutor
    private let path: String
    private var state = State.unopened
    /// The synchronous mode now in force; changed only between transactions.
    private var durability = Durability.powerLoss
    nonisolated let stop = StopSignal()

    private enum State {
        case unopened
        case open(SQLiteConnection)
        case closed
    }

    init(path: String, label: String) {
        self.path = path
        executor = QueueExecutor(label: label)
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Opens the connection in the way given, if it is not open yet.
    func open<Value: Sendable>(
        _ make: @Sendable (StopSignal) throws -> (SQLiteConnection, Value)
    ) throws -> Value {
        guard case .unopened = state else { preconditionFailure("a connection is opened once") }
        let (connection, value) = try make(stop)
        state = .open(connection)
        return value
    }

    /// Runs the body in a transaction that is committed when it returns and rolled back when it throws.
    func write<Value: Sendable>(
        _ durability: Durability, _ body: @Sendable (Transaction) throws -> Value
    ) throws -> Value {
        // Not stopped by cancellation: what a stopped turn has said must still be written.
        try perform(stop.ticket()) { connection in
            try use(durability, on: connection)
            return try connection.transaction("BEGIN IMMEDIATE") { try body(Transaction(connection: connection)) }
        }
    }

    /// Runs the body on one unchanging state of the database. The task's cancellation stops it.
    nonisolated func read<Value: Sendable>(_ body: @Sendable (Transaction) throws -> Value) async throws -> Value {
        let ticket = stop.ticket()
        return try await withTaskCancellationHandler {
            try await read(ticket, body)
        } onCancel: {
            stop.raise(for: ticket)
        }
    }

    private func read<Value: Sendable>(
        _ ticket: UInt64, _ body: @Sendable (Transaction) throws -> Value
    ) throws -> Value {
        if case .unopened = state { state = .open(try SQLiteConnection.reader(path: path, stop: stop)) }
        return try perform(ticket) { connection in
            if Task.isCancelled { throw StorageError.interrupted }
            return try connection.transaction("BEGIN") { try body(Transaction(connection: connection)) }
        }
    }

    /// Runs the body outside any transaction, for what SQLite only does there.
    func maintain<Value: Sendable>(_ body: @Sendable (SQLiteConnection) throws -> Value) throws -> Value {
        try perform(stop.ticket(), body)
    }

    func close() { state = .closed }

    private func perform<Value>(_ ticket: UInt64, _ body: (SQLiteConnection) throws -> Value) throws -> Value {
        guard case .open(let connection) = state else { throw StorageError.closed(path: path) }
        stop.begin(ticket)
        defer { stop.end() }
        do {
            return try body(connection)
        } catch let error as StorageError {
            SuspectMark(database: path).note(error)
            throw error
        }
    }

    private func use(_ durability: Durability, on connection: SQLiteConnection) throws(StorageError) {
        if durability == self.durability { return }
        try connection.execute("PRAGMA synchronous=\(durability.pragma)")
        self.durability = durability
    }
}

/// What an acknowledged write survives.
package enum Durability: Sendable {
    /// The power going off: the disk has it before the call returns.
    case powerLoss
    /// This process being killed, but not the power going off within the next seconds. Some twenty times quicker.
    case processKill

    fileprivate var pragma: String { self == .powerLoss ? "FULL" : "NORMAL" }
}

extension SQLiteConnection {
    func transaction<Value>(_ begin: String, _ body: () throws -> Value) throws -> Value {
        try execute(begin)
        do {
            let value = try body()
            try execute("COMMIT")
            return value
        } catch {
            // SQLite has already rolled back after some failures (a full disk is one), and then a ROLLBACK is refused.
            if isInTransaction { try? execute("ROLLBACK") }
            throw error
        }
    }
}
