internal import AlcoveCore
internal import Synchronization

/// What other threads want of the engine's thread, until that looks.
final class EngineInbox: Sendable {
    /// Everything that was wanted since the last look.
    struct Orders {
        var generations: [Generation] = []
        var embeddings: [EmbeddingOrder] = []
        /// Who waits for memory, to be told how many bytes were given back.
        var reliefs: [@Sendable (Int) -> Void] = []
        var stopping = false
    }

    /// A generation on its way from the thread that made it to the engine's.
    ///
    /// Unchecked, because a mutex cannot be told that what lies in it has one owner: `submit` takes the generation as
    /// `sending`, so the compiler has seen that its maker keeps no reference, and `take` empties the box.
    private struct Parcel: @unchecked Sendable { let generation: Generation }

    private struct Contents {
        var parcels: [Parcel] = []
        var embeddings: [EmbeddingOrder] = []
        var reliefs: [@Sendable (Int) -> Void] = []
        var stopping = false
        var whenStopped: [@Sendable () -> Void] = []
        var hasEnded = false
    }

    private let contents = Mutex(Contents())
    private let condition = Condition()

    func submit(_ generation: sending Generation) {
        let parcel = Parcel(generation: generation)
        guard add({ $0.parcels.append(parcel) }) else { return parcel.generation.fail(.unloaded) }
    }

    func submit(_ order: EmbeddingOrder) {
        guard add({ $0.embeddings.append(order) }) else { return order.output(.failure(EngineError.unloaded)) }
    }

    /// - Parameter done: told how many bytes were given back.
    func relieve(done: @escaping @Sendable (Int) -> Void) {
        guard add({ $0.reliefs.append(done) }) else { return done(0) }
    }

    /// Ends the thread; `done` is called when it has ended.
    func stop(done: @escaping @Sendable () -> Void) {
        let ended = contents.withLock { contents -> Bool in
            contents.stopping = true
            if !contents.hasEnded { contents.whenStopped.append(done) }
            return contents.hasEnded
        }
        if ended { done() } else { condition.signal() }
    }

    /// - Returns: false when the thread takes nothing more.
    private func add(_ change: (inout Contents) -> Void) -> Bool {
        let taken = contents.withLock { contents -> Bool in
            if !contents.stopping { change(&contents) }
            return !contents.stopping
        }
        if taken { condition.signal() }
        return taken
    }

    /// Something happened that the thread should look at even when nothing is being computed.
    func wake() { condition.signal() }

    // MARK: The engine's thread

    func wait() { condition.wait() }

    func take() -> Orders {
        let taken = contents.withLock { contents in
            defer {
                contents.parcels.removeAll()
                contents.embeddings.removeAll()
                contents.reliefs.removeAll()
            }
            return contents
        }
        return Orders(
            generations: taken.parcels.map(\.generation), embeddings: taken.embeddings, reliefs: taken.reliefs,
            stopping: taken.stopping)
    }

    func end() {
        let callbacks = contents.withLock { contents in
            contents.hasEnded = true
            return contents.whenStopped
        }
        for done in callbacks { done() }
    }
}
