internal import AlcoveCore

/// How large the context is.
extension Scheduler {
    /// Grows the context when a sequence is longer than it was made for.
    func makeRoom(for generation: Generation) throws(EngineError) {
        let wanted = min(
            generation.prompt.count + min(generation.maxTokens, options.cellStep / 4), options.contextLength)
        let steps = (wanted + options.cellStep - 1) / options.cellStep
        let old = context?.shape ?? ContextHandle.Shape(cells: 0, sequences: 0)
        let shape = ContextHandle.Shape(
            cells: max(old.cells, min(steps * options.cellStep, options.contextLength)),
            sequences: options.sequences)
        if shape != old { try reshape(to: shape) }
    }

    /// An answer longer than foreseen: one more step of memory.
    func growIfFull(_ index: Int) {
        guard let context, slots[index].generation != nil, slots[index].tokens.count >= context.shape.cells else {
            return
        }
        let cells = min(context.shape.cells + options.cellStep, options.contextLength)
        do throws(EngineError) {
            try reshape(to: ContextHandle.Shape(cells: cells, sequences: context.shape.sequences))
        } catch {
            end(index, .length)
        }
    }

    /// Makes a context of another shape and moves every sequence over, bit for bit.
    private func reshape(to shape: ContextHandle.Shape) throws(EngineError) {
        var states =
            context.map { context in
                slots.indices.map { slots[$0].tokens.isEmpty ? [] : context.state(of: $0) }
            } ?? []
        // Both contexts at once would need twice the memory; the states are what must not be lost.
        let old = context?.shape
        context = nil
        var failure: EngineError?
        do throws(EngineError) {
            context = try ContextHandle(
                model: model, shape: shape, cacheType: options.cacheType, threads: options.threads,
                cancellation: cancellation)
        } catch {
            failure = error
            guard let old else { throw error }
            context = try ContextHandle(
                model: model, shape: old, cacheType: options.cacheType, threads: options.threads,
                cancellation: cancellation)
        }
        while slots.count < (context?.shape.sequences ?? 0) { slots.append(Slot()) }
        for index in states.indices where !states[index].isEmpty {
            if context?.restore(states[index], into: index) != true {
                slots[index].tokens = []
                slots[index].marks = []
                if let generation = slots[index].generation { rewind(index, generation) }
            }
            states[index] = []
        }
        if let failure { throw failure }
    }

    /// Lets a generation begin again at the start of its prompt; what it has shown already is part of that prompt.
    private func rewind(_ index: Int, _ generation: Generation) {
        slots[index].generation = nil
        generation.fail(.decodeFailed(status: -1, reason: "its memory could not be moved"))
    }

    /// Gives back what only serves speed: kept states, marks, and when nothing is computed the context with every sequence.
    ///
    /// - Returns: about how many bytes that were.
    func giveBack() -> Int {
        var bytes = kept.giveBack()
        for index in slots.indices {
            bytes += slots[index].marks.reduce(0) { $0 + $1.state.count }
            slots[index].marks = []
        }
        if !isComputing, let context {
            bytes += slots.indices.reduce(0) { $0 + context.stateBytes(of: $1) }
            self.context = nil
            slots = []
        }
        return bytes
    }
}
