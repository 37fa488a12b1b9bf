internal import AlcoveCore
internal import AlcoveServer
internal import AlcoveStorage

/// The settings, on the terminal.
enum SettingsCommand {
    static let command = Command(
        name: "settings", summary: "Show the settings, or change one.",
        discussion: """
            Without arguments all of them. A value is JSON, or plain text: `alcove settings assistantSteps 5`, `alcove \
            settings systemPrompt "Answer in Latin."`, `alcove settings systemPrompt null`. A host that runs is told at once.
            """,
        arguments: [
            Command.Argument(name: "KEY", help: "The setting's name.", isOptional: true),
            Command.Argument(name: "VALUE", help: "What it becomes.", isOptional: true),
        ],
        options: [CommonOptions.root, CommonOptions.json],
        run: { try await run($0) })

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let words = invocation.arguments
        if let name = words.first, SettingKey(rawValue: name) == nil { throw unknown(name) }
        let folders = Folders(root: invocation.text("--root"))
        let change: JSONObject? = words.count > 1 ? [words[0]: value(words[1])] : nil
        let settings = try await settings(folders, change)
        if let name = words.first {
            Terminal.shown(shown(settings[name] ?? .null, isJSON: invocation.has("--json")))
        } else if invocation.has("--json") {
            Terminal.shown(JSONValue.object(settings).text(.indented))
        } else {
            for key in SettingKey.allCases {
                Terminal.shown("\(key.rawValue) = \((settings[key.rawValue] ?? .null).text()) (\(key.takesEffect))")
            }
        }
        return .success
    }

    private static func settings(_ folders: Folders, _ change: JSONObject?) async throws -> JSONObject {
        if let host = RunningHost(folders) {
            let answer = try host.send(
                change == nil ? "GET" : "PATCH", "/api/agent/settings", change.map { .object($0) })
            return answer.object ?? JSONObject()
        }
        let database = try await Database.openTold(folder: folders.root)
        do {
            let board = SettingsBoard(SettingsStore(database))
            try await board.restore()
            if let change { try await board.change { try $0.changing(change) } }
            await database.close()
            return board.current.json
        } catch {
            await database.close()
            throw error
        }
    }

    private static func value(_ text: String) -> JSONValue {
        (try? JSONValue(parsing: Array(text.utf8))) ?? .string(text)
    }

    private static func shown(_ value: JSONValue, isJSON: Bool) -> String {
        isJSON ? value.text() : value.string ?? value.text()
    }

    private static func unknown(_ name: String) -> UsageError {
        UsageError(
            "There is no setting \"\(name.prefix(80))\".",
            hint: "They are \(SettingKey.allCases.map(\.rawValue).joined(separator: ", ")).")
    }
}
