internal import AlcoveCore
internal import llama

/// Owns one `alcove_output *`: the text of an answer, and what the library's parser makes of it.
///
/// Not Sendable: one thread at a time.
final class ParsedOutput {
    /// How a parse ended.
    enum State: String {
        /// Nothing that may follow could make an answer of this text.
        case failed
        /// More must come.
        case open
        case whole
    }

    struct Call {
        var id = ""
        var name = ""
        var arguments: [UInt8] = []
        var kept = 0

        /// Whether the arguments are written to their end.
        var isComplete: Bool { (try? JSONValue(parsing: arguments))?.object != nil }
    }

    private let raw: OpaquePointer
    /// Texts at which a stretch of free text may end.
    let delimiters: [[UInt8]]
    /// The text held.
    private(set) var text: [UInt8] = []
    private(set) var content: [UInt8] = []
    private(set) var reasoning: [UInt8] = []
    private(set) var calls: [Call] = []
    /// How much of content and reasoning the last parse left as it was.
    private(set) var keptContent = 0
    private(set) var keptReasoning = 0

    init(parser: OutputParser, reasoningFormat: String) throws(TemplateError) {
        let request: JSONValue = [
            "format": JSONValue(parser.format), "parser": .string(parser.program),
            "generation_prompt": .string(parser.generationPrompt), "reasoning_format": .string(reasoningFormat),
        ]
        var answer: UnsafeMutablePointer<CChar>?
        let opened = alcove_output_open(request.text(), &answer)
        let document = try ChatLibrary.take(answer)
        guard let opened else { throw .fault(reason: "an unknown fault", line: nil) }
        raw = opened
        delimiters = (document["delimiters"]?.array ?? []).compactMap { $0.string.map { Array($0.utf8) } }
            .filter { !$0.isEmpty }
    }

    deinit { alcove_output_close(raw) }

    func append(_ piece: [UInt8]) {
        text += piece
        piece.withUnsafeBytes { alcove_output_append(raw, $0.bindMemory(to: CChar.self).baseAddress, $0.count) }
    }

    /// Counts the text from `start` on as content, or reasoning, without parsing; the caller knows that it is.
    func extend(reasoning isReasoning: Bool, by piece: [UInt8]) {
        if isReasoning { reasoning += piece } else { content += piece }
    }

    /// Parses the first `size` bytes, or all. After a failure content, reasoning and calls are what they were.
    func parse(size: Int? = nil) -> State {
        guard let document = try? ChatLibrary.take(alcove_output_parse(raw, size ?? text.count)),
            let state = document["state"]?.string.flatMap(State.init(rawValue:)), state != .failed
        else { return .failed }
        keptContent = apply(document["content"], to: &content)
        keptReasoning = apply(document["reasoning"], to: &reasoning)
        let list = document["calls"]?.array ?? []
        calls.removeLast(max(0, calls.count - list.count))
        while calls.count < list.count { calls.append(Call()) }
        for (index, item) in list.enumerated() {
            calls[index].id = item["id"]?.string ?? ""
            calls[index].name = item["name"]?.string ?? ""
            calls[index].kept = apply(item["arguments"], to: &calls[index].arguments)
        }
        return state
    }

    /// - Returns: how many bytes stayed.
    private func apply(_ change: JSONValue?, to bytes: inout [UInt8]) -> Int {
        guard let pair = change?.array, pair.count == 2, let kept = pair[0].int, let added = pair[1].string else {
            return bytes.count
        }
        bytes.removeLast(max(0, bytes.count - kept))
        bytes += added.utf8
        return kept
    }

    /// Forgets the first `size` bytes and what was made of them; the answer begins anew with `replacement`.
    func replace(_ size: Int, with replacement: String) {
        text.replaceSubrange(..<size, with: replacement.utf8)
        alcove_output_replace(raw, size, replacement)
        content = []
        reasoning = []
        keptContent = 0
        keptReasoning = 0
        calls = []
    }
}
