internal import AlcoveCore

/// A prompt and what was left out on the way to it.
public struct PreparedPrompt: Sendable {
    public var prompt: RenderedPrompt
    /// Constraints that could not be had, as sentences.
    public var notices: [String]
    /// Tools whose schema no grammar is made of; they stay declared and may be called.
    public var unconstrained: [String]
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
        try ChatTemplate.check(conversation)
        if conversation.tools.isEmpty, !conversation.messages.contains(where: { $0.role == .tool || !$0.toolCalls.isEmpty }) {
            return PreparedPrompt(prompt: try render(conversation), notices: [], unconstrained: [])
        }
        guard knowsTools else { return try prepareInWords(conversation) }
        return try constrained(by: conversation.tools.filter { $0.isChosen(by: conversation.toolChoice) }) { tools, choice
            throws(TemplateError) in
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
        } choice: {
            conversation.toolChoice
        }
    }

    private func prepareInWords(_ conversation: Conversation) throws(TemplateError) -> PreparedPrompt {
        var prompt = try render(CallFormat.inWords(conversation))
        guard !conversation.tools.isEmpty, conversation.toolChoice != .none else {
            return PreparedPrompt(prompt: prompt, notices: [], unconstrained: [])
        }
        let format = try ChatTemplate(source: CallFormat.template, bos: "", eos: "")
        var form = conversation
        form.messages = [Message(role: .user, content: "Hello")]
        form.thinking = false
        let tools = conversation.tools.filter { $0.isChosen(by: conversation.toolChoice) }
        var prepared = try format.constrained(by: tools) { tools, choice throws(TemplateError) in
            form.tools = tools
            form.toolChoice = choice
            return try format.render(form)
        } choice: {
            conversation.toolChoice
        }
        prompt.grammar = prepared.prompt.grammar
        prompt.parser = prepared.prompt.parser
        prompt.preservedTokens = prepared.prompt.preservedTokens
        prepared.prompt = prompt
        return prepared
    }

    /// Renders with every schema; where that cannot be, with those schemas opened that are at fault.
    private func constrained(
        by tools: [ToolDeclaration], _ render: ([ToolDeclaration], ToolChoice) throws(TemplateError) -> RenderedPrompt,
        choice: () -> ToolChoice
    ) throws(TemplateError) -> PreparedPrompt {
        var form = tools
        var reasons: [(name: String, reason: String)] = []
        for (index, tool) in tools.enumerated() {
            guard let fault = SchemaLimits.fault(of: tool.parameters) else { continue }
            form[index].parameters = ["type": "object"]
            reasons.append((tool.name, fault))
        }
        var prompt: RenderedPrompt
        do throws(TemplateError) {
            prompt = try render(form, choice())
        } catch {
            var isMended = false
            for (index, tool) in form.enumerated() {
                guard let fault = ChatTemplate.compileFault(of: tool.parameters) else { continue }
                form[index].parameters = ["type": "object"]
                reasons.append((tool.name, fault))
                isMended = true
            }
            guard isMended else { throw error }
            prompt = try render(form, choice())
        }
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
            guard !tool.name.isEmpty, tool.name.utf8.count <= 256 else { throw .badInput(reason: "a tool has no name that can be used") }
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

extension ToolDeclaration {
    fileprivate func isChosen(by choice: ToolChoice) -> Bool {
        if case .named(let chosen) = choice { return chosen == name }
        return true
    }
}
