package import AlcoveCore
package import AlcoveStorage
internal import Synchronization

/// One message sent and all that comes of it. It belongs to the app: it goes on when whoever reads it leaves, and anyone
/// may read it from any event on, as often as they like.
package final class Turn: Sendable {
    package enum Phase: String, Sendable {
        case running = "Running"
        case completed = "Completed"
        case cancelled = "Cancelled"
        case failed = "Failed"
    }

    package let id: TurnID
    /// Most events in memory; beyond, those so far become one.
    package static let eventLimit = 50_000
    /// What only one turn at a time may hold: a chat, or a session without one.
    package let key: String
    /// Set by whoever wants the turn to stop.
    package let stopSignal = StopSignal()
    private let journal: TurnJournal?
    private let state = Mutex(State())

    private struct State {
        var phase = Phase.running
        /// The newest events, numbered without gaps from that of the first.
        var events: [TurnEvent] = []
        var count: Int { (events.last?.sequence ?? -1) + 1 }
        /// Why nothing was begun; readers at the start get it thrown, so that it can still become a status.
        var refusal: (any Error)?
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextReader = 0
        var finishedAt: UInt64?
        var readers = 0

        /// All events so far become one with the number of the last.
        mutating func collapse() {
            var text = ""
            for event in events {
                switch event.body {
                case .replaced(let before): text = before
                case .text(let delta): text += delta
                default: continue
                }
            }
            events = [TurnEvent(sequence: count - 1, body: .replaced(text: text))]
        }
    }

    /// - Parameter journal: Where the events are kept beyond this process; nil keeps them in memory only.
    package init(id: TurnID = TurnID(), key: String, journal: TurnJournal? = nil) {
        self.id = id
        self.key = key
        self.journal = journal
    }

    /// A turn of an earlier run of the program, as its log tells it.
    init(id: TurnID, key: String, replaying bodies: [TurnEvent.Body], phase: Phase) {
        self.id = id
        self.key = key
        journal = nil
        state.withLock { state in
            state.events = bodies.enumerated().map { TurnEvent(sequence: $0.offset, body: $0.element) }
            state.phase = phase
            state.finishedAt = Platform.monotonicNanoseconds
        }
    }

    package var phase: Phase { state.withLock { $0.phase } }
    /// Events since the beginning, those that are not in memory any more included.
    package var eventCount: Int { state.withLock { $0.count } }
    /// Whether anybody follows it now.
    package var isWatched: Bool { state.withLock { $0.readers > 0 } }
    /// Monotonic nanoseconds at which the turn ended; nil while it runs.
    package var finishedAt: UInt64? { state.withLock { $0.finishedAt } }

    // MARK: Writing, by the loop alone

    func append(_ body: TurnEvent.Body) {
        change { state in
            state.events.append(TurnEvent(sequence: state.count, body: body))
            if state.events.count > Turn.eventLimit { state.collapse() }
            keep(body)
        }
    }

    /// Writes the end to the log, without showing it yet.
    func keepEnd(_ end: TurnEnd) async {
        keep(.finished(end))
        await flush()
    }

    func finish(_ end: TurnEnd) {
        change { state in
            state.events.append(TurnEvent(sequence: state.count, body: .finished(end)))
            state.finishedAt = Platform.monotonicNanoseconds
            switch end.reason {
            case .stop, .toolCalls, .length, .repetition, .thinkingBudget: state.phase = .completed
            case .cancelled: state.phase = .cancelled
            case .error: state.phase = .failed
            }
        }
    }

    func refuse(_ error: any Error) {
        change { state in
            state.refusal = error
            state.phase = .failed
            state.finishedAt = Platform.monotonicNanoseconds
        }
    }

    /// Progress of reading is for those who watch; everything else is evidence.
    private func keep(_ body: TurnEvent.Body) {
        if case .promptProgress = body { return }
        journal?.record(kind: body.kind, payload: body.payload.text())
    }

    /// Returns when everything so far is on the disk. A disk that takes nothing more stops no turn: what was written until
    /// then is evidence, and what could not be says so in the answer's own saving.
    func flush() async { try? await journal?.flush() }

    private func change(_ body: (inout State) -> Void) {
        let woken = state.withLock { state in
            body(&state)
            defer { state.waiting.removeAll() }
            return Array(state.waiting.values)
        }
        for reader in woken { reader.resume() }
    }

    // MARK: Reading

    /// The events from number `start` on, the ones to come included; ends after the last.
    package func events(from start: Int = 0) -> Events {
        Events(turn: self, next: max(0, start), presence: Presence(self))
    }

    /// Somebody who follows the turn, for as long as their sequence is there.
    fileprivate final class Presence: Sendable {
        private let turn: Turn

        init(_ turn: Turn) {
            self.turn = turn
            turn.state.withLock { $0.readers += 1 }
        }

        deinit { turn.state.withLock { $0.readers -= 1 } }
    }

    /// Returns when the turn has ended, however it did.
    package func waitForEnd() async {
        while phase == .running { await change(after: eventCount) }
    }

    package struct Events: AsyncSequence, AsyncIteratorProtocol, Sendable {
        package typealias Element = TurnEvent
        fileprivate let turn: Turn
        fileprivate var next: Int
        fileprivate let presence: Presence

        package func makeAsyncIterator() -> Events { self }

        /// - Throws: the turn's refusal, when nothing was begun.
        package mutating func next() async throws -> TurnEvent? {
            while true {
                switch try turn.look(at: next) {
                case .event(let event):
                    next = event.sequence + 1
                    return event
                case .end: return nil
                case .later: await turn.change(after: next)
                }
                if Task.isCancelled { return nil }
            }
        }
    }

    fileprivate enum Look {
        case event(TurnEvent)
        case end
        case later
    }

    fileprivate func look(at index: Int) throws -> Look {
        try state.withLock { state in
            if let refusal = state.refusal { throw refusal }
            // Whoever asks for what is not there any more is moved to what stands in its place.
            let first = state.count - state.events.count
            if index < state.count { return .event(state.events[max(0, index - first)]) }
            return state.phase == .running ? .later : .end
        }
    }

    /// Waits for the next change, unless it has happened already or the reader leaves.
    fileprivate func change(after index: Int) async {
        let reader = state.withLock { state -> Int in
            defer { state.nextReader += 1 }
            return state.nextReader
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isLate = state.withLock { state -> Bool in
                    if state.phase != .running || state.count > index || Task.isCancelled { return true }
                    state.waiting[reader] = continuation
                    return false
                }
                if isLate { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: reader) }?.resume()
        }
    }
}
