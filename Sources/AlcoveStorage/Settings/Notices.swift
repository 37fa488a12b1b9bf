package import AlcoveCore

/// Something to tell the person once.
package struct Notice: Sendable, Hashable {
    package let number: Int64
    package let createdAt: Timestamp
    /// Stable, snake_case, for programs.
    package let kind: String
    package let message: String
    package let details: JSONValue?
}

/// Things to tell the person once, kept until some surface has shown them.
package struct Notices: Sendable {
    private let database: Database
    private let now: @Sendable () -> Timestamp

    package init(_ database: Database, now: @escaping @Sendable () -> Timestamp = { .now }) {
        self.database = database
        self.now = now
    }

    package func add(kind: String, message: String, details: JSONValue? = nil) async throws {
        let moment = now()
        try await database.write { try $0.addNotice(kind: kind, message: message, details: details, at: moment) }
    }

    /// Those not shown yet, oldest first.
    package func pending() async throws -> [Notice] {
        try await database.read { transaction in
            try transaction.rows(
                "SELECT number, created_at, kind, message, details FROM notices WHERE shown_at IS NULL ORDER BY number"
            ) { row in
                Notice(
                    number: row.integer(0), createdAt: Timestamp(milliseconds: row.integer(1)), kind: row.text(2),
                    message: row.text(3), details: row.optionalText(4).flatMap { try? JSONValue(parsing: $0) })
            }
        }
    }

    package func markShown(_ number: Int64) async throws {
        let moment = now()
        try await database.write { transaction in
            try transaction.run(
                "UPDATE notices SET shown_at = ? WHERE number = ? AND shown_at IS NULL", moment.milliseconds, number)
        }
    }
}

extension Transaction {
    /// Leaves a notice together with the change it tells of.
    package func addNotice(kind: String, message: String, details: JSONValue?, at moment: Timestamp) throws {
        try run(
            "INSERT INTO notices (created_at, kind, message, details) VALUES (?, ?, ?, ?)", moment.milliseconds, kind,
            message, details?.text())
    }
}
