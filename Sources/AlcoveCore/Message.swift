/// Who speaks in a message.
public enum Role: String, Sendable, Hashable, CaseIterable {
    case system, developer, user, assistant, tool
}

/// A call of a tool as a model asked for it.
public struct ToolCall: Sendable, Hashable {
    public var id: String
    public var name: String
    /// The arguments as the model wrote them: JSON text, not yet checked.
    public var arguments: String

    public init(id: String, name: String, arguments: String) {
        self.id = id
        self.name = name
        self.arguments = arguments
    }
}

/// One message of a conversation, as every surface and the engine's door speak it.
public struct Message: Sendable, Hashable {
    public var role: Role
    /// The visible text. Nil is what an assistant message has that only calls tools.
    public var content: String?
    /// What the model thought before it answered; shown folded, never sent to another model.
    public var reasoning: String?
    public var toolCalls: [ToolCall]
    /// For a tool's answer: the call it answers.
    public var toolCallID: String?
    /// For a tool's answer: the tool's name.
    public var toolName: String?
    /// Written by the host, as a correction or a result in words: not what the person asked for.
    public var isFromHost = false
    /// Pictures and sounds of a person's message; a model takes them in before its words.
    public var media: [MediaInput] = []

    public init(
        role: Role, content: String?, reasoning: String? = nil, toolCalls: [ToolCall] = [], toolCallID: String? = nil,
        toolName: String? = nil
    ) {
        self.role = role
        self.content = content
        self.reasoning = reasoning
        self.toolCalls = toolCalls
        self.toolCallID = toolCallID
        self.toolName = toolName
    }
}

/// A tool as it is declared to a model.
public struct ToolDeclaration: Sendable, Hashable {
    public var name: String
    public var description: String
    /// JSON schema of the arguments.
    public var parameters: JSONValue

    public init(name: String, description: String, parameters: JSONValue) {
        self.name = name
        self.description = description
        self.parameters = parameters
    }
}
