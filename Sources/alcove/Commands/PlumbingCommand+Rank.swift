internal import AlcoveCore
internal import AlcoveWorkspace

extension PlumbingCommand {
    /// `{"documents": [{"id", "title"?, "text"} | text, ...], "query", "limit"?}`: the hits, best first, and why.
    static func rank(_ line: JSONValue) throws -> JSONValue {
        guard let query = line["query"]?.string else {
            throw InputError(code: "no_query", message: "\"query\" should be text.")
        }
        guard let list = line["documents"]?.array else {
            throw InputError(
                code: "no_documents",
                message: "\"documents\" should be a list of texts, or of objects with id and text.")
        }
        var ids: [JSONValue] = []
        let documents = try list.enumerated().map { index, item -> Ranking.Document in
            if let text = item.string {
                ids.append(JSONValue(index))
                return Ranking.Document(id: "\(index)", text: text)
            }
            guard let text = item["text"]?.string else {
                throw InputError(code: "bad_document", message: "documents[\(index)].text should be text.")
            }
            ids.append(item["id"] ?? JSONValue(index))
            return Ranking.Document(id: "\(index)", title: item["title"]?.string ?? "", text: text)
        }
        var limit = documents.count
        if let given = line["limit"], !given.isNull {
            guard let number = given.int, number >= 0 else {
                throw InputError(code: "bad_limit", message: "\"limit\" should be a whole number from 0 on.")
            }
            limit = number
        }
        let hits = Ranking(query).hits(in: documents, limit: limit)
        return [
            "hits": .array(
                hits.map { ["id": ids[$0.index], "score": .double($0.signals.score), "why": $0.signals.json] })
        ]
    }
}
