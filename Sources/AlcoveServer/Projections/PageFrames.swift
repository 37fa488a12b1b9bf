internal import AlcoveCore

/// What the page sees of a turn: frames told apart by which key is present. A pure function of each event.
enum PageFrames {
    /// - Parameter session: Echoed in the last frame.
    static func frames(_ event: TurnEvent, session: String?) -> [JSONValue] {
        switch event.body {
        case .inputAccepted, .usage, .checkpoint, .callParsed: []
        case .promptProgress(let done, let total):
            [["prompt_progress": ["done": JSONValue(done), "total": JSONValue(total)]]]
        case .reasoning(let delta): [["thinking": .string(delta)]]
        case .text(let delta): [["token": .string(delta)]]
        case .replaced(let text): [["replace": .string(text)]]
        case .notice(let sentence): [["notice": .string(sentence)]]
        case .callWriting(let tool, let delta):
            [["tool_progress": "writing", "tool": JSONValue(tool), "text": .string(delta)]]
        case .approvalAsked(let note): [["approval": approval(note)]]
        case .approvalAnswered(let approval, let call, let outcome):
            [
                [
                    "approval_answered": .string(approval), "call": .string(call),
                    "outcome": .string(outcome.rawValue),
                ]
            ]
        case .toolStarted(_, let tool, let detail):
            [["tool_progress": "running", "tool": .string(tool), "detail": .string(detail), "seconds": 0]]
        case .toolOutput(_, let tool, let text, let seconds):
            [
                [
                    "tool_progress": "running", "tool": .string(tool), "text": .string(text),
                    "seconds": .double(seconds),
                ]
            ]
        case .artifact(let note): [["artifact": file(note)]]
        case .toolFinished(let note): [step(note), finished(note)]
        case .finished(let end): [done(end, session: session)]
        }
    }

    static func approval(_ note: ApprovalNote) -> JSONValue {
        [
            "id": .string(note.id), "call": .string(note.call), "tool": .string(note.tool),
            "shown": .string(note.shown), "effect": .string(note.effect), "signature": .string(note.signature),
            "remember": .bool(note.mayBeRemembered), "expires": JSONValue(note.expiresInSeconds),
        ]
    }

    static func file(_ note: ArtifactNote) -> JSONValue {
        ["name": .string(note.name), "bytes": JSONValue(note.bytes), "url": .string(note.url)]
    }

    private static func step(_ note: ToolNote) -> JSONValue {
        [
            "skill_step": .string(note.tool), "agent_id": .null, "skill": .null, "detail": .string(note.detail),
            "ok": .bool(note.succeeded), "round": JSONValue(note.round), "seconds": .double(note.seconds),
            "receipt": JSONValue(note.receipt),
            "files": note.files.isEmpty ? .null : .array(note.files.map(file)),
        ]
    }

    private static func finished(_ note: ToolNote) -> JSONValue {
        ["tool_progress": "finished", "tool": .string(note.tool), "seconds": .double(note.seconds)]
    }

    private static func done(_ end: TurnEnd, session: String?) -> JSONValue {
        let usage = end.usage
        let reused = usage.promptTokens > 0 ? 100 * Double(usage.reusedTokens) / Double(usage.promptTokens) : 0
        return [
            "done": true, "tokenCount": JSONValue(usage.completionTokens), "elapsed": .double(end.elapsedSeconds),
            "tokPerSec": .double(usage.tokensPerSecond), "aborted": .bool(end.reason == .cancelled),
            "truncated": .bool(end.reason.isTruncation), "error": JSONValue(end.error), "sessionId": JSONValue(session),
            "promptTokens": JSONValue(usage.promptTokens), "kvReusedTokens": JSONValue(usage.reusedTokens),
            "kvReusePercent": .double(reused), "kvMissReason": JSONValue(usage.missReason),
            "estimated": .bool(usage.isEstimated),
            "stoppedBy": JSONValue(end.stoppedBy),
            "draftedTokens": JSONValue(usage.draftedTokens), "acceptedTokens": JSONValue(usage.acceptedTokens),
        ]
    }
}
