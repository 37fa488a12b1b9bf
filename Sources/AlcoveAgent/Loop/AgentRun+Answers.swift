internal import AlcoveCore

// Answers: the model is asked once, and what it says is shown as it comes, also when its engine has to be made anew.

extension AgentRun {
    struct RoundAnswer {
        var text = ""
        var calls: [ToolCall] = []
        var broken: [BrokenToolCall] = []
        var reason = FinishReason.stop
        /// The end of everything the model wrote, reasoning and calls included.
        private(set) var written = ""

        /// Keeps what a search for a loop looks at, at a cost that does not grow with the answer.
        mutating func take(_ delta: String) {
            written += delta
            if written.utf8.count > 8 * TextLoop.window { written = String(written.suffix(TextLoop.window)) }
        }
    }

    /// Asks the model once, and once more without reasoning when reasoning left no room for an answer.
    func round(_ number: Int, tools: [ToolDeclaration], choice: ToolChoice) async throws -> RoundAnswer {
        let thinks = request.thinking && keepsReasoning
        let answer = try await attempt(number, tools: tools, choice: choice, thinking: thinks)
        guard answer.reason == .thinkingBudget, answer.text.isEmpty, thinks, !turn.stopSignal.isSet else {
            return answer
        }
        remark("[The reasoning took all the room it may have; answering without it.]")
        return try await attempt(number, tools: tools, choice: choice, thinking: false)
    }

    /// What it says is shown as it comes.
    func attempt(
        _ number: Int, tools: [ToolDeclaration], choice: ToolChoice, thinking: Bool
    ) async throws -> RoundAnswer {
        var generation = GenerationRequest(
            messages: messages, tools: tools, toolChoice: choice, thinking: thinking,
            sampling: request.sampling, maxTokens: replyLimit, stopSignal: turn.stopSignal)
        generation.speculates = request.speculates
        try await makeRoom(in: &generation)
        var answer = RoundAnswer()
        let before = (text: result.text, reasoning: result.reasoning)
        while true {
            let closures = loop.repair?.gate.closures ?? 0
            do {
                try await read(generation, into: &answer, round: number)
                break
            } catch {
                generation.messages = try await mended(
                    after: error, closures: closures, answer: &answer, before: before)
            }
        }
        messages.append(
            Message(role: .assistant, content: answer.text.isEmpty ? nil : answer.text, toolCalls: answer.calls))
        if answer.calls.isEmpty, answer.text.isEmpty { messages.removeLast() }
        return answer
    }

    func read(_ generation: GenerationRequest, into answer: inout RoundAnswer, round number: Int) async throws {
        for try await event in loop.model.generate(generation) {
            try await begin()
            switch event {
            case .promptProgress(let done, let total): turn.append(.promptProgress(done: done, total: total))
            case .chance: break
            case .reasoning(let delta):
                answer.take(delta)
                if keepsReasoning { reason(delta) } else { hasDroppedReasoning = true }
            case .text(let delta):
                // What is said after a tool has run is a paragraph of its own.
                if answer.text.isEmpty, number > 1, let last = result.text.last, !last.isNewline { write("\n\n") }
                answer.text += delta
                answer.take(delta)
                write(delta)
            case .toolCallPart(let part):
                answer.take(part.arguments)
                turn.append(.callWriting(tool: part.name, delta: part.arguments))
            case .toolCall(let call): answer.calls.append(call)
            case .brokenToolCall(let broken): answer.broken.append(broken)
            case .notice(let sentence): turn.append(.notice(sentence))
            case .finished(let reason, let usage):
                // The model was taken away for a rebuild that another turn asked for.
                if reason == .cancelled, !turn.stopSignal.isSet, await loop.repair?.tookAway(loop.model) == true {
                    throw EngineRepair.TakenAway()
                }
                answer.reason = reason
                result.end.reason = reason == .toolCalls ? .stop : reason
                result.end.usage = result.end.usage.adding(usage)
                if request.profile != nil { turn.append(.usage(usage)) }
            }
        }
    }

    /// The engine has failed: a new one, and what it is to go on from.
    ///
    /// Neither the fragment nor the wish to go on from it is part of the conversation; only this one request has them.
    ///
    /// - Throws: the failure itself, when it is of another kind, or nothing more may be tried.
    func mended(
        after error: any Error, closures: Int, answer: inout RoundAnswer, before: (text: String, reasoning: String)
    ) async throws -> [Message] {
        guard let repair = loop.repair, repairs < EngineRepair.retries, !turn.stopSignal.isSet,
            error is EngineRepair.TakenAway
                || BackendFault.isMeant(
                    by: error, gateWasClosed: repair.gate.isClosed || repair.gate.closures > closures)
        else {
            await loop.repair?.note(error, of: loop.model, closuresBefore: closures)
            throw error
        }
        repairs += 1
        loop.model = try await repair.replacement(of: loop.model, stop: turn.stopSignal)
        try await begin()
        let goesOn = answer.calls.isEmpty && answer.broken.isEmpty && Continuation.isPossible(from: answer.text)
        turn.append(
            .notice(
                "The engine stopped working and was restarted; the answer "
                    + (goesOn ? "goes on where it was." : "begins anew.")))
        if goesOn {
            var instruction = Message(role: .user, content: Continuation.instruction)
            instruction.isFromHost = true
            return messages + [Message(role: .assistant, content: answer.text), instruction]
        }
        answer = RoundAnswer()
        result.text = before.text
        result.reasoning = before.reasoning
        turn.append(.replaced(text: before.text))
        return messages
    }

    var replyLimit: Int? {
        guard let bound = request.profile?.replyTokens else { return request.maxTokens }
        return min(bound, request.maxTokens ?? bound)
    }

    /// Measures the prompt against the engine's real window, and makes room once, visibly, when it does not fit.
    func makeRoom(in generation: inout GenerationRequest) async throws {
        let compaction = Compaction(model: loop.model)
        guard let smaller = try await compaction.compacted(generation) else { return }
        generation.messages = smaller.messages
        messages = smaller.messages
        try await begin()
        turn.append(
            .notice(
                "The conversation needs \(smaller.needed) tokens and the model holds \(compaction.window) with room for "
                    + "an answer, so \(smaller.what) left out of what the model sees."))
    }
}
