internal import AlcoveCore

/// What a session's stream tells of a turn: `type` and payload of each event, without the envelope, whose numbers belong to
/// the stream. Fed with a turn's events in order from the first.
///
/// The forms are those of the session contract, version 2. Blocks are numbered from 0 within the turn.
struct SessionEvents {
    private enum Block: String { case text, thinking }

    /// The model's name, as `cost.usage.updated` gives it.
    let model: String
    let window: Int?
    private var open: (block: Block, index: Int)?
    private var blocks = 0
    /// Calls that were told of, and those of them that were decided on.
    private var proposed: Set<String> = []
    private var decided: Set<String> = []
    private var running: Set<String> = []
    private var hasUsage = false

    init(model: String, window: Int? = nil) {
        self.model = model
        self.window = window
    }

    mutating func events(_ event: TurnEvent) -> [JSONObject] {
        switch event.body {
        case .inputAccepted: [["type": "turn.started"]]
        case .reasoning(let delta): write(delta, in: .thinking)
        case .text(let delta): write(delta, in: .text)
        case .callParsed(let note): propose(note.id, note.tool, try? JSONValue(parsing: note.arguments))
        case .approvalAsked(let note):
            [["type": "tool.permission.requested", "toolCallId": .string(note.call), "name": .string(note.tool)]]
        case .approvalAnswered(_, let call, let outcome): decide(call, outcome)
        case .toolStarted(let call, _, _):
            decide(call, allows: true, source: "policy") + start(call)
        case .toolOutput(let call, _, let text, _):
            text.isEmpty
                ? [] : [["type": "tool.output.delta", "toolCallId": .string(call), "chunk": .string(text)]]
        case .toolFinished(let note): finish(note)
        case .usage(let usage): cost(usage)
        case .finished(let end): finish(end)
        case .promptProgress, .callWriting, .artifact, .notice, .checkpoint, .replaced: []
        }
    }

    // MARK: Blocks

    private mutating func write(_ delta: String, in block: Block) -> [JSONObject] {
        var events: [JSONObject] = []
        if open?.block != block {
            events = close()
            open = (block, blocks)
            events.append([
                "type": "msg.block.start", "index": JSONValue(blocks), "blockType": .string(block.rawValue),
            ])
            blocks += 1
        }
        events.append([
            "type": .string("msg.\(block.rawValue).delta"), "index": JSONValue(open?.index ?? 0),
            "text": .string(delta),
        ])
        return events
    }

    private mutating func close() -> [JSONObject] {
        guard let block = open else { return [] }
        open = nil
        return [["type": "msg.block.end", "index": JSONValue(block.index)]]
    }

    // MARK: Calls

    private mutating func propose(_ call: String, _ tool: String, _ arguments: JSONValue?) -> [JSONObject] {
        guard proposed.insert(call).inserted else { return [] }
        var event: JSONObject = ["type": "tool.proposed", "toolCallId": .string(call), "name": .string(tool)]
        if let arguments { event["args"] = arguments }
        return close() + [event]
    }

    private mutating func decide(_ call: String, _ outcome: ApprovalOutcome) -> [JSONObject] {
        switch outcome {
        case .allowed, .allowedForChat: decide(call, allows: true, source: "user")
        case .refused: decide(call, allows: false, source: "user")
        // Nobody decided; that no answer means no is the policy.
        case .expired, .withdrawn, .unanswerable: decide(call, allows: false, source: "policy")
        }
    }

    private mutating func decide(_ call: String, allows: Bool, source: String) -> [JSONObject] {
        guard decided.insert(call).inserted else { return [] }
        return [
            [
                "type": "tool.permission.decided", "toolCallId": .string(call),
                "decision": allows ? "allow" : "deny", "decisionSource": .string(source),
            ]
        ]
    }

    private mutating func start(_ call: String) -> [JSONObject] {
        running.insert(call)
        return [["type": "tool.started", "toolCallId": .string(call)]]
    }

    private mutating func finish(_ note: ToolNote) -> [JSONObject] {
        running.remove(note.call)
        var events = propose(note.call, note.tool, nil)
        let id = JSONValue.string(note.call), milliseconds = JSONValue.double((note.seconds * 1_000).rounded())
        let type: String
        switch note.failure {
        case nil:
            return events + [
                [
                    "type": "tool.completed", "toolCallId": id, "durationMs": milliseconds,
                    "content": .string(note.observation), "isError": false,
                ]
            ]
        case .failed:
            // It ran, and what it says is for the model: that is an answer, if a bad one.
            return events + [
                [
                    "type": "tool.completed", "toolCallId": id, "durationMs": milliseconds,
                    "content": .string(note.observation), "isError": true,
                ]
            ]
        case .unknownTool: type = "unknown_tool"
        case .invalidArguments: type = "invalid_args"
        case .timeout: type = "timeout"
        case .aborted: type = "aborted"
        case .notAllowed:
            events += decide(note.call, allows: false, source: "policy")
            type = "aborted"
        }
        events.append([
            "type": "tool.failed", "toolCallId": id, "errorType": .string(type), "message": .string(note.observation),
        ])
        return events
    }

    // MARK: Ends

    private mutating func cost(_ usage: Usage) -> [JSONObject] {
        hasUsage = true
        var event: JSONObject = [
            "type": "cost.usage.updated", "model": .string(model),
            "usage": [
                "inputTokens": JSONValue(usage.promptTokens), "outputTokens": JSONValue(usage.completionTokens),
                "cacheReadInputTokens": JSONValue(usage.reusedTokens),
            ],
        ]
        if let window { event["contextWindowTokens"] = JSONValue(window) }
        return close() + [event]
    }

    private mutating func finish(_ end: TurnEnd) -> [JSONObject] {
        var events = close()
        if !hasUsage, end.usage.completionTokens > 0 { events += cost(end.usage) }
        switch end.reason {
        case .cancelled:
            let reason =
                end.stoppedBy == "time limit" ? "timeout" : running.isEmpty ? "aborted_streaming" : "aborted_tools"
            events.append(["type": "turn.aborted", "reason": .string(reason)])
        case .error:
            events.append([
                "type": "turn.error", "scope": "turn", "recoverable": false,
                "message": .string(end.error ?? "The answer could not be finished."),
            ])
            events.append(["type": "turn.completed", "reason": "model_error"])
        case .stop, .toolCalls, .length, .repetition, .thinkingBudget:
            let reason =
                switch end.stoppedBy {
                case "round limit": "max_tool_rounds"
                case "step limit": "max_turns"
                case "time limit": "timeout"
                case nil: "completed"
                default: "blocking_limit"
                }
            events.append(["type": "turn.completed", "reason": .string(reason)])
        }
        return events
    }
}
