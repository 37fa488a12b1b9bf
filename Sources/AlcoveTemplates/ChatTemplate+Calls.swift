internal import AlcoveCore

/// A prompt and what was left out on the way to it.
public struct PreparedPrompt: Sendable {
    public var prompt: RenderedPrompt
    /// Constraints that could not be had, as sentences.
    public var notices: [String]
    /// Tools whose schema no grammar is made of; they stay declared and may be called.
    public var unconstrained: [String]

    public init(prompt: RenderedPrompt, notices: [String] = [], unconstrained: [String] = []) {
        self.prompt = prompt
        self.notices = notices
        self.unconstrained = unconstrained
    }
}

extension ChatTemplate {
    /// Renders a conversation and readies what its answer is read and held to: parser, grammar, triggers.
    ///
    /// Tools are declared whatever their schema is, and always all of them; a schema that cannot be compiled only means
    /// that the arguments are not held to it. A template that knows no tools gets them in words.
    ///
    /// - Throws: `TemplateError`; `.badInput` for two tools of one name, a choice that names none, or a schema for the answer
    ///   beside tools that may be called; `.badSchema` for a schema of the answer that cannot be compiled.
    public func prepare(_ conversation: Conversation) throws(TemplateError) -> PreparedPrompt {
        var prepared = try form(conversation)
        if conversation.schema != nil { prepared.prompt.grammar?.dropFence() }
        return prepared
    }

    private func form(_ conversation: Conversation) throws(TemplateError) -> PreparedPrompt {
        try ChatTemplate.check(conversation)
        let hasCalls = conversation.messages.contains { $0.role == .tool || !$0.toolCalls.isEmpty }
        if conversation.tools.isEmpty, !hasCalls {
            return PreparedPrompt(prompt: try render(conversation), notices: [], unconstrained: [])
        }
        guard writesCalls else { return try prepareInWords(conversation) }
        var conversation = conversation
        if !declaresTools { CallFormat.declare(conversation.tools, in: &conversation.messages, withFormat: false) }
        return try constrained(by: conversation.chosenTools, conversation) { tools, choice throws(TemplateError) in
            // One rendering when the declared tools are the constrained ones; else prompt and constraint come apart, so
            // that the prompt says the same for every choice.
            var own = conversation
            own.toolChoice = choice
            guard tools != conversation.tools else { return try render(own) }
            own.toolChoice = .none
            var prompt = try render(own)
            own.tools = tools
            own.toolChoice = choice
            let form = try render(own)
            prompt.grammar = form.grammar
            prompt.parser = form.parser
            prompt.preservedTokens = form.preservedTokens
            return prompt
        }
    }

    private func prepareInWords(_ conversation: Conversation) throws(TemplateError) -> PreparedPrompt {
        var prompt = try render(CallFormat.inWords(conversation))
        guard !conversation.tools.isEmpty else {
            return PreparedPrompt(prompt: prompt, notices: [], unconstrained: [])
        }
        guard conversation.toolChoice != .none else {
            // A model that sees calls in the conversation goes on writing them, as text.
            if conversation.schema == nil { prompt.grammar = .without("<tool") }
            return PreparedPrompt(prompt: prompt, notices: [], unconstrained: [])
        }
        let format = try ChatTemplate(source: CallFormat.template, bos: "", eos: "")
        var form = conversation
        form.messages = [Message(role: .user, content: "Hello")]
        form.thinking = false
        var prepared = try format.constrained(by: conversation.chosenTools, conversation) {
            tools, choice throws(TemplateError) in
            form.tools = tools
            form.toolChoice = choice
            return try format.render(form)
        }
        let opensReasoning = prompt.parser.reasoningIsOpen
        prompt.grammar = prepared.prompt.grammar
        prompt.parser = prepared.prompt.parser
        if opensReasoning { prompt.parser.generationPrompt += prompt.parser.reasoningStart }
        prompt.preservedTokens = prepared.prompt.preservedTokens
        prepared.prompt = prompt
        return prepared
    }

