internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveStorage

/// Saved chats, and the sessions that hold them.
struct ConversationRoutes: Sendable {
    let host: HostServices

    /// Longest title, in bytes: the list of all chats carries every one.
    static let titleLimit = 1_000

    /// As much of a title as may be kept.
    static func shortened(_ title: String) -> String {
        var kept = title
        while kept.utf8.count > titleLimit {
            // Whole characters, and in large steps of a text that is far too long.
            kept = String(kept.prefix(min(titleLimit, max(0, kept.count - 1))))
        }
        return kept
    }
    /// Most chats that a search answers with.
    private static let searchLimit = 500

    func add(to router: inout Router) {
        router.get("/api/agent/conversations") { try await list($0) }
        router.post("/api/agent/conversations/delete") { try await deleteSeveral($0) }
        router.post("/api/agent/conversations/{id}/branch") { try await branch($0) }
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

    /// All chats, or those in which words are found, each with the place that holds the most of them.
    private func list(_ request: HTTPRequest) async throws -> HTTPResponse {
        let summaries = try await host.chats.summaries()
        guard let words = request.query("search"), words.contains(where: { !$0.isWhitespace }) else {
            return .json(["conversations": .array(summaries.map(\.json))])
        }
        let byID = Dictionary(summaries.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var found: [JSONValue] = []
        for hit in try await host.chats.search(words, limit: ConversationRoutes.searchLimit) {
            guard var object = byID[hit.chat]?.json.object else { continue }
            object["snippet"] = .string(
                hit.snippet.map { $0.isMatch ? "\u{1}\($0.text)\u{2}" : $0.text }.joined())
            object["messageId"] = JSONValue(hit.message?.text)
            found.append(.object(object))
        }
        return .json(["conversations": .array(found)])
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
        // One of nothing that can be seen is no wish.
        if !ChatTitle.cleaned(title).isEmpty { _ = try await host.chats.rename(id, to: title) }
        return .json(try await transcript(id).json)
    }

    private func delete(_ request: HTTPRequest) async throws -> HTTPResponse {
        .json(["deleted": .bool(try await host.delete(try id(of: request)))])
    }

    private func deleteSeveral(_ request: HTTPRequest) async throws -> HTTPResponse {
        let body = try await request.jsonObject()
        let ids: [ChatID]
        if body["all"]?.bool == true {
            ids = try await host.chats.summaries(includingEmpty: true).map(\.id)
        } else {
            guard let list = body["ids"]?.array, list.allSatisfy({ $0.string != nil }) else {
                throw InputError(
                    code: "bad_field", message: "\"ids\" should be a list of chats, or \"all\" true.")
            }
            ids = list.compactMap { $0.string.flatMap { ChatID($0) } }
        }
        let deleted = try await host.delete(ids)
        // What was deleted is gone from the file too, not only from the lists.
        if body["all"]?.bool == true {
            _ = try await DiskReserve.spending { try await host.chats.deleteAll() }
            await host.giveRoomBack()
        }
        return .json(["deleted": JSONValue(deleted)])
    }

    /// A new chat that begins with the first messages of this one; its files are this one's as they are now.
    private func branch(_ request: HTTPRequest) async throws -> HTTPResponse {
        let id = try id(of: request)
        let transcript = try await transcript(id)
        let wish = try await request.jsonObject()["messages"] ?? .null
        guard !transcript.messages.isEmpty else {
            throw InputError(
                code: "nothing_to_branch", message: "The chat has no messages to begin a new one with.")
        }
        guard let count = wish.isNull ? transcript.messages.count : wish.int,
            (1...transcript.messages.count).contains(count)
        else {
            throw InputError(
                code: "bad_number",
                message: "\"messages\" should be a whole number from 1 to \(transcript.messages.count).")
        }
        let chat = transcript.chat
        let new = try await host.chats.create(
            ChatChoices(
                modelID: chat.modelID, think: chat.think, skills: chat.skillsExplicit ? chat.skills : nil))
        let drafts = transcript.messages.prefix(count).map { MessageDraft(createdAt: $0.createdAt, $0.body) }
        try await host.chats.replaceMessages(of: new.id, with: drafts)
        var answer = try await self.transcript(new.id).json.object ?? [:]
        answer["notice"] = JSONValue(host.copyFiles(of: id, to: new.id))
        return .json(.object(answer))
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
            // The page begins with a chat to write in, also where the disk is full: from there things are deleted.
            chat = try await DiskReserve.spending { try await host.chats.create().id }
        }
        let transcript = try await transcript(chat)
        let session = await host.sessions.bind(chat)
        let turn = await host.turns.latest(for: chat.text)
        let whole = transcript.json
        return .json([
            "sessionId": .string(session.text), "conversationId": .string(chat.text),
            "title": .string(transcript.chat.title), "messages": whole["messages"] ?? [],
            "think": whole["think"] ?? .null, "skills": whole["skills"] ?? [],
            "skillsExplicit": whole["skillsExplicit"] ?? false,
            "canRedo": .bool(await host.rewinds.canRedo(chat)), "modelId": JSONValue(transcript.chat.modelID),
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
