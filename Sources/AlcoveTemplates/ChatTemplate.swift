public import AlcoveCore
internal import Synchronization
internal import llama

/// A model's chat template, parsed: turns conversations into prompts.
///
/// Rendering is llama.cpp's own (`common/`), the library llama-server trusts; see Native/llama/alcove_chat.h.
public final class ChatTemplate: Sendable {
    /// What is used for a model that brings no template: the format most chat models share.
    public static let chatML = """
        {%- for message in messages -%}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' -}}
        {%- endfor -%}
        {%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}
        """

    /// Longest template that is read, in bytes. The longest known one has 25 KB.
    public static let maximumBytes = 1 << 20

    public let source: String
    private let bos: String
    private let eos: String
    private let handle: Handle
    /// Where a template that came with a file renders; nil renders in this process. One conversation at a time.
    private let worker: Mutex<TemplateWorker?>
    /// Whether the template has a form for calls, and whether it declares tools by itself.
    let writesCalls: Bool
    let declaresTools: Bool

    /// Parses a template.
    ///
    /// - Parameters:
    ///   - bos: The text of the token that begins a sequence, empty when there is none; likewise `eos` at the end.
    ///   - worker: A child to render in: a template may do what it does not on a trial when it meets certain words.
    /// - Throws: `TemplateError.fault` with the line.
    public init(
        source: String, bos: String, eos: String, worker: sending TemplateWorker? = nil
    ) throws(TemplateError) {
        guard source.utf8.count <= ChatTemplate.maximumBytes else {
            throw .fault(reason: "it has \(source.utf8.count) bytes, more than \(ChatTemplate.maximumBytes)", line: nil)
        }
        // The library asserts that there is one.
        guard source.contains(where: { !$0.isWhitespace }) else { throw .fault(reason: "it is empty", line: nil) }
        self.source = source
        self.bos = bos
        self.eos = eos
        var failure: UnsafeMutablePointer<CChar>?
        guard let raw = alcove_chat_open(source, bos, eos, &failure) else {
            _ = try ChatLibrary.take(failure)
            throw .fault(reason: "an unknown fault", line: nil)
        }
        handle = Handle(raw: raw)
        self.worker = Mutex(worker)
        // A template whose answers nobody can parse fails here, and renders all the same.
        let known = try? ChatLibrary.take(alcove_chat_capabilities(raw))
        writesCalls = known?["supports_tool_calls"]?.bool ?? false
        declaresTools = known?["supports_tools"]?.bool ?? false
    }

    /// Renders a conversation into the prompt that makes the model answer it.
    ///
    /// - Throws: `TemplateError.refused` with the template's own words, `.fault` with the line; in a child also
    ///   `.tooCostly`, when it reached a limit.
    public func render(_ conversation: Conversation) throws(TemplateError) -> RenderedPrompt {
        let request = conversation.request
        let trial = TemplateTrial(source: source, bos: bos, eos: eos)
        let answer = worker.withLock { worker -> Result<JSONValue, TemplateError> in
            do throws(TemplateError) {
                if let worker { return .success(try worker.apply(trial, to: request)) }
                return .success(try document(for: request))
            } catch {
                return .failure(error)
            }
        }
        return try ChatTemplate.prompt(in: try answer.get())
    }

    /// What the library makes of a conversation, as it crosses the pipe from a child.
    func document(for request: JSONValue) throws(TemplateError) -> JSONValue {
        try ChatLibrary.take(alcove_chat_apply(handle.raw, request.text()))
    }

    private static func prompt(in document: JSONValue) throws(TemplateError) -> RenderedPrompt {
        let prompt = RenderedPrompt(document: document)
        if document["marked"]?.bool != true { throw .unmarked }
        return prompt
    }

    /// What the template can express: `tools`, `tool_calls`, `system_role`, `thinking` ...
    public func capabilities() throws(TemplateError) -> [String: Bool] {
        let document = try ChatLibrary.take(alcove_chat_capabilities(handle.raw))
        return Dictionary(
            uniqueKeysWithValues: (document.object?.members ?? []).compactMap { member in
                member.value.bool.map { (member.key, $0) }
            })
    }

