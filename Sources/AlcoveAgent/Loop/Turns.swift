package import AlcoveCore
package import AlcoveStorage

/// The turns of the app: running ones, and finished ones for as long as somebody may still want to read them.
package actor Turns {
    /// How long a finished turn can be read again, in nanoseconds: an hour.
    static let retention: UInt64 = 3_600_000_000_000
    /// How many finished turns are kept at most.
    static let retained = 8

    private let log: TurnLog?
    /// Told of every turn that begins.
    private let watch: @Sendable (Turn) -> Void
    private let now: @Sendable () -> UInt64
    private var turns: [TurnID: Turn] = [:]
    private var order: [TurnID] = []
    /// Turns begun since the program started.
    package private(set) var startedCount = 0

    /// - Parameters:
    ///   - log: Where turns are kept beyond this process; nil keeps them in memory only.
    ///   - watch: Told of every turn that begins.
    ///   - now: Monotonic nanoseconds.
    package init(
        log: TurnLog? = nil, watch: @escaping @Sendable (Turn) -> Void = { _ in },
        now: @escaping @Sendable () -> UInt64 = { Platform.monotonicNanoseconds }
    ) {
        self.log = log
        self.watch = watch
        self.now = now
    }

    /// Starts a turn; those that hold the same key are stopped.
    ///
    /// - Parameters:
    ///   - chat: The saved chat it belongs to, for the log.
    ///   - accept: Called once before the first event, when the model has taken the request and the older turns of the key
    ///     have ended; what it throws refuses the turn. Here the message is kept.
    ///   - record: Called once at the end with what came of it, unless the turn was refused. That another turn took the key
    ///     meanwhile changes nothing: it may still be refused, and then these words would be nowhere. The last event
    ///     appears after it has returned, so that whoever reads that event finds the answer in the store.
    package func start(
        key: String, chat: ChatID? = nil, loop: AgentLoop, request: TurnRequest,
        accept: @escaping @Sendable () async throws -> Void,
        record: @escaping @Sendable (TurnResult) async throws -> Void
    ) -> Turn {
        let older = turns.values.filter { $0.key == key && $0.phase == .running }
        for turn in older { turn.stopSignal.set() }
        forgetOld()
        let id = TurnID()
        let turn = Turn(id: id, key: key, journal: log.map { TurnJournal($0, turn: id) })
        turns[turn.id] = turn
        order.append(turn.id)
        startedCount += 1
        watch(turn)
        let log = log, profile = request.profile?.name ?? "chat"
        Task {
            let ended = await loop.run(request, in: turn) {
                // What they have said is kept before this message is: the store sees one turn of a key after another.
                for turn in older { await turn.waitForEnd() }
                // The message first, then the turn in the log: a turn belongs to a chat that is there.
                try await accept()
                try await log?.begin(id, chat: chat, profile: profile)
            }
            guard var result = ended else { return }
            do {
                try await record(result)
            } catch {
                // The answer is on the screen; the person must know that it is nowhere else.
                result.end.error = "The answer could not be saved: \(sentence(of: error))"
            }
            // In the log first: whoever has seen the last event may end the program.
            await turn.keepEnd(result.end)
            try? await log?.finish(id, Turns.state(of: result.end), reason: result.end.stoppedBy ?? result.end.error)
            turn.finish(result.end)
        }
        return turn
    }

    private static func state(of end: TurnEnd) -> TurnState {
        switch end.reason {
        case .cancelled: .cancelled
        case .error: .failed
        default: .completed
        }
    }

    /// A turn that runs, or ran: from memory, else as the log tells it.
    package func turn(_ id: TurnID) async throws -> Turn? {
        forgetOld()
        if let turn = turns[id] { return turn }
        guard let log, let record = try await log.turn(id) else { return nil }
        var bodies: [TurnEvent.Body] = try await log.events(of: id).compactMap { entry in
            guard let payload = try? JSONValue(parsing: entry.payload) else { return nil }
            return TurnEvent.Body(kind: entry.kind, payload: payload)
        }
        if case .finished? = bodies.last {
        } else {
            // Nothing is done again by itself; what was under way is there to be read.
            let sentence = record.reason ?? TurnResult.programEnded
            bodies.append(
                .finished(TurnEnd(reason: .error, usage: Usage(), elapsedSeconds: 0, error: sentence)))
        }
        return Turn(id: id, key: record.chat?.text ?? "", replaying: bodies, phase: Turns.phase(of: record.state))
    }

    private static func phase(of state: TurnState) -> Turn.Phase {
        switch state {
        case .running, .interrupted, .failed: .failed
        case .completed: .completed
        case .cancelled: .cancelled
        }
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
        let now = now()
        var finished = order.filter { turns[$0]?.finishedAt != nil }
        // Added, not subtracted: a turn may end on its own thread after `now` was read.
        for id in finished where (turns[id]?.finishedAt ?? now) + Turns.retention < now { forget(id) }
        finished.removeAll { turns[$0] == nil }
        for id in finished.dropLast(Turns.retained) { forget(id) }
    }

    private func forget(_ id: TurnID) {
        turns[id] = nil
        order.removeAll { $0 == id }
    }
}
