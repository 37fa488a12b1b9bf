/// Why a schema cannot be used to check anything.
public enum JSONSchemaError: UserFacingError, Equatable {
    /// Larger or deeper than any honest schema, or not a schema at all.
    case refused(reason: String)
    /// Checking one value would take more steps than there are: nested alternatives, references that go in circles.
    case tooCostly

    public var code: String {
        switch self {
        case .refused: "bad_schema"
        case .tooCostly: "schema_too_costly"
        }
    }
    public var place: ErrorPlace { .request }
    public var message: String {
        switch self {
        case .refused(let reason): "The schema cannot be used: \(reason)."
        case .tooCostly: "The schema cannot be used: checking the arguments against it has no end in sight."
        }
    }
}

/// Checks values, such as a tool's arguments, against the part of JSON Schema that tools and OpenAI-shaped clients use.
///
/// Known: `type`, `nullable`, `enum`, `const`, `properties`, `patternProperties`, `required`, `additionalProperties`,
/// `minProperties`, `maxProperties`, `items`, `prefixItems`, `minItems`, `maxItems`, `uniqueItems`, `minLength`,
/// `maxLength`, `pattern`, `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `multipleOf`, `anyOf`, `oneOf`,
/// `allOf`, `not`, and `$ref` to a place in the same schema. `format` and all that only describes are ignored; what would
/// restrict and is not known is named in `unsupported`.
///
/// A schema comes from outside: its size, its depth, its patterns and the steps of a check are all bounded.
public struct JSONSchema: Sendable {
    public let schema: JSONValue
    /// Parts of the schema that are not checked, a sentence each.
    public private(set) var unsupported: [String] = []
    private(set) var patterns: [String: LinearPattern] = [:]

    private static let nodeLimit = 20_000
    private static let depthLimit = 64
    private static let patternLimit = 200
    private static let unknownKeywords = [
        "if", "then", "else", "contains", "dependentRequired", "dependentSchemas", "dependencies", "propertyNames",
        "unevaluatedProperties", "unevaluatedItems", "$dynamicRef",
    ]

    /// - Throws: `.refused` when the schema is no object or Boolean, or too large or deep.
    public init(_ schema: JSONValue) throws(JSONSchemaError) {
        self.schema = schema
        var nodes = 0
        try scan(schema, depth: 0, nodes: &nodes)
    }

    /// What is wrong with a value: at most five sentences, each with the place; empty when it fits.
    ///
    /// - Parameter isStrict: names that the outermost object does not declare are refused even where the schema says
    ///   nothing about them.
    /// - Throws: `.tooCostly`, after at most 100,000 steps.
    public func problems(
        in value: JSONValue, named name: String = "arguments", isStrict: Bool = false
    ) throws(JSONSchemaError) -> [String] {
        var check = SchemaCheck(schema: self)
        let problems = try check.problems(value, schema, at: name, depth: 0, isStrict: isStrict)
        return problems.prefix(SchemaCheck.problemLimit).map { $0.hasSuffix("?") ? $0 : $0 + "." }
    }

    private mutating func scan(_ node: JSONValue, depth: Int, nodes: inout Int) throws(JSONSchemaError) {
        nodes += 1
        if nodes > JSONSchema.nodeLimit { throw .refused(reason: "it has more than \(JSONSchema.nodeLimit) parts") }
        if depth > JSONSchema.depthLimit { throw .refused(reason: "it is nested deeper than \(JSONSchema.depthLimit)") }
        if node.bool != nil { return }
        guard let object = node.object else {
            throw .refused(reason: "a part of it is neither an object nor true or false")
        }
        for keyword in JSONSchema.unknownKeywords where object[keyword] != nil {
            note("\"\(keyword)\" is not checked.")
        }
        if let text = object["pattern"]?.string { compile(text) }
        if let reference = object["$ref"]?.string, !reference.hasPrefix("#") {
            note("\"$ref\" to \(reference.prefix(100)) is not followed: it is elsewhere.")
        }
        var parts: [JSONValue] = []
        for keyword in ["properties", "patternProperties", "$defs", "definitions"] {
            guard let members = object[keyword]?.object else { continue }
            if keyword == "patternProperties" { members.keys.forEach { compile($0) } }
            parts += members.members.map(\.value)
        }
        for keyword in ["anyOf", "oneOf", "allOf", "prefixItems"] { parts += object[keyword]?.array ?? [] }
        for keyword in ["additionalProperties", "not"] { parts += object[keyword].map { [$0] } ?? [] }
        if let items = object["items"] { parts += items.array ?? [items] }
        for part in parts { try scan(part, depth: depth + 1, nodes: &nodes) }
    }

    private mutating func compile(_ text: String) {
        if patterns[text] != nil { return }
        if patterns.count >= JSONSchema.patternLimit {
            return note("There are more than \(JSONSchema.patternLimit) patterns.")
        }
        do throws(LinearPattern.Unsupported) {
            patterns[text] = try LinearPattern(text)
        } catch {
            note("The pattern \(text.prefix(100)) is not checked: \(error.reason).")
        }
    }

    private mutating func note(_ sentence: String) {
        if unsupported.count < 20, !unsupported.contains(sentence) { unsupported.append(sentence) }
    }

    /// The part a reference within the schema names (`#/$defs/node`); nil when there is none.
    func target(of reference: String) -> JSONValue? {
        guard reference.hasPrefix("#") else { return nil }
        var node = schema
        for step in reference.dropFirst().split(separator: "/") {
            let name = String(step).replacing("~1", with: "/").replacing("~0", with: "~")
            if let member = node[name] {
                node = member
            } else if let items = node.array, let index = Int(name), items.indices.contains(index) {
                node = items[index]
            } else {
                return nil
            }
        }
        return node
    }
}

extension JSONValue {
    /// Equality as JSON Schema has it: 1 and 1.0 are the same number, texts are the same when their bytes are, the order
    /// of members does not count.
    public func isSame(as other: JSONValue) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.bool(let a), .bool(let b)): a == b
        case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
        case (.integer(let a), .integer(let b)): a == b
        case (.integer(let a), .double(let b)), (.double(let b), .integer(let a)): Int64(exactly: b) == a
        case (.double(let a), .double(let b)): a == b
        case (.array(let a), .array(let b)): a.count == b.count && zip(a, b).allSatisfy { $0.isSame(as: $1) }
        case (.object(let a), .object(let b)):
            a.count == b.count && a.members.allSatisfy { member in b[member.key]?.isSame(as: member.value) ?? false }
        default: false
        }
    }
}
