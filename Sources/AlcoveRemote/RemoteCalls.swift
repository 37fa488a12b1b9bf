internal import AlcoveCore

/// Puts calls together that servers send in pieces, each in its own way.
struct RemoteCalls: Sendable {
    private struct Call: Sendable {
        /// What the server counts it as; nil where it does not count.
        var number: Int?
        var id: String
        var name = ""
        var arguments = ""
    }

    private var calls: [Call] = []

    var hasCalls: Bool { !calls.isEmpty }

    /// - Parameters:
    ///   - place: where the piece stands in its list, for servers that send whole calls without counting them.
    ///   - isWhole: the list is the complete list of calls.
    mutating func take(_ value: JSONValue, place: Int, isWhole: Bool) -> ToolCallPart? {
        guard value.object != nil else { return nil }
        let id = value["id"]?.string ?? ""
        let index = index(of: value["index"]?.int ?? (isWhole ? place : nil), id: id)
        let function = value["function"] ?? value
        let isNew = calls[index].name.isEmpty
        if let name = function["name"]?.string { add(name, to: index) }
        var piece = ""
        switch function["arguments"] {
        case .string(let text)?: piece = text
        // Some send what they have read already.
        case .object(let object)?: piece = JSONValue.object(object).text()
        default: break
        }
        calls[index].arguments += piece
        return ToolCallPart(
            index: index, name: isNew && !calls[index].name.isEmpty ? calls[index].name : nil, arguments: piece)
    }

    /// A name comes whole, or in pieces before the arguments, or again with each piece.
    private mutating func add(_ name: String, to index: Int) {
        guard calls[index].name != name, calls[index].arguments.isEmpty, calls[index].name.utf8.count < 256 else {
            return
        }
        calls[index].name += name
    }

    /// Which call a piece belongs to: by its number, else by its id, else the last one.
    private mutating func index(of number: Int?, id: String) -> Int {
        if let number {
            if let index = calls.firstIndex(where: { $0.number == number }) { return index }
        } else if id.isEmpty {
            if let last = calls.indices.last { return last }
        } else if let index = calls.firstIndex(where: { $0.id == id }) {
            return index
        }
        calls.append(Call(number: number, id: id))
        return calls.count - 1
    }

    /// The calls in the order of the answer; what cannot be read as one is told as that.
    mutating func finish() -> [GenerationEvent] {
        var ids: Set<String> = []
        return calls.enumerated().map { index, call in
            let arguments = call.arguments.allSatisfy(\.isWhitespace) ? "{}" : call.arguments
            func broken(_ reason: String) -> GenerationEvent {
                .brokenToolCall(BrokenToolCall(text: "\(call.name) \(call.arguments)", reason: reason))
            }
            if call.name.isEmpty { return broken("It names no tool.") }
            guard let value = try? JSONValue(parsing: arguments) else { return broken("Its arguments are no JSON.") }
            guard value.object != nil else { return broken("Its arguments are no JSON object.") }
            // The loop tells calls apart by their ids.
            var id = call.id.isEmpty || call.id.utf8.count > 256 ? "call_\(index)" : call.id
            while !ids.insert(id).inserted { id += "_\(index)" }
            return .toolCall(ToolCall(id: id, name: call.name, arguments: arguments))
        }
    }
}
