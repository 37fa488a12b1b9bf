package import AlcoveCore

/// Brings an engine back whose backend has died: unloads, makes the backend anew, loads again, a few times a launch.
package actor EngineRepair {
    /// Why there was no repair, in sentences for people.
    package enum Failure: UserFacingError, Hashable {
        /// Everything was tried that may be tried in one launch.
        case usedUp(times: Int)
        case notLoaded

        package var code: String {
            switch self {
            case .usedUp: "engine_repair_used_up"
            case .notLoaded: "engine_not_loaded"
            }
        }

        package var message: String {
            switch self {
            case .usedUp(let times): "The engine has failed again, after it was restarted \(times) times."
            case .notLoaded: "The engine has failed, and there is no model to load again."
            }
        }

        package var hint: String? { "End Alcove and start it again; what was written is kept." }
    }

    /// Ends the reading of an answer whose model went away for somebody else's sake.
    struct TakenAway: Error, CustomStringConvertible {
        var description: String { "The engine was restarted while it answered" }
    }

    /// Before the first, second and third rebuild of a launch.
    package static let pauses: [Duration] = [.zero, .seconds(15), .seconds(60)]
    /// Most retries of one turn.
    package static let retries = 2

    package nonisolated let gate: ComputeGate
    private let host: ModelHost
    private let rebuild: @Sendable () async throws -> Void
    private let settle: @Sendable () async -> Void
    private let clock: any Clock<Duration>
    /// Rebuilds of this launch.
    package private(set) var rebuilds = 0
    /// The backend has died and nobody has mended it yet.
    package private(set) var isDead = false
    private var underWay: Climb?
    /// Models that were taken away from answers which may not know it yet.
    private var taken: [Taken] = []

    private struct Taken { weak var model: AnyObject? }

    /// One rebuild, for all who wait for it. Touched by the actor alone.
    private final class Climb {
        /// Set when nobody waits any more.
        let stop = StopSignal()
        let ended = StopSignal()
        var waiting = 0
        var failure: (any Error)?
    }

    /// - Parameters:
    ///   - rebuild: Frees the backend and makes it anew. Loading weights again alone repairs nothing.
    ///   - settle: Ends what computes without being asked for, such as a warm-up.
    package init(
        host: ModelHost, gate: ComputeGate, rebuild: @escaping @Sendable () async throws -> Void,
        settle: @escaping @Sendable () async -> Void = {}, clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.host = host
        self.gate = gate
        self.rebuild = rebuild
        self.settle = settle
        self.clock = clock
    }

    /// How many wait for the rebuild under way.
    package var waiting: Int { underWay?.waiting ?? 0 }

    /// Looks at a failure that nobody retries: the engine is dead, unless another has taken its place already.
    package func note(_ error: any Error, of model: any LanguageModel, closuresBefore closures: Int) async {
        guard isMeant(by: error, closures), await host.ready.map({ EngineRepair.isSame($0.model, model) }) ?? true
        else { return }
        isDead = true
    }

    /// Looks at such a failure, and mends what it tells of, so that whoever comes next finds an engine that answers.
    package func mend(after error: any Error, of model: any LanguageModel, closuresBefore closures: Int) async {
        await note(error, of: model, closuresBefore: closures)
        // Before a closed gate nobody waits for it; what cannot be mended says so to whoever asks next.
        guard isDead, isMeant(by: error, closures), !gate.isClosed else { return }
        _ = try? await replacement(of: model, stop: StopSignal())
    }

    private func isMeant(by error: any Error, _ closures: Int) -> Bool {
        BackendFault.isMeant(by: error, gateWasClosed: gate.isClosed || gate.closures > closures)
    }

    /// Whether a model went away for a rebuild, and not because somebody chose another.
    func tookAway(_ model: any LanguageModel) -> Bool { taken.contains { $0.model === (model as AnyObject) } }

    /// A model that answers, in place of one that failed: rebuilt now, or by somebody else meanwhile.
    ///
    /// - Throws: `Failure`, or what loading threw; the mark stays then. `CancellationError` when `stop` was set.
    package func replacement(of failed: any LanguageModel, stop: StopSignal) async throws -> any LanguageModel {
        if let other = try await other(than: failed, stop: stop) { return other }
        isDead = true
        try await mend(stop: stop)
        guard let ready = try await settled(stop) else { throw Failure.notLoaded }
        return ready.model
    }

    /// The app is back and nothing runs: mends what died while it was away.
    package func returnToForeground() async throws {
        gate.open()
        if isDead { try await mend(stop: StopSignal()) }
    }

    /// The model that has taken a failed one's place already.
    private func other(than failed: any LanguageModel, stop: StopSignal) async throws -> (any LanguageModel)? {
        while true {
            if let current = underWay { try await wait(for: current, stop: stop) }
            let before = rebuilds
            let ready = try await settled(stop)
            // What was found while somebody began or ended a rebuild says nothing.
            guard underWay == nil, rebuilds == before else { continue }
            return ready.flatMap { EngineRepair.isSame($0.model, failed) ? nil : $0.model }
        }
    }

    /// The model, once no load is under way; a load may wait before the gate for minutes, and a stop does not wait for it.
    private func settled(_ stop: StopSignal) async throws -> LoadedModel? {
        let isSettled = StopSignal(), host = host
        let look = Task {
            defer { isSettled.set() }
            return await host.settled()
        }
        await isSettled.wait(or: stop)
        if stop.isSet { throw CancellationError() }
        return await look.value
    }

    /// One rebuild at a time; whoever comes meanwhile waits for that one.
    private func mend(stop: StopSignal) async throws {
        while let current = underWay {
            let isGivenUp = current.stop.isSet
            try await wait(for: current, stop: stop)
            if !isGivenUp { return }
        }
        let climb = Climb()
        underWay = climb
        Task { await self.run(climb) }
        try await wait(for: climb, stop: stop)
    }

    /// Returns with the rebuild, but leaves it to the others as soon as `stop` is set.
    ///
    /// - Throws: why it failed; nothing when all had left before: that was no failure.
    private func wait(for climb: Climb, stop: StopSignal) async throws {
        let isGivenUp = climb.stop.isSet
        climb.waiting += 1
        await climb.ended.wait(or: stop)
        climb.waiting -= 1
        if climb.waiting == 0 { climb.stop.set() }
        if stop.isSet { throw CancellationError() }
        if let failure = climb.failure, !isGivenUp { throw failure }
    }

    private func run(_ climb: Climb) async {
        do { try await rebuildEngine(climb.stop) } catch { climb.failure = error }
        underWay = nil
        climb.ended.set()
    }

    private func rebuildEngine(_ stop: StopSignal) async throws {
        guard rebuilds < EngineRepair.pauses.count else { throw Failure.usedUp(times: rebuilds) }
        let pause = EngineRepair.pauses[rebuilds]
        await gate.wait(orStop: stop)
        if pause > .zero, !stop.isSet { try await rest(pause, stop) }
        // It may have been closed in the meantime.
        await gate.wait(orStop: stop)
        if stop.isSet { throw CancellationError() }
        rebuilds += 1
        taken.removeAll { $0.model == nil }
        if let model = await host.ready?.model { taken.append(Taken(model: model as AnyObject)) }
        await settle()
        do {
            try await host.reload(after: rebuild)
        } catch is CancellationError {
            // Somebody has chosen another model; it is loaded on the new backend too.
            _ = await host.settled()
        }
        isDead = false
    }

    private func rest(_ pause: Duration, _ stop: StopSignal) async throws {
        let clock = clock
        let sleep = Task { try await clock.sleep(for: pause) }
        stop.whenSet { sleep.cancel() }
        try await sleep.value
    }

    /// Models are objects: the same one, not an equal one.
    private static func isSame(_ a: any LanguageModel, _ b: any LanguageModel) -> Bool {
        (a as AnyObject) === (b as AnyObject)
    }
}
