// The one file that talks to the C library.
internal import AlcoveCore

#if canImport(SQLite3)
internal import SQLite3
#else
internal import CSQLite
#endif

/// Owns one `sqlite3 *`. Not Sendable on purpose: it cannot leave its queue.
final class SQLiteConnection {
    enum Mode {
        /// May write; makes the file when there is none.
        case writer
        case reader
    }

    let path: String
    private let raw: OpaquePointer
    private var statements: [String: SQLiteStatement] = [:]

    /// - Parameter path: a file, or `:memory:`.
    init(path: String, mode: Mode, stop: StopSignal? = nil) throws(StorageError) {
        // No mutex: the queue that owns the connection is the mutex.
        let access = mode == .writer ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY
        var raw: OpaquePointer?
        let code = sqlite3_open_v2(path, &raw, access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard code == SQLITE_OK, let raw else {
            let error = StorageError(code: code, connection: raw, path: path)
            sqlite3_close_v2(raw)
            throw error
        }
        self.path = path
        self.raw = raw
        sqlite3_busy_timeout(raw, 5_000)
        if let stop { observe(stop) }
    }

    deinit {
        statements = [:]
        sqlite3_close_v2(raw)
    }

    /// Whether a transaction is open.
    var isInTransaction: Bool { sqlite3_get_autocommit(raw) == 0 }

    /// Rows the last statement changed.
    var changes: Int { Int(sqlite3_changes64(raw)) }

    var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(raw) }

    /// Runs a text of statements without values or rows.
    func execute(_ script: String) throws(StorageError) { try check(sqlite3_exec(raw, script, nil, nil, nil)) }

    /// A statement ready to be bound; compiled once, then taken from the cache.
    func statement(_ sql: String) throws(StorageError) -> SQLiteStatement {
        if let cached = statements[sql], !cached.isInUse { return cached }
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v3(raw, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
        guard let statement else { preconditionFailure("SQLite compiled nothing out of: \(sql)") }
        let fresh = SQLiteStatement(statement, of: self)
        // Our texts are constants, so the cache stays small; search builds a few shapes.
        if statements.count >= 128 { statements = statements.filter(\.value.isInUse) }
        statements[sql] = fresh
        return fresh
    }

    /// Every result code passes here, and the library's message is read before anything else can replace it.
    func check(_ code: Int32) throws(StorageError) {
        if code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE { return }
        throw StorageError(code: code, connection: raw, path: path)
    }

    private func observe(_ stop: StopSignal) {
        // The queue that owns this connection holds the signal at least as long.
        sqlite3_progress_handler(
            raw, 500, { Unmanaged<StopSignal>.fromOpaque($0!).takeUnretainedValue().isRaised ? 1 : 0 },
            Unmanaged.passUnretained(stop).toOpaque())
    }
}

/// Owns one `sqlite3_stmt *`; lives in its connection's cache.
final class SQLiteStatement {
    private let raw: OpaquePointer
    private unowned let connection: SQLiteConnection
    /// Between the first step and `reset`; a nested use of the same text gets a statement of its own.
    private(set) var isInUse = false

    init(_ raw: OpaquePointer, of connection: SQLiteConnection) {
        self.raw = raw
        self.connection = connection
    }

    deinit { sqlite3_finalize(raw) }

    func bind(_ values: [(any SQLBindable)?]) throws(StorageError) {
        precondition(values.count == Int(sqlite3_bind_parameter_count(raw)), "a value for each ? of the statement")
        for (index, value) in values.enumerated() { try bind(value?.sqlValue ?? .null, at: Int32(index + 1)) }
    }

    /// Moves to the next row; false at the end.
    func step() throws(StorageError) -> Bool {
        isInUse = true
        let code = sqlite3_step(raw)
        try connection.check(code)
        return code == SQLITE_ROW
    }

    /// Makes the statement ready for its next use. Its code repeats what `step` said, so it is not looked at.
    func reset() {
        sqlite3_reset(raw)
        sqlite3_clear_bindings(raw)
        isInUse = false
    }

    private func bind(_ value: SQLValue, at index: Int32) throws(StorageError) {
        // "SQLITE_TRANSIENT means that the content will likely change in the near future and that SQLite should make
        // its own private copy" (https://www.sqlite.org/c3ref/c_static.html); Swift cannot import the macro's cast.
        let copy = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        let code =
            switch value {
            case .null: sqlite3_bind_null(raw, index)
            case .integer(let value): sqlite3_bind_int64(raw, index, value)
            case .real(let value): sqlite3_bind_double(raw, index, value)
            case .text(var text):
                text.withUTF8 { utf8 in
                    // An empty buffer may have no address, and no address would bind NULL.
                    utf8.isEmpty
                        ? sqlite3_bind_text(raw, index, "", 0, copy)
                        : utf8.withMemoryRebound(to: CChar.self) {
                            sqlite3_bind_text64(
                                raw, index, $0.baseAddress, UInt64($0.count), copy, UInt8(SQLITE_UTF8))
                        }
                }
            case .blob(let bytes):
                bytes.isEmpty
                    ? sqlite3_bind_zeroblob(raw, index, 0)
                    : bytes.withUnsafeBytes {
                        sqlite3_bind_blob64(raw, index, $0.baseAddress, UInt64($0.count), copy)
                    }
            }
        try connection.check(code)
    }

    // MARK: Columns of the present row; everything is copied out.

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(raw, column) == SQLITE_NULL }
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(raw, column) }
    func real(_ column: Int32) -> Double { sqlite3_column_double(raw, column) }

    /// Bytes that are not UTF-8 are shown as U+FFFD; the row keeps what it has.
    func text(_ column: Int32) -> String {
        guard let start = sqlite3_column_text(raw, column) else { return "" }
        let count = Int(sqlite3_column_bytes(raw, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    func blob(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(raw, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(raw, column))))
    }
}

extension StorageError {
    fileprivate init(code: Int32, connection: OpaquePointer?, path: String) {
        // Read before ARC can run. SQLite 3.40 gives 0 for a failed write, and its own clean-up leaves errno as it was.
        let last = errno
        let cause = connection.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
        let reported = connection.map { sqlite3_system_errno($0) } ?? 0
        let system = reported == 0 ? last : reported
        let code = SQLiteCode(rawValue: code)
        switch (code.primary, system) {
        // A limit on file size and a quota are a full disk to the person, whatever SQLite calls them.
        case (.full, _), (.inputOutput, ENOSPC), (.inputOutput, EDQUOT), (.inputOutput, EFBIG), (.cannotOpen, ENOSPC):
            self = .diskFull(path: path)
        case (.readOnly, _), (.permission, _), (.cannotOpen, EROFS), (.cannotOpen, EACCES), (.cannotOpen, EPERM):
            self = .readOnly(path: path)
        case (.busy, _), (.locked, _): self = .locked(path: path)
        case (.interrupted, _): self = .interrupted
        case (.corrupt, _): self = .corrupt(path: path, cause: cause)
        case (.notADatabase, _): self = .notADatabase(path: path)
        case (.inputOutput, _), (.cannotOpen, _):
            self = .inputOutput(path: path, cause: system == 0 ? cause : Platform.describe(errno: system))
        default: self = .refused(path: path, code: code.rawValue, cause: cause)
        }
    }
}
