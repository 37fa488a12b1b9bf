internal import AlcoveCore

/// The tool calls of a streamed answer, told while they are written: first index, id and name, then the arguments piece by
/// piece, which together are exactly what a call that is told whole has.
///
/// What was told cannot be taken back. A call that turns out to be none therefore stays as far as it was written, and the
/// client reads that from its arguments, which are no JSON, and from `finish_reason`; where they happen to be JSON, so that
/// a client might act on them, the stream ends with an error instead.
struct OpenAICallStream: Sendable {
    /// A sentence for each call that stayed unfinished.
    private(set) var notices: [String] = []
    private var count = 0
    private var ids: Set<String> = []
    private var open: Open?
    /// The first call that stayed unfinished in a way its arguments do not show.
    private var misleading: String?

    private struct Open {
        /// Its number among the model's calls; that among those told may be another.
        var part: Int
        var number: Int
        var name: String
        var told: String
    }

    /// - Returns: what goes into `tool_calls` of the deltas, one for each chunk.
    mutating func take(_ part: ToolCallPart) -> [JSONValue] {
        guard let name = part.name else {
            guard open?.part == part.index, !part.arguments.isEmpty else { return [] }
            open?.told += part.arguments
            return [piece(part.arguments)]
        }
        // The one before was not told to an end.
        if let left = open { leave(left, because: "The call of \(left.name) has no end.") }
        open = Open(part: part.index, number: count, name: name, told: part.arguments)
        let head = OpenAIParts.call(ToolCall(id: id(part.id), name: name, arguments: ""), index: count)
        count += 1
        return part.arguments.isEmpty ? [head] : [head, piece(part.arguments)]
    }

    /// A call that is written to its end.
    ///
    /// - Throws: when it is another one than was told.
    mutating func take(_ call: ToolCall) throws(OpenAIError) -> [JSONValue] {
        guard let told = open else {
            let whole = OpenAIParts.call(
                ToolCall(id: id(call.id), name: call.name, arguments: call.arguments), index: count)
            count += 1
            return [whole]
        }
        guard told.name == call.name, call.arguments.utf8.starts(with: told.told.utf8) else {
            throw OpenAIError(
                500, code: "tool_call_changed",
                "The call of \(call.name) reads otherwise at its end than while it was written.",
                hint: "Ask again without \"stream\".")
        }
        let rest = String(decoding: call.arguments.utf8.dropFirst(told.told.utf8.count), as: UTF8.self)
        defer { open = nil }
        return rest.isEmpty ? [] : [piece(rest)]
    }

    /// What was meant as a call and is none.
    ///
    /// - Returns: nil when nothing was told of it, so that it is content; else the rest of what was written.
    mutating func take(_ broken: BrokenToolCall) -> [JSONValue]? {
        guard var told = open else { return nil }
        let beginning = told.name + " " + told.told
        var pieces: [JSONValue] = []
        if broken.text.utf8.starts(with: beginning.utf8) {
            let rest = String(decoding: broken.text.utf8.dropFirst(beginning.utf8.count), as: UTF8.self)
            if !rest.isEmpty { pieces.append(piece(rest)) }
            told.told += rest
        }
        leave(told, because: broken.reason)
        return pieces
    }

    /// The answer has ended.
    ///
    /// - Throws: when a client would take a call for whole that is not. One that the length cut is known to be cut.
    mutating func finish(_ reason: FinishReason) throws(OpenAIError) {
        if let left = open { leave(left, because: "The answer ended inside a tool call.") }
        if let misleading, !reason.isTruncation {
            throw OpenAIError(500, code: "tool_call_broken", misleading, hint: "Send the request again.")
        }
    }

    private mutating func leave(_ call: Open, because reason: String) {
        open = nil
        notices.append(reason)
        let isBlank = call.told.allSatisfy(\.isWhitespace)
        if misleading == nil, isBlank || (try? JSONValue(parsing: call.told)) != nil { misleading = reason }
    }

    private func piece(_ arguments: String) -> JSONValue {
        [
            "index": JSONValue(open?.number ?? 0), "function": ["arguments": .string(arguments)],
        ]
    }

    /// The format's own id, where it comes before the arguments; else one as it is made for whole calls.
    private mutating func id(_ given: String?) -> String {
        if let given, !given.isEmpty, ids.insert(given).inserted { return given }
        while true {
            let made = "call_" + hexText(Platform.randomBytes(8))
            if ids.insert(made).inserted { return made }
        }
    }
}
