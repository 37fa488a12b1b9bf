internal import AlcoveCore
internal import AlcoveStorage

/// What other programs put into the inbox, for the page to offer.
struct ShareRoutes: Sendable {
    let host: HostServices

    func add(to router: inout Router) {
        router.get("/api/agent/share") { _ in
            .json(["pending": JSONValue(await host.share.pendingCount()), "container": true])
        }
        router.post("/api/agent/share/claim") { _ in try await claim() }
        router.post("/api/agent/share/discard") { try await discard($0) }
    }

    private func claim() async throws -> HTTPResponse {
        guard let offer = try await host.share.claim({ try await host.takeIn(path: $0, name: $1, stem: $2) }) else {
            return .json(["share": .null])
        }
        let envelope = offer.envelope
        var notices = offer.notices
        var chat: String?
        if envelope.entry == .continue {
            chat = try await self.chat(named: envelope.chat ?? "")
            if chat == nil { notices.append("The chat to go on with is not there any more, so this is a new one.") }
        }
        return .json([
            "share": [
                "id": .string(envelope.id), "text": .string(offer.text), "attachments": .array(offer.attachments),
                "notices": .array(notices.map { .string($0) }),
                "title": .string(envelope.title ?? envelope.files.first?.name ?? envelope.url ?? envelope.source),
                "entry": JSONValue(envelope.entry?.rawValue), "chat": JSONValue(chat), "newChat": .bool(chat == nil),
                "autoSend": false,
            ]
        ])
    }

    /// The chat of that id, or the one whose id alone begins so; `last` is the one changed last.
    private func chat(named name: String) async throws -> String? {
        let chats = try await host.chats.summaries()
        if name == "last" { return chats.first?.id.text }
        let found = chats.filter { $0.id.text.hasPrefix(name) }
        return found.count == 1 && name.utf8.count >= 6 ? found[0].id.text : nil
    }

    private func discard(_ request: HTTPRequest) async throws -> HTTPResponse {
        let id = try await request.jsonObject()["id"]?.string ?? ""
        guard let uploads = await host.share.discard(id) else { return .json(["ok": false], status: 409) }
        await host.uploads.remove(uploads)
        return .json(["ok": true])
    }
}
