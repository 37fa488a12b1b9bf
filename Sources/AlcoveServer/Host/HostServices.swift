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

    package let database: Database
    package let chats: ChatStore
    package let log: TurnLog
    package let settings: SettingsStore
    package let notices: Notices
    package let model: ModelHost
    package let turns: Turns
    package let sessions: Sessions
    package let files: ModelFiles
    package let root: String
    package let tools: ToolRegistry
    package let broker: ApprovalBroker
    package let grants = Grants()
    package let artifacts: ArtifactStore
    package let board: SettingsBoard

    package init(
        database: Database, board: SettingsBoard? = nil, model: ModelHost, files: ModelFiles,
        tools: ToolRegistry = ToolRegistry(), root: String
    ) {
        self.database = database
        chats = ChatStore(database)
        notices = Notices(database)
        log = TurnLog(database)
        settings = SettingsStore(database)
        self.board = board ?? SettingsBoard(settings)
        self.model = model
        self.files = files
        self.tools = tools
        self.root = root
        turns = Turns(log: log)
        sessions = Sessions()
        broker = ApprovalBroker()
        artifacts = ArtifactStore(folder: root + "/artifacts")
    }

    /// The loop for one turn: everything a run may reach.
    func loop(for model: any LanguageModel) -> AgentLoop {
        AgentLoop(
            model: model, tools: tools, broker: broker, switches: { [board] in board.current.switches }, grants: grants,
            database: database, artifacts: artifacts)
    }

    /// The folder of a chat's own files; made when it is first needed.
    func workspace(of chat: ChatID) -> String {
        let folder = root + "/workspaces"
        mkdir(folder, 0o700)
        mkdir(folder + "/" + chat.text, 0o700)
        return folder + "/" + chat.text
    }

    /// All routes of the host.
    package func router() -> Router {
        var router = Router()
        router.get("/health") { _ in .json(["ok": true]) }
        ChatRoutes(host: self).add(to: &router)
        ConversationRoutes(host: self).add(to: &router)
        ModelRoutes(host: self).add(to: &router)
        RunRoutes(host: self).add(to: &router)
        SettingsRoutes(host: self).add(to: &router)
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
