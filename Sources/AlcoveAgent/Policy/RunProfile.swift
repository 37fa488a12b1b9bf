/// How far a bounded run may go, as a person can set it.
package struct RunLimits: Sendable, Hashable {
    /// Rounds of the model that may call tools.
    package var rounds = 3
    /// Tool calls of a run, and steps of a plan.
    package var steps = 3
    /// Wall-clock seconds of a run.
    package var seconds = 300
    /// Tokens of one reply.
    package var replyTokens = 256

    package static let roundsRange = 1...20, stepsRange = 1...20, secondsRange = 10...3_600
    package static let replyTokensRange = 16...8_192

    package init() {}
}

/// The limits a run is held to.
package struct RunProfile: Sendable, Hashable {
    package var name: String
    /// Rounds of the model that may call tools.
    package var rounds: Int
    /// Rounds when code may run: work with files takes more steps.
    package var roundsWithCode: Int
    package var callsPerRound: Int
    /// Tool calls of the whole run; nil is rounds times calls.
    package var steps: Int?
    /// Wall-clock seconds of the whole run, waiting for a person not counted; nil is none.
    package var seconds: Double?
    /// Most tokens of one reply; nil is the request's own limit.
    package var replyTokens: Int?
    /// Whether a call like an earlier one is refused (bounded runs), or stops the run at the third equal result.
    package var refusesDuplicates: Bool
    /// Whether the model may reason where others see it. Where not, none is asked for, and what comes all the same is dropped.
    package var keepsReasoning: Bool
    /// Effects the profile offers at all.
    package var effects: Set<ToolEffect>
    /// Effects a person need not be asked about.
    package var allowed: Set<ToolEffect>

    /// Bounded foreground work on what is kept here: three steps, five minutes, short replies.
    package static let assistant = RunProfile(
        name: "assistant", rounds: 3, roundsWithCode: 3, callsPerRound: 3, steps: 3, seconds: 300, replyTokens: 256,
        refusesDuplicates: true, keepsReasoning: false,
        effects: [.reads, .writesStore, .deletesFromStore, .readsCalendar],
        allowed: [.reads])

    /// Open work in a workspace.
    package static let agent = RunProfile(
        name: "agent", rounds: 8, roundsWithCode: 24, callsPerRound: 8, steps: nil, seconds: nil, replyTokens: nil,
        refusesDuplicates: false, keepsReasoning: true, effects: Set(ToolEffect.allCases), allowed: [.reads])

    /// What a model may do in a run of this profile: in a bounded run, only look. Changes are for explicit commands.
    package var forModel: RunProfile {
        guard name == RunProfile.assistant.name else { return self }
        var profile = self
        profile.effects = [.reads]
        return profile
    }

    /// The profile with a person's own limits, where it is bounded at all.
    package func limited(by limits: RunLimits) -> RunProfile {
        guard steps != nil else { return self }
        var profile = self
        (profile.rounds, profile.roundsWithCode, profile.callsPerRound) = (limits.rounds, limits.rounds, limits.steps)
        (profile.steps, profile.seconds, profile.replyTokens) = (
            limits.steps, Double(limits.seconds), limits.replyTokens
        )
        return profile
    }

    package static func named(_ name: String) -> RunProfile? { [assistant, agent].first { $0.name == name } }
}
