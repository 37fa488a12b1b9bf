internal import AlcoveCore

// Rounds: the model is asked, what it asked for is done, and it is asked again, up to a limit.

extension AgentRun {
    func rounds() async throws {
        guard let profile = request.profile?.forModel else {
            let answer = try await round(1, tools: [], choice: .auto)
            if answer.reason == .repetition { noteRepetition(answer) }
            return
        }
        let limit = loop.switches().runCode ? profile.roundsWithCode : profile.rounds
        var number = 1, hasWhatItNeeds = false
        while true {
            checkpoint(.plan)
            let policy = policy(profile)
            let isLast = number > limit || isOutOfSteps(profile) || hasWhatItNeeds
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
            hasWhatItNeeds = profile.refusesDuplicates && isSatisfied(by: number)
            number += 1
            if number > limit || isOutOfSteps(profile) {
                tell("No more tools can be used now. Answer from what you have, and say what is unchecked.")
            }
        }
    }

    /// Whether there is nothing to do but to answer after a round: the call that was required has succeeded, or all the
    /// model asked for was what it has already. A small model goes on calling as long as it may, and says nothing then.
    func isSatisfied(by round: Int) -> Bool {
        let steps = result.steps.filter { $0.round == round }
        if request.toolChoice == .required, round == 1, steps.contains(where: \.succeeded) { return true }
        return !steps.isEmpty && steps.allSatisfy { repeatedCalls.contains($0.call) }
    }

    /// Nothing of a round that went in a circle is done; the model is told what repeated and asked for something else.
    func askForAnother(_ answer: RoundAnswer, round: Int) {
        let repeated = TextLoop(endOf: answer.written)?.quoted ?? "the same tokens came over and over"
        remark("[The answer repeated itself: \(repeated). Trying once more.]")
        let feedback =
            "Nothing of this was done, because the answer repeated itself: \(repeated). Take a different and shorter way."
        for call in answer.calls { refuse(call, .aborted, feedback, round) }
        if answer.calls.isEmpty { tell(feedback) }
    }

    func noteRepetition(_ answer: RoundAnswer) {
        let repeated = TextLoop(endOf: answer.written)?.quoted ?? "the same tokens came over and over"
        note("_The answer was ended because it repeated itself: \(repeated)._")
        stop(by: "repetition")
    }
}
