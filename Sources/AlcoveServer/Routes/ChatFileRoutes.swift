internal import AlcoveCore
internal import AlcoveStorage

/// Chats as files: out as JSON or Markdown, and in again.
struct ChatFileRoutes: Sendable {
    /// Largest file of chats that is taken in.
    static let importLimit = 2 << 30

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
        try await DiskFullRefusal.telling(root: host.root) {
            var work = ChatImport(host.chats)
            return .json(try await work.read(request.body))
        }
    }
}
