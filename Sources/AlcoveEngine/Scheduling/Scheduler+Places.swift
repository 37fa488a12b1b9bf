internal import AlcoveCore

/// Which sequence a generation gets, and what of its prompt is there already.
extension Scheduler {
    /// Gives a generation the idle sequence or the kept state that begins most like its prompt.
    func place(_ generation: Generation) {
        guard let context else { return }
        let idle = slots.indices.filter { slots[$0].generation == nil }
        let reusable = idle.map {
            AlcoveEngine.reusable(
                of: slots[$0].tokens, slots[$0].marks, for: generation.prompt, cutsExactly: model.cutsExactly)
        }
        // A sequence whose greater part would be lost is left alone, as long as there is an older one.
        let worth = idle.indices.map { 2 * reusable[$0] >= slots[idle[$0]].tokens.count ? reusable[$0] : 0 }
        guard
            let best = idle.indices.max(by: { a, b in
                (worth[a], slots[idle[b]].lastUsed) < (worth[b], slots[idle[a]].lastUsed)
            })
        else { return }
        let live = reusable[best]
        let reason = generation.startsAfresh ? "a seed was given" : missReason(generation.prompt)
        var index = idle[best], found: Int
        if generation.startsAfresh {
            index = idle.min { slots[$0].lastUsed < slots[$1].lastUsed } ?? index
            keepEnd(of: index, context)
            found = cut(index, to: 0, context)
        } else if let (entry, count) = kept.best(for: generation.prompt, longerThan: live) {
            // Into the sequence that has been idle longest: the best one may be worth keeping.
            index = idle.min { slots[$0].lastUsed < slots[$1].lastUsed } ?? index
            found = restore(entry, to: count, into: index, context)
        } else {
            if 2 * live < slots[index].tokens.count { keepEnd(of: index, context) }
            found = cut(index, to: live, context)
        }
        if found == 0 { generation.usage.missReason = reason }
        slots[index].tokens = Array(generation.prompt.prefix(found))
        generation.fed = found
        generation.usage.reusedTokens = found
        generation.startedAt = Platform.monotonicNanoseconds
        generation.sampler.accept(prompt: generation.prompt)
        slots[index].generation = generation
        governor.begin()
        // At once, so that whoever waits knows that the work has begun.
        generation.report(done: found)
    }

    private func missReason(_ prompt: [Token]) -> String {
        if slots.allSatisfy({ $0.tokens.isEmpty }), kept.isEmpty { return "first prompt" }
        let begins = slots.contains { $0.generation == nil && !$0.tokens.isEmpty && $0.tokens.first == prompt.first }
        return begins && !model.cutsExactly ? "no exact state" : "another beginning"
    }

    /// - Returns: how many tokens the sequence holds now: `count`, or none where it could not be cut there.
    private func cut(_ index: Int, to count: Int, _ context: ContextHandle) -> Int {
        let mark = slots[index].marks.last { $0.count == count }
        slots[index].marks.removeAll { $0.count > count }
        if context.cut(index, to: position(behind: count, in: slots[index].tokens), mark: mark) { return count }
        slots[index].marks = []
        _ = context.cut(index, to: 0)
        return 0
    }

    /// - Returns: how many tokens the sequence holds now: the first `count` of the state, or none.
    private func restore(
        _ entry: PrefixStore.Entry, to count: Int, into index: Int, _ context: ContextHandle
    ) -> Int {
        keepEnd(of: index, context)
        _ = cut(index, to: 0, context)
        guard context.restore(entry.state, into: index), context.end(of: index) == end(entry.tokens) else {
            kept.forget(entry.tokens)
            return cut(index, to: 0, context)
        }
        slots[index].tokens = entry.tokens
        slots[index].marks = entry.marks
        return cut(index, to: count, context)
    }

    /// Keeps what a sequence holds before it is lost.
    private func keepEnd(of index: Int, _ context: ContextHandle) {
        let tokens = slots[index].tokens
        guard options.prefixes.bytes > 0, tokens.count >= PrefixStore.fewestTokens, !kept.holds(tokens),
            context.end(of: index) == end(tokens)
        else { return }
        kept.keepEnd(tokens, context.state(of: index), slots[index].marks)
    }

    /// Copies the beginning that other chats share, once.
    func keepCheckpoint(of index: Int, _ context: ContextHandle) {
        let tokens = slots[index].tokens
        guard options.prefixes.bytes > 0, tokens.count >= PrefixStore.fewestTokens, !kept.holds(tokens) else { return }
        kept.keepCheckpoint(tokens, context.state(of: index))
    }

    /// Remembers where the answer begins: whatever becomes of its words, the next message goes on from here at least.
    func setMark(in index: Int, _ context: ContextHandle) {
        guard !model.cutsExactly, slots[index].marks.last?.count != slots[index].tokens.count,
            let mark = self.mark(of: index, context), mark.state.count <= options.prefixes.bytes / 4
        else { return }
        slots[index].marks = slots[index].marks.suffix(1) + [mark]
        // Of a large model a few are much: those of chats that rest longest go.
        let others = slots.indices.filter { $0 != index }.sorted { slots[$0].lastUsed < slots[$1].lastUsed }
        for other in others where markBytes > options.prefixes.bytes / 2 { slots[other].marks = [] }
    }

    private var markBytes: Int { slots.reduce(0) { $0 + $1.marks.reduce(0) { $0 + $1.state.count } } }
}
