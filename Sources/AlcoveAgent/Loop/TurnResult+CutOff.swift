package import AlcoveCore

extension TurnResult {
    /// Why a turn ended that has no reason of its own in the log.
    package static let programEnded = "The program ended while this turn was running."

    /// What a turn had come to when the program ended, as its events tell it. A tool that ran then is a step that failed:
    /// nobody knows how far it came.
    package static func cutOff(after events: [TurnEvent.Body], because sentence: String) -> TurnResult {
        var result = TurnResult(end: TurnEnd(reason: .error, usage: Usage(), elapsedSeconds: 0, error: sentence))
        result.isCutOff = true
        var running: (call: String, tool: String, detail: String)?
        for event in events {
            switch event {
            case .text(let delta): result.text += delta
            case .replaced(let text): result.text = text
            case .reasoning(let delta): result.reasoning += delta
            case .usage(let usage): result.end.usage = result.end.usage.adding(usage)
            case .artifact(let note): result.artifacts.append(note)
            case .toolStarted(let call, let tool, let detail): running = (call, tool, detail)
            case .toolFinished(let note):
                running = nil
                result.add(note)
            default: continue
            }
        }
        if let running {
            result.add(
                ToolNote(
                    call: running.call, tool: running.tool, failure: .aborted, detail: running.detail,
                    observation: "The program ended while this ran.", round: 0, seconds: 0, receipt: nil))
        }
        return result
    }

    private mutating func add(_ note: ToolNote) {
        steps.append(note)
        places.append(text.utf16.count)
    }
}
