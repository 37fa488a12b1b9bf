internal import AlcoveCore
internal import AlcoveStorage
internal import Dispatch

// What a call does: run, receipted with its change, kept.

extension AgentRun {
    /// Runs a call that may run, keeps its receipt, and tells the model.
    ///
    /// - Returns: what the model was told.
    func perform(_ call: CheckedCall, round: Int, preview: String? = nil) async -> String {
        calls += 1
        let name = call.tool.declaration.name, detail = Excerpt.line(call.tool.detail(of: call.arguments.value))
        checkpoint(.execute, call: call.id)
        turn.append(.toolStarted(call: call.id, tool: name, detail: detail))
        // What is about to happen is on the disk before it happens: after a crash the log says what was under way.
        await turn.flush()
        await takeSnapshot(before: call.tool.effect)
        let started = Timestamp.now, clock = Platform.monotonicNanoseconds
        let heart = Heartbeat(turn: turn, call: call.id, tool: name, clock: loop.clock)
        let id = ReceiptID()
        var context = ToolContext(
            stop: turn.stopSignal, workspace: request.workspace, switches: loop.switches(), output: { heart.take($0) })
        context.preview = preview
        context.isAttended = { [turn] in turn.isWatched }
        if loop.database != nil { (context.chat, context.turn, context.receipt) = (ChatID(turn.key), turn.id, id) }
        if call.tool.effect == .writesStore { context.message = await messageID() }
        var outcome = await call.tool.run(call.arguments.value, in: context)
        await heart.finish()
        outcome.text = Excerpt.middleCut(outcome.text, to: call.tool.observationLimit)
        checkpoint(.record, call: call.id)
        var receipt: Receipt? = Receipt(
            id: id, turn: loop.database == nil ? nil : turn.id, tool: name,
            arguments: String(decoding: call.arguments.canonical, as: UTF8.self),
            signature: call.arguments.signature, effect: call.tool.effect.rawValue,
            outcome: turn.stopSignal.isSet ? "stopped" : outcome.succeeded ? "succeeded" : "failed",
            observation: outcome.text, startedAt: started, finishedAt: .now)
        do {
            try await keep(receipt, with: outcome.change)
        } catch {
            receipt = nil
            outcome.succeeded = false
            outcome.text = "It could not be recorded, so nothing of it counts: \(sentence(of: error))"
        }
        let files = await capture(outcome.files, of: call)
        finish(
            ToolNote(
                call: call.id, tool: name, failure: failure(of: outcome), detail: detail, observation: outcome.text,
                round: round, seconds: Double(Platform.monotonicNanoseconds - clock) / 1e9, receipt: receipt?.id.text,
                files: files))
        await turn.flush()
        return outcome.text
    }

    /// The message that this turn answers, as the chat has it; nil where no chat is kept.
    private func messageID() async -> String? {
        guard let chat = ChatID(turn.key), let database = loop.database else { return nil }
        let last = try? await database.read { try $0.lastMessages(of: chat, limit: 1).last }
        return last.flatMap { $0.role == Role.user.rawValue ? $0.id : nil }
    }

    /// Keeps the chat's folder as it is before the turn's first change of it.
    func takeSnapshot(before effect: ToolEffect) async {
        guard effect == .writesWorkspace || effect == .runsCode, !hasSnapshot, let snapshots = loop.snapshots,
            let workspace = request.workspace
        else { return }
        hasSnapshot = true
        let name = turn.id.text, chat = turn.key
        // Reading and hashing a folder takes as long as the folder is large: not on a thread that others wait for.
        let failure: (any Error)? = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                do {
                    try snapshots.take(of: workspace, chat: chat, name: name)
                    continuation.resume(returning: nil)
                } catch {
                    continuation.resume(returning: error)
                }
            }
        }
        if let failure { turn.append(.notice(sentence(of: failure))) }
    }

    func failure(of result: ToolResult) -> ToolFailure? {
        result.succeeded ? nil : turn.stopSignal.isSet ? .aborted : result.hasTimedOut ? .timeout : .failed
    }

    /// A change of the store and its receipt are one transaction.
    func keep(_ receipt: Receipt?, with change: (@Sendable (Transaction) throws -> Void)?) async throws {
        guard let database = loop.database, let receipt else {
            if change != nil { throw InputError(code: "no_store", message: "There is no store to change.") }
            return
        }
        try await database.write { transaction in
            try change?(transaction)
            try transaction.add(receipt)
        }
    }

    func capture(_ files: [String], of call: CheckedCall) async -> [ArtifactNote] {
        guard let store = loop.artifacts, let workspace = request.workspace, !files.isEmpty else { return [] }
        let notes = store.capture(files, from: workspace, turn: turn.id, call: call.id)
        for note in notes { turn.append(.artifact(note)) }
        result.artifacts += notes
        return notes
    }
}
