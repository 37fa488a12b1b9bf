internal import AlcoveAgent
internal import AlcoveCore

/// What the model is doing, for whoever waits.
struct QueueRoutes: Sendable {
    let host: HostServices

    func add(to router: inout Router) {
        router.get("/api/queue/status") { _ in .json(await status()) }
    }

    private func status() async -> JSONValue {
        guard let model = await host.model.ready?.model as? any QueuedModel else {
            return ["running": [], "waiting": 0, "places": 0, "turns": JSONValue(await host.turns.runningCount)]
        }
        let queue = model.queue
        return [
            "running": .array(
                queue.running.map { running in
                    let isReading = running.promptDone < running.promptTokens
                    return [
                        "priority": .string(running.priority.rawValue), "state": isReading ? "prompt" : "answer",
                        "promptTokens": JSONValue(running.promptTokens), "promptDone": JSONValue(running.promptDone),
                        "completionTokens": JSONValue(running.completionTokens),
                    ]
                }),
            "waiting": JSONValue(queue.waiting), "places": JSONValue(queue.places),
            "turns": JSONValue(await host.turns.runningCount),
        ]
    }
}
