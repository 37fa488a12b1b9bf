package import AlcoveCore
internal import Synchronization

/// An answer that was not taken, and why.
package enum ApprovalError: UserFacingError, Equatable {
    /// Unknown, answered already, expired or of another run: an answer counts once, for one exact payload.
    case notWaiting(id: String)
    /// The answer repeats another payload than the one that was shown.
    case otherPayload(id: String)
    case notOffered(id: String)

    package var code: String {
        switch self {
        case .notWaiting: "approval_not_waiting"
        case .otherPayload: "approval_other_payload"
        case .notOffered: "approval_not_offered"
        }
    }

    package var message: String {
        switch self {
        case .notWaiting: "Nobody waits for this answer any more."
        case .otherPayload: "The answer is for another action than the one that was shown."
        case .notOffered: "This action can be allowed once only, not for the whole chat."
        }
    }

    package var place: ErrorPlace {
        switch self {
        case .notWaiting: .missing
        case .otherPayload, .notOffered: .request
        }
    }
}

/// Asks people. Every attached surface sees the same questions; the first answer counts, and no answer means no.
package actor ApprovalBroker {
    /// How long a question waits.
    package static let lifetime: Duration = .seconds(600)

    /// What is being asked, and of which turn.
    package struct Question: Sendable, Hashable {
        package var turn: TurnID
        package var note: ApprovalNote
        /// Monotonic nanoseconds.
        package var askedAt: UInt64

        /// Seconds it still waits.
        package var secondsLeft: Int {
            max(0, note.expiresInSeconds - Int((Platform.monotonicNanoseconds - askedAt) / 1_000_000_000))
        }
    }

    private struct Waiting {
        let question: Question
        let continuation: CheckedContinuation<ApprovalOutcome, Never>
        let timer: Task<Void, Never>
    }

    private let clock: any Clock<Duration>
    private var waiting: [String: Waiting] = [:]
    private var order: [String] = []
    private var surfaces = 0

    package init(clock: any Clock<Duration> = ContinuousClock()) { self.clock = clock }

    /// The questions that wait now, the oldest first.
    package var questions: [Question] { order.compactMap { waiting[$0]?.question } }

    /// A surface that can ask a person is there; balance with `detach`.
    package func attach() { surfaces += 1 }

    /// A surface has left. Questions go on waiting: it may come back, and the clock is running.
    package func detach() { surfaces = max(0, surfaces - 1) }

    package var hasSurface: Bool { surfaces > 0 }

    /// Asks, and waits for the first answer, the end of the time or the end of the turn.
    ///
    /// - Parameter whenAsked: Called when the question can be seen and answered.
    package func ask(
        _ note: ApprovalNote, of turn: TurnID, stop: StopSignal, whenAsked: @Sendable () -> Void
    ) async -> ApprovalOutcome {
        if stop.isSet { return .withdrawn }
        return await withCheckedContinuation { continuation in
            let timer = Task { [clock] in
                do { try await clock.sleep(for: ApprovalBroker.lifetime) } catch { return }
                self.settle(note.id, .expired)
            }
            waiting[note.id] = Waiting(
                question: Question(turn: turn, note: note, askedAt: Platform.monotonicNanoseconds),
                continuation: continuation, timer: timer)
            order.append(note.id)
            whenAsked()
            stop.whenSet { Task { await self.settle(note.id, .withdrawn) } }
        }
    }

    /// A person's answer.
    ///
    /// - Parameters:
    ///   - signature: Repeated from the question: what was shown is what is answered.
    ///   - turn: The turn the surface believes it answers; nil when it does not say.
    /// - Throws: `ApprovalError`; the question then waits on, if it does at all.
    package func answer(
        _ id: String, signature: String, outcome: ApprovalOutcome, turn: TurnID? = nil
    ) throws(ApprovalError) {
        guard let entry = waiting[id], turn == nil || entry.question.turn == turn else { throw .notWaiting(id: id) }
        guard entry.question.note.signature == signature else { throw .otherPayload(id: id) }
        if outcome == .allowedForChat, !entry.question.note.mayBeRemembered { throw .notOffered(id: id) }
        settle(id, outcome)
    }

    private func settle(_ id: String, _ outcome: ApprovalOutcome) {
        guard let entry = waiting.removeValue(forKey: id) else { return }
        order.removeAll { $0 == id }
        entry.timer.cancel()
        entry.continuation.resume(returning: outcome)
    }
}
