package import AlcoveCore
package import AlcoveWorkspace

/// What a surface asks for.
package struct TurnRequest: Sendable {
    package var messages: [Message]
    package var thinking: Bool
    package var sampling: SamplingOptions
    package var maxTokens: Int?
    package var toolChoice: ToolChoice
    /// The limits of a run with tools; nil is a plain answer without any.
    package var profile: RunProfile?
    /// The chat's own folder, for tools that work on files; nil when there is none.
    package var workspace: String?
    /// Whether the model may guess tokens ahead.
    package var speculates = true
    /// Names in the workspace of files that the person attached, for what tools are declared as.
    package var attachedFiles: [String] = []
    /// An explicit command, done without the model; nil is ordinary conversation.
    package var plan: CommandPlan?

    package init(
        messages: [Message], thinking: Bool = false, sampling: SamplingOptions = SamplingOptions(),
        maxTokens: Int? = nil, toolChoice: ToolChoice = .auto, profile: RunProfile? = nil, workspace: String? = nil
    ) {
        self.messages = messages
        self.thinking = thinking
        self.sampling = sampling
        self.maxTokens = maxTokens
        self.toolChoice = toolChoice
        self.profile = profile
        self.workspace = workspace
    }
}

/// What a turn has come to, for the transcript.
package struct TurnResult: Sendable, Hashable {
    package var text = ""
    package var reasoning = ""
    package var steps: [ToolNote] = []
    /// For each step: how long the answer's text was when it came, in UTF-16 units as pages count.
    package var places: [Int] = []
    package var artifacts: [ArtifactNote] = []
    package var end: TurnEnd
    /// Whether the program ended before the turn did.
    package var isCutOff = false
}

/// The words of any error; one that nobody foresaw names itself.
package func sentence(of error: any Error) -> String {
    (error as? any UserFacingError)?.sentence ?? "Something unforeseen went wrong (\(error))."
}
