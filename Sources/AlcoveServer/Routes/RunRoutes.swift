internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveStorage

/// What runs did: questions that wait, receipts, files.
struct RunRoutes: Sendable {
    /// Most runs told at once.
    private static let runLimit = 50

    let host: HostServices

    func add(to router: inout Router) {
        router.get("/api/agent/approvals") { _ in await approvals() }
        router.post("/api/agent/approvals/{id}") { try await answer($0) }
        router.get("/api/agent/runs") { try await runs($0) }
        router.get("/api/agent/runs/{id}") { try await run($0) }
        router.get("/api/code/artifacts/{turn}") { try await list($0) }
        router.get("/api/code/artifacts/{turn}/{*path}") { try await file($0) }
    }

    private func approvals() async -> HTTPResponse {
        var list: [JSONValue] = []
        for question in await host.broker.questions {
            var object = PageFrames.approval(question.note).object ?? JSONObject()
            object["expires"] = JSONValue(question.secondsLeft)
            object["turn"] = .string(question.turn.text)
            object["conversation"] = JSONValue(try? await host.turns.turn(question.turn)?.key)
            list.append(.object(object))
        }
        return .json(["approvals": .array(list)])
    }

    private func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
        let body = try await request.jsonObject()
        guard let outcome = body["outcome"]?.string.flatMap(ApprovalOutcome.init(rawValue:)),
            [.allowed, .allowedForChat, .refused].contains(outcome)
        else {
            throw InputError(
                code: "bad_outcome", message: "\"outcome\" should be allowed, allowed_for_chat or refused.")
        }
        guard let signature = body["signature"]?.string else {
            throw InputError(
                code: "no_signature",
                message: "\"signature\" should repeat the question's, so that it is clear what is meant."
            )
        }
        try await host.broker.answer(request.parameters["id"] ?? "", signature: signature, outcome: outcome)
        return .json(["ok": true])
    }

    private func runs(_ request: HTTPRequest) async throws -> HTTPResponse {
        let text = request.query("conversation") ?? ""
        let records: [TurnRecord]
        if text.isEmpty {
            let limit = request.query("limit").map { Int($0) ?? 0 } ?? RunRoutes.runLimit
            guard (1...1_000).contains(limit) else {
                throw HTTPError(400, code: "bad_number", "\"limit\" is a number from 1 to 1000.")
            }
            records = try await host.log.recentTurns(limit: limit)
        } else {
            guard let chat = ChatID(text) else {
                throw HTTPError(404, code: "unknown_chat", "There is no such chat any more.")
            }
            records = try await host.log.turns(of: chat, limit: RunRoutes.runLimit)
        }
        var list: [JSONValue] = []
        for record in records {
            list.append(.object(RunProjection.json(record, try await host.log.receipts(of: record.id))))
        }
        return .json(["runs": .array(list)])
    }

    private func run(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard let record = try await host.log.turn(named: request.parameters["id"] ?? "") else {
            throw HTTPError(404, code: "unknown_run", "There is no such run.")
        }
        return .json(.object(try await RunProjection.whole(record, in: host.log)))
    }

    // MARK: Files

    private func list(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard let turn = request.parameters["turn"].flatMap({ TurnID($0) }) else { throw HTTPError.notFound }
        let files = host.artifacts.list(turn)
        guard !files.isEmpty else { throw HTTPError.notFound }
        return .json(["runId": .string(turn.text), "files": .array(files.map(PageFrames.file))])
    }

    /// Always an attachment: a file that a tool made is never shown as a page of ours.
    private func file(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard let turn = request.parameters["turn"].flatMap({ TurnID($0) }), let path = request.parameters["path"]
        else {
            throw HTTPError.notFound
        }
        let segments = path.split(separator: "/").map(String.init)
        guard
            let response = HTTPResponse.file(
                [turn.text] + segments, in: ConfinedFolder(host.artifacts.folder), for: request,
                attachment: segments.last)
        else { throw HTTPError.notFound }
        return response
    }
}
