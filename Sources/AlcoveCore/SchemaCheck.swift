/// One check of one value: counts its steps and says what is wrong where.
struct SchemaCheck {
    static let problemLimit = 5
    private static let stepLimit = 100_000
    private static let depthLimit = 150
    /// Steps of pattern states times characters that one check may take.
    private static let patternWork = 20_000_000

    let schema: JSONSchema
    private var steps = 0
    private var patternSteps = 0

    init(schema: JSONSchema) { self.schema = schema }

    private mutating func step(_ count: Int = 1) throws(JSONSchemaError) {
        steps += count
        if steps > SchemaCheck.stepLimit { throw .tooCostly }
    }

    /// Sentences without their full stop.
    mutating func problems(
        _ value: JSONValue, _ node: JSONValue, at path: String, depth: Int, isStrict: Bool = false
    ) throws(JSONSchemaError) -> [String] {
        try step()
        if depth > SchemaCheck.depthLimit { throw .tooCostly }
        guard let rules = node.object else { return node.bool == false ? ["\(path) should not be there"] : [] }
        if value.isNull, rules["nullable"]?.bool == true { return [] }

        var found: [String] = []
        if let reference = rules["$ref"]?.string, let target = schema.target(of: reference) {
            try step(4)  // following it costs more than a look at a part
            found += try problems(value, target, at: path, depth: depth + 1, isStrict: isStrict)
        }
        if let problem = typeProblem(value, rules["type"], at: path) { return found + [problem] }
        if let problem = try choiceProblem(value, rules, at: path) { return found + [problem] }
        switch value {
        case .string(let text): found += try textProblems(text, rules, at: path)
        case .integer, .double: found += numberProblems(value, rules, at: path)
        case .array(let items): found += try listProblems(items, rules, at: path, depth: depth)
        case .object(let object):
            found += try objectProblems(object, rules, at: path, depth: depth, isStrict: isStrict)
        case .null, .bool: break
        }
        if found.count < SchemaCheck.problemLimit { found += try combined(value, rules, at: path, depth: depth) }
        return found
    }

    // MARK: types and choices

    private static let typeNames = [
        "string": "text", "number": "a number", "integer": "a whole number", "boolean": "true or false",
        "array": "a list", "object": "an object", "null": "null",
    ]

