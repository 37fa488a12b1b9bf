internal import AlcoveCore
internal import AlcoveStorage
internal import AlcoveWorkspace

extension PlumbingCommand {
    static let kept = Command(
        name: "kept", summary: "Keep and search items of a root folder: op (add, search), and how long it took.",
        discussion: """
            {"op": "add", "items": [{"kind", "type", "title", "text"}, ...]} keeps them in one write: {"ids", "ms"}. {"op":
            "search", "query", "kinds", "chats", "limit"} answers {"hits": [{"id", "title", "score", "why"}], "ms"}.
            """,
        options: [CommonOptions.root],
        run: { invocation in
            let database = try await Database.open(folder: Folders(root: invocation.text("--root")).root)
            for bytes in InputLines() {
                var result: JSONObject = [:]
                do {
                    let line = try JSONValue(parsing: bytes)
                    result["id"] = line["id"] ?? .null
                    let start = Platform.monotonicNanoseconds
                    for (key, value) in try await answerKept(line, in: database).members { result[key] = value }
                    result["ms"] = .double(Double(Platform.monotonicNanoseconds - start) / 1e6)
                } catch {
                    result["error"] = .string((error as? any UserFacingError)?.message ?? "\(error)")
                    if let code = (error as? any UserFacingError)?.code { result["code"] = .string(code) }
                }
                Terminal.line(JSONValue.object(result).text())
            }
            await database.close()
            return .success
        })

    private static func answerKept(_ line: JSONValue, in database: Database) async throws -> JSONObject {
        switch line["op"]?.string {
        case "add":
            let items = try (line["items"]?.array ?? []).map(item)
            try await database.write { transaction in for item in items { try transaction.add(item) } }
            return ["ids": .array(items.map { .string($0.id.text) })]
        case "search":
            let kinds = Set((line["kinds"]?.array ?? []).compactMap { $0.string.flatMap(KeptKind.init(rawValue:)) })
            let hits = try await WorkspaceSearch(database).search(
                line["query"]?.string ?? "", kinds: kinds, chats: line["chats"]?.bool ?? false,
                limit: min(100, max(0, line["limit"]?.int ?? 10)))
            return ["hits": .array(hits.map(hit))]
        default: throw InputError(code: "bad_op", message: "\"op\" should be add or search.")
        }
    }

    private static func item(_ json: JSONValue) throws -> KeptItem {
        let name = json["kind"]?.string ?? KeptKind.knowledge.rawValue
        guard let kind = KeptKind(rawValue: name) else {
            let names = KeptKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw InputError(code: "bad_kind", message: "\"kind\" should be one of \(names), not \"\(name)\".")
        }
        let text = json["text"]?.string ?? ""
        return KeptItem(
            kind: kind, type: json["type"]?.string, title: json["title"]?.string ?? KeptItem.title(of: text),
            text: text,
            state: kind == .task ? TaskState.open.rawValue : nil)
    }

    private static func hit(_ hit: WorkspaceSearch.Hit) -> JSONValue {
        var json: JSONObject =
            switch hit.found {
            case .item(let item): ["id": .string(item.id.text), "title": .string(item.title)]
            case .message(let message):
                ["chat": .string(message.chat.text), "title": .string(message.title)]
            }
        json["score"] = .double(hit.signals.score)
        json["why"] = hit.signals.json
        return .object(json)
    }
}
