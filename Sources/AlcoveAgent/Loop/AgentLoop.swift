package import AlcoveCore
package import AlcoveStorage

/// The one loop in which everything acts: asks the model, runs what it calls, and writes down everything that happens.
package struct AgentLoop: Sendable {
    package internal(set) var model: any LanguageModel
    package var tools: ToolRegistry
    package var broker: ApprovalBroker?
    /// Read before every call, so that a change of a switch applies to the very next one.
    package var switches: @Sendable () -> Switches
    /// What the person has allowed for this chat.
    package var grants: Grants
    /// Where receipts and the changes they witness are kept, together; nil keeps nothing.
    package var database: Database?
    package var artifacts: ArtifactStore?
    /// Where the chat's folder is kept as it was before this turn; nil keeps nothing, and nothing can be taken back.
    package var snapshots: WorkspaceSnapshots?
    /// What brings a dead engine back; nil tells its failure as any other.
    package var repair: EngineRepair?
    package var clock: any Clock<Duration>

    package init(
        model: any LanguageModel, tools: ToolRegistry = ToolRegistry(), broker: ApprovalBroker? = nil,
        switches: @escaping @Sendable () -> Switches = { Switches() }, grants: Grants = Grants(),
        database: Database? = nil, artifacts: ArtifactStore? = nil, snapshots: WorkspaceSnapshots? = nil,
        repair: EngineRepair? = nil, clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.model = model
        self.tools = tools
        self.broker = broker
        self.switches = switches
        self.grants = grants
        self.database = database
        self.artifacts = artifacts
        self.snapshots = snapshots
        self.repair = repair
        self.clock = clock
    }

    /// Runs to the end; what happens is in the turn's events, but for the last one, which the caller writes.
    ///
    /// - Parameter accept: Called before the first event; what it throws refuses the turn.
    /// - Returns: nil when the turn was refused before anything was begun.
    func run(
        _ request: TurnRequest, in turn: Turn, accept: @escaping @Sendable () async throws -> Void
    ) async -> TurnResult? {
        let run = AgentRun(loop: self, request: request, turn: turn, accept: accept)
        return await run.run()
    }
}

/// Effects a person has allowed for one chat, for as long as the program runs.
package final class Grants: Sendable {
    private let state = EffectsByChat()

    package init() {}

    package func effects(in key: String) -> Set<ToolEffect> { state.effects(in: key) }
    package func allow(_ effect: ToolEffect, in key: String) {
        if Policy.mayBeRemembered(effect) { state.add(effect, key) }
    }
    package func forget(_ key: String) { state.remove(key) }
}