    static func name(of value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .integer: "a number"
        case .double(let value): value.rounded() == value ? "a number" : CanonicalJSON.text(of: value)
        case .string: "text"
        case .array: "a list"
        case .object: "an object"
        }
    }

    private static func fits(_ value: JSONValue, _ type: String) -> Bool {
        switch (type, value) {
        case ("string", .string), ("boolean", .bool), ("null", .null), ("array", .array), ("object", .object): true
        case ("number", .integer), ("number", .double), ("integer", .integer): true
        case ("integer", .double(let number)): number.rounded() == number
        default: typeNames[type] == nil  // A type nobody knows restricts nothing.
        }
    }

    private func typeProblem(_ value: JSONValue, _ rule: JSONValue?, at path: String) -> String? {
        let types = rule?.string.map { [$0] } ?? rule?.array?.compactMap(\.string) ?? []
        if types.isEmpty || types.contains(where: { SchemaCheck.fits(value, $0) }) { return nil }
        let wanted = types.prefix(7).map { SchemaCheck.typeNames[$0] ?? $0 }
        let actual =
            if case .double(let number) = value, !types.contains("integer") || number.rounded() == number {
                "a number"
            } else {
                SchemaCheck.name(of: value)
            }
        return "\(path) should be \(SchemaCheck.list(wanted, "or")), not \(actual)"
    }

    private mutating func choiceProblem(
        _ value: JSONValue, _ rules: JSONObject, at path: String
    ) throws(JSONSchemaError) -> String? {
        if let choices = rules["enum"]?.array {
            try step(choices.count)
            if !choices.contains(where: { $0.isSame(as: value) }) {
                let shown = choices.prefix(12).map(SchemaCheck.shown)
                let more = choices.count > 12 ? " and \(choices.count - 12) more" : ""
                return
                    "\(path) should be one of \(shown.joined(separator: ", "))\(more), not \(SchemaCheck.shown(value))"
            }
        }
        if let only = rules["const"], !only.isSame(as: value) {
            return "\(path) should be \(SchemaCheck.shown(only)), not \(SchemaCheck.shown(value))"
        }
        return nil
    }

    static func shown(_ value: JSONValue) -> String {
        let text = value.text()
        return text.utf8.count > 80 ? String(text.prefix(60)) + "..." : text
    }

    static func list(_ names: [String], _ word: String) -> String {
        guard names.count > 1, let last = names.last else { return names.first ?? "" }
        return names.dropLast().joined(separator: ", ") + " \(word) " + last
    }

    // MARK: texts and numbers

    private mutating func textProblems(
        _ text: String, _ rules: JSONObject, at path: String
    ) throws(JSONSchemaError) -> [String] {
        var found: [String] = []
        if rules["minLength"] != nil || rules["maxLength"] != nil {
            let count = text.unicodeScalars.count
            found += countProblems(count, rules, "minLength", "maxLength", "character", at: path)
        }
        if let pattern = rules["pattern"]?.string, let compiled = schema.patterns[pattern] {
            if try !matches(text, compiled) { found.append("\(path) should match the pattern \(pattern)") }
        }
        return found
    }

    private mutating func matches(_ text: String, _ pattern: LinearPattern) throws(JSONSchemaError) -> Bool {
        patternSteps += (text.utf8.count + 1) * pattern.cost
        if patternSteps > SchemaCheck.patternWork { throw .tooCostly }
        return pattern.matches(text)
    }

    private func countProblems(
        _ count: Int, _ rules: JSONObject, _ least: String, _ most: String, _ unit: String, at path: String
    ) -> [String] {
        var found: [String] = []
        func units(_ count: Int) -> String { "\(count) \(unit)\(count == 1 ? "" : "s")" }
        if let limit = rules[least]?.int, count < limit {
            found.append("\(path) should have at least \(units(limit)), not \(count)")
        }
        if let limit = rules[most]?.int, count > limit {
            found.append("\(path) should have at most \(units(limit)), not \(count)")
        }
        return found
    }

    private func numberProblems(_ value: JSONValue, _ rules: JSONObject, at path: String) -> [String] {
        guard let number = value.double else { return [] }
        var found: [String] = []
        func check(_ keyword: String, _ words: String, _ holds: (Double, Double) -> Bool) {
            guard let limit = rules[keyword]?.double, !holds(number, limit) else { return }
            found.append("\(path) should be \(words) \(CanonicalJSON.text(of: limit)), not \(SchemaCheck.shown(value))")
        }
        check("exclusiveMinimum", "more than", >)
        check("exclusiveMaximum", "less than", <)
        // Draft 4 has a Boolean there that sharpens the other limit.
        if rules["exclusiveMinimum"]?.bool == true {
            check("minimum", "more than", >)
        } else {
            check("minimum", "at least", >=)
        }
        if rules["exclusiveMaximum"]?.bool == true {
            check("maximum", "less than", <)
        } else {
            check("maximum", "at most", <=)
        }
        check("multipleOf", "a multiple of") { number, unit in
            if unit <= 0 { return true }
            let quotient = number / unit
            return (quotient - quotient.rounded()).magnitude <= 1e-9 * max(1, quotient.magnitude)
        }
        return found
    }

    // MARK: lists and objects

    private mutating func listProblems(
        _ items: [JSONValue], _ rules: JSONObject, at path: String, depth: Int
    ) throws(JSONSchemaError) -> [String] {
        var found = countProblems(items.count, rules, "minItems", "maxItems", "item", at: path)
        if rules["uniqueItems"]?.bool == true {
            try step(items.count)
            var seen: [[UInt8]: Int] = [:]
            for (index, item) in items.enumerated() {
                guard let key = try? item.canonicalBytes() else { continue }
                if let first = seen[key] {
                    found.append("\(path)[\(index)] should not be the same as \(path)[\(first)]")
                    break
                }
                seen[key] = index
            }
        }
        let first = rules["prefixItems"]?.array ?? rules["items"]?.array ?? []
        let rest = rules["items"]?.array == nil ? rules["items"] : rules["additionalItems"]
        for (index, item) in items.enumerated() {
            guard found.count < SchemaCheck.problemLimit else { break }
            guard let node = index < first.count ? first[index] : rest else { break }
            found += try problems(item, node, at: "\(path)[\(index)]", depth: depth + 1)
        }
        return found
    }

    private mutating func objectProblems(
        _ object: JSONObject, _ rules: JSONObject, at path: String, depth: Int, isStrict: Bool
    ) throws(JSONSchemaError) -> [String] {
        let known = rules["properties"]?.object ?? JSONObject()
        var found = countProblems(object.count, rules, "minProperties", "maxProperties", "member", at: path)
        try step(object.count)
        for name in rules["required"]?.array?.compactMap(\.string) ?? [] where object[name] == nil {
            try step()
            found.append("\(SchemaCheck.path(path, name)) is missing")
        }
        // In a strict tool what is not declared is not known; what is declared elsewhere (a reference, one of several
        // forms) is not ours to judge.
        let isOpen = ["$ref", "allOf", "anyOf", "oneOf"].contains { rules[$0] != nil }
        let undeclared: JSONValue? = isStrict && !isOpen ? .some(.bool(false)) : .none
        let other = rules["additionalProperties"] ?? undeclared
        let patterns = rules["patternProperties"]?.object
        for (name, value) in object.members {
            guard found.count < SchemaCheck.problemLimit else { break }
            let place = SchemaCheck.path(path, name)
            var isKnown = false
            if let node = known[name] {
                isKnown = true
                found += try problems(value, node, at: place, depth: depth + 1)
            }
            for (pattern, node) in patterns?.members ?? [] {
                // A pattern that cannot be checked may be the one that allows this name.
                if let compiled = schema.patterns[pattern] {
                    if try !matches(name, compiled) { continue }
                    found += try problems(value, node, at: place, depth: depth + 1)
                }
                isKnown = true
            }
            guard !isKnown, let other else { continue }
            if other.bool == false {
                try step(known.count)
                found.append(unknown(name, place, known.keys, taken: object))
            } else {
                found += try problems(value, other, at: place, depth: depth + 1)
            }
        }
        return found
    }

    private func unknown(_ name: String, _ place: String, _ known: [String], taken: JSONObject) -> String {
        if known.isEmpty { return "\(place) is not known; there are no arguments here" }
        if let near = nearestName(name, among: known.filter { taken[$0] == nil }) {
            return "\(place) is not known; did you mean \(near)?"
        }
        let more = known.count > 12 ? " and \(known.count - 12) more" : ""
        return "\(place) is not known; known are \(known.prefix(12).joined(separator: ", "))\(more)"
    }

    static func path(_ path: String, _ name: String) -> String {
        let isPlain =
            !name.isEmpty && name.utf8.count <= 100
            && name.utf8.allSatisfy { byte in
                UnicodeScalar(byte).properties.isAlphabetic && byte < 0x80 || byte == UInt8(ascii: "_")
                    || byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
        return isPlain ? "\(path).\(name)" : "\(path)[\(shown(.string(name)))]"
    }

    // MARK: combinations

    private mutating func combined(
        _ value: JSONValue, _ rules: JSONObject, at path: String, depth: Int
    ) throws(JSONSchemaError) -> [String] {
        var found: [String] = []
        for node in rules["allOf"]?.array ?? [] { found += try problems(value, node, at: path, depth: depth + 1) }
        for keyword in ["anyOf", "oneOf"] {
            guard let nodes = rules[keyword]?.array, !nodes.isEmpty else { continue }
            var fitting = 0
            var nearest: [String]?
            for node in nodes {
                let wrong = try problems(value, node, at: path, depth: depth + 1)
                if wrong.isEmpty {
                    fitting += 1
                    if keyword == "anyOf" { break }
                } else if SchemaCheck.isNearer(wrong, than: nearest, at: path) {
                    nearest = wrong
                }
            }
            if fitting == 0, let nearest {
                if nodes.count == 1 {
                    found += nearest
                } else {
                    found.append("\(path) fits none of its \(nodes.count) forms; for the nearest, \(nearest[0])")
                }
            } else if fitting > 1, keyword == "oneOf" {
                found.append("\(path) fits \(fitting) forms and should fit only one")
            }
        }
        if let node = rules["not"], try problems(value, node, at: path, depth: depth + 1).isEmpty {
            found.append("\(path) has a form that is not allowed")
        }
        return found
    }

    /// A form whose fault lies further inside was more likely meant than one of another type altogether.
    private static func isNearer(_ a: [String], than b: [String]?, at path: String) -> Bool {
        guard let b else { return true }
        let isInsideA = !a[0].hasPrefix(path + " "), isInsideB = !b[0].hasPrefix(path + " ")
        return isInsideA != isInsideB ? isInsideA : a.count < b.count
    }
}
