internal import AlcoveCore

/// How large the context is, and whether memory allows that.
extension Scheduler {
    /// Whether a generation can have its place now.
    enum Room {
        case there
        /// After the context became this large.
        case shape(ContextHandle.Shape)
        /// Not before answers under way have ended: there is no memory for both.
        case later
    }

    /// How many answers can be computed at once in the memory there is.
    var places: Int { context?.shape.sequences ?? options.sequences }

    /// The room a generation needs: cells in steps, and as many sequences as memory allows.
    ///
    /// - Throws: `EngineError.noMemoryForContext` when it does not even fit alone.
    func room(for generation: Generation) throws(EngineError) -> Room {
        let wanted = min(
            generation.prompt.count + min(generation.maxTokens, options.cellStep / 4), options.contextLength)
        let steps = (wanted + options.cellStep - 1) / options.cellStep
        let old = context?.shape
        let cells = max(old?.cells ?? 0, min(steps * options.cellStep, options.contextLength))
        let isIdle = !isComputing
        if let old, old.cells == cells {
            let all = ContextHandle.Shape(cells: cells, sequences: options.sequences)
            // Several wait that had to be computed one by one: perhaps there is memory for all by now.
            if isIdle, old.sequences < options.sequences, waiting.count > 1, allows(all) { return .shape(all) }
            return .there
        }
        let most = isIdle ? options.sequences : places
        for givesBack in [false, true] {
            if givesBack, giveBackKept() == 0 { break }
            let shape = ContextHandle.Shape(cells: cells, sequences: most)
            if allows(shape) { return .shape(shape) }
        }
        // What one sequence holds cannot be moved to a context of fewer.
        guard isIdle else { return .later }
        for sequences in stride(from: most - 1, through: 1, by: -1) {
            let shape = ContextHandle.Shape(cells: cells, sequences: sequences)
            if allows(shape) { return .shape(shape) }
        }
        throw admission.refusal(of: ContextHandle.Shape(cells: cells, sequences: 1), insteadOf: old)
    }

    private var admission: MemoryAdmission { options.admission }

    private func allows(_ shape: ContextHandle.Shape) -> Bool {
        let isMoved = shape.sequences == context?.shape.sequences
        let moved = isMoved ? slots.indices.reduce(0) { $0 + (stateBytes(of: $1)) } : 0
        return admission.allows(shape, insteadOf: context?.shape, moving: moved)
    }

    private func stateBytes(of index: Int) -> Int {
        slots[index].tokens.isEmpty ? 0 : context?.stateBytes(of: index) ?? 0
    }

    private func giveBackKept() -> Int {
        let bytes = kept.giveBack()
        if bytes > 0 { Platform.returnFreedMemory() }
        return bytes
    }

    /// An answer longer than foreseen: one more step of memory.
    func growIfFull(_ index: Int) {
        guard let context, let generation = slots[index].generation,
            slots[index].tokens.count >= context.shape.cells
        else { return }
        let cells = min(context.shape.cells + options.cellStep, options.contextLength)
        let shape = ContextHandle.Shape(cells: cells, sequences: context.shape.sequences)
        do throws(EngineError) {
            guard allows(shape) || (giveBackKept() > 0 && allows(shape)) else {
                throw admission.refusal(of: shape, insteadOf: context.shape)
            }
            try reshape(to: shape)
        } catch {
            // What was written stays: the person reads why it ends here.
            if slots[index].generation === generation { generation.note(error.sentence) }
            end(index, .length)
        }
    }

    /// Makes a context of another shape and moves every sequence over, bit for bit.
    ///
    /// With another number of sequences nothing can be moved; then none may be computed.
    func reshape(to shape: ContextHandle.Shape) throws(EngineError) {
        let isMoved = shape.sequences == context?.shape.sequences
        var states =
            context.map { context in
                slots.indices.map { isMoved && !slots[$0].tokens.isEmpty ? context.state(of: $0) : [] }
            } ?? []
        // Both contexts at once would need twice the memory; the states are what must not be lost.
        let old = context?.shape
        context = nil
        if !isMoved {
            slots = []
            if old != nil { _ = kept.giveBack() }
        }
        var failure: EngineError?
        do throws(EngineError) {
            context = try makeContext(shape)
        } catch {
            failure = error
            guard let old else { throw error }
            context = try makeContext(old)
        }
        let sequences = context?.shape.sequences ?? 0
        kept.isStored = sequences == options.sequences
        while slots.count < sequences { slots.append(Slot()) }
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

    private func makeContext(_ shape: ContextHandle.Shape) throws(EngineError) -> ContextHandle {
        try ContextHandle(
            model: model, shape: shape, cacheType: options.cacheType, threads: threads,
            cancellation: cancellation)
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
        var bytes = kept.giveBack() + (projector?.giveBack() ?? 0)
        for index in slots.indices {
            bytes += slots[index].marks.reduce(0) { $0 + $1.state.count }
            slots[index].marks = []
        }
        if !isComputing, let context {
            bytes += slots.indices.reduce(0) { $0 + context.stateBytes(of: $1) }
            self.context = nil
            slots = []
            bytes += drafter?.giveBack() ?? 0
        }
        return bytes
    }
}
