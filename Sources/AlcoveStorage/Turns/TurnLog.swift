package import AlcoveCore

/// Turns and everything that happened in them, in the order it happened.
package struct TurnLog: Sendable {
    package let database: Database
    let now: @Sendable () -> Timestamp

    package init(_ database: Database, now: @escaping @Sendable () -> Timestamp = { .now }) {
        self.database = database
        self.now = now
    }

    /// Writes down that a turn runs, before anything of it is done.
    ///
    /// - Throws: `StorageError.chatMissing` when the chat is not there.
    package func begin(_ id: TurnID, chat: ChatID?, profile: String) async throws {
        let moment = now()
        try await database.write { transaction in
            var number: Int64?
            if let chat {
                number = try transaction.first("SELECT number FROM chats WHERE id = ?", chat.text) { $0.integer(0) }
                if number == nil { throw StorageError.chatMissing(chat) }
            }
            try transaction.run(
                "INSERT INTO turns (id, chat, profile, state, started_at) VALUES (?, ?, ?, ?, ?)", id.text, number,
                profile, TurnState.running.rawValue, moment.milliseconds)
        }
    }

    /// Adds events after those there are. Many at once cost little more than one.
    ///
    /// - Throws: `StorageError.eventsOutOfOrder` unless they go on where the log ends, without a gap; `.turnMissing`.
    package func append(
        _ events: [LoggedEvent], to id: TurnID, durability: Durability = .processKill
    ) async throws {
        try await database.write(durability) { try $0.append(events, to: id) }
    }

    /// Events of a turn from a number on, in order. Numbers below 0 mean the beginning.
    package func events(of id: TurnID, from seq: Int64 = 0, limit: Int = .max) async throws -> [LoggedEvent] {
        try await database.read { transaction in
            try transaction.rows(
                """
                SELECT seq, at, kind, payload FROM turn_events
                WHERE turn = (SELECT number FROM turns WHERE id = ?) AND seq >= ? ORDER BY seq LIMIT ?
                """, id.text, seq, limit
            ) { row in
                LoggedEvent(
                    seq: row.integer(0), at: Timestamp(milliseconds: row.integer(1)), kind: row.text(2),
                    payload: row.text(3))
            }
        }
    }

    /// What happened in a turn without the words that were written, the last `limit` of it, in order.
    package func outline(of id: TurnID, limit: Int) async throws -> [LoggedEvent] {
        try await database.read { transaction in
            try transaction.rows(
                """
                SELECT seq, at, kind, payload FROM turn_events
                WHERE turn = (SELECT number FROM turns WHERE id = ?) AND kind NOT IN
                    ('text', 'reasoning', 'prompt_progress', 'call_writing', 'tool_output', 'replaced')
                ORDER BY seq DESC LIMIT ?
                """, id.text, limit
            ) { row in
                LoggedEvent(
                    seq: row.integer(0), at: Timestamp(milliseconds: row.integer(1)), kind: row.text(2),
                    payload: row.text(3))
            }.reversed()
        }
    }

    /// The turn of that id, or the only one whose id begins so.
    package func turn(named name: String) async throws -> TurnRecord? {
        guard name.utf8.count >= 6, name.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        let found = try await turns("WHERE turns.id >= ? AND turns.id < ? LIMIT 2", [name, name + "g"])
        return found.count == 1 ? found[0] : nil
    }

    /// Notes how far a turn is, in the place of the last note.
    package func note(_ progress: JSONValue, of id: TurnID) async throws {
        try await database.write { try $0.note(progress, of: id) }
    }

    /// Writes down how a turn ended. One that has ended already stays as it is.
    ///
    /// All its events are then on the disk too.
    package func finish(_ id: TurnID, _ state: TurnState, reason: String?) async throws {
        let moment = now()
        try await database.write { transaction in
            try transaction.run(
                "UPDATE turns SET state = ?, finished_at = ?, reason = ? WHERE id = ? AND state = 'running'",
                state.rawValue, moment.milliseconds, reason, id.text)
        }
    }

    /// Nil when there is none.
    package func turn(_ id: TurnID) async throws -> TurnRecord? {
        try await turns("WHERE turns.id = ?", [id.text]).first
    }

    /// Turns of a chat, the last first.
    package func turns(of chat: ChatID, limit: Int = .max) async throws -> [TurnRecord] {
        try await turns("WHERE chats.id = ? ORDER BY turns.number DESC LIMIT ?", [chat.text, limit])
    }

    /// Turns of all chats, the last first.
    package func recentTurns(limit: Int) async throws -> [TurnRecord] {
        try await turns("ORDER BY turns.number DESC LIMIT ?", [limit])
    }

    /// Drops the events of turns that ended before a moment. The turns and their receipts stay.
    ///
    /// - Returns: how many events went.
    package func forgetEvents(ofTurnsFinishedBefore moment: Timestamp) async throws -> Int {
        try await database.write { transaction in
            try transaction.run(
                "DELETE FROM turn_events WHERE turn IN (SELECT number FROM turns WHERE finished_at < ?)",
                moment.milliseconds)
        }
    }

    func turns(_ condition: String, _ values: [(any SQLBindable)?]) async throws -> [TurnRecord] {
        try await database.read { transaction in
            try transaction.rows(
                """
                SELECT turns.id, chats.id, profile, state, started_at, finished_at, reason, progress
                FROM turns LEFT JOIN chats ON chats.number = turns.chat \(condition)
                """, values
            ) { row in
                TurnRecord(
                    id: TurnID(unchecked: row.text(0)), chat: row.optionalText(1).map { ChatID(unchecked: $0) },
                    profile: row.text(2), state: TurnState(rawValue: row.text(3)) ?? .failed,
                    startedAt: Timestamp(milliseconds: row.integer(4)),
                    finishedAt: row.optionalInteger(5).map { Timestamp(milliseconds: $0) },
                    reason: row.optionalText(6),
                    progress: row.optionalText(7).flatMap { try? JSONValue(parsing: $0) })
            }
        }
    }
}

extension Transaction {
    /// Adds events together with the change they tell of.
    package func append(_ events: [LoggedEvent], to id: TurnID) throws {
        guard let number = try first("SELECT number FROM turns WHERE id = ?", id.text, as: { $0.integer(0) }) else {
            throw StorageError.turnMissing(id)
        }
        var expected =
            try first("SELECT coalesce(max(seq), -1) + 1 FROM turn_events WHERE turn = ?", number) { $0.integer(0) }
            ?? 0
        for event in events {
            if event.seq != expected {
                throw StorageError.eventsOutOfOrder(id, expected: expected, found: event.seq)
            }
            try run(
                "INSERT INTO turn_events (turn, seq, at, kind, payload) VALUES (?, ?, ?, ?, ?)", number, event.seq,
                event.at.milliseconds, event.kind, event.payload)
            expected += 1
        }
    }

    /// Notes how far a turn is together with the change that brought it there.
    package func note(_ progress: JSONValue, of id: TurnID) throws {
        try run("UPDATE turns SET progress = ? WHERE id = ?", progress.text(), id.text)
    }

    /// Marks turns that nobody runs any more; gives their number.
    func interruptRunningTurns(at moment: Timestamp) throws -> Int {
        try run(
            "UPDATE turns SET state = 'interrupted', finished_at = ?, reason = ? WHERE state = 'running'",
            moment.milliseconds, "The program ended while this turn was running.")
    }
}
