internal import AlcoveCore

/// One computation after the other: the next token of every answer, and the next piece of one prompt.
extension Scheduler {
    /// Computes the next token of every answer, with what may follow it, and the next piece of one prompt.
    func step() {
        guard let context else { return }
        context.clearBatch()
        let occupied = slots.indices.filter { slots[$0].generation != nil }
        // What nobody waits for rests while there is other work.
        let first = occupied.compactMap { slots[$0].generation?.priority }.max()
        let active = occupied.filter { slots[$0].generation?.priority == first }
        let answering = active.filter { !(slots[$0].generation?.isReadingPrompt ?? true) }
        for index in answering {
            guard let generation = slots[index].generation, let token = generation.next else { continue }
            let place = end(slots[index].tokens)
            generation.logitsIndex = context.add(token, position: place, sequence: index, wantsLogits: true)
            generation.draft = draft(for: generation, in: index, isAlone: active.count == 1)
            slots[index].tokens.append(token)
            for (offset, drafted) in (generation.draft?.tokens ?? []).enumerated() {
                _ = context.add(drafted, position: place + 1 + offset, sequence: index, wantsLogits: true)
            }
        }
        let answerRows = context.batchCount
        // Who came first is read first.
        let reading = active.filter { slots[$0].generation?.isReadingPrompt ?? false }.min {
            (slots[$0].generation?.startedAt ?? 0) < (slots[$1].generation?.startedAt ?? 0)
        }
        let picture = reading.flatMap { slots[$0].generation?.nextMedia }
        if let reading, picture == nil { addPrompt(of: reading, isAlone: answering.isEmpty) }
        if context.batchCount > 0 {
            compute(context, active, answering, reading: picture == nil ? reading : nil, answerRows: answerRows)
        }
        if let reading, let picture { read(picture, in: reading, context) }
    }

    /// Computes what was put into the batch.
    private func compute(
        _ context: ContextHandle, _ active: [Int], _ answering: [Int], reading: Int?, answerRows: Int
    ) {
        var alone = active.count == 1 ? slots[active[0]].generation?.stop : nil
        var before: SequenceMark?
        if model.isRecurrent, alone != nil {
            // A token is soon computed; a piece of a prompt is given up only where there is a way back.
            before = reading.flatMap { fed in
                mark(of: fed, context, count: slots[fed].tokens.count - (context.batchCount - answerRows))
            }
            if before == nil { alone = nil }
        }
        let begun = Platform.monotonicNanoseconds
        let status = cancellation.watching(alone) { context.decode() }
        switch status {
        case 0:
            context.waitForResults()
            let time = Platform.monotonicNanoseconds - begun
            pieceSize.took(time, prompt: context.batchCount - answerRows, answers: answerRows)
            if active.count == 1, reading == nil { governor.took(time, rows: answerRows) }
            for index in answering { accept(index) }
            if let reading { continuePrompt(reading) }
            // Only now: what was computed for the others is gone with the old context.
            for index in active { growIfFull(index) }
        case 2:
            for index in active { giveUp(index, context, before) }
        default:
            let failure = context.failure(status)
            for index in active { fail(index, context, failure) }
        }
    }

    /// Ends an answer with an error; what its sequence holds is not to be relied on.
    func fail(_ index: Int, _ context: ContextHandle, _ error: EngineError) {
        let generation = slots[index].generation
        slots[index] = Slot()
        _ = context.cut(index, to: 0)
        generation?.fail(error)
    }

    /// Ends what was stopped inside a computation: whole micro-batches stay, the rest is to be computed by whoever goes on.
    func giveUp(_ index: Int, _ context: ContextHandle, _ before: SequenceMark?) {
        let isExact = before.map { context.goBack(index, to: $0) } ?? true
        let count = isExact ? self.count(before: context.end(of: index), in: slots[index].tokens) : 0
        if !isExact { _ = context.cut(index, to: 0) }
        slots[index].tokens = Array(slots[index].tokens.prefix(count))
        slots[index].marks.removeAll { $0.count > count }
        end(index, .cancelled)
    }

    private func addPrompt(of index: Int, isAlone: Bool) {
        guard let context, let generation = slots[index].generation else { return }
        // Beside running answers a prompt is read in small pieces, so that nobody's words stall for long.
        let free = ContextHandle.batchTokens - context.batchCount
        let room = isAlone ? free : pieceSize.tokens(atMost: free)
        var end = min(generation.fed + room, generation.prompt.count)
        // ggml takes other kernels, with other rounding, for one row than for many. Where the answer should be the same
        // each time, the last token is always computed by itself, as it is when the rest of the prompt is reused.
        if generation.isRepeatable, end == generation.prompt.count, end - generation.fed > 1 { end -= 1 }
        // Cut where others will go on, also when there is nothing to go on from: numbers are then the same either way.
        for place in cuts(of: generation) where generation.fed < place { end = min(end, place) }
        // A picture is read by itself.
        if let picture = generation.prompt[generation.fed..<end].firstIndex(where: { $0 < 0 }) { end = picture }
        let shift = position(behind: generation.fed, in: generation.prompt) - generation.fed
        for place in generation.fed..<end {
            generation.logitsIndex = context.add(
                generation.prompt[place], position: place + shift, sequence: index,
                wantsLogits: place == generation.prompt.count - 1)
        }
        slots[index].tokens.append(contentsOf: generation.prompt[generation.fed..<end])
        generation.fed = end
    }

    /// Where others, or the next message of this chat, will go on.
    private func cuts(of generation: Generation) -> [Int] {
        model.cutsExactly ? [generation.sharedPrefix] : [generation.sharedPrefix, generation.answerStart]
    }

    func continuePrompt(_ index: Int) {
        guard let generation = slots[index].generation else { return }
        generation.report(done: generation.fed)
        if let context {
            if generation.fed == generation.sharedPrefix { keepCheckpoint(of: index, context) }
            if generation.fed == generation.answerStart { setMark(in: index, context) }
        }
        if generation.fed == generation.prompt.count {
            generation.firstTokenAt = Platform.monotonicNanoseconds
            choose(index)
        }
    }
}
