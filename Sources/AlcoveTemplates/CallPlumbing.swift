internal import AlcoveCore

/// `alcove plumbing toolcall` and `grammar`: the parts that read and constrain answers, on given text. Run in the child,
/// because template and schemas may be anything.
enum CallPlumbing {
    // MARK: toolcall

    static func toolcall(_ line: JSONValue) throws(TemplateError) -> JSONValue {
        let template = try ChatTemplate(source: try source(line), bos: "", eos: "")
        var conversation = Conversation(messages: [Message(role: .user, content: "Hello")])
        conversation.tools = try tools(line)
        conversation.toolChoice = toolChoice(line["tool_choice"])
        if conversation.tools.isEmpty, conversation.toolChoice == .required { conversation.toolChoice = .auto }
        conversation.parallelToolCalls = line["parallel_tool_calls"]?.bool ?? true
        conversation.thinking = line["enable_thinking"]?.bool ?? true
        conversation.reasoningFormat = line["reasoning_format"]?.string ?? "auto"
        if let schema = line["json_schema"], !schema.isNull { conversation.schema = try object(schema) }
        let prepared = try template.prepare(conversation)
        var parser = prepared.prompt.parser
        if let end = line["generation_prompt"]?.string { parser.generationPrompt = end }

        let output = try StreamingOutput(
            parser: parser, markers: prepared.prompt.callMarkers, reasoningFormat: conversation.reasoningFormat,
            makesIDs: false)
        let pieces = try pieces(line)
        var events: [GenerationEvent] = []
        for piece in pieces { events += output.append(piece) }
        if line["is_partial"]?.bool == true { return shown(output.snapshot(), broken: [], prepared.notices) }
        events += output.finish()
        var result = OutputParser.Result()
        var broken: [BrokenToolCall] = []
        for event in events {
            switch event {
            case .text(let text): result.content += text
            case .reasoning(let text): result.reasoning += text
            case .toolCall(let call): result.toolCalls.append(call)
            case .brokenToolCall(let call): broken.append(call)
            default: break
            }
        }
        return shown(result, broken: broken, prepared.notices)
    }

    private static func shown(
        _ result: OutputParser.Result, broken: [BrokenToolCall], _ notices: [String]
    ) -> JSONValue {
        var object: JSONObject = [
            "content": .string(result.content), "reasoning_content": .string(result.reasoning),
            "tool_calls": .array(
                result.toolCalls.map { call in
                    var item: JSONObject = ["name": .string(call.name), "arguments": .string(call.arguments)]
                    if !call.id.isEmpty { item["id"] = .string(call.id) }
                    return .object(item)
                }),
        ]
        if !broken.isEmpty {
            object["broken"] = .array(broken.map { ["text": .string($0.text), "reason": .string($0.reason)] })
        }
        if !notices.isEmpty { object["notices"] = .array(notices.map { .string($0) }) }
        return .object(object)
    }

    private static func source(_ line: JSONValue) throws(TemplateError) -> String {
        if let template = line["template"]?.string { return template }
        let name = line["format"]?.string ?? "hermes"
        guard let template = KnownFormats.template(named: name) else {
            throw .badInput(
                reason: "there is no format called \(name); known are \(KnownFormats.names.joined(separator: ", "))")
        }
        return template
    }

    private static func pieces(_ line: JSONValue) throws(TemplateError) -> [String] {
        if let input = line["input"]?.string { return [input] }
        guard let stream = line["stream"]?.array else { throw .badInput(reason: "the line needs input or stream") }
        return stream.compactMap(\.string)
    }

    private static func toolChoice(_ value: JSONValue?) -> ToolChoice {
        if let name = value?["function"]?["name"]?.string ?? value?["name"]?.string { return .named(name) }
        return switch value?.string {
        case "required", "any": .required
        case "none": .none
        default: .auto
        }
    }

    private static func tools(_ line: JSONValue) throws(TemplateError) -> [ToolDeclaration] {
        guard let value = line["tools"], !value.isNull else { return [] }
        guard let list = value.array else { throw .badInput(reason: "tools should be a list") }
        var tools: [ToolDeclaration] = []
        for item in list {
            let function = item["function"] ?? item
            guard let name = function["name"]?.string else { throw .badInput(reason: "a tool has no name") }
            tools.append(
                ToolDeclaration(
                    name: name, description: function["description"]?.string ?? "",
                    parameters: function["parameters"] ?? ["type": "object", "properties": [:]]))
        }
        return tools
    }

    /// A schema may come as JSON or as text that holds it.
    private static func object(_ value: JSONValue) throws(TemplateError) -> JSONValue {
        guard let text = value.string else { return value }
        do throws(JSONError) {
            return try JSONValue(parsing: text)
        } catch {
            throw .badSchema(reason: error.reason)
        }
    }

    // MARK: grammar

    static func grammar(_ line: JSONValue) throws(TemplateError) -> JSONValue {
        if let schema = line["schema"], !schema.isNull {
            let schema = try object(schema)
            if let fault = SchemaLimits.fault(of: schema) { throw .badSchema(reason: fault) }
            let grammar = try OutputGrammar.grammar(ofSchema: schema)
            guard grammar.utf8.count <= SchemaLimits.maximumGrammarBytes else {
                throw .badSchema(reason: "its grammar has more than \(SchemaLimits.maximumGrammarBytes) bytes")
            }
            return ["grammar": .string(grammar), "dropped": []]
        }
        let tools = try tools(line)
        guard !tools.isEmpty else { throw .badInput(reason: "the line needs schema or tools") }
        let template = try ChatTemplate(source: try source(line), bos: "", eos: "")
        let choice = toolChoice(line["tool_choice"] ?? "required")
        let prepared = try template.prepare(
            Conversation(
                messages: [Message(role: .user, content: "Hello")], tools: tools, toolChoice: choice,
                parallelToolCalls: line["parallel_tool_calls"]?.bool ?? true))
        return [
            "grammar": .string(prepared.prompt.grammar?.text ?? ""),
            "dropped": .array(prepared.unconstrained.map { .string($0) }),
            "lazy": .bool(prepared.prompt.grammar?.isLazy ?? false),
            "notices": .array(prepared.notices.map { .string($0) }),
        ]
    }
}
