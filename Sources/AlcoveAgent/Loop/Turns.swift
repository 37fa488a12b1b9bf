package import AlcoveCore

/// The turns of the app: running ones, and finished ones for as long as somebody may still want to read them.
package actor Turns {
    /// How long a finished turn can be read again, in nanoseconds: an hour.
    static let retention: UInt64 = 3_600_000_000_000
    /// How many finished turns are kept at most.
    static let retained = 8

    private var turns: [TurnID: Turn] = [:]
    private var order: [TurnID] = []
    /// Turns begun since the program started.
    package private(set) var startedCount = 0

    package init() {}

    /// Starts a turn; those that hold the same key are stopped.
    ///
    /// - Parameters:
    ///   - accept: Called once before the first event, when the model has taken the request and the older turns of the key
    ///     have ended; what it throws refuses the turn. Here the message is kept.
    ///   - record: Called once at the end with what came of it, unless the turn was refused. That another turn took the key
    ///     meanwhile changes nothing: it may still be refused, and then these words would be nowhere. The last event
    ///     appears after it has returned, so that whoever reads that event finds the answer in the store.
    package func start(
        key: String, loop: AgentLoop, request: TurnRequest,
        accept: @escaping @Sendable () async throws -> Void,
        record: @escaping @Sendable (TurnResult) async throws -> Void
    ) -> Turn {
        let older = turns.values.filter { $0.key == key && $0.phase == .running }
        for turn in older { turn.stopSignal.set() }
        forgetOld()
        let turn = Turn(key: key)
        turns[turn.id] = turn
        order.append(turn.id)
        startedCount += 1
        Task {
            let ended = await loop.run(request, in: turn) {
                // What they have said is kept before this message is: the store sees one turn of a key after another.
                for turn in older { await turn.waitForEnd() }
                try await accept()
            }
            guard var result = ended else { return }
            do {
                try await record(result)
            } catch {
                // The answer is on the screen; the person must know that it is nowhere else.
                result.end.error = "The answer could not be saved: \(sentence(of: error))"
            }
            turn.finish(result.end)
        }
        return turn
    }

    package func turn(_ id: TurnID) -> Turn? {
        forgetOld()
        return turns[id]
    }

    /// The newest turn of a key.
    package func latest(for key: String) -> Turn? {
        forgetOld()
        return order.last { turns[$0]?.key == key }.flatMap { turns[$0] }
    }

    /// Stops everything; returns when all turns have written their ends.
    package func stopAll() async {
        for turn in turns.values where turn.phase == .running { turn.stopSignal.set() }
        for turn in turns.values where turn.phase == .running { await turn.waitForEnd() }
    }

    /// Turns that run now.
    package var runningCount: Int { turns.values.count { $0.phase == .running } }

    private func forgetOld() {
        let now = Platform.monotonicNanoseconds
        var finished = order.filter { turns[$0]?.finishedAt != nil }
        for id in finished where now - (turns[id]?.finishedAt ?? now) > Turns.retention { forget(id) }
        finished.removeAll { turns[$0] == nil }
        for id in finished.dropLast(Turns.retained) { forget(id) }
    }

    private func forget(_ id: TurnID) {
        turns[id] = nil
        order.removeAll { $0 == id }
    }
}
