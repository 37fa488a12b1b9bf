package import AlcoveCore
package import AlcoveStorage

/// What happened in a run, told from its log: moments in their order, counters, failures, and how far it is.
package struct RunStory: Sendable, Hashable {
    package struct Moment: Sendable, Hashable {
        package enum Kind: String, Sendable, Hashable {
            case accepted, notice, asked, answered, started, finished, ended
        }

        package var at: Timestamp
        package var what: Kind
        package var tool: String?
        package var text: String?
        package var succeeded: Bool?
    }

    package struct Failure: Sendable, Hashable {
        package var tool: String
        /// Stable, snake_case.
        package var failure: String
        package var text: String
    }

    package struct Counters: Sendable, Hashable {
        package var rounds = 0, calls = 0, succeeded = 0, failed = 0
        /// Questions to a person, and those that were allowed.
        package var asked = 0, allowed = 0
        package var promptTokens = 0, answerTokens = 0
        package var seconds = 0.0
    }

    package private(set) var moments: [Moment] = []
    package private(set) var failures: [Failure] = []
    package private(set) var counters = Counters()
    /// The last phase that was noted; nil of a turn without tools.
    package private(set) var phase: String?
    /// The tool whose call was under way at the last note.
    package private(set) var activeTool: String?

    /// Most events of a run that are looked at, and most characters of a moment's text.
    package static let eventLimit = 2_000, textLimit = 300

    private var tools: [String: String] = [:]

    /// - Parameter events: In order, as `TurnLog.outline` gives them.
    package init(_ events: [LoggedEvent]) {
        for event in events { take(event, (try? JSONValue(parsing: Array(event.payload.utf8))) ?? .null) }
    }

    private mutating func take(_ event: LoggedEvent, _ payload: JSONValue) {
        let at = event.at
        switch event.kind {
        case "input_accepted": add(at, .accepted)
        case "notice": add(at, .notice, text: payload.string)
        case "call_parsed":
            counters.calls += 1
            counters.rounds = max(counters.rounds, payload["round"]?.int ?? 0)
            if let id = payload["id"]?.string { tools[id] = payload["tool"]?.string }
        case "checkpoint":
            phase = payload["phase"]?.string
            activeTool = payload["call"]?.string.flatMap { tools[$0] }
        case "approval_asked":
            counters.asked += 1
            add(at, .asked, tool: payload["tool"]?.string, text: payload["effect"]?.string)
        case "approval_answered":
            let outcome = payload["outcome"]?.string ?? ""
            let isAllowed = outcome.hasPrefix("allowed")
            if isAllowed { counters.allowed += 1 }
            add(
                at, .answered, tool: payload["call"]?.string.flatMap { tools[$0] }, text: outcome, succeeded: isAllowed)
        case "tool_started": add(at, .started, tool: payload["tool"]?.string, text: payload["detail"]?.string)
        case "tool_finished": finish(payload, at)
        case "finished":
            counters.promptTokens = payload["usage"]?["prompt"]?.int ?? 0
            counters.answerTokens = payload["usage"]?["completion"]?.int ?? 0
            counters.seconds = payload["elapsed"]?.double ?? 0
            (phase, activeTool) = (phase == nil ? nil : "ended", nil)
            add(
                at, .ended,
                text: payload["error"]?.string ?? payload["stopped_by"]?.string ?? payload["reason"]?.string)
        default: break
        }
    }

    private mutating func finish(_ payload: JSONValue, _ at: Timestamp) {
        let succeeded = payload["ok"]?.bool ?? false, tool = payload["tool"]?.string ?? ""
        if succeeded {
            counters.succeeded += 1
        } else {
            counters.failed += 1
            failures.append(
                Failure(
                    tool: tool, failure: payload["failure"]?.string ?? "",
                    text: RunStory.cut(payload["observation"]?.string ?? "")))
        }
        add(at, .finished, tool: tool, text: payload["detail"]?.string, succeeded: succeeded)
    }

    private mutating func add(
        _ at: Timestamp, _ kind: Moment.Kind, tool: String? = nil, text: String? = nil, succeeded: Bool? = nil
    ) {
        moments.append(Moment(at: at, what: kind, tool: tool, text: text.map(RunStory.cut), succeeded: succeeded))
    }

    private static func cut(_ text: String) -> String {
        text.count <= textLimit ? text : String(text.prefix(textLimit - 1)) + "…"
    }

    package var json: JSONObject {
        [
            "phase": JSONValue(phase), "activeTool": JSONValue(activeTool),
            "counters": [
                "rounds": JSONValue(counters.rounds), "calls": JSONValue(counters.calls),
                "succeeded": JSONValue(counters.succeeded), "failed": JSONValue(counters.failed),
                "asked": JSONValue(counters.asked), "allowed": JSONValue(counters.allowed),
                "promptTokens": JSONValue(counters.promptTokens), "answerTokens": JSONValue(counters.answerTokens),
                "seconds": .double(counters.seconds),
            ],
            "failures": .array(
                failures.map {
                    ["tool": .string($0.tool), "failure": .string($0.failure), "text": .string($0.text)]
                }),
            "timeline": .array(
                moments.map {
                    [
                        "at": .string($0.at.iso8601), "what": .string($0.what.rawValue), "tool": JSONValue($0.tool),
                        "text": JSONValue($0.text), "ok": $0.succeeded.map { .bool($0) } ?? .null,
                    ]
                }),
        ]
    }
}
