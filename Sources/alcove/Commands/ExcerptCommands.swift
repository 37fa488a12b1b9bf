internal import AlcoveCore
internal import AlcoveStorage
internal import AlcoveWorkspace

/// What handoffs copied from chats, on the terminal.
enum ExcerptCommands {
    static let list = Command(
        name: "excerpts", summary: "List the messages of chats that handoffs hold copies of.",
        options: [CommonOptions.root, CommonOptions.json],
        run: { invocation in
            let found = try await using(invocation) { try await $0.read { try RetainedExcerpt.all(in: $0) } }
            if invocation.has("--json") {
                Terminal.shown(JSONValue.array(found.map(\.json)).text(.indented))
            } else if found.isEmpty {
                Terminal.shown("No handoff holds words of a chat.")
            }
            if invocation.has("--json") { return .success }
            for one in found {
                let gone = one.hasChat ? "" : ", whose chat is gone"
                Terminal.shown(
                    "\(one.title) (\(one.handoff.text.prefix(8))), \(one.excerpt.role)\(gone): \(one.excerpt.text)")
            }
            return .success
        })

    static let forget = Command(
        name: "forget", summary: "Remove from a handoff what it copied of chats; the handoff stays.",
        arguments: [Command.Argument(name: "HANDOFF", help: "Its title, a part of it, or its id.")],
        options: [CommonOptions.root],
        run: { invocation in
            let name = invocation.arguments[0]
            let (title, removed) = try await using(invocation) { database in
                let item = try await KeptStore(database).find(name, kind: .handoff)
                let removed = try await database.write {
                    try RetainedExcerpt.remove(handoff: item.id, at: .now, in: $0)
                }
                return (item.title, removed)
            }
            Terminal.shown("Removed \(removed) copied \(removed == 1 ? "message" : "messages") from \"\(title)\".")
            return .success
        })

    private static func using<Value: Sendable>(
        _ invocation: Invocation, _ body: (Database) async throws -> Value
    ) async throws -> Value {
        let database = try await Database.openTold(folder: Folders(root: invocation.text("--root")).root)
        do {
            let value = try await body(database)
            await database.close()
            return value
        } catch {
            await database.close()
            throw error
        }
    }
}
