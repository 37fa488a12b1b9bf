internal import AlcoveCore
internal import AlcoveServer
internal import AlcoveStorage

/// What was done, on the terminal; of a host that runs, from the host.
enum ActivityCommand {
    static let command = Command(
        name: "activity", summary: "List the last runs, or tell one with its timeline, counters and failures.",
        arguments: [
            Command.Argument(
                name: "RUN", help: "One run: its id, or the first six digits of it or more.", isOptional: true)
        ],
        options: [
            CommonOptions.root, CommonOptions.json,
            Command.Option(
                name: "--limit", short: nil, value: "N", help: "Most runs, from 1 to 1000. Default: 20."),
            Command.Option(name: "--stop", short: nil, value: nil, help: "Stop the run, in the host that runs it."),
        ],
        run: { try await run($0) })

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let folders = Folders(root: invocation.text("--root"))
        let limit = try invocation.int("--limit", in: 1...1_000) ?? 20
        let name = invocation.arguments.first, host = RunningHost(folders)
        if invocation.has("--stop") {
            guard let name else { throw UsageError("--stop needs a run.", hint: "Write alcove activity RUN --stop") }
            guard let host else {
                throw InputError(code: "no_host", message: "No Alcove is running, so nothing is.", place: .busy)
            }
            let id = try host.send("GET", "/api/agent/runs/\(try checked(name))")["id"]?.string ?? ""
            let answer = try host.send("POST", "/api/agent/turns/\(id)/stop", [:])
            Terminal.shown(answer["stopped"]?.bool ?? false ? "Stopped \(id.prefix(8))." : "It had ended already.")
            return .success
        }
        let isJSON = invocation.has("--json")
        if let name {
            let run = try await one(try checked(name), host, folders)
            if isJSON { Terminal.shown(run.text(.indented)) } else { ActivityText.show(whole: run) }
            return .success
        }
        let runs = try await list(limit, host, folders)
        if isJSON { Terminal.shown(JSONValue.array(runs).text(.indented)) } else { ActivityText.show(runs) }
        return .success
    }

    private static func list(_ limit: Int, _ host: RunningHost?, _ folders: Folders) async throws -> [JSONValue] {
        if let host { return try host.send("GET", "/api/agent/runs?limit=\(limit)")["runs"]?.array ?? [] }
        return try await reading(folders) { log in
            var runs: [JSONValue] = []
            for run in try await log.recentTurns(limit: limit) {
                runs.append(.object(RunProjection.json(run, try await log.receipts(of: run.id))))
            }
            return runs
        }
    }

    private static func one(_ name: String, _ host: RunningHost?, _ folders: Folders) async throws -> JSONValue {
        if let host { return try host.send("GET", "/api/agent/runs/\(name)") }
        return try await reading(folders) { log in
            guard let record = try await log.turn(named: name) else { throw unknown(name) }
            return .object(try await RunProjection.whole(record, in: log))
        }
    }

    private static func reading<Value: Sendable>(
        _ folders: Folders, _ body: (TurnLog) async throws -> Value
    ) async throws -> Value {
        let database = try await Database.openTold(folder: folders.root)
        do {
            let value = try await body(TurnLog(database))
            await database.close()
            return value
        } catch {
            await database.close()
            throw error
        }
    }

    private static func checked(_ name: String) throws -> String {
        guard (6...32).contains(name.utf8.count), name.allSatisfy({ $0.isHexDigit && !$0.isUppercase }) else {
            throw unknown(name)
        }
        return name
    }

    private static func unknown(_ name: String) -> InputError {
        InputError(
            code: "unknown_run", message: "There is no run \(name.prefix(40)).",
            hint: "alcove activity lists them.", place: .missing)
    }
}

/// Runs in words.
enum ActivityText {
    static func show(_ runs: [JSONValue]) {
        if runs.isEmpty { return Terminal.shown("Nothing has been done yet.") }
        var day = ""
        for run in runs {
            let started = run["startedAt"]?.string ?? ""
            if started.prefix(10) != day {
                day = String(started.prefix(10))
                Terminal.shown(day)
            }
            show(head: run, started)
            for receipt in run["receipts"]?.array ?? [] { show(receipt: receipt) }
        }
    }

    static func show(whole run: JSONValue) {
        show(head: run, run["startedAt"]?.string ?? "")
        let counters = run["counters"] ?? [:]
        let numbers = ["rounds", "calls", "succeeded", "failed", "asked", "allowed", "promptTokens", "answerTokens"]
        Terminal.shown(
            "  " + numbers.map { "\($0) \(counters[$0]?.int ?? 0)" }.joined(separator: ", ")
                + ", seconds \(counters["seconds"]?.text() ?? "0")")
        if let phase = run["phase"]?.string {
            Terminal.shown("  phase \(phase)" + (run["activeTool"]?.string.map { ", in \($0)" } ?? ""))
        }
        for moment in run["timeline"]?.array ?? [] {
            let words = [
                moment["what"]?.string, moment["tool"]?.string, moment["ok"]?.bool.map { $0 ? "ok" : "failed" },
                moment["text"]?.string,
            ]
            Terminal.shown("  \(time(moment["at"])) " + words.compactMap { $0 }.joined(separator: " "))
        }
        for failure in run["failures"]?.array ?? [] {
            Terminal.shown(
                "  failed: \(failure["tool"]?.string ?? "") (\(failure["failure"]?.string ?? "")): \(failure["text"]?.string ?? "")"
            )
        }
        for receipt in run["receipts"]?.array ?? [] { show(receipt: receipt) }
    }

    private static func show(head run: JSONValue, _ started: String) {
        let why = run["reason"]?.string.map { ": \($0)" } ?? ""
        Terminal.shown(
            "  \(started.dropFirst(11).prefix(8)) \(run["profile"]?.string ?? "") \(run["state"]?.string ?? "")\(why) (\((run["id"]?.string ?? "").prefix(8)))"
        )
    }

    private static func show(receipt: JSONValue) {
        let words = ["outcome", "tool", "arguments"].compactMap { receipt[$0]?.string }
        Terminal.shown("    " + words.joined(separator: " "))
    }

    private static func time(_ at: JSONValue?) -> String { String((at?.string ?? "").dropFirst(11).prefix(12)) }
}
