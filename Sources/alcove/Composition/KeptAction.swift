internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveStorage

/// One command of the terminal on what is kept: the same tool that a run would call, with the same checks and a receipt.
///
/// Nobody is asked, because the command itself is the person's decision.
struct KeptAction {
    let database: Database

    /// What a person reads.
    ///
    /// - Throws: when it was refused or failed; then nothing has changed.
    func run(_ name: String, _ arguments: JSONObject) async throws -> String {
        let registry = try ToolRegistry(KeptTool.all(database))
        let call: CheckedCall
        do throws(ToolRegistry.Refusal) {
            call = try registry.check(
                ToolCall(id: "terminal", name: name, arguments: JSONValue.object(arguments).text()))
        } catch {
            throw InputError(code: "bad_arguments", message: error.text)
        }
        let id = ReceiptID(), started = Timestamp.now
        var context = ToolContext(stop: StopSignal(), workspace: nil, switches: Switches(), output: { _ in })
        context.receipt = id
        let result = await call.tool.run(call.arguments.value, in: context)
        guard result.succeeded else { throw InputError(code: "not_done", message: result.text) }
        guard let change = result.change else { return result.text }
        let receipt = Receipt(
            id: id, turn: nil, tool: call.tool.declaration.name,
            arguments: String(decoding: call.arguments.canonical, as: UTF8.self), signature: call.arguments.signature,
            effect: call.tool.effect.rawValue, outcome: "succeeded", observation: result.text, startedAt: started,
            finishedAt: .now)
        try await database.write { transaction in
            try change(transaction)
            try transaction.add(receipt)
        }
        return result.text
    }
}
