/// A model that can say what it is doing and for how many.
public protocol QueuedModel: Sendable {
    /// As of the last step.
    var queue: ModelQueue { get }
}

/// What a model is doing.
public struct ModelQueue: Sendable, Hashable {
    public struct Running: Sendable, Hashable {
        public var priority: GenerationPriority
        public var promptTokens: Int
        /// Tokens of the prompt that are read, or did not have to be.
        public var promptDone: Int
        public var completionTokens: Int

        public init(priority: GenerationPriority, promptTokens: Int, promptDone: Int, completionTokens: Int) {
            self.priority = priority
            self.promptTokens = promptTokens
            self.promptDone = promptDone
            self.completionTokens = completionTokens
        }
    }

    /// Those that have a place, in the order in which they came.
    public var running: [Running] = []
    /// Requests without a place yet.
    public var waiting = 0
    /// How many can have a place at once.
    public var places: Int

    public init(places: Int) { self.places = places }
}

/// Who goes before whom.
public enum GenerationPriority: String, Sendable, Hashable, Comparable {
    /// Work that nobody waits for; it rests while there is other work.
    case background
    /// A person or a program waits.
    case normal

    public static func < (a: Self, b: Self) -> Bool { a == .background && b == .normal }
}