    /// Owns one `alcove_chat_template *`.
    ///
    /// Unchecked: the library does not change a template after it is parsed, so any thread may render with it.
    private final class Handle: @unchecked Sendable {
        let raw: OpaquePointer
        init(raw: OpaquePointer) { self.raw = raw }
        deinit { alcove_chat_close(raw) }
    }
}

/// What a template is given to render.
public struct Conversation: Sendable, Hashable {
    public var messages: [Message]
    public var tools: [ToolDeclaration]
    public var toolChoice: ToolChoice
    public var parallelToolCalls: Bool
    public var thinking: Bool
    /// JSON schema that the answer must follow.
    public var schema: JSONValue?
    /// How reasoning is told apart: `auto`, `none` (it stays in the text), or another name the library knows.
    public var reasoningFormat = "auto"
    /// False renders the conversation as it is, without the words that make the model answer.
    public var addsGenerationPrompt: Bool
    /// What the template's clock says, in seconds since 1970; nil is now.
    public var now: Int64?

    public init(
        messages: [Message], tools: [ToolDeclaration] = [], toolChoice: ToolChoice = .auto,
        parallelToolCalls: Bool = true, thinking: Bool = false, schema: JSONValue? = nil,
        addsGenerationPrompt: Bool = true, now: Int64? = nil
    ) {
        self.messages = messages
        self.tools = tools
        self.toolChoice = toolChoice
        self.parallelToolCalls = parallelToolCalls
        self.thinking = thinking
        self.schema = schema
        self.addsGenerationPrompt = addsGenerationPrompt
        self.now = now
    }

    var request: JSONValue {
        var object: JSONObject = [
            "messages": .array(messages.map(\.templateValue)), "tool_choice": .string(toolChoice.libraryName),
            "parallel_tool_calls": .bool(parallelToolCalls), "enable_thinking": .bool(thinking),
            "add_generation_prompt": .bool(addsGenerationPrompt), "reasoning_format": .string(reasoningFormat),
        ]
        if !tools.isEmpty { object["tools"] = .array(tools.map(\.openAIValue)) }
        if let schema { object["json_schema"] = schema }
        if let now { object["now"] = .integer(now) }
        return .object(object)
    }
}

extension ToolChoice {
    fileprivate var libraryName: String {
        switch self {
        case .auto: "auto"
        case .none: "none"
        case .required, .named: "required"
        }
    }
}

extension Message {
    /// The message as OpenAI writes it, which is what the library reads. Missing content becomes null or empty text as
    /// the role needs it (field reports 2 and 3): a tool-calling answer has none, everything else has some.
    public var templateValue: JSONValue {
        var object: JSONObject = ["role": .string(role.rawValue)]
        object["content"] = content.map { .string($0) } ?? (toolCalls.isEmpty ? "" : .null)
        if let reasoning, !reasoning.isEmpty { object["reasoning_content"] = .string(reasoning) }
        if !toolCalls.isEmpty {
            object["tool_calls"] = .array(
                toolCalls.map { call in
                    [
                        "id": .string(call.id), "type": "function",
                        "function": ["name": .string(call.name), "arguments": .string(call.readableArguments)],
                    ]
                })
        }
        if let toolCallID { object["tool_call_id"] = .string(toolCallID) }
        if let toolName { object["name"] = .string(toolName) }
        return .object(object)
    }
}

extension ToolCall {
    /// Arguments that are an object; a broken call in the history must not break every later prompt.
    var readableArguments: String {
        guard let value = try? JSONValue(parsing: arguments), value.object != nil else { return "{}" }
        return arguments
    }
}

extension ToolDeclaration {
    /// The tool as OpenAI declares it.
    public var openAIValue: JSONValue {
        [
            "type": "function",
            "function": ["name": .string(name), "description": .string(description), "parameters": parameters],
        ]
    }
}
