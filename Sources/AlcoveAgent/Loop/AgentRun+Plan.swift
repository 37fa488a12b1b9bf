internal import AlcoveCore
internal import AlcoveStorage
internal import AlcoveWorkspace

// Explicit commands: done without the model.

extension AgentRun {
    /// Does exactly what was asked, step by step, without the model; the answer is made from the receipts.
    ///
    /// Everything that can be known to be wrong is refused before anything runs. The first step without a receipt of its
    /// success ends the run, and what is left is not tried.
    func follow(_ plan: CommandPlan) async throws {
        let profile = request.profile ?? .assistant
        try plan.check(limit: profile.steps)
        guard let database = loop.database else {
            throw InputError(code: "no_store", message: "There is no store to work on.")
        }
        var planned: [CheckedCall] = []
        for step in plan.steps {
            let call = ToolCall(
                id: hexText(Platform.randomBytes(16)), name: step.tool,
                arguments: JSONValue.object(step.arguments).text())
            do throws(ToolRegistry.Refusal) {
                let checked = try loop.tools.check(call)
                if case .refused(let sentence) = policy(profile).decide(checked.tool) {
                    throw ToolRegistry.Refusal(failure: .notAllowed, text: sentence)
                }
                planned.append(checked)
            } catch {
                throw InputError(code: "bad_step", message: "\"\(step.words)\" cannot be done: \(error.text)")
            }
        }
        try await begin()
        checkpoint(.plan)
        turn.append(.notice(plan.summary))
        for (index, checked) in planned.enumerated() {
            let call = ToolCall(
                id: checked.id, name: checked.tool.declaration.name,
                arguments: String(decoding: checked.arguments.canonical, as: UTF8.self))
            let goesOn = await execute(call, round: 1, profile: profile)
            checkpoint(.reassess)
            guard goesOn, let note = result.steps.last, note.call == checked.id, note.succeeded, note.receipt != nil,
                !turn.stopSignal.isSet
            else { return try await tellStop(at: index, of: planned, in: database) }
        }
        let receipts = try await receipts(of: planned, in: database)
        guard receipts.count == planned.count else {
            return try await tellStop(at: receipts.count, of: planned, in: database)
        }
        write(receipts.map { $0.observation ?? "" }.joined(separator: "\n\n"))
        result.end.reason = .stop
    }

    /// The receipts of planned calls that succeeded, as the store has them.
    func receipts(of planned: [CheckedCall], in database: Database) async throws -> [Receipt] {
        var kept = try await TurnLog(database).receipts(of: turn.id)
        return planned.compactMap { checked in
            let place = kept.firstIndex {
                $0.signature == checked.arguments.signature && $0.tool == checked.tool.declaration.name
                    && $0.outcome == "succeeded"
            }
            return place.map { kept.remove(at: $0) }
        }
    }

    /// Says what was done and what was not.
    func tellStop(at index: Int, of planned: [CheckedCall], in database: Database) async throws {
        let done = try await receipts(of: Array(planned[..<index]), in: database)
        for receipt in done { note(receipt.observation ?? "") }
        let name = planned[index].tool.declaration.name
        var why = result.steps.last { $0.call == planned[index].id }.map { " \($0.observation)" } ?? ""
        // Those words are for a model; here a person reads.
        if why == " " + AgentRun.words(for: .refused) { why = " It was refused." }
        let rest = planned.count - index - 1
        let left =
            rest == 0
            ? "" : " The \(rest == 1 ? "step" : "\(rest) steps") after it \(rest == 1 ? "was" : "were") not tried."
        note("Step \(index + 1) of \(planned.count) (\(name)) was not done.\(why)\(left)")
        if turn.stopSignal.isSet { return }
        stop(by: "step not done")
        result.end.reason = .error
        result.end.error = "Step \(index + 1) of \(planned.count) (\(name)) was not done."
    }
}
