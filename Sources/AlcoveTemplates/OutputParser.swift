public import AlcoveCore
internal import llama

/// Reads what a model wrote, by the format its template gave it: reasoning, answer, tool calls.
public struct OutputParser: Sendable, Hashable {
    /// The library's `common_chat_format`.
    package var format: Int
    /// The library's own serialised parser; empty for plain text.
    var program: String
    /// What the prompt ended in; the parser needs it because the model goes on from there.
    public var generationPrompt: String
    /// Text that begins reasoning in this format, and texts that end it; empty when there is none.
    public var reasoningStart = ""
    public var reasoningEnds: [String] = []

    /// Whether the prompt ends inside reasoning, so that the model's first words are part of it.
    public var reasoningIsOpen: Bool {
        guard !reasoningStart.isEmpty, !reasoningEnds.isEmpty else { return false }
        return generationPrompt.trimmingSpaces().hasSuffix(reasoningStart)
    }

    /// What the text says so far.
    public struct Result: Sendable, Hashable {
        public var content = ""
        public var reasoning = ""
        public var toolCalls: [ToolCall] = []

        public init(content: String = "", reasoning: String = "", toolCalls: [ToolCall] = []) {
            self.content = content
            self.reasoning = reasoning
            self.toolCalls = toolCalls
        }
    }

    /// Whether every text is an answer as it stands, so that nothing need be parsed.
    public var isPlain: Bool { format == 0 }

    /// Parses all of a text; `isPartial` when more may come.
    public func parse(_ text: String, isPartial: Bool) throws(TemplateError) -> Result {
        let request: JSONValue = [
            "format": JSONValue(format), "parser": .string(program), "generation_prompt": .string(generationPrompt),
            "text": .string(text), "partial": .bool(isPartial), "reasoning_format": "auto",
        ]
        let message = try ChatLibrary.take(alcove_chat_parse(request.text()))
        return Result(
            content: message["content"]?.string ?? "", reasoning: message["reasoning_content"]?.string ?? "",
            toolCalls: (message["tool_calls"]?.array ?? []).map { call in
                ToolCall(
                    id: call["id"]?.string ?? "", name: call["function"]?["name"]?.string ?? "",
                    arguments: call["function"]?["arguments"]?.string ?? "")
            })
    }
}
