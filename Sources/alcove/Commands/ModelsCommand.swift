internal import AlcoveCore
internal import AlcoveDownloads
internal import AlcoveEngine
internal import AlcoveServer

/// The models of this device.
enum ModelsCommand {
    static let command = Command(
        name: "models", summary: "List the models of this device, and those that can be downloaded.",
        discussion: "Your own models to download stand in catalog.json in the root folder (docs/models.md).",
        options: [
            CommonOptions.root, CommonOptions.json,
            Command.Option(name: "--all", short: nil, value: nil, help: "Also the models that are not recommended."),
            Command.Option(
                name: "--catalog", short: nil, value: nil,
                help: "Only what can be downloaded, all of it; with --json as the host's catalogue has it."),
        ],
        subcommands: [ImportCommand.command, OptimizeCommand.command], runsAlone: true,
        run: { invocation in
            let library = ModelLibrary(folders: Folders(root: invocation.text("--root")), resources: Resources())
            if invocation.has("--catalog") {
                listCatalog(library, all: true, json: invocation.has("--json"))
                return .success
            }
            let entries = library.entries
            if invocation.has("--json") {
                Terminal.line(JSONValue.array(entries.map { json($0, library) }).text(.indented))
            } else if entries.isEmpty {
                Terminal.line("There is no model here yet. Put GGUF files into \(library.folders.models).")
            } else {
                let width = entries.map(\.name.count).max() ?? 0
                for entry in entries {
                    let name = entry.name + String(repeating: " ", count: width - entry.name.count)
                    Terminal.line("\(name)  \(megabytes(entry.bytes))  \(describe(entry, library))")
                }
                Terminal.line("\nYour own GGUF files go into \(library.folders.models).")
            }
            if !invocation.has("--json") {
                Terminal.line("")
                listCatalog(library, all: invocation.has("--all"), json: false)
            }
            return .success
        })

    /// What can be downloaded: the recommended first, the rest when it is asked for.
    private static func listCatalog(_ library: ModelLibrary, all: Bool, json: Bool) {
        let services = library.catalogServices()
        let catalog = services.catalog()
        let items = services.items(of: catalog)
        if json {
            Terminal.line(JSONValue.array(items.map { $0.json(download: .null) }).text(.indented))
            return
        }
        let recommended = items.filter(\.isRecommended)
        let rest = items.filter { !$0.isRecommended && (all || $0.status.state == .partial) }
        let width = items.map(\.entry.id.count).max() ?? 0
        if !recommended.isEmpty { Terminal.line("Recommended for this device (bring one with: alcove pull ID):") }
        for item in recommended { show(item, width: width) }
        if !rest.isEmpty { Terminal.line(recommended.isEmpty ? "To download (alcove pull ID):" : "Others:") }
        for item in rest { show(item, width: width) }
        let hidden = items.count - recommended.count - rest.count
        if hidden > 0 { Terminal.line("\(hidden) more with: alcove models --all") }
        for problem in catalog.problems { Terminal.notice("\(problem.path): \(problem.message)") }
    }

    private static func show(_ item: CatalogServices.Item, width: Int) {
        let id = item.entry.id + String(repeating: " ", count: width - item.entry.id.count)
        let state =
            switch item.status.state {
            case .installed: "on this device"
            case .partial: "\(TransferText.bytes(item.status.remainingBytes)) are missing"
            case .notInstalled: "not here"
            }
        let experimental = item.entry.experimental ? " Experimental." : ""
        let notes = item.entry.notes.isEmpty ? "" : " \(item.entry.notes)"
        Terminal.line(
            "  \(id)  \(megabytes(item.entry.requiredBytes))  \(state). \(item.fit.sentence)\(experimental)\(notes)")
    }

    private static func megabytes(_ bytes: UInt64) -> String {
        let text = "\(bytes / 1_000_000) MB"
        return String(repeating: " ", count: max(0, 9 - text.count)) + text
    }

    private static func describe(_ entry: ModelLibrary.Entry, _ library: ModelLibrary) -> String {
        do {
            let about = try ModelFile.about(entry.path) + (entry.isBundled ? ", came with Alcove" : "")
            if let copy = library.fastCopies.copy(ofFile: entry.path) {
                return
                    "\(about), fast copy of \(copy.originalName): reads \(OptimizeCommand.times(copy.measure.prefillGain)), "
                    + "writes \(OptimizeCommand.times(copy.measure.decodeGain)) as quick"
            }
            guard let advice = library.fastCopyAdvice(entry.path), advice.isWorthIt else { return about }
            return about + ". Slow here (\(advice.slowTypes.joined(separator: ", "))): "
                + "alcove models optimize makes a quicker copy"
        } catch {
            return "cannot be used: \((error as? any UserFacingError)?.message ?? "\(error)")"
        }
    }

    private static func json(_ entry: ModelLibrary.Entry, _ library: ModelLibrary) -> JSONValue {
        var object: JSONObject = [
            "name": .string(entry.name), "path": .string(entry.path), "bytes": .integer(Int64(entry.bytes)),
            "bundled": .bool(entry.isBundled), "about": .null, "error": .null,
            "fastCopy": library.fastCopies.copy(ofFile: entry.path)?.json ?? .null,
            "slowTypes": .array(library.fastCopyAdvice(entry.path)?.slowTypes.map { .string($0) } ?? []),
        ]
        do {
            object["about"] = .string(try ModelFile.about(entry.path))
        } catch {
            object["error"] = .string((error as? any UserFacingError)?.message ?? "\(error)")
        }
        return .object(object)
    }
}
