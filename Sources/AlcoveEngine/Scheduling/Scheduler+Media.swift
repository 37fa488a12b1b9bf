internal import AlcoveCore
internal import llama

/// Pictures and sounds of a prompt: looked at and read one at a time, between the steps of everybody else.
///
/// Looking at one takes as long as it takes, and answers under way wait for it: two computations at once on the same cores
/// would hold each other up for longer.
extension Scheduler {
    func read(_ chunk: MediaChunk, in index: Int, _ context: ContextHandle) {
        // The step before may have ended it.
        guard let projector, let generation = slots[index].generation else { return }
        guard var numbers = projector.encode(chunk, stop: generation.stop) else {
            if generation.stop.isSet { return end(index, .cancelled) }
            let reason = LlamaLibrary.takeLastError() ?? "the library does not say why"
            return fail(index, context, .mediaRefused(reason: reason))
        }
        let begin = end(slots[index].tokens)
        // A half of it is of no use, and a memory that forgets cannot be cut behind what was there before.
        let before = model.cutsExactly ? nil : mark(of: index, context)
        let watched = model.cutsExactly || before != nil ? generation.stop : nil
        let status = cancellation.watching(watched) {
            context.checked(projector.decode(chunk, &numbers, in: context, at: begin, sequence: index))
        }
        context.waitForResults()
        switch status {
        case 0:
            slots[index].tokens.append(contentsOf: repeatElement(chunk.token, count: chunk.count))
            generation.fed += chunk.count
            continuePrompt(index)
        case 2:
            if before == nil { _ = context.cut(index, to: begin) }
            giveUp(index, context, before)
        default:
            fail(index, context, context.failure(status))
        }
    }

    // MARK: Tokens and positions

    /// The position of what comes behind tokens.
    func end(_ tokens: [Token]) -> Int { position(behind: tokens.count, in: tokens) }

    func position(behind count: Int, in tokens: [Token]) -> Int {
        projector?.numbers.position(behind: count, of: tokens) ?? count
    }

    /// How many tokens are whole before a position.
    func count(before position: Int, in tokens: [Token]) -> Int {
        projector?.numbers.count(before: position, of: tokens) ?? min(position, tokens.count)
    }

    /// - Parameter count: tokens that are computed; nil is all that the sequence has.
    func mark(of index: Int, _ context: ContextHandle, count: Int? = nil) -> SequenceMark? {
        let count = count ?? slots[index].tokens.count
        return context.mark(of: index, count: count, position: position(behind: count, in: slots[index].tokens))
    }
}
