internal import AlcoveCore

/// One turn under way: its rounds, its calls, its counters.
///
/// An actor because heartbeats of running tools meet it from other tasks.
actor AgentRun {
    /// Its model changes when the engine had to be made anew.
    var loop: AgentLoop
    let request: TurnRequest
    let turn: Turn
    let accept: @Sendable () async throws -> Void
    let began = Platform.monotonicNanoseconds
    var hasBegun = false
    var result = TurnResult(end: TurnEnd(reason: .error, usage: Usage(), elapsedSeconds: 0))
    var messages: [Message]
    var calls = 0
    var repeats = CallRepeats()
    var hasRepeated = false
    /// Calls that were not made because the very same had been made before.
    var repeatedCalls: Set<String> = []
    var hasSnapshot = false
    /// The model reasoned where none of it is kept.
    var hasDroppedReasoning = false
    var repairs = 0

    init(loop: AgentLoop, request: TurnRequest, turn: Turn, accept: @escaping @Sendable () async throws -> Void) {
        self.loop = loop
        self.request = request
        self.turn = turn
        self.accept = accept
        messages = request.messages
    }

    func run() async -> TurnResult? {
        let deadline = startDeadline()
        let attendance = startAttendance()
        defer {
            deadline?.cancel()
            attendance?.cancel()
        }
        do {
            if let plan = request.plan { try await follow(plan) } else { try await rounds() }
        } catch {
            if !hasBegun {
                turn.refuse(error)
                return nil
            }
            result.end.reason = .error
            // Whoever stopped the turn while an engine was being mended is owed no explanation.
            let isStop = error is CancellationError && turn.stopSignal.isSet
            if !isStop { result.end.error = sentence(of: error) }
        }
        if turn.stopSignal.isSet, result.end.error == nil { result.end.reason = .cancelled }
        finishText()
        result.end.elapsedSeconds = Double(Platform.monotonicNanoseconds - began) / 1e9
        return result
    }

    /// Words where the person would otherwise see nothing.
    func finishText() {
        guard result.text.allSatisfy(\.isWhitespace), result.end.reason != .cancelled, result.end.error == nil else {
            return
        }
        if !result.steps.isEmpty {
            write("_The tools ran; the model wrote nothing about what they found._")
        } else if hasDroppedReasoning {
            write("_The model wrote nothing but its reasoning, which is not kept, so this answer is empty._")
        }
    }

    func reason(_ text: String) {
        result.reasoning += text
        turn.append(.reasoning(text))
    }

    var keepsReasoning: Bool { request.profile?.keepsReasoning ?? true }

    /// A sentence of the host's own beside the reasoning, as a paragraph.
    func remark(_ text: String) {
        guard keepsReasoning else { return turn.append(.notice(text)) }
        reason((result.reasoning.isEmpty ? "" : "\n\n") + text + "\n\n")
    }

    /// A sentence of the host's own in the answer, as a paragraph.
    func note(_ text: String) { write(result.text.isEmpty ? text : "\n\n" + text) }

    func write(_ text: String) {
        result.text += text
        turn.append(.text(text))
    }

    /// Ends a bounded run in time. Waiting for a person counts: a run is foreground work.
    func startDeadline() -> Task<Void, Never>? {
        guard let seconds = request.profile?.seconds else { return nil }
        return Task { [loop, turn] in
            do { try await loop.clock.sleep(for: .seconds(seconds)) } catch { return }
            self.stop(by: "time limit")
            turn.stopSignal.set()
        }
    }

    /// Seconds without anybody who follows a bounded run, after which it ends where the settings say so. A page that is
    /// loaded anew is back sooner.
    static let absence = 5

    func startAttendance() -> Task<Void, Never>? {
        guard request.profile?.steps != nil else { return nil }
        return Task { [loop, turn] in
            var absent = 0
            while absent < AgentRun.absence {
                do { try await loop.clock.sleep(for: .seconds(1)) } catch { return }
                absent = turn.isWatched || !loop.switches().stopsUnattended ? 0 : absent + 1
            }
            self.stop(by: "nobody there")
            turn.stopSignal.set()
        }
    }

    func stop(by reason: String) { if result.end.stoppedBy == nil { result.end.stoppedBy = reason } }

    /// Words of the host's own to the model.
    func tell(_ text: String) {
        var message = Message(role: .user, content: text)
        message.isFromHost = true
        messages.append(message)
    }

    func isOutOfSteps(_ profile: RunProfile) -> Bool { profile.steps.map { calls >= $0 } ?? false }

    func policy(_ profile: RunProfile) -> Policy {
        Policy(profile: profile, switches: loop.switches(), granted: loop.grants.effects(in: turn.key))
    }

    /// Once, before the first event: the message is kept now.
    func begin() async throws {
        guard !hasBegun else { return }
        try await accept()
        hasBegun = true
        turn.append(.inputAccepted(messages: request.messages.count))
        checkpoint(.observe)
    }

    func checkpoint(_ phase: RunPhase, call: String? = nil) {
        guard hasBegun, request.profile != nil else { return }
        turn.append(.checkpoint(phase: phase, call: call))
    }
}
