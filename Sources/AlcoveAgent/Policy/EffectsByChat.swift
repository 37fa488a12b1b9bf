internal import Synchronization

/// A little shared table.
final class EffectsByChat: Sendable {
    private let table = Mutex([String: Set<ToolEffect>]())

    func effects(in key: String) -> Set<ToolEffect> { table.withLock { $0[key] ?? [] } }
    func add(_ effect: ToolEffect, _ key: String) { table.withLock { _ = $0[key, default: []].insert(effect) } }
    func remove(_ key: String) { table.withLock { $0[key] = nil } }
}
