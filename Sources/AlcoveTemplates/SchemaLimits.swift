internal import AlcoveCore

/// What a JSON schema may be so that a grammar is made of it.
///
/// The library walks a schema by recursion, repeats rules as often as a schema says, and writes out patterns. These limits
/// are far above what people write and far below what takes long or runs out of stack.
enum SchemaLimits {
    static let maximumBytes = 256 << 10
    static let maximumDepth = 64
    static let maximumNodes = 10_000
    /// Parts with every reference written out: the library follows them again and again.
    static let maximumExpansion = 50_000
    /// Properties of one object; a grammar of optional ones grows with their square.
    static let maximumProperties = 300
    static let maximumPattern = 1_000
    /// llama.cpp's grammar parser takes no greater repetition.
    static let maximumRepetition = 2_000
    static let maximumGrammarBytes = 2 << 20

    /// Why no grammar is made of a schema; nil when one may be.
    static func fault(of schema: JSONValue) -> String? {
        guard schema.object != nil || schema.bool != nil else { return "it is not an object" }
        var nodes = 0
        if let fault = fault(of: schema, depth: 0, nodes: &nodes) { return fault }
        let size = schema.bytes().count
        if size > maximumBytes { return "it has \(size) bytes, more than \(maximumBytes)" }
        if let fault = loop(in: schema) { return fault }
        var known: [String: Int] = [:]
        if expansion(of: schema, in: schema, &known) > maximumExpansion {
            return "written out it has more than \(maximumExpansion) parts"
        }
        return nil
    }

    private static func expansion(of value: JSONValue, in schema: JSONValue, _ known: inout [String: Int]) -> Int {
        var size = 1
        if let pointer = value["$ref"]?.string {
            if let known = known[pointer] { return known }
            known[pointer] = 1  // while it is being counted: a schema may contain itself
            size += resolve(pointer, in: schema).map { expansion(of: $0, in: schema, &known) } ?? 0
            known[pointer] = min(size, maximumExpansion + 1)
            return size
        }
        for item in value.array ?? [] {
            size = min(size + expansion(of: item, in: schema, &known), maximumExpansion + 1)
        }
        for (key, item) in value.object?.members ?? [] where key != "$defs" && key != "definitions" {
            size = min(size + expansion(of: item, in: schema, &known), maximumExpansion + 1)
        }
        return size
    }

    private static func fault(of value: JSONValue, depth: Int, nodes: inout Int) -> String? {
        nodes += 1
        if nodes > maximumNodes { return "it has more than \(maximumNodes) parts" }
        if depth > maximumDepth { return "it is nested deeper than \(maximumDepth)" }
        if let array = value.array {
            for item in array { if let fault = fault(of: item, depth: depth + 1, nodes: &nodes) { return fault } }
        }
        guard let object = value.object else { return nil }
        for (key, item) in object.members {
            switch key {
            case "pattern":
                if let pattern = item.string, pattern.utf8.count > maximumPattern {
                    return "a pattern is longer than \(maximumPattern)"
                }
                if let pattern = item.string, let fault = fault(ofPattern: pattern) { return fault }
            case "minLength", "maxLength", "minItems", "maxItems":
                if let count = item.double, count > Double(maximumRepetition) {
                    return "\(key) is more than \(maximumRepetition)"
                }
            case "properties":
                if let count = item.object?.count, count > maximumProperties {
                    return "an object has \(count) properties, more than \(maximumProperties)"
                }
            case "$ref":
                if let target = item.string, !target.hasPrefix("#") { return "it refers to \(target), outside itself" }
            default: break
            }
            if let fault = fault(of: item, depth: depth + 1, nodes: &nodes) { return fault }
        }
        return nil
    }

    /// Groups nest by recursion, and a repetition in a repetition multiplies.
    private static func fault(ofPattern pattern: String) -> String? {
        var depth = 0
        for byte in pattern.utf8 {
            if byte == UInt8(ascii: "(") { depth += 1 }
            if byte == UInt8(ascii: ")") { depth -= 1 }
            if depth > 32 { return "a pattern is nested deeper than 32" }
        }
        return nil
    }

    /// A reference that leads back to itself with nothing in between names no value.
    private static func loop(in schema: JSONValue) -> String? {
        var references: [String] = []
        collect(schema, &references)
        for first in references {
            var seen: Set<String> = []
            var current: String? = first
            while let pointer = current {
                if !seen.insert(pointer).inserted { return "its reference \(pointer) leads to itself" }
                current = resolve(pointer, in: schema)?["$ref"]?.string
            }
        }
        return nil
    }

    private static func collect(_ value: JSONValue, _ out: inout [String]) {
        if out.count > 500 { return }
        if let reference = value["$ref"]?.string { out.append(reference) }
        for item in value.array ?? [] { collect(item, &out) }
        for (_, item) in value.object?.members ?? [] { collect(item, &out) }
    }

    private static func resolve(_ pointer: String, in schema: JSONValue) -> JSONValue? {
        var value: JSONValue? = schema
        for part in pointer.split(separator: "/").dropFirst(pointer.hasPrefix("#") ? 1 : 0) {
            value =
                Int(part).flatMap { index in
                    value?.array.flatMap { index < $0.count && index >= 0 ? $0[index] : nil }
                } ?? value?[String(part)]
        }
        return value
    }
}
