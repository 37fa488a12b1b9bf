package import AlcoveCore
package import AlcoveStorage

/// One action of a person on what is kept, on the terminal or the page: the same tool that a run would call, with the same
/// checks and a receipt.
///
/// Nobody is asked, because the action itself is the person's decision.
package struct KeptAction: Sendable {
    private let database: Database

    package init(_ database: Database) { self.database = database }

    /// What a call would do, where its arguments do not say it.
    ///
    /// - Throws: when it could not be done.
    package func preview(_ name: String, _ arguments: JSONObject) async throws -> String? {
        let call = try check(name, arguments)
        return try await call.tool.preview(call.arguments.value)
    }

    /// What a person reads.
    ///
    /// - Parameters:
    ///   - chat: Where it was done; nil for nowhere.
    ///   - preview: What the person was shown.
    /// - Throws: when it was refused or failed; then nothing has changed.
    package func run(
        _ name: String, _ arguments: JSONObject, chat: ChatID? = nil, preview: String? = nil
    ) async throws -> String {
        let call = try check(name, arguments)
        let id = ReceiptID(), started = Timestamp.now
        var context = ToolContext(stop: StopSignal(), workspace: nil, switches: Switches(), output: { _ in })
        (context.receipt, context.chat, context.preview) = (id, chat, preview)
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

    private func check(_ name: String, _ arguments: JSONObject) throws -> CheckedCall {
        let registry = try ToolRegistry(KeptTool.all(database))
        do throws(ToolRegistry.Refusal) {
            return try registry.check(
                ToolCall(id: "person", name: name, arguments: JSONValue.object(arguments).text()))
        } catch {
            throw InputError(code: "bad_arguments", message: error.text)
        }
    }
}
