package import AlcoveCore

/// Where a turn stands.
package enum TurnState: String, Sendable, Hashable {
    case running
    case completed
    case cancelled
    case failed
    /// The program ended while it ran. Nothing of it is done again by itself.
    case interrupted
}

/// A turn as it is kept, without its events.
package struct TurnRecord: Sendable, Hashable {
    package let id: TurnID
    /// Nil when it belongs to no saved chat.
    package let chat: ChatID?
    /// Name of the limits it runs under.
    package let profile: String
    package let state: TurnState
    package let startedAt: Timestamp
    package let finishedAt: Timestamp?
    /// Why it ended, as a stable name or a sentence.
    package let reason: String?
    /// What its owner noted last: phase, active call, counters.
    package let progress: JSONValue?
}

/// One thing that happened in a turn.
package struct LoggedEvent: Sendable, Hashable {
    /// 0, 1, 2, ... within the turn.
    package let seq: Int64
    package let at: Timestamp
    /// Stable, snake_case.
    package let kind: String
    /// JSON, or plain text where the kind says so; kept to the byte.
    package let payload: String

    package init(seq: Int64, at: Timestamp, kind: String, payload: String) {
        self.seq = seq
        self.at = at
        self.kind = kind
        self.payload = payload
    }
}
