internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveStorage

extension HostServices {
    /// Puts what turns had said when the program ended into their chats. For the start, before anybody can read a chat or
    /// send a message. Each turn is one transaction, so that a start that is killed here is finished by the next one.
    ///
    /// - Returns: how many chats have such an answer now.
    @discardableResult
    package func keepCutOffAnswers() async throws -> Int {
        var kept = 0
        for record in try await log.cutOffTurns() {
            let events = try await log.events(of: record.id).compactMap { entry -> TurnEvent.Body? in
                guard let payload = try? JSONValue(parsing: entry.payload) else { return nil }
                return TurnEvent.Body(kind: entry.kind, payload: payload)
            }
            let result = TurnResult.cutOff(after: events, because: record.reason ?? TurnResult.programEnded)
            let end = TurnEvent.Body.finished(result.end).payload
            if try await log.close(record.id, answer: result.answer, end: end) { kept += 1 }
        }
        return kept
    }
}
