internal import AlcoveCore

/// The names of a person's files in the workspace, as a tool's declaration tells them to the model.
///
/// Names come from outside. They stand quoted, as JSON writes them, and no control token can be made of them: only a
/// template's own words become one (docs/templates.md).
enum AttachedFiles {
    /// Most bytes of names in one description.
    static let limit = 4_000

    /// Adds the names to a description and to what one parameter is described as.
    static func note(_ names: [String], on declaration: ToolDeclaration, parameter: String) -> ToolDeclaration {
        guard !names.isEmpty else { return declaration }
        let sentence = " Files the person attached, in the working folder: \(list(names))."
        var declaration = declaration
        declaration.description += sentence
        guard var schema = declaration.parameters.object, var properties = schema["properties"]?.object,
            var described = properties[parameter]?.object, let text = described["description"]?.string
        else { return declaration }
        described["description"] = .string(text + sentence)
        properties[parameter] = .object(described)
        schema["properties"] = .object(properties)
        declaration.parameters = .object(schema)
        return declaration
    }

    private static func list(_ names: [String]) -> String {
        var shown: [String] = []
        var bytes = 0
        for name in names {
            let quoted = JSONValue.string(name).text()
            bytes += quoted.utf8.count
            if bytes > limit { break }
            shown.append(quoted)
        }
        let rest = names.count - shown.count
        return shown.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }
}
