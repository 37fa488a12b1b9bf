internal import AlcoveCore
package import AlcoveStorage
internal import AlcoveWorkspace

/// Kept things as lines, for answers of tools and the terminal.
package enum KeptLines {
    /// Most lines of one answer.
    package static let most = 50

    static let query: JSONValue = ["type": "string", "minLength": 1, "maxLength": JSONValue(Ranking.queryLength)]

    /// The beginning of an id: enough to name it by.
    package static func short(_ id: KeptID) -> String { String(id.text.prefix(8)) }

    package static func list(_ items: [KeptItem]) -> String {
        var lines = items.prefix(most).map(line)
        if items.count > most { lines.append("... and more; search for the one you mean.") }
        return lines.joined(separator: "\n")
    }

    package static func line(_ item: KeptItem) -> String {
        let mark =
            switch (item.kind, item.state) {
            case (.task, "done"): "[x]"
            case (.task, _): "[ ]"
            case (.knowledge, _): "[\(item.type ?? "note")]"
            case (.handoff, "inactive"): "[handoff, out of use]"
            default: "[\(item.kind.rawValue)]"
            }
        return "- \(mark) \(item.title) (\(short(item.id)))"
    }

    package static func whole(_ item: KeptItem) -> String {
        var lines = [line(item), "kept \(item.createdAt.iso8601)"]
        if let done = item.finishedAt { lines.append("done \(done.iso8601)") }
        if !item.provenance.json.isEmpty {
            lines.append(
                "from "
                    + item.provenance.json.members.map { "\($0.0) \($0.1.string ?? $0.1.text())" }.joined(
                        separator: ", "))
        }
        if !item.text.isEmpty { lines += ["", item.text] }
        return lines.joined(separator: "\n")
    }

    static func search(_ query: String, kinds: Set<KeptKind>, in database: Database) async throws -> ToolResult {
        let hits = try await WorkspaceSearch(database).search(query, kinds: kinds, limit: 10)
        let lines = hits.compactMap { hit -> String? in
            guard case .item(let item) = hit.found else { return nil }
            let text = item.text.isEmpty || item.text == item.title ? "" : "\n  " + Excerpt.line(item.text)
            return line(item) + text
        }
        return ToolResult(
            succeeded: true, text: lines.isEmpty ? "Nothing was found for \"\(query)\"." : lines.joined(separator: "\n")
        )
    }
}
