internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveStorage
internal import AlcoveWorkspace

/// What is kept beside the chats: knowledge, memories, tasks, handoffs.
///
/// What a person does here is their decision already: it goes through the same tools as everything else, with a receipt,
/// and nobody is asked again. What deletes is shown first, and does only what was shown.
struct KeptRoutes: Sendable {
    /// Most items of one answer.
    private static let limit = 200

    let host: HostServices

    func add(to router: inout Router) {
        router.get("/api/agent/kept") { try await list($0) }
        router.post("/api/agent/kept") { try await act($0) }
        router.get("/api/agent/kept/{id}") { .json(.object(try await item($0).object)) }
        router.get("/api/agent/kept/{id}/cascade") { try await cascade($0) }
        router.delete("/api/agent/kept/{id}") { try await delete($0) }
        router.get("/api/agent/insights") { _ in try await insights() }
        router.get("/api/agent/project") { try await project($0) }
    }

    private var store: KeptStore { KeptStore(host.database) }

    /// The newest of a kind, or what words find, with why.
    private func list(_ request: HTTPRequest) async throws -> HTTPResponse {
        let kind = try KeptRoutes.name(request.query("kind"), "kind", KeptKind.self)
        if let words = request.query("search"), words.contains(where: { !$0.isWhitespace }) {
            let hits = try await WorkspaceSearch(host.database).search(
                words, kinds: kind.map { [$0] } ?? [], chats: kind == nil, limit: 20)
            return .json(["hits": .array(hits.map(KeptRoutes.json))])
        }
        guard let kind else {
            throw InputError(
                code: "no_kind", message: "\"kind\" should be one of \(KeptRoutes.names(KeptKind.self)).",
                hint: "Or give words to look for as \"search\".")
        }
        let type = try KeptRoutes.name(request.query("type"), "type", KnowledgeType.self)
        let items = try await store.list(
            kind, state: request.query("state"), type: type?.rawValue, limit: KeptRoutes.limit)
        return .json(["items": .array(items.map { .object($0.object) })])
    }

    private static func json(_ hit: WorkspaceSearch.Hit) -> JSONValue {
        var object: JSONObject
        switch hit.found {
        case .item(let item): object = item.object
        case .message(let message):
            object = [
                "kind": "chat", "conversation": .string(message.chat.text), "title": .string(message.title),
                "messageId": JSONValue(message.message?.text), "text": .string(message.snippet.map(\.text).joined()),
            ]
        }
        object["score"] = .double(hit.signals.score)
        object["why"] = hit.signals.json
        return .object(object)
    }

    /// Calls one of the tools: `{"tool": "tasks_add", "arguments": {...}}`. Not those that delete.
    private func act(_ request: HTTPRequest) async throws -> HTTPResponse {
        let body = try await request.jsonObject()
        let name = body["tool"]?.string ?? ""
        guard let tool = KeptTool.all(host.database).first(where: { $0.declaration.name == name }) else {
            throw InputError(code: "no_such_tool", message: "There is no tool \"\(name)\" for what is kept.")
        }
        guard tool.effect != .deletesFromStore else {
            throw InputError(
                code: "not_here", message: "\(name) is not called here.",
                hint: "Ask what would go with GET /api/agent/kept/{id}/cascade, then DELETE it.")
        }
        let arguments = body["arguments"] ?? [:]
        guard let object = arguments.object else {
            throw InputError(code: "bad_field", message: "\"arguments\" should be an object.")
        }
        let chat = body["conversation"]?.string.flatMap { ChatID($0) }
        return .json(["text": .string(try await KeptAction(host.database).run(name, object, chat: chat))])
    }

    private func item(_ request: HTTPRequest) async throws -> KeptItem {
        try await store.find(request.parameters["id"] ?? "", kind: nil)
    }

    private func cascade(_ request: HTTPRequest) async throws -> HTTPResponse {
        let cascade = try await store.cascade(of: try await item(request).id)
        return .json([
            "text": .string(cascade.text), "token": .string(KeptRoutes.token(cascade.text)),
            "items": .array((cascade.linked + [cascade.item]).map { .object($0.object) }),
        ])
    }

    private func delete(_ request: HTTPRequest) async throws -> HTTPResponse {
        let cascade = try await store.cascade(of: try await item(request).id)
        guard let token = request.query("token") else {
            throw InputError(
                code: "no_token", message: "What goes with it has to be looked at first.",
                hint: "GET /api/agent/kept/{id}/cascade tells it, with the token for \"token\".")
        }
        guard token == KeptRoutes.token(cascade.text) else {
            throw KeptError.cascadeChanged(title: cascade.item.title)
        }
        let arguments: JSONObject = ["item": .string(cascade.item.id.text)]
        let text = try await KeptAction(host.database).run("kept_delete", arguments, preview: cascade.text)
        return .json(["text": .string(text), "deleted": JSONValue(cascade.linked.count + 1)])
    }

    /// Stands for what was shown, so that a page need not send it back.
    private static func token(_ text: String) -> String {
        String(SHA256.hex(text.utf8).prefix(32))
    }

    private func insights() async throws -> HTTPResponse {
        let found = try await host.database.read { try Insights($0, now: .now).all() }
        return .json(["insights": .array(found.map { .object($0.object) })])
    }

    /// The project's context, of a topic where one is given, and its review.
    private func project(_ request: HTTPRequest) async throws -> HTTPResponse {
        let context = try await ProjectReport.context(topic: request.query("topic") ?? "", in: host.database)
        let review = try await host.database.read { try ProjectReport.review(now: .now, in: $0) }
        return .json(["context": .string(context), "review": .string(review)])
    }

    private static func names<Name: RawRepresentable & CaseIterable>(_ type: Name.Type) -> String
    where Name.RawValue == String {
        type.allCases.map(\.rawValue).joined(separator: ", ")
    }

    private static func name<Name: RawRepresentable & CaseIterable>(
        _ text: String?, _ field: String, _ type: Name.Type
    ) throws(InputError) -> Name? where Name.RawValue == String {
        guard let text else { return nil }
        guard let name = Name(rawValue: text) else {
            throw InputError(
                code: "bad_\(field)", message: "\"\(field)\" should be one of \(names(type)), not \"\(text)\".")
        }
        return name
    }
}
