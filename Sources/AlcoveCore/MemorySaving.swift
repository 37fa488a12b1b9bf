/// A model that keeps things only to be quick.
public protocol MemorySaving: Sendable {
    /// Gives them back, between two steps: states of earlier prompts, and when nothing is being computed the memory of all
    /// sequences. Weights and answers under way are not touched, and no answer changes.
    ///
    /// - Returns: about how many bytes that were.
    func giveBackMemory() async -> Int
}
