internal import AlcoveCore
internal import AlcoveStorage

/// Chats as files: out as JSON or Markdown, and in again.
struct ChatFileRoutes: Sendable {
    /// Largest file of chats that is taken in.
    static let importLimit = 256 << 20

    let host: HostServices

    func add(to router: inout Router) {
        router.get("/api/agent/conversations/{id}/export") { try await export($0) }
        router.get("/api/agent/export") { _ in try await exportAll() }
        router.post("/api/agent/import", body: .json(upTo: ChatFileRoutes.importLimit)) { try await take($0) }
    }

    private func export(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard let id = request.parameters["id"].flatMap({ ChatID($0) }),
            let transcript = try await host.chats.transcript(id)
        else {
            throw HTTPError(404, code: "unknown_chat", "There is no such chat any more.", hint: "Choose another one.")
        }
        var response: HTTPResponse
        let form = request.query("format") ?? "json"
        switch form {
        case "json": response = .json(transcript.json)
        case "markdown":
            response = .text(ChatMarkdown.text(transcript), type: "text/markdown; charset=utf-8")
        default:
            throw InputError(code: "bad_format", message: "\"format\" should be json or markdown, not \"\(form)\".")
        }
        response.headers["Content-Disposition"] = ContentDisposition.attachment(
            "\(transcript.chat.title).\(form == "json" ? "json" : "md")")
        return response
    }

    /// Chat after chat, so that however many there are, one is in memory.
    private func exportAll() async throws -> HTTPResponse {
        let ids = try await host.chats.summaries(includingEmpty: false).map(\.id)
        let chats = host.chats
        var response = HTTPResponse(
            headers: [
                "Content-Type": "application/json; charset=utf-8",
                "Content-Disposition": ContentDisposition.attachment("Alcove chats.json"),
            ],
            body: .stream(
                HTTPStream { writer in
                    try await writer.write(Array("{\"conversations\":[".utf8))
                    var isFirst = true
                    for id in ids {
                        // One that was deleted meanwhile is not there to be exported.
                        guard let transcript = try await chats.transcript(id) else { continue }
                        try await writer.write((isFirst ? [] : [UInt8(ascii: ",")]) + transcript.json.bytes())
                        isFirst = false
                    }
                    try await writer.write(Array("]}\n".utf8))
                }))
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response
    }

    /// One chat, a list of chats, or what `export` gives. Doing it twice is doing it once.
    private func take(_ request: HTTPRequest) async throws -> HTTPResponse {
        let json = try JSONValue(parsing: try await request.body.collect())
        guard let list = json["conversations"]?.array ?? json.array ?? (json["messages"]?.array == nil ? nil : [json])
        else {
            throw InputError(
                code: "no_chats", message: "There is no chat in this file.",
                hint: "A file of chats is what Export gives: an object with \"messages\", or with \"conversations\".")
        }
        var imported = 0, unchanged = 0
        var failed: [JSONValue] = []
        for item in list {
            do {
                var document = try ChatDocument(json: item)
                // A chat without an id gets one from what it holds, so that it comes in once however often it comes.
                if document.id == nil { document.id = ChatID(String(SHA256.hex(item.bytes()).prefix(32))) }
                if let id = document.id, let ours = try await host.chats.chat(id),
                    document.updatedAt.map({ ours.updatedAt >= $0 }) ?? true
                {
                    unchanged += 1
                    continue
                }
                _ = try await host.chats.importChat(document)
                imported += 1
            } catch {
                let reason = (error as? any UserFacingError)?.sentence ?? "It cannot be read as a chat."
                failed.append(["title": JSONValue(item["title"]?.string), "error": .string(reason)])
            }
        }
        return .json([
            "imported": JSONValue(imported), "unchanged": JSONValue(unchanged), "failed": .array(failed),
        ])
    }
}
