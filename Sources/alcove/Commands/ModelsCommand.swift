internal import AlcoveCore
internal import AlcoveEngine

/// The models of this device.
enum ModelsCommand {
    static let command = Command(
        name: "models", summary: "List the models of this device.",
        options: [CommonOptions.root, CommonOptions.json],
        run: { invocation in
            let library = ModelLibrary(folders: Folders(root: invocation.text("--root")), resources: Resources())
            let entries = library.entries
            if invocation.has("--json") {
                Terminal.line(JSONValue.array(entries.map(json)).text(.indented))
            } else if entries.isEmpty {
                Terminal.line("There is no model here yet. Put GGUF files into \(library.folders.models).")
            } else {
                let width = entries.map(\.name.count).max() ?? 0
                for entry in entries {
                    let name = entry.name + String(repeating: " ", count: width - entry.name.count)
                    Terminal.line("\(name)  \(megabytes(entry.bytes))  \(describe(entry))")
                }
                Terminal.line("\nYour own GGUF files go into \(library.folders.models).")
            }
            return .success
        })

    private static func megabytes(_ bytes: UInt64) -> String {
        let text = "\(bytes / 1_000_000) MB"
        return String(repeating: " ", count: max(0, 9 - text.count)) + text
    }

    private static func describe(_ entry: ModelLibrary.Entry) -> String {
        do {
            let about = try ModelFile.about(entry.path)
            return about + (entry.isBundled ? ", came with Alcove" : "")
        } catch {
            return "cannot be used: \((error as? any UserFacingError)?.message ?? "\(error)")"
        }
    }

    private static func json(_ entry: ModelLibrary.Entry) -> JSONValue {
        var object: JSONObject = [
            "name": .string(entry.name), "path": .string(entry.path), "bytes": .integer(Int64(entry.bytes)),
            "bundled": .bool(entry.isBundled), "about": .null, "error": .null,
        ]
        do {
            object["about"] = .string(try ModelFile.about(entry.path))
        } catch {
            object["error"] = .string((error as? any UserFacingError)?.message ?? "\(error)")
        }
        return .object(object)
    }
}
