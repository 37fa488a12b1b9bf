package import AlcoveCore
internal import Synchronization

/// Numbers a turn's events as they happen and writes them behind the caller's back, as many at once as have gathered.
///
/// One turn has one journal, used by the one task that runs the turn. A crash loses at most what was being written, some
/// milliseconds; `flush` before anything with an effect outside.
package final class TurnJournal: Sendable {
    package let turn: TurnID
    private let log: TurnLog
    private let state = Mutex(State())

    private struct State {
        var next: Int64 = 0
        /// Recorded and not yet on the disk.
        var pending: [LoggedEvent] = []
        var writer: Task<Void, any Error>?
        /// After a failed write: how many must have gathered before another is tried unasked.
        var patience = 1
    }

    /// - Parameter first: number of the first event, for a turn that has some.
    package init(_ log: TurnLog, turn: TurnID, first: Int64 = 0) {
        self.log = log
        self.turn = turn
        state.withLock { $0.next = first }
    }

    /// Takes an event and gives it its number. Never waits and never fails: see `flush`.
    @discardableResult
    package func record(kind: String, payload: String) -> Int64 {
        let moment = log.now()
        return state.withLock { state in
            let seq = state.next
            state.next += 1
            state.pending.append(LoggedEvent(seq: seq, at: moment, kind: kind, payload: payload))
            if state.writer == nil, state.pending.count >= state.patience {
                state.writer = Task { try await self.drain() }
            }
            return seq
        }
    }

    /// Returns when all that was recorded before is written.
    ///
    /// - Throws: what the store said; the events are kept, and the next flush tries again.
    package func flush() async throws {
        let writer = state.withLock { state in
            if state.writer == nil, !state.pending.isEmpty { state.writer = Task { try await self.drain() } }
            return state.writer
        }
        try await writer?.value
    }

    private func drain() async throws {
        while true {
            let batch = state.withLock { state in
                if state.pending.isEmpty { state.writer = nil }
                return state.pending
            }
            if batch.isEmpty { return }
            do {
                try await log.append(batch, to: turn)
                state.withLock { state in
                    state.pending.removeFirst(batch.count)
                    state.patience = 1
                }
            } catch {
                state.withLock { state in
                    state.writer = nil
                    state.patience = state.pending.count + 256
                }
                throw error
            }
        }
    }
}
