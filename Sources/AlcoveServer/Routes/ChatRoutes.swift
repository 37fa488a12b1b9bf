internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveStorage

/// Sending a message, and the turns that come of it.
struct ChatRoutes: Sendable {
    /// Longest body of a message with its whole history.
    static let bodyLimit = 32 << 20

    let host: HostServices

    func add(to router: inout Router) {
        router.post("/api/chat", body: .json(upTo: ChatRoutes.bodyLimit)) { try await send($0) }
        router.get("/api/agent/turns") { try await status($0) }
        router.get("/api/agent/turns/{id}") { try await read($0) }
        router.post("/api/agent/turns/{id}/stop") { try await stop($0) }
    }

    private func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        var order = try ChatOrder(body: try await request.jsonObject())
        let chat = try await chat(of: order)
        // The history that was sent would take the place of messages its sender never saw.
        // It may bring back what the disk had no room for, but no turn that was taken back elsewhere with its files.
        if let chat, let sight = order.sight {
            let mayLack = await !host.rewinds.canRedo(chat)
            try await sight.check(chat, in: host.chats, mayLack: mayLack)
        }
        let plan = order.plan, ready = await host.model.ready
        if ready == nil, plan == nil { throw await noModel() }
        // An explicit command is never the model's to read, whether one is loaded or not.
        let model: any LanguageModel = plan == nil ? ready?.model ?? ToolsOnly() : ToolsOnly()
        if plan == nil { host.warmUp?.cancel() }
        let id = TurnKey.key(chat: chat, session: order.session)
        let choices = ChatChoices(
            modelID: ready?.model.description.id, think: order.thinkingGiven, skills: order.skills)
        if !order.attachments.isEmpty {
            let attached = try await AttachmentOrder(host: host).prepare(
                order.attachments, texts: order.texts, chat: order.hasTools ? chat : nil,
                model: model.description)
            order.take(attached)
        }
        let drafts = order.drafts
        var request = try order.turn(for: model.description, settings: host.board.current)
        request.plan = plan
        if plan != nil { request.profile = RunProfile.assistant.limited(by: host.board.current.runLimits) }
        if request.profile != nil {
            guard let chat else {
                throw InputError(
                    code: "no_chat", message: "Tools need a chat to keep files in.",
                    hint: "Open one with POST /api/sessions and send its sessionId.")
            }
            request.workspace = host.workspace(of: chat)
        }
        let shared = try await lease(order.shared)
        let turn = await host.turns.start(
            key: id, chat: chat, loop: host.loop(for: model), request: request,
            accept: { [host] in
                if let chat {
                    try await host.chats.replaceMessages(of: chat, with: drafts, choices: choices)
                    try await host.rewinds.forgetRedo(chat)
                }
                // The message is on the disk: what was shared is done with.
                if let shared { await host.share.acknowledge(shared) }
            },
            record: { [host] result in
                guard let chat, let draft = result.answer else { return }
                do {
                    _ = try await host.chats.recordAnswer(draft, in: chat)
                } catch StorageError.chatMissing {
                    // Deleted while it was being answered, as somebody wished: there is nothing to tell.
                }
            })
        if let shared {
            // A message that was refused gives it back; one that was kept has taken it, and this changes nothing.
            Task { [host] in
                await turn.waitForEnd()
                await host.share.release(shared)
            }
        }
        return frames(of: turn, from: 0, session: order.session)
    }

    /// Holds what was shared for this message.
    private func lease(_ ids: [String]) async throws -> String? {
        guard let id = ids.first else { return nil }
        do throws(ShareInbox.Refusal) {
            if ids.count > 1 { throw .several }
            try await host.share.lease(id)
        } catch {
            throw HTTPError(409, code: error.code, error.message, hint: error.hint)
        }
        return id
    }

    /// The chat of the message's session; nil for the shared session, which keeps nothing.
    private func chat(of order: ChatOrder) async throws -> ChatID? {
        guard let text = order.session else { return nil }
        guard let session = SessionID(text), let chat = await host.sessions.chat(of: session) else {
            throw HTTPError(
                404, code: "unknown_session", "There is no such session any more.", hint: "Open the chat again.")
        }
        return chat
    }

    private func noModel() async -> HTTPError {
        switch await host.model.state {
        case .loading(let path, let fraction):
            HTTPError(
                400, code: "model_loading",
                "The model \(fileName(path)) is still loading (\(Int(100 * fraction)) %).",
                hint: "Try again in a moment.")
        case .failed(_, let message):
            HTTPError(400, code: "no_model", message, hint: "Choose another model.")
        case .none, .loaded:
            HTTPError(
                400, code: "no_model", "No model is loaded.", hint: "Choose a model, or start Alcove with --model FILE."
            )
        }
    }

    private func frames(of turn: Turn, from start: Int, session: String?) -> HTTPResponse {
        ServerSentEvents.response(headers: ["X-Alcove-Turn": turn.id.text]) { [host] send in
            try await DiskFullRefusal.telling(root: host.root) {
                for try await event in turn.events(from: start) {
                    for frame in PageFrames.frames(event, session: session) { try await send(frame) }
                }
            }
        }
    }

    private func status(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard let chat = request.query("conversation") else {
            throw HTTPError(400, code: "no_conversation", "The query names no conversation.")
        }
        let turn = await host.turns.latest(for: chat)
        return .json(["turn": turn.map(TurnStatus.json) ?? .null])
    }

    private func read(_ request: HTTPRequest) async throws -> HTTPResponse {
        let turn = try await turn(of: request)
        let text = request.query("from") ?? "0"
        guard let start = Int(text) else {
            throw HTTPError(400, code: "bad_number", "\"from\" is a number of frames, not \"\(text)\".")
        }
        return frames(of: turn, from: start, session: nil)
    }

    private func stop(_ request: HTTPRequest) async throws -> HTTPResponse {
        let turn = try await turn(of: request)
        let wasRunning = turn.phase == .running
        turn.stopSignal.set()
        return .json(["stopped": .bool(wasRunning), "id": .string(turn.id.text)])
    }

    private func turn(of request: HTTPRequest) async throws -> Turn {
        guard let id = request.parameters["id"].flatMap({ TurnID($0) }), let turn = try await host.turns.turn(id) else {
            throw HTTPError(
                404, code: "unknown_turn", "There is no such turn any more.", hint: "Open the chat again.")
        }
        return turn
    }
}

/// What one turn at a time may hold.
enum TurnKey {
    static func key(chat: ChatID?, session: String?) -> String {
        if let chat { return chat.text }
        return session.map { "session:\($0)" } ?? "chat"
    }
}

enum TurnStatus {
    static func json(_ turn: Turn) -> JSONValue {
        let phase = turn.phase
        return [
            "id": .string(turn.id.text), "state": .string(phase.rawValue), "running": .bool(phase == .running),
            "frames": JSONValue(turn.eventCount),
        ]
    }
}

/// The last part of a path, which is what people call a file.
func fileName(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }
