internal import AlcoveCore

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
        return .json([
            "share": [
                "id": .string(envelope.id), "text": .string(offer.text), "attachments": .array(offer.attachments),
                "notices": .array(offer.notices.map { .string($0) }),
                "title": .string(envelope.title ?? envelope.files.first?.name ?? envelope.url ?? envelope.source),
                "newChat": true, "autoSend": false,
            ]
        ])
    }

    private func discard(_ request: HTTPRequest) async throws -> HTTPResponse {
        let id = try await request.jsonObject()["id"]?.string ?? ""
        guard let uploads = await host.share.discard(id) else { return .json(["ok": false], status: 409) }
        await host.uploads.remove(uploads)
        return .json(["ok": true])
    }
}
