extension TurnEvent.Body {
    /// Stable name of the kind of event, as the log keeps it.
    public var kind: String {
        switch self {
        case .inputAccepted: "input_accepted"
        case .promptProgress: "prompt_progress"
        case .reasoning: "reasoning"
        case .text: "text"
        case .callWriting: "call_writing"
        case .callParsed: "call_parsed"
        case .approvalAsked: "approval_asked"
        case .approvalAnswered: "approval_answered"
        case .toolStarted: "tool_started"
        case .toolOutput: "tool_output"
        case .toolFinished: "tool_finished"
        case .artifact: "artifact"
        case .notice: "notice"
        case .replaced: "replaced"
        case .usage: "usage"
        case .checkpoint: "checkpoint"
        case .finished: "finished"
        }
    }

    /// The event as the log keeps it; `init(kind:payload:)` reads it back.
    public var payload: JSONValue {
        switch self {
        case .inputAccepted(let messages): ["messages": JSONValue(messages)]
        case .promptProgress(let done, let total): ["done": JSONValue(done), "total": JSONValue(total)]
        case .reasoning(let text), .text(let text), .notice(let text), .replaced(let text): .string(text)
        case .callWriting(let tool, let delta): ["tool": JSONValue(tool), "delta": .string(delta)]
        case .callParsed(let note):
            [
                "id": .string(note.id), "tool": .string(note.tool), "arguments": .string(note.arguments),
                "signature": .string(note.signature), "round": JSONValue(note.round),
            ]
        case .approvalAsked(let note):
            [
                "id": .string(note.id), "call": .string(note.call), "tool": .string(note.tool),
                "shown": .string(note.shown), "effect": .string(note.effect), "signature": .string(note.signature),
                "remember": .bool(note.mayBeRemembered), "expires": JSONValue(note.expiresInSeconds),
            ]
        case .approvalAnswered(let approval, let call, let outcome):
            ["approval": .string(approval), "call": .string(call), "outcome": .string(outcome.rawValue)]
        case .toolStarted(let call, let tool, let detail):
            ["call": .string(call), "tool": .string(tool), "detail": .string(detail)]
        case .toolOutput(let call, let tool, let text, let seconds):
            ["call": .string(call), "tool": .string(tool), "text": .string(text), "seconds": .double(seconds)]
        case .toolFinished(let note):
            [
                "call": .string(note.call), "tool": .string(note.tool), "ok": .bool(note.succeeded),
                "failure": JSONValue(note.failure?.rawValue),
                "detail": .string(note.detail), "observation": .string(note.observation),
                "round": JSONValue(note.round), "seconds": .double(note.seconds), "receipt": JSONValue(note.receipt),
                "files": .array(note.files.map(\.payload)),
            ]
        case .artifact(let note): note.payload
        case .usage(let usage): usage.payload
        case .checkpoint(let phase, let call): ["phase": .string(phase.rawValue), "call": JSONValue(call)]
        case .finished(let end):
            [
                "reason": .string(end.reason.rawValue), "usage": end.usage.payload,
                "elapsed": .double(end.elapsedSeconds), "error": JSONValue(end.error),
                "stopped_by": JSONValue(end.stoppedBy),
            ]
        }
    }

