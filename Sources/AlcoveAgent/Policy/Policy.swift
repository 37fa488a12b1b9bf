internal import AlcoveCore

/// Decides on a call: by its effect, the switches, the profile and what the person has allowed for this chat.
package struct Policy: Sendable {
    package enum Decision: Sendable, Hashable {
        case allowed
        case needsApproval
        /// The sentence goes to the model and to the person; it names the switch or the rule.
        case refused(String)
    }

    package var profile: RunProfile
    package var switches: Switches
    /// Effects the person has allowed for this chat.
    package var granted: Set<ToolEffect>

    package init(profile: RunProfile, switches: Switches, granted: Set<ToolEffect> = []) {
        self.profile = profile
        self.switches = switches
        self.granted = granted
    }

    package func decide(_ effect: ToolEffect) -> Decision {
        guard profile.effects.contains(effect) else {
            return .refused("A run of the profile \"\(profile.name)\" does nothing that \(effect.words).")
        }
        if effect == .runsCode, !switches.runCode {
            return .refused("Running code is switched off (Settings, Run code).")
        }
        if effect == .network, !switches.network {
            return .refused("Network access is switched off (Settings, Network).")
        }
        if profile.allowed.contains(effect) { return .allowed }
        if granted.contains(effect), switches.remembersApprovals, Policy.mayBeRemembered(effect) { return .allowed }
        return .needsApproval
    }

    /// Decides on a tool: some belong to certain profiles only.
    package func decide(_ tool: any Tool) -> Decision {
        if let profiles = tool.profiles, !profiles.contains(profile.name) {
            return .refused(
                "The tool \(tool.declaration.name) is not there in a run of the profile \"\(profile.name)\".")
        }
        return decide(tool.effect)
    }

    /// Only what can be undone or harms nobody may be allowed for a whole chat: never deletions, never the
    /// network, never a calendar.
    package static func mayBeRemembered(_ effect: ToolEffect) -> Bool {
        switch effect {
        case .reads, .writesWorkspace: true
        case .writesStore, .deletesFromStore, .readsCalendar, .network, .runsCode: false
        }
    }
}
