internal import AlcoveCore
internal import AlcoveSandbox

/// What a folder held at one moment.
struct WorkspaceManifest: Sendable, Equatable {
    struct Entry: Sendable, Equatable {
        enum Kind: String { case file, folder, link }

        var path: String
        var kind: Kind
        /// Of a file: SHA-256 of its contents, in hexadecimal.
        var hash: String?
        var bytes = 0
        /// Milliseconds since 1970.
        var modified: Int64 = 0
        var isExecutable = false
    }

    /// Milliseconds since 1970, read before the first entry.
    var takenAt: Int64
    /// Folders before what is in them.
    var entries: [Entry]

    /// Whether a file that looks like this entry surely is what it was: its time is older than the clock's grain.
    func isSettled(_ entry: Entry) -> Bool { entry.modified < takenAt - 2_000 }
}

extension WorkspaceManifest {
    var json: JSONValue {
        [
            "takenAt": .integer(takenAt),
            "entries": .array(
                entries.map { entry in
                    var object: JSONObject = ["path": .string(entry.path), "kind": .string(entry.kind.rawValue)]
                    guard let hash = entry.hash else { return .object(object) }
                    object["hash"] = .string(hash)
                    object["bytes"] = JSONValue(entry.bytes)
                    object["modified"] = .integer(entry.modified)
                    object["executable"] = .bool(entry.isExecutable)
                    return .object(object)
                }),
        ]
    }

    /// Nil when it is no manifest: then there is nothing to go back to.
    init?(json: JSONValue) {
        guard let takenAt = json["takenAt"]?.int, let list = json["entries"]?.array else { return nil }
        self.takenAt = Int64(takenAt)
        entries = []
        for item in list {
            guard let path = item["path"]?.string, let kind = item["kind"]?.string.flatMap(Entry.Kind.init(rawValue:))
            else { return nil }
            let hash = item["hash"]?.string
            if kind == .file, hash?.utf8.count != 64 { return nil }
            entries.append(
                Entry(
                    path: path, kind: kind, hash: hash, bytes: item["bytes"]?.int ?? 0,
                    modified: Int64(item["modified"]?.int ?? 0), isExecutable: item["executable"]?.bool ?? false))
        }
    }
}
