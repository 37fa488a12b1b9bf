internal import AlcoveCore

/// Conversations as plumbing reads them: OpenAI's shapes, in one JSON object.
enum PlumbingMessages {
    /// The messages of a line.
    ///
    /// Content may be text, null or missing; a call's arguments may be text or an object.
    static func messages(_ line: JSONValue) throws(InputError) -> [Message] {
        guard let list = line["messages"]?.array else {
            throw InputError(code: "no_text", message: "The line needs \"text\" or \"messages\".")
        }
        var messages: [Message] = []
        for item in list {
            guard let role = item["role"]?.string.flatMap(Role.init(rawValue:)) else {
                throw InputError(code: "bad_role", message: "A message has no role that is known.")
            }
            messages.append(
                Message(
                    role: role, content: item["content"]?.string, reasoning: item["reasoning_content"]?.string,
                    toolCalls: (item["tool_calls"]?.array ?? []).map(call),
                    toolCallID: item["tool_call_id"]?.string, toolName: item["name"]?.string))
        }
        return messages
    }

    static func tools(_ line: JSONValue) -> [ToolDeclaration] {
        (line["tools"]?.array ?? []).map { item in
            let function = item["function"] ?? item
            return ToolDeclaration(
                name: function["name"]?.string ?? "", description: function["description"]?.string ?? "",
                parameters: function["parameters"] ?? [:])
        }
    }

    private static func call(_ item: JSONValue) -> ToolCall {
        let function = item["function"] ?? item
        let arguments = function["arguments"] ?? [:]
        return ToolCall(
            id: item["id"]?.string ?? "", name: function["name"]?.string ?? "",
            arguments: arguments.string ?? arguments.text())
    }
}
