internal import AlcoveCore
internal import Dispatch
internal import AlcoveStorage
internal import AlcoveWorkspace

/// One turn under way: its rounds, its calls, its counters.
///
/// An actor because heartbeats of running tools meet it from other tasks.
actor AgentRun {
    /// Its model changes when the engine had to be made anew.
    private var loop: AgentLoop
    private let request: TurnRequest
    private let turn: Turn
    private let accept: @Sendable () async throws -> Void
    private let began = Platform.monotonicNanoseconds
    private var hasBegun = false
    private var result = TurnResult(end: TurnEnd(reason: .error, usage: Usage(), elapsedSeconds: 0))
    private var messages: [Message]
    private var calls = 0
    private var repeats = CallRepeats()
    private var hasRepeated = false
    private var hasSnapshot = false
    private var repairs = 0

    init(loop: AgentLoop, request: TurnRequest, turn: Turn, accept: @escaping @Sendable () async throws -> Void) {
        self.loop = loop
        self.request = request
        self.turn = turn
        self.accept = accept
        messages = request.messages
    }

    func run() async -> TurnResult? {
        let deadline = startDeadline()
        defer { deadline?.cancel() }
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
    private func finishText() {
        guard result.text.allSatisfy(\.isWhitespace), !result.steps.isEmpty, result.end.reason != .cancelled,
            result.end.error == nil
        else { return }
        write("_The tools ran; the model wrote nothing about what they found._")
    }

    private func reason(_ text: String) {
        result.reasoning += text
        turn.append(.reasoning(text))
    }

    /// A sentence of the host's own beside the reasoning, as a paragraph.
    private func remark(_ text: String) { reason((result.reasoning.isEmpty ? "" : "\n\n") + text + "\n\n") }

    /// A sentence of the host's own in the answer, as a paragraph.
    private func note(_ text: String) { write(result.text.isEmpty ? text : "\n\n" + text) }

    private func write(_ text: String) {
        result.text += text
        turn.append(.text(text))
    }

    /// Ends a bounded run in time. Waiting for a person counts: a run is foreground work.
    private func startDeadline() -> Task<Void, Never>? {
        guard let seconds = request.profile?.seconds else { return nil }
        return Task { [loop, turn] in
            do { try await loop.clock.sleep(for: .seconds(seconds)) } catch { return }
            self.stop(by: "time limit")
            turn.stopSignal.set()
        }
    }

    private func stop(by reason: String) { if result.end.stoppedBy == nil { result.end.stoppedBy = reason } }

    // MARK: Rounds

    private func rounds() async throws {
        guard let profile = request.profile?.forModel else {
            let answer = try await round(1, tools: [], choice: .auto)
            if answer.reason == .repetition { noteRepetition(answer) }
            return
        }
        let limit = loop.switches().runCode ? profile.roundsWithCode : profile.rounds
        var number = 1
        while true {
            checkpoint(.plan)
            let policy = policy(profile)
            let isLast = number > limit || isOutOfSteps(profile)
            let declared = loop.tools.declarations(for: policy, attached: request.attachedFiles)
            let answer = try await round(
                number, tools: declared, choice: isLast ? .none : number == 1 ? request.toolChoice : .auto)
            if turn.stopSignal.isSet { return }
            if answer.reason == .repetition {
                if hasRepeated || isLast { return noteRepetition(answer) }
                hasRepeated = true
                askForAnother(answer, round: number)
                number += 1
                continue
            }
            if answer.calls.isEmpty, answer.broken.isEmpty { return }
            if isLast {
                stop(by: number > limit ? "round limit" : "step limit")
                note("_The limit of this run was reached, so what was still asked for was not done._")
                return
            }
            checkpoint(.execute)
            let goesOn = await execute(answer, round: number, profile: profile)
            checkpoint(.reassess)
            if !goesOn || turn.stopSignal.isSet { return }
            number += 1
            if number > limit || isOutOfSteps(profile) {
                tell("No more tools can be used now. Answer from what you have, and say what is unchecked.")
            }
        }
    }

    // MARK: Explicit commands

    /// Does exactly what was asked, step by step, without the model; the answer is made from the receipts.
    ///
    /// Everything that can be known to be wrong is refused before anything runs. The first step without a receipt of its
    /// success ends the run, and what is left is not tried.
    private func follow(_ plan: CommandPlan) async throws {
        let profile = request.profile ?? .assistant
        try plan.check(limit: profile.steps)
        guard let database = loop.database else {
            throw InputError(code: "no_store", message: "There is no store to work on.")
        }
        var planned: [CheckedCall] = []
        for step in plan.steps {
            let call = ToolCall(
                id: hexText(Platform.randomBytes(16)), name: step.tool,
                arguments: JSONValue.object(step.arguments).text())
            do throws(ToolRegistry.Refusal) {
                let checked = try loop.tools.check(call)
                if case .refused(let sentence) = policy(profile).decide(checked.tool) {
                    throw ToolRegistry.Refusal(failure: .notAllowed, text: sentence)
                }
                planned.append(checked)
            } catch {
                throw InputError(code: "bad_step", message: "\"\(step.words)\" cannot be done: \(error.text)")
            }
        }
        try await begin()
        checkpoint(.plan)
        turn.append(.notice(plan.summary))
        for (index, checked) in planned.enumerated() {
            let call = ToolCall(
                id: checked.id, name: checked.tool.declaration.name,
                arguments: String(decoding: checked.arguments.canonical, as: UTF8.self))
            let goesOn = await execute(call, round: 1, profile: profile)
            checkpoint(.reassess)
            guard goesOn, let note = result.steps.last, note.call == checked.id, note.succeeded, note.receipt != nil,
                !turn.stopSignal.isSet
            else { return try await tellStop(at: index, of: planned, in: database) }
        }
        let receipts = try await receipts(of: planned, in: database)
        guard receipts.count == planned.count else {
            return try await tellStop(at: receipts.count, of: planned, in: database)
        }
        write(receipts.map { $0.observation ?? "" }.joined(separator: "\n\n"))
        result.end.reason = .stop
    }

    /// The receipts of planned calls that succeeded, as the store has them.
    private func receipts(of planned: [CheckedCall], in database: Database) async throws -> [Receipt] {
        var kept = try await TurnLog(database).receipts(of: turn.id)
        return planned.compactMap { checked in
            let place = kept.firstIndex {
                $0.signature == checked.arguments.signature && $0.tool == checked.tool.declaration.name
                    && $0.outcome == "succeeded"
            }
            return place.map { kept.remove(at: $0) }
        }
    }

    /// Says what was done and what was not.
    private func tellStop(at index: Int, of planned: [CheckedCall], in database: Database) async throws {
        let done = try await receipts(of: Array(planned[..<index]), in: database)
        for receipt in done { note(receipt.observation ?? "") }
        let name = planned[index].tool.declaration.name
        var why = result.steps.last { $0.call == planned[index].id }.map { " \($0.observation)" } ?? ""
        // Those words are for a model; here a person reads.
        if why == " " + AgentRun.words(for: .refused) { why = " It was refused." }
        let rest = planned.count - index - 1
        let left =
            rest == 0
            ? "" : " The \(rest == 1 ? "step" : "\(rest) steps") after it \(rest == 1 ? "was" : "were") not tried."
        note("Step \(index + 1) of \(planned.count) (\(name)) was not done.\(why)\(left)")
        if turn.stopSignal.isSet { return }
        stop(by: "step not done")
        result.end.reason = .error
        result.end.error = "Step \(index + 1) of \(planned.count) (\(name)) was not done."
    }

    /// Nothing of a round that went in a circle is done; the model is told what repeated and asked for something else.
    private func askForAnother(_ answer: RoundAnswer, round: Int) {
        let repeated = TextLoop(endOf: answer.written)?.quoted ?? "the same tokens came over and over"
        remark("[The answer repeated itself: \(repeated). Trying once more.]")
        let feedback =
            "Nothing of this was done, because the answer repeated itself: \(repeated). Take a different and shorter way."
        for call in answer.calls { refuse(call, .aborted, feedback, round) }
        if answer.calls.isEmpty { tell(feedback) }
    }

    private func noteRepetition(_ answer: RoundAnswer) {
        let repeated = TextLoop(endOf: answer.written)?.quoted ?? "the same tokens came over and over"
        note("_The answer was ended because it repeated itself: \(repeated)._")
        stop(by: "repetition")
    }

    /// Words of the host's own to the model.
    private func tell(_ text: String) {
        var message = Message(role: .user, content: text)
        message.isFromHost = true
        messages.append(message)
    }

    private func isOutOfSteps(_ profile: RunProfile) -> Bool { profile.steps.map { calls >= $0 } ?? false }

    private func policy(_ profile: RunProfile) -> Policy {
        Policy(profile: profile, switches: loop.switches(), granted: loop.grants.effects(in: turn.key))
    }

    private struct RoundAnswer {
        var text = ""
        var calls: [ToolCall] = []
        var broken: [BrokenToolCall] = []
        var reason = FinishReason.stop
        /// The end of everything the model wrote, reasoning and calls included.
        private(set) var written = ""

        /// Keeps what a search for a loop looks at, at a cost that does not grow with the answer.
        mutating func take(_ delta: String) {
            written += delta
            if written.utf8.count > 8 * TextLoop.window { written = String(written.suffix(TextLoop.window)) }
        }
    }

    /// Asks the model once, and once more without reasoning when reasoning left no room for an answer.
    private func round(_ number: Int, tools: [ToolDeclaration], choice: ToolChoice) async throws -> RoundAnswer {
        let answer = try await attempt(number, tools: tools, choice: choice, thinking: request.thinking)
        guard answer.reason == .thinkingBudget, answer.text.isEmpty, request.thinking, !turn.stopSignal.isSet else {
            return answer
        }
        remark("[The reasoning took all the room it may have; answering without it.]")
        return try await attempt(number, tools: tools, choice: choice, thinking: false)
    }

    /// What it says is shown as it comes.
    private func attempt(
        _ number: Int, tools: [ToolDeclaration], choice: ToolChoice, thinking: Bool
    ) async throws -> RoundAnswer {
        var generation = GenerationRequest(
            messages: messages, tools: tools, toolChoice: choice, thinking: thinking,
            sampling: request.sampling, maxTokens: replyLimit, stopSignal: turn.stopSignal)
        generation.speculates = request.speculates
        try await makeRoom(in: &generation)
        var answer = RoundAnswer()
        let before = (text: result.text, reasoning: result.reasoning)
        while true {
            let closures = loop.repair?.gate.closures ?? 0
            do {
                try await read(generation, into: &answer, round: number)
                break
            } catch {
                generation.messages = try await mended(
                    after: error, closures: closures, answer: &answer, before: before)
            }
        }
        messages.append(
            Message(role: .assistant, content: answer.text.isEmpty ? nil : answer.text, toolCalls: answer.calls))
        if answer.calls.isEmpty, answer.text.isEmpty { messages.removeLast() }
        return answer
    }

    private func read(_ generation: GenerationRequest, into answer: inout RoundAnswer, round number: Int) async throws {
        for try await event in loop.model.generate(generation) {
            try await begin()
            switch event {
            case .promptProgress(let done, let total): turn.append(.promptProgress(done: done, total: total))
            case .chance: break
            case .reasoning(let delta):
                answer.take(delta)
                reason(delta)
            case .text(let delta):
                // What is said after a tool has run is a paragraph of its own.
                if answer.text.isEmpty, number > 1, let last = result.text.last, !last.isNewline { write("\n\n") }
                answer.text += delta
                answer.take(delta)
                write(delta)
            case .toolCallPart(let part):
                answer.take(part.arguments)
                turn.append(.callWriting(tool: part.name, delta: part.arguments))
            case .toolCall(let call): answer.calls.append(call)
            case .brokenToolCall(let broken): answer.broken.append(broken)
            case .notice(let sentence): turn.append(.notice(sentence))
            case .finished(let reason, let usage):
                // The model was taken away for a rebuild that another turn asked for.
                if reason == .cancelled, !turn.stopSignal.isSet, await loop.repair?.tookAway(loop.model) == true {
                    throw EngineRepair.TakenAway()
                }
                answer.reason = reason
                result.end.reason = reason == .toolCalls ? .stop : reason
                result.end.usage = result.end.usage.adding(usage)
                if request.profile != nil { turn.append(.usage(usage)) }
            }
        }
    }

    /// The engine has failed: a new one, and what it is to go on from.
    ///
    /// Neither the fragment nor the wish to go on from it is part of the conversation; only this one request has them.
    ///
    /// - Throws: the failure itself, when it is of another kind, or nothing more may be tried.
    private func mended(
        after error: any Error, closures: Int, answer: inout RoundAnswer, before: (text: String, reasoning: String)
    ) async throws -> [Message] {
        guard let repair = loop.repair, repairs < EngineRepair.retries, !turn.stopSignal.isSet,
            error is EngineRepair.TakenAway
                || BackendFault.isMeant(
                    by: error, gateWasClosed: repair.gate.isClosed || repair.gate.closures > closures)
        else {
            await loop.repair?.note(error, of: loop.model, closuresBefore: closures)
            throw error
        }
        repairs += 1
        loop.model = try await repair.replacement(of: loop.model, stop: turn.stopSignal)
        try await begin()
        let goesOn = answer.calls.isEmpty && answer.broken.isEmpty && Continuation.isPossible(from: answer.text)
        turn.append(
            .notice(
                "The engine stopped working and was restarted; the answer "
                    + (goesOn ? "goes on where it was." : "begins anew.")))
        if goesOn {
            var instruction = Message(role: .user, content: Continuation.instruction)
            instruction.isFromHost = true
            return messages + [Message(role: .assistant, content: answer.text), instruction]
        }
        answer = RoundAnswer()
        result.text = before.text
        result.reasoning = before.reasoning
        turn.append(.replaced(text: before.text))
        return messages
    }

    /// Once, before the first event: the message is kept now.
    private func begin() async throws {
        guard !hasBegun else { return }
        try await accept()
        hasBegun = true
        turn.append(.inputAccepted(messages: request.messages.count))
        checkpoint(.observe)
    }

    private var replyLimit: Int? {
        guard let bound = request.profile?.replyTokens else { return request.maxTokens }
        return min(bound, request.maxTokens ?? bound)
    }

    private func checkpoint(_ phase: RunPhase, call: String? = nil) {
        guard hasBegun, request.profile != nil else { return }
        turn.append(.checkpoint(phase: phase, call: call))
    }

    // MARK: Calls

    /// - Returns: whether the run goes on.
    private func execute(_ answer: RoundAnswer, round: Int, profile: RunProfile) async -> Bool {
        for broken in answer.broken {
            // What was meant as a call is answered like one, so that the model can put it right; and the person sees it.
            turn.append(.notice("A tool call could not be read: \(broken.reason)"))
            tell("Your tool call could not be read: \(broken.reason) Write it again, or answer without it.")
        }
        for (index, call) in answer.calls.enumerated() {
            if turn.stopSignal.isSet { return false }
            guard index < profile.callsPerRound else {
                refuse(
                    call, .notAllowed,
                    "Only \(profile.callsPerRound) calls are run at once; this and later ones were not.", round)
                break
            }
            if isOutOfSteps(profile) {
                refuse(
                    call, .notAllowed, "The run's limit of \(profile.steps ?? 0) steps is reached; this was not done.",
                    round)
                continue
            }
            if await !execute(call, round: round, profile: profile) { return false }
        }
        return true
    }

    private func refuse(
        _ call: ToolCall, _ failure: ToolFailure, _ text: String, _ round: Int, detail: String = ""
    ) {
        finish(
            ToolNote(
                call: call.id, tool: call.name, failure: failure, detail: detail, observation: text, round: round,
                seconds: 0, receipt: nil))
    }

    /// Writes down how a call ended and tells the model.
    private func finish(_ note: ToolNote) {
        turn.append(.toolFinished(note))
        result.steps.append(note)
        result.places.append(result.text.utf16.count)
        messages.append(
            Message(role: .tool, content: note.observation, toolCallID: note.call, toolName: note.tool))
    }

    private func execute(_ call: ToolCall, round: Int, profile: RunProfile) async -> Bool {
        let checked: CheckedCall
        do throws(ToolRegistry.Refusal) {
            checked = try loop.tools.check(call)
        } catch {
            refuse(call, error.failure, error.text, round)
            return true
        }
        let name = checked.tool.declaration.name
        let detail = Excerpt.line(checked.tool.detail(of: checked.arguments.value))
        turn.append(
            .callParsed(
                CallNote(
                    id: call.id, tool: name, arguments: String(decoding: checked.arguments.canonical, as: UTF8.self),
                    signature: checked.arguments.signature, round: round)))
        if profile.refusesDuplicates, let earlier = repeats.result(of: checked.arguments.signature) {
            let text = "This exact call was made already in this run and is not made again. Its result was:\n" + earlier
            refuse(
                call, .notAllowed, Excerpt.middleCut(text, to: checked.tool.observationLimit), round, detail: detail)
            return true
        }
        switch policy(profile).decide(checked.tool) {
        case .refused(let sentence):
            refuse(call, .notAllowed, sentence, round, detail: detail)
            return true
        case .needsApproval:
            let outcome = await approve(checked)
            guard outcome == .allowed || outcome == .allowedForChat else {
                refuse(call, .notAllowed, AgentRun.words(for: outcome), round, detail: detail)
                return outcome != .withdrawn
            }
            // Whatever was switched meanwhile counts.
            if case .refused(let sentence) = policy(profile).decide(checked.tool) {
                refuse(call, .notAllowed, sentence, round, detail: detail)
                return true
            }
        case .allowed: break
        }
        let observation = await perform(checked, round: round)
        if repeats.note(checked.arguments.signature, observation) >= CallRepeats.limit, !profile.refusesDuplicates {
            stop(by: "repeated tool call")
            note("_The same tool was called three times with the same result, so the run was stopped._")
            return false
        }
        return true
    }

    private static func words(for outcome: ApprovalOutcome) -> String {
        switch outcome {
        case .refused: "The person refused this action. Do not try it again; go on without it, or ask what they want."
        case .expired: "Nobody answered within ten minutes, so this was not done."
        case .withdrawn: "The run was stopped before anybody answered."
        case .unanswerable: "Nobody is there who could allow this, so it was not done."
        case .allowed, .allowedForChat: ""
        }
    }

    private func approve(_ call: CheckedCall) async -> ApprovalOutcome {
        let effect = call.tool.effect
        let note = ApprovalNote(
            id: hexText(Platform.randomBytes(16)), call: call.id, tool: call.tool.declaration.name,
            shown: VisibleText.make(ApprovalText.make(call)), effect: effect.words,
            signature: call.arguments.signature, mayBeRemembered: Policy.mayBeRemembered(effect),
            expiresInSeconds: Int(ApprovalBroker.lifetime.components.seconds))
        guard let broker = loop.broker else { return .unanswerable }
        checkpoint(.approve, call: call.id)
        let turn = turn
        let outcome = await broker.ask(note, of: turn.id, stop: turn.stopSignal) { turn.append(.approvalAsked(note)) }
        turn.append(.approvalAnswered(approval: note.id, call: call.id, outcome))
        if outcome == .allowedForChat { loop.grants.allow(effect, in: turn.key) }
        return outcome
    }

    /// Runs a call that may run, keeps its receipt, and tells the model.
    ///
    /// - Returns: what the model was told.
    private func perform(_ call: CheckedCall, round: Int) async -> String {
        calls += 1
        let name = call.tool.declaration.name, detail = Excerpt.line(call.tool.detail(of: call.arguments.value))
        checkpoint(.execute, call: call.id)
        turn.append(.toolStarted(call: call.id, tool: name, detail: detail))
        // What is about to happen is on the disk before it happens: after a crash the log says what was under way.
        await turn.flush()
        await takeSnapshot(before: call.tool.effect)
        let started = Timestamp.now, clock = Platform.monotonicNanoseconds
        let heart = Heartbeat(turn: turn, call: call.id, tool: name, clock: loop.clock)
        let id = ReceiptID()
        var context = ToolContext(
            stop: turn.stopSignal, workspace: request.workspace, switches: loop.switches(), output: { heart.take($0) })
        if loop.database != nil { (context.chat, context.turn, context.receipt) = (ChatID(turn.key), turn.id, id) }
        var outcome = await call.tool.run(call.arguments.value, in: context)
        await heart.finish()
        outcome.text = Excerpt.middleCut(outcome.text, to: call.tool.observationLimit)
        checkpoint(.record, call: call.id)
        var receipt: Receipt? = Receipt(
            id: id, turn: loop.database == nil ? nil : turn.id, tool: name,
            arguments: String(decoding: call.arguments.canonical, as: UTF8.self),
            signature: call.arguments.signature, effect: call.tool.effect.rawValue,
            outcome: turn.stopSignal.isSet ? "stopped" : outcome.succeeded ? "succeeded" : "failed",
            observation: outcome.text, startedAt: started, finishedAt: .now)
        do {
            try await keep(receipt, with: outcome.change)
        } catch {
            receipt = nil
            outcome.succeeded = false
            outcome.text = "It could not be recorded, so nothing of it counts: \(sentence(of: error))"
        }
        let files = await capture(outcome.files, of: call)
        finish(
            ToolNote(
                call: call.id, tool: name, failure: failure(of: outcome), detail: detail, observation: outcome.text,
                round: round, seconds: Double(Platform.monotonicNanoseconds - clock) / 1e9, receipt: receipt?.id.text,
                files: files))
        await turn.flush()
        return outcome.text
    }

    /// Keeps the chat's folder as it is before the turn's first change of it.
    private func takeSnapshot(before effect: ToolEffect) async {
        guard effect == .writesWorkspace || effect == .runsCode, !hasSnapshot, let snapshots = loop.snapshots,
            let workspace = request.workspace
        else { return }
        hasSnapshot = true
        let name = turn.id.text, chat = turn.key
        // Reading and hashing a folder takes as long as the folder is large: not on a thread that others wait for.
        let failure: (any Error)? = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                do {
                    try snapshots.take(of: workspace, chat: chat, name: name)
                    continuation.resume(returning: nil)
                } catch {
                    continuation.resume(returning: error)
                }
            }
        }
        if let failure { turn.append(.notice(sentence(of: failure))) }
    }

    private func failure(of result: ToolResult) -> ToolFailure? {
        result.succeeded ? nil : turn.stopSignal.isSet ? .aborted : result.hasTimedOut ? .timeout : .failed
    }

    /// A change of the store and its receipt are one transaction.
    private func keep(_ receipt: Receipt?, with change: (@Sendable (Transaction) throws -> Void)?) async throws {
        guard let database = loop.database, let receipt else {
            if change != nil { throw InputError(code: "no_store", message: "There is no store to change.") }
            return
        }
        try await database.write { transaction in
            try change?(transaction)
            try transaction.add(receipt)
        }
    }

    private func capture(_ files: [String], of call: CheckedCall) async -> [ArtifactNote] {
        guard let store = loop.artifacts, let workspace = request.workspace, !files.isEmpty else { return [] }
        let notes = store.capture(files, from: workspace, turn: turn.id, call: call.id)
        for note in notes { turn.append(.artifact(note)) }
        result.artifacts += notes
        return notes
    }

    // MARK: Room

    /// Measures the prompt against the engine's real window, and makes room once, visibly, when it does not fit.
    private func makeRoom(in generation: inout GenerationRequest) async throws {
        let compaction = Compaction(model: loop.model)
        guard let smaller = try await compaction.compacted(generation) else { return }
        generation.messages = smaller.messages
        messages = smaller.messages
        try await begin()
        turn.append(
            .notice(
                "The conversation needs \(smaller.needed) tokens and the model holds \(compaction.window) with room for "
                    + "an answer, so \(smaller.what) left out of what the model sees."))
    }
}
