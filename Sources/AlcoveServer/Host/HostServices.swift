package import AlcoveAgent
internal import AlcoveCore
package import AlcoveStorage

/// Everything the routes reach: one store, one model, one set of turns.
package struct HostServices: Sendable {
    /// What the program knows about its model files.
    package struct ModelFiles: Sendable {
        /// File names that can be loaded, as people know them.
        package var list: @Sendable () -> [String]
        /// The path of one of them, or of a file anywhere.
        package var path: @Sendable (_ name: String) throws -> String

        package init(
            list: @escaping @Sendable () -> [String], path: @escaping @Sendable (_ name: String) throws -> String
        ) {
            self.list = list
            self.path = path
        }
    }

    package let chats: ChatStore
    package let notices: Notices
    package let model: ModelHost
    package let turns: Turns
    package let sessions: Sessions
    package let files: ModelFiles
    package let root: String

    package init(
        chats: ChatStore, notices: Notices, model: ModelHost, turns: Turns, files: ModelFiles, root: String
    ) {
        self.chats = chats
        self.notices = notices
        self.model = model
        self.turns = turns
        self.files = files
        self.root = root
        sessions = Sessions()
    }

    /// All routes of the host.
    package func router() -> Router {
        var router = Router()
        router.get("/health") { _ in .json(["ok": true]) }
        ChatRoutes(host: self).add(to: &router)
        ConversationRoutes(host: self).add(to: &router)
        ModelRoutes(host: self).add(to: &router)
        return router
    }
}

extension HTTPRequest {
    /// The body as a JSON object.
    ///
    /// - Throws: `JSONError`, or an `InputError` when it is JSON of another kind.
    func jsonObject() async throws -> JSONObject {
        let bytes = try await body.collect()
        guard let object = try JSONValue(parsing: bytes).object else {
            throw InputError(code: "bad_body", message: "The body should be a JSON object.")
        }
        return object
    }
}
