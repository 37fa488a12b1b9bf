internal import AlcoveAgent
internal import AlcoveCore

/// What the model is doing, for whoever waits.
struct QueueRoutes: Sendable {
    let host: HostServices

    func add(to router: inout Router) {
        router.get("/api/queue/status") { _ in .json(await status()) }
    }

    private func status() async -> JSONValue {
        let queue = (await host.model.ready?.model as? any QueuedModel)?.queue ?? ModelQueue(places: 0)
        let turns = await host.turns.runningCount + host.answers.runningCount
        return [
            "busy": .bool(turns > 0), "processing": JSONValue(turns), "pending_requests": JSONValue(queue.waiting),
            "total_processed": JSONValue(await host.turns.startedCount + host.answers.startedCount - turns),
            "running": .array(queue.running.map(json)), "waiting": JSONValue(queue.waiting),
            "places": JSONValue(queue.places),
        ]
    }

    private func json(_ running: ModelQueue.Running) -> JSONValue {
        [
            "priority": .string(running.priority.rawValue),
            "state": running.promptDone < running.promptTokens ? "prompt" : "answer",
            "promptTokens": JSONValue(running.promptTokens), "promptDone": JSONValue(running.promptDone),
            "completionTokens": JSONValue(running.completionTokens),
        ]
    }
}
