internal import AlcoveAgent
internal import Synchronization

/// The switches as they stand now.
final class SwitchBoard: Sendable {
    private let state = Mutex(Switches())

    var current: Switches { state.withLock { $0 } }
    func set(_ switches: Switches) { state.withLock { $0 = switches } }
}
