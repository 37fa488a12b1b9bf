import AlcoveAgent
import AlcoveCore
import Synchronization
import Testing

/// A host whose loads bring one scripted model after another, and a clock that nobody waits for.
final class RepairBench: Sendable {
    /// As a graphics library says it.
    struct Died: Error, CustomStringConvertible {
        var description: String { "Backend is in error state from a previous failure; recreate the backend" }
    }

    let gate = ComputeGate()
    let clock = ListingClock()
    let events = EventLog()
    let host: ModelHost
    let repair: EngineRepair
    private let made: ModelQueue

    /// - Parameters:
    ///   - scripts: what each model that is loaded answers; the last one again when there are more loads.
    ///   - during: runs while a backend is made anew.
    ///   - waitsForTheClock: whether the host has a clock that runs, and not one whose sleeps are over at once.
    init(
        _ scripts: [[ScriptedModel.Step]]..., whenUnloaded: @escaping @Sendable () -> Void = {},
        during: @escaping @Sendable () async -> Void = {}, waitsForTheClock: Bool = false
    ) async throws {
        let made = ModelQueue(scripts), log = events
        self.made = made
        host = ModelHost(gate: gate, clock: waitsForTheClock ? ContinuousClock() : clock) { _, _ in
            log.add("load")
            return LoadedModel(model: made.next()) {
                log.add("unload")
                whenUnloaded()
            }
        }
        repair = EngineRepair(
            host: host, gate: gate,
            rebuild: {
                log.add("rebuild")
                await during()
            }, settle: { log.add("settle") }, clock: clock)
        try await host.load("model")
    }

    func isLoading(_ path: String) async -> Bool {
        if case .loading(path, _) = await host.state { true } else { false }
    }

    /// What each model that was loaded was asked, in order.
    var requests: [[GenerationRequest]] { made.models.map(\.requests) }

    func start(profile: RunProfile? = nil, tools: [any Tool] = [], key: String = "chat") async throws -> Turn {
        let model = try #require(await host.ready?.model)
        let loop = AgentLoop(model: model, tools: try ToolRegistry(tools), repair: repair)
        return await Turns().start(
            key: key, loop: loop,
            request: TurnRequest(messages: [Message(role: .user, content: "Tell me.")], profile: profile),
            accept: {}, record: { _ in })
    }

    func turn(profile: RunProfile? = nil, tools: [any Tool] = []) async throws -> [TurnEvent.Body] {
        try await start(profile: profile, tools: tools).allEvents()
    }
}

extension Turn {
    /// Returns after the first words.
    func untilItSpeaks() async {
        do {
            for try await event in self.events() {
                if case .text = event.body { return }
            }
        } catch {
            Issue.record(error)
        }
    }

    func allEvents() async throws -> [TurnEvent.Body] {
        var events: [TurnEvent.Body] = []
        for try await event in self.events() { events.append(event.body) }
        return events
    }
}

extension [TurnEvent.Body] {
    /// The answer as a reader has it at the end.
    var shown: String {
        reduce("") { text, event in
            switch event {
            case .text(let delta): text + delta
            case .replaced(let whole): whole
            default: text
            }
        }
    }
}

final class ModelQueue: Sendable {
    private let state: Mutex<(scripts: [[[ScriptedModel.Step]]], models: [ScriptedModel])>

    init(_ scripts: [[[ScriptedModel.Step]]]) { state = Mutex((scripts, [])) }

    var models: [ScriptedModel] { state.withLock { $0.models } }

    func next() -> ScriptedModel {
        state.withLock { state in
            let script = state.scripts.count > 1 ? state.scripts.removeFirst() : state.scripts[0]
            state.models.append(ScriptedModel(answers: script))
            return state.models[state.models.count - 1]
        }
    }
}

final class EventLog: Sendable {
    private let state = Mutex([String]())
    var lines: [String] { state.withLock { $0 } }
    func add(_ line: String) { state.withLock { $0.append(line) } }
}

/// A clock whose sleeps end at once and are listed.
final class ListingClock: Clock {
    typealias Instant = ContinuousClock.Instant
    private let slept = Mutex([Duration]())

    var sleeps: [Duration] { slept.withLock { $0 } }
    /// Stands still, so that what is slept is exact.
    let now = ContinuousClock.now
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        slept.withLock { $0.append(now.duration(to: deadline)) }
    }
}
