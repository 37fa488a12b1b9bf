/// Something that happened in a turn. Numbered from 0 without gaps; every surface is a projection of these.
public struct TurnEvent: Sendable, Hashable {
    public var sequence: Int
    public var body: Body

    public init(sequence: Int, body: Body) {
        self.sequence = sequence
        self.body = body
    }

    public enum Body: Sendable, Hashable {
        /// The message is kept and the work has begun.
        case inputAccepted(messages: Int)
        /// The prompt is being read: tokens done, tokens in all.
        case promptProgress(done: Int, total: Int)
        case reasoning(String)
        case text(String)
        /// A call is being written: its tool once that is known, and the newly written piece.
        case callWriting(tool: String?, delta: String)
        /// A call was read and checked; what follows about it carries its id.
        case callParsed(CallNote)
        /// A person is to decide on exactly this.
        case approvalAsked(ApprovalNote)
        case approvalAnswered(approval: String, call: String, ApprovalOutcome)
        /// A tool runs; `detail` is one line for people.
        case toolStarted(call: String, tool: String, detail: String)
        /// A heartbeat: what the tool has written since the last one.
        case toolOutput(call: String, tool: String, text: String, seconds: Double)
        case toolFinished(ToolNote)
        /// A file that a tool made, to be had by its name.
        case artifact(ArtifactNote)
        /// A sentence for the person that is not part of the answer.
        case notice(String)
        /// What one round of the model cost.
        case usage(Usage)
        /// Where the run stands, noted before and after everything with an effect.
        case checkpoint(phase: RunPhase, call: String?)
        /// The answer's words so far, in place of all words before: of a turn of very many events, which keeps no others in
        /// memory (the log has them all), or of an answer that had to be begun anew.
        case replaced(text: String)
        /// The last one.
        case finished(TurnEnd)
    }
}

/// Where a run stands: observe, plan, approve, execute, record, reassess.
public enum RunPhase: String, Sendable, Hashable, CaseIterable {
    case observe, plan, approve, execute, record, reassess
}

/// A call as it was read: the arguments are normalised, and equal calls have equal signatures.
public struct CallNote: Sendable, Hashable {
    public var id: String
    public var tool: String
    public var arguments: String
    public var signature: String
    public var round: Int

    public init(id: String, tool: String, arguments: String, signature: String, round: Int) {
        self.id = id
        self.tool = tool
        self.arguments = arguments
        self.signature = signature
        self.round = round
    }
}

/// What a person is asked to allow: one exact action with one exact payload.
public struct ApprovalNote: Sendable, Hashable {
    public var id: String
    public var call: String
    public var tool: String
    /// What will run, exactly, with everything that could deceive the eye made visible.
    public var shown: String
    public var effect: String
    /// Must be repeated by the answer: an answer to another payload is none.
    public var signature: String
    /// Whether "allow for this chat" may be offered.
    public var mayBeRemembered: Bool
    public var expiresInSeconds: Int

    public init(
        id: String, call: String, tool: String, shown: String, effect: String, signature: String,
        mayBeRemembered: Bool, expiresInSeconds: Int
    ) {
        self.id = id
        self.call = call
        self.tool = tool
        self.shown = shown
        self.effect = effect
        self.signature = signature
        self.mayBeRemembered = mayBeRemembered
        self.expiresInSeconds = expiresInSeconds
    }
}

public enum ApprovalOutcome: String, Sendable, Hashable {
    case allowed
    /// Allowed, and so are its like in this chat.
    case allowedForChat = "allowed_for_chat"
    case refused
    case expired
    /// The turn was stopped while it waited.
    case withdrawn
    /// There was nobody to ask.
    case unanswerable
}

/// Why a call came to nothing.
public enum ToolFailure: String, Sendable, Hashable {
    case unknownTool = "unknown_tool"
    case invalidArguments = "invalid_args"
    /// By the policy, a person, a limit of the run.
    case notAllowed = "not_allowed"
    case timeout
    case aborted
    case failed = "execution_error"
}

/// How one call ended.
public struct ToolNote: Sendable, Hashable {
    public var call: String
    public var tool: String
    /// Nil when it succeeded.
    public var failure: ToolFailure?
    public var succeeded: Bool { failure == nil }
    public var detail: String
    /// What the model is told, bounded.
    public var observation: String
    public var round: Int
    public var seconds: Double
    /// Nil when nothing was executed: refused, unknown, ill-typed.
    public var receipt: String?
    /// What it left to be had; each has had its own event as well.
    public var files: [ArtifactNote]

    public init(
        call: String, tool: String, failure: ToolFailure?, detail: String, observation: String, round: Int,
        seconds: Double, receipt: String?, files: [ArtifactNote] = []
    ) {
        self.files = files
        self.call = call
        self.tool = tool
        self.failure = failure
        self.detail = detail
        self.observation = observation
        self.round = round
        self.seconds = seconds
        self.receipt = receipt
    }
}

public struct ArtifactNote: Sendable, Hashable {
    public var call: String
    public var name: String
    public var bytes: Int
    public var url: String

    public init(call: String, name: String, bytes: Int, url: String) {
        self.call = call
        self.name = name
        self.bytes = bytes
        self.url = url
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
    /// Why a run that the loop itself ended was ended: "repeated tool call", "round limit" ...
    public var stoppedBy: String?

    public init(
        reason: FinishReason, usage: Usage, elapsedSeconds: Double, error: String? = nil, stoppedBy: String? = nil
    ) {
        self.reason = reason
        self.usage = usage
        self.elapsedSeconds = elapsedSeconds
        self.error = error
        self.stoppedBy = stoppedBy
    }
}
