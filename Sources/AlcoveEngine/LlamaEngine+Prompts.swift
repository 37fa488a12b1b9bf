internal import AlcoveCore
internal import AlcoveTemplates
internal import Synchronization

// Requests become prompts: rendered, tokenised, with pictures and sounds in their places.

extension LlamaEngine {
    /// A prompt with what it comes to.
    struct MeasuredPrompt: Sendable {
        var prepared: PreparedPrompt
        var tokens: [Token]
        var media: [Token: MediaChunk] = [:]
    }

    func prepare(_ request: GenerationRequest) throws -> MeasuredPrompt {
        if let text = request.rawPrompt {
            let prompt = RenderedPrompt.raw(text)
            let tokens = PromptTokenizer(vocabulary: vocabulary).tokens(of: prompt.parts).tokens
            return MeasuredPrompt(prepared: PreparedPrompt(prompt: prompt), tokens: tokens)
        }
        let conversation = Conversation(
            messages: request.messages, tools: request.tools, toolChoice: request.toolChoice,
            parallelToolCalls: request.parallelToolCalls, thinking: request.thinking, schema: request.responseSchema)
        if let found = measured.withLock({ $0?.conversation == conversation ? $0?.prompt : nil }) { return found }
        let marked = try MarkedConversation(conversation, projector: projector, secret: secret)
        let prepared = try template.prepare(marked.conversation)
        let tokens = PromptTokenizer(vocabulary: vocabulary).tokens(of: prepared.prompt.parts, media: marked.marks)
            .tokens
        // A template may leave words out; a picture that nobody told of would be answered about all the same.
        let shown = Set(tokens.filter { $0 < 0 })
        guard marked.chunks.keys.allSatisfy(shown.contains), tokens.last.map({ $0 >= 0 }) ?? true else {
            throw EngineError.mediaRefused(reason: "the model's chat template leaves no place for it")
        }
        let prompt = MeasuredPrompt(prepared: prepared, tokens: tokens, media: marked.chunks)
        measured.withLock { $0 = (conversation, prompt) }
        return prompt
    }

    /// How many tokens of a prompt any other chat of the same instructions and tools begins with: what two renderings have
    /// in common that differ in the person's first words only.
    func sharedPrefix(of request: GenerationRequest, _ tokens: [Token]) -> Int {
        guard request.rawPrompt == nil, let first = request.messages.firstIndex(where: { $0.role == .user }) else {
            return 0
        }
        var probe = Conversation(
            messages: Array(request.messages[..<first]), tools: request.tools, toolChoice: request.toolChoice,
            parallelToolCalls: request.parallelToolCalls, thinking: request.thinking, schema: request.responseSchema)
        let common: [Token]
        if let known = shared.withLock({ $0?.conversation == probe ? $0?.tokens : nil }) {
            common = known
        } else {
            let key = probe
            let sides = ["a", "b"].map { word -> [Token] in
                probe.messages.append(Message(role: .user, content: word))
                defer { probe.messages.removeLast() }
                guard let prepared = try? template.prepare(probe) else { return [] }
                return PromptTokenizer(vocabulary: vocabulary).tokens(of: prepared.prompt.parts).tokens
            }
            common = zip(sides[0], sides[1]).prefix { $0 == $1 }.map(\.0)
            shared.withLock { $0 = (key, common) }
        }
        let count = zip(common, tokens).prefix { $0 == $1 }.count
        return count >= PrefixStore.fewestTokens && count < tokens.count ? count : 0
    }

    /// How many tokens of a prompt stand before what opens the answer. What follows there the next message may render in
    /// another way, without reasoning for example.
    func answerStart(of prompt: RenderedPrompt, _ tokens: [Token]) -> Int {
        let opening = PromptTokenizer(vocabulary: vocabulary).tokens(
            of: [RenderedPrompt.Part(text: prompt.parser.generationPrompt, isInput: false)], beginsSequence: false
        ).tokens
        let isThere = opening.count < tokens.count && tokens.suffix(opening.count) == opening[...]
        return isThere ? tokens.count - max(1, opening.count) : tokens.count - 1
    }
}
