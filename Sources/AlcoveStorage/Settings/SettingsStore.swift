package import AlcoveCore

/// JSON values by key: settings, drafts of unsent text, what a page wants remembered.
package struct SettingsStore: Sendable {
    private let database: Database
    private let now: @Sendable () -> Timestamp

    package init(_ database: Database, now: @escaping @Sendable () -> Timestamp = { .now }) {
        self.database = database
        self.now = now
    }

    /// Nil when there is none, and when what is stored is not JSON: then the default is the better answer.
    package func value(_ key: String) async throws -> JSONValue? {
        try await database.read { transaction in
            try transaction.first("SELECT value FROM settings WHERE key = ?", key) { $0.text(0) }
                .flatMap { try? JSONValue(parsing: $0) }
        }
    }

    /// All whose key begins so, by key.
    package func values(prefix: String = "") async throws -> JSONObject {
        try await database.read { transaction in
            // The upper bound is the prefix followed by the last character there is.
            let rows = try transaction.rows(
                "SELECT key, value FROM settings WHERE key >= ? AND key < ? ORDER BY key", prefix, prefix + "\u{10FFFF}"
            ) { ($0.text(0), $0.text(1)) }
            var object = JSONObject()
            for (key, text) in rows { object[key] = try? JSONValue(parsing: text) }
            return object
        }
    }

    /// Sets several at once, all or none; null removes one.
    package func set(_ changes: JSONObject) async throws {
        let moment = now()
        try await database.write { transaction in
            for (key, value) in changes.members {
                if value.isNull {
                    try transaction.run("DELETE FROM settings WHERE key = ?", key)
                } else {
                    try transaction.run(
                        """
                        INSERT INTO settings (key, value, updated_at) VALUES (?, ?, ?)
                        ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at
                        """, key, value.text(), moment.milliseconds)
                }
            }
        }
    }

    package func set(_ key: String, to value: JSONValue) async throws { try await set([key: value]) }
}
