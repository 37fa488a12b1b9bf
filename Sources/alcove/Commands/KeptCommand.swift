internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveStorage
internal import AlcoveWorkspace

/// What the commands on kept things have in common: one call of a tool, and its result as words or as JSON.
enum KeptCommands {
    struct Step {
        enum Shown {
            case list(KeptKind, state: String?, type: String? = nil)
            case newest(KeptKind)
            /// The one item that is meant, as it is now or becomes.
            case named(String, KeptKind?, state: String? = nil)
            case search(String, KeptKind)
            case insights
            /// The tool's own words.
            case words
        }

        var tool: String
        var arguments: JSONObject
        /// The items that `--json` prints.
        var shown: Shown
    }

    static func search(_ tool: String, _ kind: KeptKind, _ text: String) -> Step {
        Step(tool: tool, arguments: ["query": .string(text)], shown: .search(text, kind))
    }

    static func part(
        _ name: String, _ summary: String, argument: (name: String, help: String)? = nil,
        options: [Command.Option] = [], _ make: @escaping @Sendable (Invocation, String) throws -> Step
    ) -> Command {
        Command(
            name: name, summary: summary,
            arguments: argument.map { [Command.Argument(name: $0.name, help: $0.help)] } ?? [],
            options: [CommonOptions.root, CommonOptions.json] + options,
            run: { invocation in
                let step = try make(invocation, invocation.arguments.first ?? "")
                let folders = Folders(root: invocation.text("--root"))
                let database = try await Database.openTold(folder: folders.root)
                do {
                    try await show(
                        step, isJSON: invocation.has("--json"), hasConsent: invocation.has("--yes"), in: database)
                } catch {
                    await database.close()
                    throw error
                }
                await database.close()
                return .success
            })
    }

    private static func show(_ step: Step, isJSON: Bool, hasConsent: Bool, in database: Database) async throws {
        // Found before it changes: afterwards another may have the same name and state.
        var meant: KeptItem?
        if isJSON, case .named(let name, let kind, let state) = step.shown {
            meant = try? await KeptStore(database).find(name, kind: kind, state: state)
        }
        let action = KeptAction(database)
        let preview = try await action.preview(step.tool, step.arguments)
        if let preview, !hasConsent { try await consent(to: preview) }
        let words = try await action.run(step.tool, step.arguments, preview: preview)
        guard isJSON else { return Terminal.line(VisibleText.forTerminal(words)) }
        Terminal.line(try await json(step.shown, words, meant, in: database).text(.indented))
    }

    /// Shows what would be done, and goes on only after a yes.
    private static func consent(to preview: String) async throws {
        Terminal.notice(VisibleText.forTerminal(preview))
        guard Terminal.inputIsTerminal else {
            throw UsageError("Nobody is here to agree, so nothing was deleted.", hint: "--yes agrees beforehand.")
        }
        Terminal.noticePart("[y]es, [n]o: ")
        guard await Terminal.readAnswer().lowercased().hasPrefix("y") else {
            throw InputError(code: "not_agreed", message: "Nothing was deleted.")
        }
    }

    /// Deletes one item, after showing what goes with it.
    static func delete(_ kind: KeptKind?, _ argument: (name: String, help: String)) -> Command {
        part(
            "delete", "Delete one, and what was made of it; both are shown first.", argument: argument, options: [yes]
        ) { _, text in
            var arguments: JSONObject = ["item": .string(text)]
            if let kind { arguments["kind"] = .string(kind.rawValue) }
            return Step(tool: "kept_delete", arguments: arguments, shown: .words)
        }
    }

    private static let yes = Command.Option(
        name: "--yes", short: "y", value: nil, help: "Delete without asking; what goes is not shown then.")

    private static func json(_ shown: Step.Shown, _ words: String, _ meant: KeptItem?, in database: Database)
        async throws -> JSONValue
    {
        let store = KeptStore(database)
        switch shown {
        case .list(let kind, let state, let type):
            return .array(
                try await store.list(kind, state: state, type: type, limit: 10_000).map { .object($0.object) })
        case .newest(let kind):
            // A digest may have been made after it.
            let newest = try await store.list(kind, limit: 2).first { $0.type != KnowledgeType.digest.rawValue }
            return newest.map { .object($0.object) } ?? .null
        case .named:
            guard let meant else { return .null }
            return try await store.item(meant.id).map { .object($0.object) } ?? .null
        case .words: return ["text": .string(words)]
        case .insights:
            let found = try await database.read { try Insights($0, now: .now).all() }
            return .array(found.map { .object($0.object) })
        case .search(let query, let kind):
            let hits = try await WorkspaceSearch(database).search(query, kinds: [kind], limit: 10)
            return .array(
                hits.compactMap { hit in
                    guard case .item(let item) = hit.found else { return nil }
                    var json = item.object
                    json["score"] = .double(hit.signals.score)
                    json["why"] = hit.signals.json
                    return .object(json)
                })
        }
    }
}
