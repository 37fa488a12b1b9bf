internal import AlcoveAgent
internal import AlcoveCore
package import AlcoveStorage
internal import Synchronization

/// The settings as they stand now, for whoever asks, and the one place that changes them.
package final class SettingsBoard: Sendable {
    /// Under which key of the store they are kept, as one object.
    private static let place = "host"

    private let store: SettingsStore
    private let state = Mutex(HostSettings())
    /// Changes come one after another, so that none is lost under another.
    private let changes = AsyncLock()

    package init(_ store: SettingsStore) { self.store = store }

    package var current: HostSettings { state.withLock { $0 } }

    /// Reads what was kept. Called once, before anybody asks.
    package func restore() async throws {
        let stored = try await store.value(SettingsBoard.place)?.object ?? JSONObject()
        state.withLock { $0 = HostSettings(stored: stored) }
    }

    /// Changes settings and keeps them; they apply once they are on the disk.
    @discardableResult
    package func change(
        _ change: @escaping @Sendable (HostSettings) throws -> HostSettings
    ) async throws -> HostSettings {
        try await changes.run { [self] in
            let changed = try change(current)
            if changed != current {
                try await store.set(SettingsBoard.place, to: .object(changed.json))
                state.withLock { $0 = changed }
            }
            return changed
        }
    }
}

/// Lets one piece of work run at a time, in the order in which they came.
actor AsyncLock {
    private var last: Task<Void, Never>?

    func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let before = last
        let work = Task {
            await before?.value
            return try await body()
        }
        last = Task { _ = try? await work.value }
        return try await work.value
    }
}
