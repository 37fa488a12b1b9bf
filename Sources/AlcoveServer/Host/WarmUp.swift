package import AlcoveAgent
package import AlcoveCore
internal import Synchronization

/// Reads the beginning of every run with tools once, after a model was loaded, so that the first message finds it done.
///
/// Only when nobody waits: a real message ends it, and goes on from what it has read so far.
package final class WarmUp: Sendable {
    private struct State {
        var stop: StopSignal?
        var isWarm = false
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether the beginning was read whole since the model was loaded.
    var isWarm: Bool { state.withLock { $0.isWarm } }

    /// A real message has come, or another model.
    package func cancel() {
        let stop = state.withLock { state in
            defer { state.stop = nil }
            return state.stop
        }
        stop?.set()
    }

    /// - Parameter tools: What a run declares; without any there is no beginning worth reading.
    package func run(
        _ model: any LanguageModel, tools: ToolRegistry, switches: Switches, system: String? = nil, thinking: Bool,
        repair: EngineRepair? = nil
    ) async {
        cancel()
        state.withLock { $0.isWarm = false }
        let declarations = tools.declarations(for: Policy(profile: .agent, switches: switches))
        guard !declarations.isEmpty else { return }
        let stop = StopSignal()
        state.withLock { $0.stop = stop }
        var request = GenerationRequest(
            messages: (system.map { [Message(role: .system, content: $0)] } ?? []) + [
                Message(role: .user, content: "hi")
            ], tools: declarations, thinking: thinking, maxTokens: 1,
            stopSignal: stop)
        request.priority = .background
        var isWhole = false
        let closures = repair?.gate.closures ?? 0
        do {
            for try await event in model.generate(request) {
                if case .finished(let reason, _) = event { isWhole = reason != .cancelled && reason != .error }
            }
        } catch {
            // A beginning that cannot be read costs the first message time, and will say so itself.
            await repair?.mend(after: error, of: model, closuresBefore: closures)
        }
        state.withLock { state in
            if state.stop === stop { state.stop = nil }
            state.isWarm = isWhole
        }
    }
}
