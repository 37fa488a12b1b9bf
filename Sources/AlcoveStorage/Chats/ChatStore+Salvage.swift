internal import AlcoveCore

/// What could be saved out of a damaged database.
package struct Salvage: Sendable, Hashable {
    package var chats = 0
    package var messages = 0
    /// False when some of it could not be read.
    package var isWhole = true
}

extension ChatStore {
    /// Copies the chats that can still be read out of a database that was kept aside. The file is only read.
    ///
    /// Doing it twice is doing it once, and a chat that has changed here since stays as it is.
    ///
    /// - Throws: when this store cannot be written, or there is no such file. One that is no database has no chats.
    package func salvage(from path: String) async throws -> Salvage {
        let damaged = ConnectionQueue(path: path, label: "alcove.storage.salvage")
        try await damaged.open { stop in (try SQLiteConnection.reader(path: path, stop: stop), ()) }
        var result = Salvage()
        // Without a transaction: after damage was met, even the end of one that only read is refused.
        let ids = try await damaged.maintain { connection in
            Transaction(connection: connection).readable("SELECT id FROM chats", by: "number") { ChatID($0.text(0)) }
        }
        result.isWhole = ids.isWhole
        for id in ids.values.compactMap(\.self) {
            let (transcript, isWhole) = try await damaged.maintain { connection in
                Transaction(connection: connection).readableTranscript(id)
            }
            result.isWhole = result.isWhole && isWhole
            guard let transcript else { continue }
            _ = try await importChat(ChatDocument(json: transcript.json))
            result.chats += 1
            result.messages += transcript.messages.count
        }
        await damaged.close()
        return result
    }
}

extension Transaction {
    fileprivate func readableTranscript(_ id: ChatID) -> (ChatTranscript?, isWhole: Bool) {
        guard let (number, chat) = try? chat(id) else { return (nil, false) }
        let messages = readable(
            "SELECT id, created_at, role, content, thinking, extras FROM messages WHERE chat = \(number)",
            by: "position", as: StoredMessage.init(row:))
        return (ChatTranscript(chat: chat, messages: messages.values), messages.isWhole)
    }

    /// Rows in order, from both ends up to the damage.
    fileprivate func readable<Value>(
        _ query: String, by column: String, as make: (Row) -> Value
    ) -> (values: [Value], isWhole: Bool) {
        let (start, isWhole) = readableStart("\(query) ORDER BY \(column)", as: make)
        if isWhole { return (start, true) }
        let (end, _) = readableStart("\(query) ORDER BY \(column) DESC", as: make)
        return (start + end.reversed(), false)
    }

    private func readableStart<Value>(_ query: String, as make: (Row) -> Value) -> (values: [Value], isWhole: Bool) {
        var values: [Value] = []
        do {
            _ = try rows(query) { values.append(make($0)) }
            return (values, true)
        } catch {
            return (values, false)
        }
    }
}