    /// Reads an event back; nil for a kind or a shape that is not known, as of a later version's log.
    public init?(kind: String, payload: JSONValue) {
        switch kind {
        case "input_accepted": self = .inputAccepted(messages: payload["messages"]?.int ?? 0)
        case "prompt_progress":
            guard let done = payload["done"]?.int, let total = payload["total"]?.int else { return nil }
            self = .promptProgress(done: done, total: total)
        case "reasoning", "text", "notice":
            guard let text = payload.string else { return nil }
            self = kind == "text" ? .text(text) : kind == "notice" ? .notice(text) : .reasoning(text)
        case "call_writing": self = .callWriting(tool: payload["tool"]?.string, delta: payload["delta"]?.string ?? "")
        case "call_parsed":
            guard let id = payload["id"]?.string, let tool = payload["tool"]?.string else { return nil }
            self = .callParsed(
                CallNote(
                    id: id, tool: tool, arguments: payload["arguments"]?.string ?? "",
                    signature: payload["signature"]?.string ?? "", round: payload["round"]?.int ?? 0))
        case "approval_asked":
            guard let id = payload["id"]?.string, let call = payload["call"]?.string else { return nil }
            self = .approvalAsked(
                ApprovalNote(
                    id: id, call: call, tool: payload["tool"]?.string ?? "", shown: payload["shown"]?.string ?? "",
                    effect: payload["effect"]?.string ?? "", signature: payload["signature"]?.string ?? "",
                    mayBeRemembered: payload["remember"]?.bool ?? false,
                    expiresInSeconds: payload["expires"]?.int ?? 0))
        case "approval_answered":
            guard let outcome = payload["outcome"]?.string.flatMap(ApprovalOutcome.init(rawValue:)) else { return nil }
            self = .approvalAnswered(
                approval: payload["approval"]?.string ?? "", call: payload["call"]?.string ?? "", outcome)
        case "tool_started":
            self = .toolStarted(
                call: payload["call"]?.string ?? "", tool: payload["tool"]?.string ?? "",
                detail: payload["detail"]?.string ?? "")
        case "tool_output":
            self = .toolOutput(
                call: payload["call"]?.string ?? "", tool: payload["tool"]?.string ?? "",
                text: payload["text"]?.string ?? "", seconds: payload["seconds"]?.double ?? 0)
        case "tool_finished":
            self = .toolFinished(
                ToolNote(
                    call: payload["call"]?.string ?? "", tool: payload["tool"]?.string ?? "",
                    failure: payload["ok"]?.bool == true
                        ? nil : payload["failure"]?.string.flatMap(ToolFailure.init(rawValue:)) ?? .failed,
                    detail: payload["detail"]?.string ?? "",
                    observation: payload["observation"]?.string ?? "", round: payload["round"]?.int ?? 0,
                    seconds: payload["seconds"]?.double ?? 0, receipt: payload["receipt"]?.string,
                    files: (payload["files"]?.array ?? []).map(ArtifactNote.init(payload:))))
        case "artifact":
            self = .artifact(ArtifactNote(payload: payload))
        case "replaced": self = .replaced(text: payload.string ?? "")
        case "usage": self = .usage(Usage(payload: payload))
        case "checkpoint":
            guard let phase = payload["phase"]?.string.flatMap(RunPhase.init(rawValue:)) else { return nil }
            self = .checkpoint(phase: phase, call: payload["call"]?.string)
        case "finished":
            guard let reason = payload["reason"]?.string.flatMap(FinishReason.init(rawValue:)) else { return nil }
            self = .finished(
                TurnEnd(
                    reason: reason, usage: Usage(payload: payload["usage"] ?? .null),
                    elapsedSeconds: payload["elapsed"]?.double ?? 0, error: payload["error"]?.string,
                    stoppedBy: payload["stopped_by"]?.string))
        default: return nil
        }
    }
}

extension ArtifactNote {
    fileprivate var payload: JSONValue {
        ["call": .string(call), "name": .string(name), "bytes": JSONValue(bytes), "url": .string(url)]
    }

    fileprivate init(payload: JSONValue) {
        self.init(
            call: payload["call"]?.string ?? "", name: payload["name"]?.string ?? "",
            bytes: payload["bytes"]?.int ?? 0, url: payload["url"]?.string ?? "")
    }
}

extension Usage {
    var payload: JSONValue {
        [
            "prompt": JSONValue(promptTokens), "reused": JSONValue(reusedTokens),
            "completion": JSONValue(completionTokens), "prompt_seconds": .double(promptSeconds),
            "generation_seconds": .double(generationSeconds), "miss": JSONValue(missReason),
            "drafted": JSONValue(draftedTokens), "accepted": JSONValue(acceptedTokens),
            "estimated": .bool(isEstimated),
        ]
    }

    init(payload: JSONValue) {
        self.init()
        promptTokens = payload["prompt"]?.int ?? 0
        reusedTokens = payload["reused"]?.int ?? 0
        completionTokens = payload["completion"]?.int ?? 0
        promptSeconds = payload["prompt_seconds"]?.double ?? 0
        generationSeconds = payload["generation_seconds"]?.double ?? 0
        missReason = payload["miss"]?.string
        draftedTokens = payload["drafted"]?.int ?? 0
        acceptedTokens = payload["accepted"]?.int ?? 0
        isEstimated = payload["estimated"]?.bool ?? false
    }

    /// Two rounds of one turn: tokens and times add up; the prompt of a turn is its last round's.
    public func adding(_ next: Usage) -> Usage {
        var sum = next
        sum.completionTokens += completionTokens
        sum.draftedTokens += draftedTokens
        sum.acceptedTokens += acceptedTokens
        sum.promptSeconds += promptSeconds
        sum.generationSeconds += generationSeconds
        return sum
    }
}
