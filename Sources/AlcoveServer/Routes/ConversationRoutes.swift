internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveStorage

/// Saved chats, and the sessions that hold them.
struct ConversationRoutes: Sendable {
    let host: HostServices

    /// Longest title, in bytes: the list of all chats carries every one.
    static let titleLimit = 1_000

    func add(to router: inout Router) {
        router.get("/api/agent/conversations") { _ in try await list() }
        router.post("/api/agent/conversations") { _ in
            let chat = try await host.chats.create()
            return .json(try await transcript(chat.id).json)
        }
        router.get("/api/agent/conversations/{id}") { request in
            .json(try await transcript(try id(of: request)).json)
        }
        router.post("/api/agent/conversations/{id}") { try await rename($0) }
        router.delete("/api/agent/conversations/{id}") { try await delete($0) }
        router.get("/api/agent/launch") { _ in try await launch() }
        router.post("/api/sessions") { try await open($0) }
        router.delete("/api/sessions/{id}") { try await close($0) }
    }

    private func list() async throws -> HTTPResponse {
        .json(["conversations": .array(try await host.chats.summaries().map(\.json))])
    }

    private func rename(_ request: HTTPRequest) async throws -> HTTPResponse {
        let id = try id(of: request)
        let wish = try await request.jsonObject()["title"] ?? .null
        guard let title = wish.isNull ? "" : wish.string else {
            throw InputError(code: "bad_field", message: "\"title\" should be text.")
        }
        guard title.utf8.count <= ConversationRoutes.titleLimit else {
            throw InputError(
                code: "title_too_long", message: "The title is longer than \(ConversationRoutes.titleLimit) bytes.",
                hint: "Choose a shorter one.")
        }
        if title.contains(where: { !$0.isWhitespace }) { _ = try await host.chats.rename(id, to: title) }
        return .json(try await transcript(id).json)
    }

    private func delete(_ request: HTTPRequest) async throws -> HTTPResponse {
        let id = try id(of: request)
        if let turn = await host.turns.latest(for: id.text) { turn.stopSignal.set() }
        let deleted = try await host.chats.delete(id)
        await host.sessions.forget(id)
        return .json(["deleted": .bool(deleted)])
    }

    private func launch() async throws -> HTTPResponse {
        let chat = await host.sessions.current
        return .json(["cold": .bool(chat == nil), "conversation": JSONValue(chat?.text)])
    }

    /// Opens a chat: the one named, else the newest empty one, else a new one.
    private func open(_ request: HTTPRequest) async throws -> HTTPResponse {
        let wish = request.query("conversation") ?? ""
        let chat: ChatID
        if !wish.isEmpty, wish != "new" {
            guard let id = ChatID(wish) else { throw unknownChat }
            chat = id
        } else if let empty = try await host.chats.mostRecentEmpty() {
            chat = empty.id
        } else {
            chat = try await host.chats.create().id
        }
        let transcript = try await transcript(chat)
        let session = await host.sessions.bind(chat)
        let turn = await host.turns.latest(for: chat.text)
        let whole = transcript.json
        return .json([
            "sessionId": .string(session.text), "conversationId": .string(chat.text),
            "title": .string(transcript.chat.title), "messages": whole["messages"] ?? [],
            "think": whole["think"] ?? .null, "skills": whole["skills"] ?? [],
            "skillsExplicit": whole["skillsExplicit"] ?? false, "modelId": JSONValue(transcript.chat.modelID),
            "activeTurn": turn.map(TurnStatus.json) ?? .null,
        ])
    }

    private func close(_ request: HTTPRequest) async throws -> HTTPResponse {
        let text = request.parameters["id"] ?? ""
        guard let session = SessionID(text), await host.sessions.release(session) else {
            throw HTTPError(404, code: "unknown_session", "There is no such session any more.")
        }
        return .json(["ok": true, "sessionId": .string(text)])
    }

    private func transcript(_ id: ChatID) async throws -> ChatTranscript {
        guard let transcript = try await host.chats.transcript(id) else { throw unknownChat }
        return transcript
    }

    private func id(of request: HTTPRequest) throws(HTTPError) -> ChatID {
        guard let id = request.parameters["id"].flatMap({ ChatID($0) }) else { throw unknownChat }
        return id
    }

    private var unknownChat: HTTPError {
        HTTPError(404, code: "unknown_chat", "There is no such chat any more.", hint: "Choose another one.")
    }
}
