internal import AlcoveCore

/// The messages of a chat completion, read into a conversation.
struct OpenAIMessages: Sendable {
    private(set) var messages: [Message] = []
    /// Pictures and sounds that are still to be decoded, by the place of their message.
    private(set) var media: [(message: Int, media: OpenAIMedia)] = []
    /// Tools by the ids of the calls before.
    private var tools: [String: String] = [:]

    /// - Throws: an `OpenAIError` that names the message and the part of it.
    init(_ list: [JSONValue]) throws(OpenAIError) {
        guard !list.isEmpty else {
            throw OpenAIError(
                code: "empty_array", "\"messages\" should hold at least one message.", param: "messages")
        }
        guard list.count <= ChatOrder.messageLimit else {
            throw OpenAIError(
                code: "too_many_messages",
                "There are \(list.count) messages; \(ChatOrder.messageLimit) is the most.", param: "messages")
        }
        for (index, item) in list.enumerated() { messages.append(try message(item, at: "messages[\(index)]")) }
    }

    private static let names: Set<String> = [
        "role", "content", "name", "tool_calls", "tool_call_id", "refusal", "reasoning_content", "annotations", "audio",
        "function_call",
    ]

    private mutating func message(_ item: JSONValue, at place: String) throws(OpenAIError) -> Message {
        guard let object = item.object else {
            throw OpenAIError(code: "invalid_type", "\"\(place)\" should be an object.", param: place)
        }
        let body = try OpenAIBody(object, knowing: OpenAIMessages.names, at: place + ".")
        guard let name = try body.text("role"), let role = Role(rawValue: name) else {
            throw body.wrong("role", "should be one of \(Role.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        try body.refuse("audio", "the model reads text only")
        try body.refuse("function_call", "it is the old form of \"tool_calls\"", hint: "Use \"tool_calls\".")
        // A model's own refusal, as it was told before, is what it said.
        let (words, refusal) = (try text(of: body), try body.text("refusal"))
        let content = words ?? refusal
        switch role {
        case .assistant:
            let calls = try calls(of: body)
            guard content != nil || !calls.isEmpty else {
                throw body.wrong("content", "should be text, unless there are \"tool_calls\"")
            }
            return Message(
                role: role, content: content, reasoning: try body.text("reasoning_content"), toolCalls: calls)
        case .tool:
            guard let content else { throw body.wrong("content", "should be text") }
            guard let id = try body.text("tool_call_id"), let tool = tools[id] else {
                throw body.wrong("tool_call_id", "should be the id of a call in a message before")
            }
            return Message(role: role, content: content, toolCallID: id, toolName: tool)
        case .system, .developer, .user:
            if role == .user { try readMedia(of: body) }
            guard let content = content ?? (media.last?.message == messages.count ? "" : nil) else {
                throw body.wrong("content", "should be text")
            }
            guard body["tool_calls"] == nil else { throw body.wrong("tool_calls", "is for assistant messages only") }
            return Message(role: role, content: content)
        }
    }

    /// The words of a message: one text, or parts of type text.
    private func text(of body: OpenAIBody) throws(OpenAIError) -> String? {
        guard let content = body["content"] else { return nil }
        if let text = content.string { return text }
        guard let parts = content.array else { throw body.wrong("content", "should be text or a list of parts") }
        var texts: [String] = []
        let isUser = try body.text("role") == Role.user.rawValue
        for (index, part) in parts.enumerated() {
            if isUser, OpenAIMedia.kinds.contains(part["type"]?.string ?? "") { continue }
            let place = "content[\(index)]"
            switch part["type"]?.string {
            case "text"?, "refusal"?:
                guard let text = part["text"]?.string ?? part["refusal"]?.string else {
                    throw body.wrong("\(place).text", "should be text")
                }
                texts.append(text)
            case let type?:
                throw OpenAIError(
                    code: "unsupported_content",
                    "\"\(body.path)\(place)\" is of type \"\(type.prefix(40))\", which is not taken here.",
                    hint: "Send parts of type text, and in messages of the user image_url and input_audio.",
                    param: "\(body.path)\(place)")
            case nil: throw body.wrong("\(place).type", "should be text")
            }
        }
        return texts.isEmpty && parts.count > 0 && isUser ? nil : texts.joined(separator: "\n")
    }

    /// Pictures and sounds of a message, in their order.
    private mutating func readMedia(of body: OpenAIBody) throws(OpenAIError) {
        for (index, part) in (body["content"]?.array ?? []).enumerated() {
            guard let found = try OpenAIMedia(part, at: "\(body.path)content[\(index)]") else { continue }
            guard media.count < OpenAIMedia.most else {
                throw OpenAIError(
                    code: "too_many_pictures",
                    "There are more than \(OpenAIMedia.most) pictures and sounds, which are the most.",
                    param: "\(body.path)content[\(index)]")
            }
            media.append((messages.count, found))
        }
    }

    private mutating func calls(of body: OpenAIBody) throws(OpenAIError) -> [ToolCall] {
        var calls: [ToolCall] = []
        let list = try body.list("tool_calls") ?? []
        for (index, item) in list.enumerated() {
            let place = "tool_calls[\(index)]"
            guard item["type"]?.string ?? "function" == "function" else {
                throw body.wrong("\(place).type", "should be function")
            }
            guard let id = item["id"]?.string, !id.isEmpty else { throw body.wrong("\(place).id", "should be text") }
            guard let name = item["function"]?["name"]?.string, !name.isEmpty else {
                throw body.wrong("\(place).function.name", "should be text")
            }
            guard let arguments = item["function"]?["arguments"]?.string else {
                throw body.wrong("\(place).function.arguments", "should be a JSON object as text")
            }
            tools[id] = name
            calls.append(ToolCall(id: id, name: name, arguments: arguments))
        }
        return calls
    }
}
