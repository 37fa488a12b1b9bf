internal import AlcoveCore

extension Database {
    /// Which of these names of 32 hexadecimal digits anything in the store still refers to.
    ///
    /// Looks everywhere a reference may be, in tables to come too (drafts, envelopes): what is found in vain is kept a while
    /// longer, what is missed is lost. Not looked at are the words of messages and what turns have logged; those tell of
    /// files and do not hold them.
    package func mentions(of names: Set<String>) async throws -> Set<String> {
        try await read { transaction in
            let words = ["messages.content", "messages.thinking", "chats.title", "chats.name"]
            var found: Set<String> = []
            let tables = try transaction.rows(
                """
                SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'
                    AND name NOT LIKE 'message_index%' AND name NOT IN ('turns', 'turn_events', 'receipts', 'notices')
                """
            ) { $0.text(0) }
            for table in tables {
                let columns = try transaction.rows(
                    "SELECT name FROM pragma_table_info(?) WHERE type LIKE '%TEXT%'", table
                ) { $0.text(0) }
                for column in columns where !words.contains("\(table).\(column)") {
                    let sql = "SELECT \(quoted(column)) FROM \(quoted(table)) WHERE length(\(quoted(column))) >= 32"
                    _ = try transaction.rows(sql) { row in
                        if let text = row.optionalText(0) { Database.collect(names, in: text, to: &found) }
                    }
                }
            }
            return found
        }
    }

    /// Adds the names that a text holds.
    package static func collect(_ names: Set<String>, in text: String, to found: inout Set<String>) {
        var run: [UInt8] = []
        for byte in Array(text.utf8) + [0] {
            if (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) {
                run.append(byte)
                continue
            }
            // A longer run may hold a name somewhere: all places are tried, since nothing may be missed.
            if run.count >= 32 {
                for start in 0...run.count - 32 {
                    let name = String(decoding: run[start..<start + 32], as: UTF8.self)
                    if names.contains(name) { found.insert(name) }
                }
            }
            run.removeAll(keepingCapacity: true)
        }
    }
}

/// An identifier of SQL.
private func quoted(_ name: String) -> String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
}
