import AlcoveCore
import AlcoveStorage
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

    /// Reasoning is asked for by the request, and by models that reason whatever they are asked.
    @Test func aBoundedRunNeitherAsksForReasoningNorKeepsIt() async throws {
        let bench = try await RunBench()
        let model = ScriptedModel(answers: [[.reasoning("The person's secret is 7."), .text("Done.")]])
        let turn = try await bench.start(model, profile: .assistant, tools: [ProbeTool()], thinking: true)
        var events: [TurnEvent.Body] = []
        for try await event in turn.events() { events.append(event.body) }

        #expect(model.requests.map(\.thinking) == [false])
        #expect(events.text == "Done." && events.reasoning.isEmpty)
        let log = try await TurnLog(bench.database).events(of: turn.id)
        #expect(!log.isEmpty && log.allSatisfy { !$0.payload.contains("secret") })
    }

    @Test(arguments: [
        (
            RunProfile.assistant,
            "_The model wrote nothing but its reasoning, which is not kept, so this answer is empty._"
        ),
        (RunProfile.agent, ""),
    ])
    func anAnswerOfReasoningAloneIsEmptyAndSaysSo(_ profile: RunProfile, _ expected: String) async throws {
        let bench = try await RunBench()
        let (events, _, _) = try await bench.run([[.reasoning("Hm.")]], profile: profile, tools: [ProbeTool()])

        #expect(events.text == expected)
    }
}
