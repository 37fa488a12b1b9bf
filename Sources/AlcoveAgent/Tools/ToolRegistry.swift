package import AlcoveCore

/// A call that was read, found to be of a known tool, and whose arguments fit.
package struct CheckedCall: Sendable {
    package var id: String
    package var tool: any Tool
    package var arguments: ToolArguments
}

/// All tools of the app, one declaration each.
package struct ToolRegistry: Sendable {
    private struct Entry: Sendable {
        let tool: any Tool
        let schema: JSONSchema
    }

    private let entries: [Entry]

    /// - Throws: `JSONSchemaError` for a tool whose schema cannot be checked: a mistake of ours, found at start.
    package init(_ tools: [any Tool]) throws(JSONSchemaError) {
        var entries: [Entry] = []
        for tool in tools { entries.append(Entry(tool: tool, schema: try JSONSchema(tool.declaration.parameters))) }
        self.entries = entries
    }

    /// No tools at all.
    package init() { entries = [] }

    package var tools: [any Tool] { entries.map(\.tool) }

    /// What a run declares to its model: the tools its profile and the switches leave it, always in the same order, so
    /// that the prompt's beginning stays the same.
    ///
    /// - Parameter attached: Names of the person's files in the workspace.
    package func declarations(for policy: Policy, attached: [String] = []) -> [ToolDeclaration] {
        entries.compactMap { entry in
            if case .refused = policy.decide(entry.tool) { return nil }
            return entry.tool.declaration(attached: attached)
        }
    }

    /// The sentence that answers a call which cannot be made.
    package struct Refusal: Error, Equatable {
        package let failure: ToolFailure
        package let text: String
    }

    /// Reads a call.
    ///
    /// - Throws: `Refusal` with words the model can act on.
    package func check(_ call: ToolCall) throws(Refusal) -> CheckedCall {
        let wanted = call.name.lowercased()
        let found = entries.first { entry in
            entry.tool.declaration.name == call.name || entry.tool.declaration.name == wanted
                || entry.tool.aliases.contains(wanted)
        }
        guard let entry = found else {
            let names = entries.map(\.tool.declaration.name).sorted()
            let near = didYouMean(call.name, among: names).map { " \($0)" } ?? ""
            let known = names.isEmpty ? "There are no tools here." : "There are: \(names.joined(separator: ", "))."
            throw Refusal(
                failure: .unknownTool, text: "There is no tool named \(call.name).\(near) \(known)")
        }
        do throws(ToolArgumentsError) {
            let arguments = try ToolArguments(
                call.arguments, tool: entry.tool.declaration.name, schema: entry.schema,
                rewriting: entry.tool.rewrite)
            return CheckedCall(id: call.id, tool: entry.tool, arguments: arguments)
        } catch {
            throw Refusal(failure: .invalidArguments, text: error.sentence)
        }
    }
}
