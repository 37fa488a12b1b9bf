internal import AlcoveCore

// Calls: checked, decided on, allowed by a person where that is needed.

extension AgentRun {
    /// - Returns: whether the run goes on.
    func execute(_ answer: RoundAnswer, round: Int, profile: RunProfile) async -> Bool {
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

    func refuse(
        _ call: ToolCall, _ failure: ToolFailure, _ text: String, _ round: Int, detail: String = ""
    ) {
        finish(
            ToolNote(
                call: call.id, tool: call.name, failure: failure, detail: detail, observation: text, round: round,
                seconds: 0, receipt: nil))
    }

    /// Writes down how a call ended and tells the model.
    func finish(_ note: ToolNote) {
        turn.append(.toolFinished(note))
        result.steps.append(note)
        result.places.append(result.text.utf16.count)
        messages.append(
            Message(role: .tool, content: note.observation, toolCallID: note.call, toolName: note.tool))
    }

    func execute(_ call: ToolCall, round: Int, profile: RunProfile) async -> Bool {
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
            repeatedCalls.insert(call.id)
            let text = "This exact call was made already in this run and is not made again. Its result was:\n" + earlier
            refuse(
                call, .notAllowed, Excerpt.middleCut(text, to: checked.tool.observationLimit), round, detail: detail)
            return true
        }
        var preview: String?
        switch policy(profile).decide(checked.tool) {
        case .refused(let sentence):
            refuse(call, .notAllowed, sentence, round, detail: detail)
            return true
        case .needsApproval:
            do {
                preview = try await checked.tool.preview(checked.arguments.value)
            } catch {
                // Nobody is asked about what cannot be done.
                refuse(call, .failed, sentence(of: error), round, detail: detail)
                return true
            }
            let outcome = await approve(checked, preview)
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
        let observation = await perform(checked, round: round, preview: preview)
        if repeats.note(checked.arguments.signature, observation) >= CallRepeats.limit, !profile.refusesDuplicates {
            stop(by: "repeated tool call")
            note("_The same tool was called three times with the same result, so the run was stopped._")
            return false
        }
        return true
    }

    static func words(for outcome: ApprovalOutcome) -> String {
        switch outcome {
        case .refused: "The person refused this action. Do not try it again; go on without it, or ask what they want."
        case .expired: "Nobody answered within ten minutes, so this was not done."
        case .withdrawn: "The run was stopped before anybody answered."
        case .unanswerable: "Nobody is there who could allow this, so it was not done."
        case .allowed, .allowedForChat: ""
        }
    }

    func approve(_ call: CheckedCall, _ preview: String?) async -> ApprovalOutcome {
        let effect = call.tool.effect, text = ApprovalText.make(call) + (preview.map { "\n\n" + $0 } ?? "")
        let note = ApprovalNote(
            id: hexText(Platform.randomBytes(16)), call: call.id, tool: call.tool.declaration.name,
            shown: VisibleText.make(text), effect: effect.words,
            signature: call.arguments.signature,
            mayBeRemembered: Policy.mayBeRemembered(effect) && loop.switches().remembersApprovals,
            expiresInSeconds: Int(ApprovalBroker.lifetime.components.seconds))
        guard let broker = loop.broker else { return .unanswerable }
        checkpoint(.approve, call: call.id)
        let turn = turn
        let outcome = await broker.ask(note, of: turn.id, stop: turn.stopSignal) { turn.append(.approvalAsked(note)) }
        turn.append(.approvalAnswered(approval: note.id, call: call.id, outcome))
        if outcome == .allowedForChat { loop.grants.allow(effect, in: turn.key) }
        return outcome
    }
}
