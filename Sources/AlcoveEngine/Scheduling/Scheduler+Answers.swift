internal import AlcoveCore

/// What becomes of what was computed: tokens, guesses that came true, ends.
extension Scheduler {
    /// What may follow the token that is computed next; nil when a guess is not worth its rows.
    func draft(for generation: Generation, in index: Int, isAlone: Bool) -> Draft? {
        // A guess that fails must be cut off again; beside other answers it would cost them time.
        guard generation.speculates, model.cutsExactly, isAlone || options.alwaysSpeculates, let context,
            let last = generation.next
        else { return nil }
        let held = slots[index].tokens.count + 1
        let room = min(
            min(context.shape.cells, options.contextLength) - held,
            generation.maxTokens - generation.usage.completionTokens)
        let tokens = slots[index].tokens
        let found = PromptLookup.draft(after: tokens, last, count: SpeculationGovernor.lengths.max() ?? 0)
        // What costs nothing goes first; two tokens in common are less than what a model thinks.
        if let found, found.source == .threeTokens || drafter == nil {
            // What was said before a picture may be said again; the picture itself is nothing that can be said.
            let words = found.tokens.prefix { $0 >= 0 }
            let length = min(governor.length(of: found.source), room, words.count)
            if length > 0 { return Draft(tokens: Array(words.prefix(length)), source: found.source) }
        }
        // It keeps one sequence, so it guesses for one answer at a time; and it sees no pictures.
        guard let drafter, isAlone, !tokens.contains(where: { $0 < 0 }) else { return nil }
        let length = min(governor.length(of: .model), room)
        guard length > 0,
            let guess = drafter.draft(
                after: tokens, last, count: length, cells: context.shape.cells, vocabularySize: vocabulary.count,
                stop: generation.stop)
        else { return nil }
        if let cost = guess.cost { governor.took(cost) }
        return Draft(tokens: guess.tokens, source: .model)
    }

    /// Takes the next token, and as many more as were drafted and are what the sampler chooses itself.
    func accept(_ index: Int) {
        guard let generation = slots[index].generation else { return }
        let draft = generation.draft?.tokens ?? []
        generation.usage.draftedTokens += draft.count
        choose(index)
        var accepted = 0
        while accepted < draft.count, slots[index].generation === generation, generation.next == draft[accepted] {
            slots[index].tokens.append(draft[accepted])
            accepted += 1
            generation.usage.acceptedTokens += 1
            generation.logitsIndex += 1
            choose(index)
        }
        guard let source = generation.draft?.source else { return }
        generation.draft = nil
        governor.took(accepted, of: draft.count, source: source)
        if accepted < draft.count { _ = context?.cut(index, to: end(slots[index].tokens)) }
    }

    /// Samples a sequence's next token and passes it on, or ends the answer.
    func choose(_ index: Int) {
        guard let context, let generation = slots[index].generation else { return }
        if generation.stop.isSet { return end(index, .cancelled) }
        if generation.usage.completionTokens >= generation.maxTokens { return end(index, .length) }
        guard let token = generation.sampler.next(context, at: generation.logitsIndex) else { return end(index, .stop) }
        if vocabulary.endsGeneration(token) { return end(index, .stop) }
        if let count = generation.likeliestTokens,
            let odds = TokenOdds(
                context, at: generation.logitsIndex, chosen: token, likeliest: count,
                vocabularySize: vocabulary.count)
        {
            generation.report(odds)
        }
        generation.next = token
        if let reason = generation.take(token) { return end(index, reason) }
        if slots[index].tokens.count >= options.contextLength { return end(index, .length) }
    }
}
