internal import AlcoveCore

/// The format of calls for models whose template knows none: each call is an object between two tags.
///
/// It is the one most open models have seen. The declarations go into the system message, calls and results into the
/// messages' text, and the library derives parser and grammar from the small template below.
enum CallFormat {
    static let template = """
        {%- if tools -%}
        {{- '<|im_start|>system\\n' -}}
        {%- for tool in tools -%}{{- tool | tojson + '\\n' -}}{%- endfor -%}
        {{- '<|im_end|>\\n' -}}
        {%- endif -%}
        {%- for message in messages -%}
        {{- '<|im_start|>' + message.role + '\\n' -}}
        {%- if message.reasoning_content -%}{{- '<think>\\n' + message.reasoning_content + '\\n</think>\\n\\n' -}}{%- endif -%}
        {%- if message.content -%}{{- message.content -}}{%- endif -%}
        {%- if message.tool_calls -%}
        {%- for call in message.tool_calls -%}
        {{- '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' -}}
        {%- if call.function.arguments is string -%}
        {{- call.function.arguments -}}{%- else -%}{{- call.function.arguments | tojson -}}{%- endif -%}
        {{- '}\\n</tool_call>' -}}
        {%- endfor -%}
        {%- endif -%}
        {{- '<|im_end|>\\n' -}}
        {%- endfor -%}
        {%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}
        """

    private static let resultMark = "Result of "

    /// The same conversation in words alone, for a template that knows neither tools nor their results.
    static func inWords(_ conversation: Conversation) -> Conversation {
        var plain = conversation
        plain.tools = []
        plain.toolChoice = .none
        plain.messages = []
        for message in conversation.messages { plain.messages.append(inWords(message)) }
        plain.messages = joined(plain.messages)
        declare(conversation.tools, in: &plain.messages, withFormat: true)
        return plain
    }

    private static func inWords(_ message: Message) -> Message {
        switch message.role {
        case .tool:
            let name = message.toolName ?? "the tool"
            return Message(role: .user, content: "\(resultMark)\(name):\n\(message.content ?? "")")
        case .assistant where !message.toolCalls.isEmpty:
            let calls = message.toolCalls.map { call in
                let name = JSONValue.string(call.name).text()
                return "<tool_call>\n{\"name\": \(name), \"arguments\": \(call.readableArguments)}\n</tool_call>"
            }
            let words = [message.content ?? ""].filter { !$0.isEmpty } + calls
            return Message(role: .assistant, content: words.joined(separator: "\n"), reasoning: message.reasoning)
        default: return message
        }
    }

    /// Results of one round stand in one message: some templates want the roles to alternate.
    private static func joined(_ messages: [Message]) -> [Message] {
        var joined: [Message] = []
        for message in messages {
            if message.role == .user, let last = joined.last, last.role == .user,
                let before = last.content, let text = message.content, before.hasPrefix(resultMark)
            {
                joined[joined.count - 1].content = before + "\n\n" + text
            } else {
                joined.append(message)
            }
        }
        return joined
    }

    /// Writes the tools into the system message; with `withFormat`, also how a call is written.
    static func declare(_ tools: [ToolDeclaration], in messages: inout [Message], withFormat: Bool) {
        guard !tools.isEmpty else { return }
        let list = tools.map { $0.openAIValue.text() }.joined(separator: "\n")
        let declaration = """
            You may call these tools:
            <tools>
            \(list)
            </tools>
            """
        let format = """
            To call one, write an object with its name and arguments between tags:
            <tool_call>
            {"name": "...", "arguments": {...}}
            </tool_call>
            """
        let words = withFormat ? declaration + "\n" + format : declaration
        if let first = messages.first, first.role == .system || first.role == .developer {
            messages[0].content = [first.content ?? "", words].filter { !$0.isEmpty }.joined(separator: "\n\n")
        } else {
            messages.insert(Message(role: .system, content: words), at: 0)
        }
    }
}
