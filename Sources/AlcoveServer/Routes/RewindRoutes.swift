internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveStorage

/// Taking the newest turn of a chat back, and giving it again.
struct RewindRoutes: Sendable {
    let host: HostServices

    func add(to router: inout Router) {
        router.post("/api/agent/conversations/{id}/rewind") { request in
            try await answer(request) { try await host.rewinds.undo($0) }
        }
        router.post("/api/agent/conversations/{id}/redo") { request in
            try await answer(request) { try await host.rewinds.redo($0) }
        }
    }

    private func answer(
        _ request: HTTPRequest, _ work: (ChatID) async throws -> Rewinds.Outcome
    ) async throws -> HTTPResponse {
        guard let chat = request.parameters["id"].flatMap({ ChatID($0) }), try await host.chats.chat(chat) != nil else {
            throw HTTPError(404, code: "unknown_chat", "There is no such chat any more.", hint: "Choose another one.")
        }
        do {
            if await host.turns.latest(for: chat.text)?.phase == .running { throw Rewinds.Refusal.running }
            try await ChatSight(try await request.jsonObjectOrNothing())?.check(chat, in: host.chats)
            let outcome = try await work(chat)
            return .json([
                "messages": .array(outcome.messages.map(\.json)), "text": JSONValue(outcome.text),
                "files": .array(outcome.files.map { .string($0) }), "notice": JSONValue(outcome.notice),
                "canRedo": .bool(outcome.canRedo),
            ])
        } catch let refusal as Rewinds.Refusal {
            throw HTTPError(409, code: refusal.code, refusal.message, hint: refusal.hint)
        }
    }
}
