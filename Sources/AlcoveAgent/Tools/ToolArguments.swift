package import AlcoveCore

/// The arguments of one call in their one exact form: what is shown for approval, signed, compared and run.
package struct ToolArguments: Sendable, Equatable {
    /// Longest text of arguments that is read.
    package static let lengthLimit = 4 << 20

    package let value: JSONObject
    /// RFC 8785.
    package let canonical: [UInt8]
    /// SHA-256 in hexadecimal of the tool's name, a NUL, and the canonical bytes: equal calls have equal signatures.
    package let signature: String

    /// Reads what a model wrote.
    ///
    /// Types are taken as they come: the text "3" is no number. Three things are forgiven, since nothing can be mistaken
    /// by it: no text at all is an object without members, an object inside a JSON string is that object, and names
    /// models use for an argument become its own (`rewriting`).
    ///
    /// - Parameters:
    ///   - tool: the name the call is signed with, whatever alias the model used.
    ///   - isStrict: names that the schema does not declare are refused even when it says nothing about them.
    ///   - rewriting: puts aliases right before anything is checked; see `ToolAliases`.
    package init(
        _ text: String, tool: String, schema: JSONSchema, isStrict: Bool = true,
        rewriting: (JSONObject) -> JSONObject = { $0 }
    ) throws(ToolArgumentsError) {
        let object = rewriting(try ToolArguments.object(text, tool))
        let document = JSONValue.object(object)
        if !document.exactInDoubles {
            throw ToolArgumentsError(tool: tool, problems: ["A whole number in them is too large to be kept exactly."])
        }
        let problems: [String]
        do throws(JSONSchemaError) {
            problems = try schema.problems(in: document, isStrict: isStrict)
        } catch {
            throw ToolArgumentsError(tool: tool, problems: [error.message])
        }
        if !problems.isEmpty { throw ToolArgumentsError(tool: tool, problems: problems) }
        do throws(CanonicalJSONError) {
            canonical = try document.canonicalBytes()
        } catch {
            throw ToolArgumentsError(tool: tool, problems: [error.message])
        }
        value = object
        signature = SHA256.hex(Array(tool.utf8) + [0] + canonical)
    }

    private static func object(_ text: String, _ tool: String) throws(ToolArgumentsError) -> JSONObject {
        func refuse(_ problem: String) -> ToolArgumentsError { ToolArgumentsError(tool: tool, problems: [problem]) }

        if text.utf8.count > lengthLimit { throw refuse("They are longer than \(lengthLimit) bytes.") }
        if text.utf8.allSatisfy({ $0 == 0x20 || (0x09...0x0D).contains($0) }) { return JSONObject() }
        do throws(JSONError) {
            let value = try JSONValue(parsing: text, rules: .interchange)
            if let object = value.object { return object }
            if let inner = value.string, let object = try? JSONValue(parsing: inner, rules: .interchange).object {
                return object
            }
            throw JSONError(offset: 0, reason: "the arguments should be an object, {...}")
        } catch {
            throw refuse(error.message)
        }
    }
}

/// Why a call was not made, in words its model can act on.
package struct ToolArgumentsError: UserFacingError, Equatable {
    package let tool: String
    /// Whole sentences, five at most.
    package let problems: [String]

    package var code: String { "bad_arguments" }
    package var place: ErrorPlace { .request }
    package var message: String {
        problems.count == 1
            ? "\(tool) was not called: \(problems[0])"
            : "\(tool) was not called for \(problems.count) reasons: \(problems.joined(separator: " "))"
    }
    package var hint: String? { "Call it again with the arguments put right." }
}

/// The names models use for arguments that are called otherwise here.
package enum ToolAliases {
    /// Renames members; one whose proper name is there already stays, and is refused as unknown later.
    package static func renamed(_ object: JSONObject, _ aliases: [String: String]) -> JSONObject {
        var out = JSONObject()
        for (key, value) in object.members {
            if let name = aliases[key], object[name] == nil, out[name] == nil {
                out[name] = value
            } else {
                out[key] = value
            }
        }
        return out
    }

    /// A shorthand for aliases of one name.
    package static func names(_ groups: [String: [String]]) -> [String: String] {
        var all: [String: String] = [:]
        for (name, aliases) in groups { for alias in aliases { all[alias] = name } }
        return all
    }

    /// apply_patch: the envelope under whatever name it came, or operations, as the one argument `patch`.
    package static func applyPatch(_ object: JSONObject) -> JSONObject {
        if object["patch"]?.string != nil { return object }
        let known = ["input", "diff", "content", "text"]
        let marker = PatchReader.begin
        let texts = known + object.keys.filter { !known.contains($0) }
        if let key = texts.first(where: { object[$0]?.string?.contains(marker) ?? false }), let text = object[key] {
            return ["patch": text]
        }
        if object["operations"]?.array != nil || object["type"]?.string != nil && object["path"] != nil {
            return ["patch": .string(JSONValue.object(object).text())]
        }
        return renamed(object, names(["patch": known]))
    }

    private static let pathNames = ["file_path", "file", "filename", "filepath", "target_file"]
    private static let readNames = names([
        "path": pathNames, "offset": ["start_line", "from_line", "line", "start"],
        "limit": ["lines", "line_count", "count"],
    ])

    /// read_file, also with a range of lines [first, last] instead of a first line and a count; -1 is the end.
    package static func readFile(_ object: JSONObject) -> JSONObject {
        var out = renamed(object, readNames)
        for key in ["view_range", "range", "line_range"] {
            guard let pair = out[key]?.array, pair.count == 2, out["offset"] == nil, out["limit"] == nil,
                let first = pair[0].int, let last = pair[1].int, first >= 1, last == -1 || last >= first
            else { continue }
            out[key] = nil
            out["offset"] = JSONValue(first)
            out["limit"] = JSONValue(last == -1 ? FileText.mostLines : min(FileText.mostLines, last - first + 1))
        }
        return out
    }

    private static let writeNames = names(["path": pathNames, "content": ["contents", "text"]])

    package static func writeFile(_ object: JSONObject) -> JSONObject { renamed(object, writeNames) }
}
