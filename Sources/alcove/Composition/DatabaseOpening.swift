internal import AlcoveAgent
internal import AlcoveStorage

extension Database {
    /// Opens the store of a command, and tells where one that could not be read was kept aside.
    static func openTold(folder: String) async throws -> Database {
        let database = try await Database.open(folder: folder)
        if let kept = database.opening.keptAside { Terminal.notice("alcove: \(kept.message)") }
        return database
    }
}

extension Terminal {
    /// A line with words of others in it.
    static func shown(_ text: String) { line(VisibleText.forTerminal(text)) }
}
