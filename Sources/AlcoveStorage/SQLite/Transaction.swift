/// What the body of a read or a write speaks to. Not Sendable: it is good for that body only.
package struct Transaction {
    let connection: SQLiteConnection

    /// Runs a statement that gives no rows, and tells how many it changed.
    @discardableResult
    package func run(_ sql: String, _ values: (any SQLBindable)?...) throws(StorageError) -> Int {
        try run(sql, values)
    }

    @discardableResult
    package func run(_ sql: String, _ values: [(any SQLBindable)?]) throws(StorageError) -> Int {
        let statement = try connection.statement(sql)
        defer { statement.reset() }
        try statement.bind(values)
        while try statement.step() {}
        return connection.changes
    }

    /// All rows, each made into a value.
    package func rows<Value>(
        _ sql: String, _ values: (any SQLBindable)?..., as make: (Row) throws -> Value
    ) throws -> [Value] {
        try rows(sql, values, as: make)
    }

    package func rows<Value>(
        _ sql: String, _ values: [(any SQLBindable)?], as make: (Row) throws -> Value
    ) throws -> [Value] {
        let statement = try connection.statement(sql)
        defer { statement.reset() }
        try statement.bind(values)
        var found: [Value] = []
        while try statement.step() { found.append(try make(Row(statement: statement))) }
        return found
    }

    /// The first row, or nil when there is none.
    package func first<Value>(
        _ sql: String, _ values: (any SQLBindable)?..., as make: (Row) throws -> Value
    ) throws -> Value? {
        try first(sql, values, as: make)
    }

    package func first<Value>(
        _ sql: String, _ values: [(any SQLBindable)?], as make: (Row) throws -> Value
    ) throws -> Value? {
        let statement = try connection.statement(sql)
        defer { statement.reset() }
        try statement.bind(values)
        return try statement.step() ? try make(Row(statement: statement)) : nil
    }

    /// Overwrites with zeros all that the body deletes: what a person deletes is not only forgotten.
    ///
    /// Not the rule, since merging the index deletes much, and zeroing that doubles the time of a write.
    package func erasing<Value>(_ body: () throws -> Value) throws -> Value {
        try run("PRAGMA secure_delete=ON")
        defer { _ = try? run("PRAGMA secure_delete=FAST") }
        return try body()
    }

    /// Row number of the last row inserted.
    package var lastInsertedRow: Int64 { connection.lastInsertedRow }
}

/// One row of an answer, good inside the closure it is given to. Columns count from 0.
package struct Row {
    let statement: SQLiteStatement

    package func integer(_ column: Int) -> Int64 { statement.integer(Int32(column)) }
    package func int(_ column: Int) -> Int { Int(integer(column)) }
    package func bool(_ column: Int) -> Bool { integer(column) != 0 }
    package func double(_ column: Int) -> Double { statement.real(Int32(column)) }
    package func text(_ column: Int) -> String { statement.text(Int32(column)) }
    package func bytes(_ column: Int) -> [UInt8] { statement.blob(Int32(column)) }

    package func isNull(_ column: Int) -> Bool { statement.isNull(Int32(column)) }
    package func optionalInteger(_ column: Int) -> Int64? { isNull(column) ? nil : integer(column) }
    package func optionalBool(_ column: Int) -> Bool? { isNull(column) ? nil : bool(column) }
    package func optionalText(_ column: Int) -> String? { isNull(column) ? nil : text(column) }
}
