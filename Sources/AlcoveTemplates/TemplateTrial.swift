internal import AlcoveCore

/// A first, guarded use of a template that nobody here knows.
///
/// A template is a program that came with a file. Before its model answers it runs once in a child with limits on time and
/// memory, over conversations that visit what templates usually do.
public struct TemplateTrial: Sendable, Hashable {
    public var source: String
    public var bos: String
    public var eos: String

    public init(source: String, bos: String, eos: String) {
        self.source = source
        self.bos = bos
        self.eos = eos
    }

    /// Conversations every template is tried on. One that a template refuses in its own words is no fault.
    static let conversations: [Conversation] = [
        Conversation(messages: [Message(role: .user, content: "Hello")]),
        Conversation(
            messages: [
                Message(role: .system, content: "Be brief."), Message(role: .user, content: "Hello"),
                Message(role: .assistant, content: "Hi.", reasoning: "They greet me."),
                Message(role: .user, content: "What is 1 + 1?"),
            ], thinking: true),
        Conversation(
            messages: [
                Message(role: .user, content: "What is the weather in Paris?"),
                Message(
                    role: .assistant, content: nil,
                    toolCalls: [ToolCall(id: "call_1", name: "weather", arguments: #"{"city":"Paris"}"#)]),
                Message(role: .tool, content: "Sunny.", toolCallID: "call_1", toolName: "weather"),
            ],
            tools: [
                ToolDeclaration(
                    name: "weather", description: "Tells the weather.",
                    parameters: ["type": "object", "properties": ["city": ["type": "string"]]])
            ]),
    ]

    /// Runs the trial in this process: the child's side of it.
    ///
    /// - Throws: `TemplateError.fault` when not even the plainest conversation can be rendered.
    public func run() throws(TemplateError) {
        let template = try ChatTemplate(source: source, bos: bos, eos: eos)
        for (index, conversation) in TemplateTrial.conversations.enumerated() {
            do throws(TemplateError) {
                _ = try template.render(conversation)
            } catch {
                if index == 0 { throw error }
                continue
            }
        }
    }
}
