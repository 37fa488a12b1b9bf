package import AlcoveCore
package import AlcoveStorage
internal import AlcoveWorkspace

/// A tool of the assistant's own store, described by what it is called, what it takes and what it does.
///
/// All of them answer with text for people and models alike. A change is handed back, not made: it is committed together
/// with the receipt.
package struct KeptTool: Tool {
    package let declaration: ToolDeclaration
    package let effect: ToolEffect
    package let observationLimit = 6_000
    package let profiles: Set<String>? = [RunProfile.assistant.name]
    private let shown: String?
    private let foresight: (@Sendable (JSONObject) async throws -> String?)?
    private let body: @Sendable (JSONObject, ToolContext) async throws -> ToolResult

    /// - Parameters:
    ///   - shown: The argument that people see in lists of what was done.
    ///   - foresight: What a call would do, where its arguments do not say it.
    ///   - body: What it throws becomes a failed result with the error's sentence.
    init(
        _ name: String, _ description: String, effect: ToolEffect, shown: String? = nil,
        properties: JSONObject = JSONObject(), required: [String] = [],
        foresight: (@Sendable (JSONObject) async throws -> String?)? = nil,
        body: @escaping @Sendable (JSONObject, ToolContext) async throws -> ToolResult
    ) {
        declaration = ToolDeclaration(
            name: name, description: description,
            parameters: [
                "type": "object", "properties": .object(properties),
                "required": .array(required.map { .string($0) }), "additionalProperties": false,
            ])
        self.effect = effect
        self.shown = shown
        self.foresight = foresight
        self.body = body
    }

    package func detail(of arguments: JSONObject) -> String { shown.flatMap { arguments[$0]?.string } ?? "" }

    package func preview(_ arguments: JSONObject) async throws -> String? { try await foresight?(arguments) }

    package func run(_ arguments: JSONObject, in context: ToolContext) async -> ToolResult {
        do {
            return try await body(arguments, context)
        } catch {
            return .failed(sentence(of: error))
        }
    }

    /// All of them, in the order they are declared.
    package static func all(_ database: Database, now: @escaping @Sendable () -> Timestamp = { .now }) -> [any Tool] {
        [dateTime(now), calculator] + TaskTools(database, now).all + KnowledgeTools(database, now).all
            + HandoffTools(database, now).all + ContinuityTools(database, now).all + [delete(database)]
    }
}

extension KeptTool {
    private static func dateTime(_ now: @escaping @Sendable () -> Timestamp) -> KeptTool {
        KeptTool("date_time", "Tell the current date and time on this device.", effect: .reads) { _, _ in
            ToolResult(succeeded: true, text: LocalTime.words(now()))
        }
    }

    private static let calculator = KeptTool(
        "calculator",
        """
        Evaluate arithmetic: + - * / ^ % (remainder), parentheses, sqrt, abs, round, floor, ceil, min, max, sin, cos, tan, \
        ln, log10, log2, exp, pi, e. Decimal results are exact where they can be.
        """, effect: .reads, shown: "expression",
        properties: [
            "expression": ["type": "string", "minLength": 1, "maxLength": JSONValue(Calculator.lengthLimit)]
        ], required: ["expression"]
    ) { arguments, _ in
        let expression = arguments["expression"]?.string ?? ""
        let answer = try Calculator.evaluate(expression)
        return ToolResult(succeeded: true, text: "\(expression) \(answer.isExact ? "=" : "≈") \(answer.text)")
    }
}

extension KeptTool {
    /// Deletes one item, with what was made of it. What would go is shown before, and nothing else goes.
    private static func delete(_ database: Database) -> KeptTool {
        let cascade = { @Sendable (arguments: JSONObject) in
            let kind = arguments["kind"]?.string.flatMap(KeptKind.init(rawValue:))
            let item = try await KeptStore(database).find(arguments["item"]?.string ?? "", kind: kind)
            return try await KeptStore(database).cascade(of: item.id)
        }
        return KeptTool(
            "kept_delete", "Delete a kept item and what was made of it.", effect: .deletesFromStore, shown: "item",
            properties: [
                "kind": ["type": "string", "enum": .array(KeptKind.allCases.map { .string($0.rawValue) })],
                "item": ["type": "string", "minLength": 1, "maxLength": JSONValue(Transaction.keptTitleLimit)],
            ], required: ["item"], foresight: { try await cascade($0).text }
        ) { arguments, context in
            let shown = try await cascade(arguments)
            guard context.preview == shown.text else { throw KeptError.cascadeChanged(title: shown.item.title) }
            let more = shown.linked.isEmpty ? "" : " and \(shown.linked.count) made of it"
            return ToolResult(
                succeeded: true, text: "Deleted \"\(shown.item.title)\" (\(KeptLines.short(shown.item.id)))\(more)."
            ) { try $0.delete(shown) }
        }
    }
}
