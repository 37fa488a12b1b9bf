/// Something that happened in a turn. Numbered from 0 without gaps; every surface is a projection of these.
public struct TurnEvent: Sendable, Hashable {
    public var sequence: Int
    public var body: Body

    public init(sequence: Int, body: Body) {
        self.sequence = sequence
        self.body = body
    }

    public enum Body: Sendable, Hashable {
        /// The prompt is being read: tokens done, tokens in all.
        case promptProgress(done: Int, total: Int)
        case reasoning(String)
        case text(String)
        /// A sentence for the person that is not part of the answer.
        case notice(String)
        /// The last one.
        case finished(TurnEnd)
    }
}

/// How a turn ended.
public struct TurnEnd: Sendable, Hashable {
    public var reason: FinishReason
    public var usage: Usage
    /// Seconds from the message to the end.
    public var elapsedSeconds: Double
    /// The sentence of what went wrong, when the reason is `error`.
    public var error: String?

    public init(reason: FinishReason, usage: Usage, elapsedSeconds: Double, error: String? = nil) {
        self.reason = reason
        self.usage = usage
        self.elapsedSeconds = elapsedSeconds
        self.error = error
    }
}
