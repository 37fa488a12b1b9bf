import Testing

@testable import AlcoveAgent

struct RunLimitsTests {
    @Test func aPersonsLimitsBoundOnlyWhatIsBounded() {
        var limits = RunLimits()
        (limits.steps, limits.rounds, limits.seconds, limits.replyTokens) = (7, 5, 60, 99)

        let assistant = RunProfile.assistant.limited(by: limits)
        #expect(assistant.steps == 7 && assistant.rounds == 5 && assistant.roundsWithCode == 5)
        #expect(assistant.seconds == 60 && assistant.replyTokens == 99 && assistant.callsPerRound == 7)
        #expect(RunProfile.agent.limited(by: limits) == .agent)
        #expect(RunProfile.assistant.limited(by: RunLimits()) == .assistant)
    }

    /// Limits that were changed once gave the model of a bounded run every effect of its profile.
    @Test func otherLimitsOpenNothingToTheModel() {
        var limits = RunLimits()
        limits.steps = 7

        #expect(RunProfile.assistant.limited(by: limits).forModel.effects == [.reads])
    }

    @Test(arguments: [(true, Policy.Decision.allowed), (false, .needsApproval)])
    func whatWasAllowedForAChatHoldsWhileThatIsSwitchedOn(_ isOn: Bool, _ expected: Policy.Decision) {
        var switches = Switches()
        switches.remembersApprovals = isOn

        let policy = Policy(profile: .agent, switches: switches, granted: [.writesWorkspace])
        #expect(policy.decide(.writesWorkspace) == expected)
        #expect(policy.decide(.reads) == .allowed && policy.decide(.runsCode) == .needsApproval)
    }
}