    /// Renders with every schema; where that cannot be, with those schemas opened that are at fault.
    private func constrained(
        by tools: [ToolDeclaration], _ conversation: Conversation,
        _ render: ([ToolDeclaration], ToolChoice) throws(TemplateError) -> RenderedPrompt
    ) throws(TemplateError) -> PreparedPrompt {
        let choice = conversation.toolChoice
        var form = tools
        var reasons: [(name: String, reason: String)] = []
        for (index, tool) in tools.enumerated() {
            guard let fault = SchemaLimits.fault(of: tool.parameters) else { continue }
            form[index].parameters = ["type": "object"]
            reasons.append((tool.name, fault))
        }
        var prompt: RenderedPrompt?
        var failure: TemplateError?
        do throws(TemplateError) { prompt = try render(form, choice) } catch { failure = error }
        // A schema that cannot be compiled shows as a failure, or as no grammar at all.
        if prompt?.grammar == nil, choice != .none {
            var isMended = false
            for (index, tool) in form.enumerated() {
                guard let fault = ChatTemplate.compileFault(of: tool.parameters) else { continue }
                form[index].parameters = ["type": "object"]
                reasons.append((tool.name, fault))
                isMended = true
            }
            if isMended { prompt = try render(form, choice) }
        }
        guard var prompt else { throw failure ?? .fault(reason: "an unknown fault", line: nil) }
        switch choice {
        case .required, .named: prompt.grammar?.dropTextBeforeCalls()
        case .auto, .none: break
        }
        if !conversation.parallelToolCalls { prompt.grammar?.dropFurtherCalls() }
        var notices = reasons.map { "The arguments of \($0.name) are not held to its schema: \($0.reason)." }
        if let grammar = prompt.grammar, grammar.text.utf8.count > SchemaLimits.maximumGrammarBytes {
            prompt.grammar = nil
            notices.append("The tools' schemas are too long to hold the answer to them.")
        }
        return PreparedPrompt(prompt: prompt, notices: notices, unconstrained: reasons.map(\.name))
    }

    private static func compileFault(of schema: JSONValue) -> String? {
        do throws(TemplateError) {
            _ = try OutputGrammar.grammar(ofSchema: schema)
            return nil
        } catch .badSchema(let reason) {
            return reason
        } catch {
            return error.message
        }
    }

    private static func check(_ conversation: Conversation) throws(TemplateError) {
        var names: Set<String> = []
        for tool in conversation.tools {
            guard !tool.name.isEmpty, tool.name.utf8.count <= 256 else {
                throw .badInput(reason: "a tool has no name that can be used")
            }
            guard names.insert(tool.name).inserted else { throw .badInput(reason: "two tools are called \(tool.name)") }
        }
        if case .named(let name) = conversation.toolChoice, !names.contains(name) {
            throw .badInput(reason: "there is no tool called \(name)")
        }
        if conversation.toolChoice == .required, names.isEmpty {
            throw .badInput(reason: "a call is required and no tool is declared")
        }
        guard let schema = conversation.schema else { return }
        guard names.isEmpty || conversation.toolChoice == .none else {
            throw .badInput(reason: "an answer cannot both follow a schema and call tools")
        }
        if let fault = SchemaLimits.fault(of: schema) { throw .badSchema(reason: fault) }
        if let fault = compileFault(of: schema) { throw .badSchema(reason: fault) }
    }
}

extension OutputGrammar {
    /// The library lets any text precede a required call, and a small model would write nothing else. In its grammar that
    /// text is the one optional "until" rule of the root; reasoning stands in parentheses and stays.
    mutating func dropTextBeforeCalls() {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let root = lines.firstIndex(where: { $0.hasPrefix("root ::= ") }) else { return }
        let words = lines[root].split(separator: " ", omittingEmptySubsequences: false)
        lines[root] = words.filter { word in
            guard word.hasPrefix("until-"), word.hasSuffix("?") else { return true }
            return !word.dropFirst("until-".count).dropLast().allSatisfy(\.isNumber)
        }.joined(separator: " ")
        text = lines.joined(separator: "\n")
    }

    /// The library lets an answer that follows a schema stand between Markdown fences, and the closing one is not told
    /// from the answer while it streams. Without the choice the answer is JSON from its first byte to its last.
    mutating func dropFence() {
        text = text.replacing(#""```json" space response-format space "```" | "#, with: "")
    }

    /// Where every call has its own markers, the library allows several whatever was asked for.
    mutating func dropFurtherCalls() {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        text = lines.map { $0 == "tool-calls ::= (tool-call space)+" ? "tool-calls ::= tool-call space" : $0 }
            .joined(separator: "\n")
    }
}

extension Conversation {
    /// The tools that may be called.
    fileprivate var chosenTools: [ToolDeclaration] {
        if case .named(let name) = toolChoice { return tools.filter { $0.name == name } }
        return tools
    }
}
