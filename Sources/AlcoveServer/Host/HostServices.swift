package import AlcoveAgent
package import AlcoveCore
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
    package let memory: MemoryWatch
    package let sessions: Sessions
    package let files: ModelFiles
    package let root: String
    package let tools: ToolRegistry
    package let broker: ApprovalBroker
    package let grants = Grants()
    package let artifacts: ArtifactStore
    package let workspaces: Workspaces
    package let snapshots: WorkspaceSnapshots
    package let rewinds: Rewinds
    package let board: SettingsBoard

    package let uploads: UploadStore
    package let staging: AttachmentStaging
    package let decoder: any MediaDecoder
    package let shelf: MediaShelf
    package let share: ShareInbox
    package let answers: DirectAnswers
    /// Nil where a model should answer nothing but what it is asked.
    package let warmUp: WarmUp?
    /// Brings a dead engine back; nil where there is none to make anew.
    package let repair: EngineRepair?

    /// Nil where there is no catalogue, as in tests.
    package let catalog: CatalogServices?
    /// Nil where no copies of models can be made, as in tests.
    package let fastCopies: FastCopyServices?

    package init(
        database: Database, board: SettingsBoard? = nil, model: ModelHost, files: ModelFiles,
        tools: ToolRegistry = ToolRegistry(), root: String,
        decoder: any MediaDecoder = NoMediaDecoder(cause: "nothing that reads it is installed"),
        warmUp: WarmUp? = nil, repair: EngineRepair? = nil,
        catalog: CatalogServices? = nil, fastCopies: FastCopyServices? = nil,
        memoryLog: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.warmUp = warmUp
        self.repair = repair
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
        self.catalog = catalog
        self.fastCopies = fastCopies
        let shelf = MediaShelf(decoder: decoder)
        self.shelf = shelf
        let memory = MemoryWatch(
            giveBack: {
                let decoded = await shelf.giveBack()
                return decoded + (await (model.ready?.model as? any MemorySaving)?.giveBackMemory() ?? 0)
            }, write: memoryLog)
        self.memory = memory
        turns = Turns(log: log) { memory.follow($0) }
        answers = DirectAnswers(repair: repair) { Task { await memory.look(.afterAnAnswer) } }
        sessions = Sessions()
        broker = ApprovalBroker()
        artifacts = ArtifactStore(folder: root + "/artifacts")
        workspaces = Workspaces(folder: root + "/workspaces")
        snapshots = WorkspaceSnapshots(folder: root + "/snapshots")
        rewinds = Rewinds(
            chats: chats, log: log, settings: settings, snapshots: snapshots,
            workspaces: workspaces)
        uploads = UploadStore(folder: root + "/uploads")
        staging = AttachmentStaging(folder: root + "/workspaces")
        self.decoder = decoder
        share = ShareInbox(folder: root + "/share")
    }

    /// The loop for one turn: everything a run may reach.
    func loop(for model: any LanguageModel) -> AgentLoop {
        AgentLoop(
            model: model, tools: tools, broker: broker, switches: { [board] in board.current.switches }, grants: grants,
            database: database, artifacts: artifacts, snapshots: snapshots, repair: repair)
    }

    /// Reads the beginning that runs with tools share, once it has been quiet for a moment.
    package func warmUpSoon(after pause: Duration = .seconds(1), clock: any Clock<Duration> = ContinuousClock()) {
        Task { [memory] in await memory.look(.afterLoading) }
        guard let warmUp else { return }
        Task {
            try? await clock.sleep(for: pause)
            await model.gate.wait()
            guard let ready = await model.ready, await turns.runningCount == 0, answers.runningCount == 0 else {
                return
            }
            let settings = board.current
            await warmUp.run(
                ready.model, tools: tools, switches: settings.switches, system: settings.systemPrompt,
                thinking: settings.thinkByDefault, repair: repair)
            await memory.look(.afterWarmUp)
        }
    }

    /// The folder of a chat's own files; made when it is first needed.
    func workspace(of chat: ChatID) -> String { workspaces.path(of: chat) }

    /// Copies a chat's files into another chat's folder, within the bounds of a snapshot.
    ///
    /// - Returns: a sentence when they could not be copied.
    func copyFiles(of chat: ChatID, to other: ChatID) -> String? {
        let name = "branch-\(other.text)"
        defer { snapshots.forget(name, chat: chat.text) }
        do {
            try snapshots.take(of: workspace(of: chat), chat: chat.text, name: name)
            _ = try snapshots.restore(name, chat: chat.text, to: workspace(of: other))
            return nil
        } catch {
            return "The new chat has none of the files: \(sentence(of: error))"
        }
    }

    /// Deletes a chat with all that is kept because of it: its messages, turns, files, attachments, and what could be taken back.
    ///
    /// - Returns: false when there was none.
    func delete(_ chat: ChatID) async throws -> Bool { try await delete([chat]) == 1 }

    /// Deletes chats. Works on a full disk, where it gives what room it can back to the disk.
    ///
    /// - Returns: how many there were.
    func delete(_ chats: [ChatID]) async throws -> Int {
        var deleted = 0
        var attached: Set<String> = []
        var failure: (any Error)?
        do {
            for chat in chats {
                let mine = try await attachments(of: chat)
                if try await remove(chat) { deleted += 1 }
                attached.formUnion(mine)
            }
        } catch {
            failure = error
        }
        // One that another chat has too, such as a branch, stays.
        if !attached.isEmpty, let mentioned = try? await database.mentions(of: attached) {
            _ = await uploads.sweep(attached.subtracting(mentioned), graceSeconds: -1)
        }
        await giveRoomBack()
        if let failure { throw failure }
        return deleted
    }

    private func remove(_ chat: ChatID) async throws -> Bool {
        if let turn = await turns.latest(for: chat.text) {
            turn.stopSignal.set()
            await turn.waitForEnd()
        }
        let gone = try await log.turns(of: chat).map(\.id)
        let deleted = try await DiskReserve.spending {
            let deleted = try await chats.delete(chat)
            try await rewinds.forget(chat)
            return deleted
        }
        await sessions.forget(chat)
        grants.forget(chat.text)
        workspaces.forget(chat)
        for turn in gone { artifacts.forget(turn) }
        return deleted
    }

    /// After something was deleted: where room is short, what the store does not need any more goes back to the disk, and the
    /// reserve is taken again.
    func giveRoomBack() async {
        guard let reserve = database.reserve else { return }
        guard reserve.isGivenUp || DiskReserve.free(root) < HostServices.shortRoom else { return }
        try? await DiskReserve.spending { try await database.compact() }
        reserve.take()
    }

    /// Bytes that are free on a disk that will soon be full.
    private static let shortRoom: UInt64 = 256 << 20

    /// The uploads that a chat's messages hold.
    private func attachments(of chat: ChatID) async throws -> Set<String> {
        let all = await uploads.stale(graceSeconds: -1)
        if all.isEmpty { return [] }
        var found: Set<String> = []
        for message in try await chats.transcript(chat)?.messages ?? [] {
            Database.collect(all, in: JSONValue.object(message.body.extras).text(), to: &found)
        }
        return found
    }

    /// All routes of the host.
    package func router() -> Router {
        var router = Router()
        router.get("/health") { _ in .json(["ok": true]) }
        ChatRoutes(host: self).add(to: &router)
        ConversationRoutes(host: self).add(to: &router)
        ModelRoutes(host: self).add(to: &router)
        RunRoutes(host: self).add(to: &router)
        KeptRoutes(host: self).add(to: &router)
        ActivityRoutes(host: self).add(to: &router)
        SettingsRoutes(host: self).add(to: &router)
        QueueRoutes(host: self).add(to: &router)
        RewindRoutes(host: self).add(to: &router)
        ChatFileRoutes(host: self).add(to: &router)
        UploadRoutes(host: self).add(to: &router)
        ShareRoutes(host: self).add(to: &router)
        OpenAIRoutes(host: self).add(to: &router)
        if let fastCopies { FastCopyRoutes(host: self, copies: fastCopies).add(to: &router) }
        if let catalog { CatalogRoutes(host: self, catalog: catalog).add(to: &router) }
        return router
    }
}

extension HTTPRequest {
    /// The body as a JSON object.
    ///
    /// - Throws: `JSONError`, or an `InputError` when it is JSON of another kind.
    func jsonObject() async throws -> JSONObject { try HTTPRequest.object(try await body.collect()) }

    /// The same, where sending nothing is sending an empty object.
    func jsonObjectOrNothing() async throws -> JSONObject {
        let bytes = try await body.collect()
        return bytes.isEmpty ? [:] : try HTTPRequest.object(bytes)
    }

    private static func object(_ bytes: [UInt8]) throws -> JSONObject {
        guard let object = try JSONValue(parsing: bytes).object else {
            throw InputError(code: "bad_body", message: "The body should be a JSON object.")
        }
        return object
    }
}
