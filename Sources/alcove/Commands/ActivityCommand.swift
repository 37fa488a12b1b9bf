internal import AlcoveCore
internal import AlcoveStorage

/// What was done, on the terminal.
enum ActivityCommand {
    static let command = Command(
        name: "activity", summary: "List the last runs with what they did.",
        discussion: "A host that is running has the root folder; look at its page, or end it first.",
        options: [CommonOptions.root, CommonOptions.json, limit],
        run: { invocation in
            let limit = try invocation.int("--limit", in: 1...1_000) ?? 20
            let database = try await Database.open(folder: Folders(root: invocation.text("--root")).root)
            do {
                let log = TurnLog(database)
                var runs: [(TurnRecord, [Receipt])] = []
                for run in try await log.recentTurns(limit: limit) {
                    runs.append((run, try await log.receipts(of: run.id)))
                }
                if invocation.has("--json") {
                    Terminal.line(JSONValue.array(runs.map(json)).text(.indented))
                } else if runs.isEmpty {
                    Terminal.line("Nothing has been done yet.")
                } else {
                    for (run, receipts) in runs { show(run, receipts) }
                }
            } catch {
                await database.close()
                throw error
            }
            await database.close()
            return .success
        })

    private static let limit = Command.Option(
        name: "--limit", short: nil, value: "N", help: "Most runs, from 1 to 1000. Default: 20.")

    private static func show(_ run: TurnRecord, _ receipts: [Receipt]) {
        let why = run.reason.map { ": \($0)" } ?? ""
        Terminal.line("\(run.startedAt.iso8601) \(run.profile) \(run.state.rawValue)\(why) (\(run.id.text.prefix(8)))")
        for receipt in receipts { Terminal.line("  \(receipt.outcome) \(receipt.tool) \(receipt.arguments)") }
    }

    private static func json(_ run: TurnRecord, _ receipts: [Receipt]) -> JSONValue {
        [
            "id": .string(run.id.text), "conversation": JSONValue(run.chat?.text), "profile": .string(run.profile),
            "state": .string(run.state.rawValue), "startedAt": .string(run.startedAt.iso8601),
            "finishedAt": JSONValue(run.finishedAt?.iso8601), "reason": JSONValue(run.reason),
            "receipts": .array(
                receipts.map {
                    [
                        "id": .string($0.id.text), "tool": .string($0.tool), "arguments": .string($0.arguments),
                        "effect": .string($0.effect), "outcome": .string($0.outcome),
                        "observation": JSONValue($0.observation), "startedAt": .string($0.startedAt.iso8601),
                        "finishedAt": .string($0.finishedAt.iso8601),
                    ]
                }),
        ]
    }
}
