public import AlcoveCore

/// Turns what a model writes, piece by piece, into reasoning, text and tool calls.
///
/// What was told is never taken back, and no fragment of a marker is ever told as text. The library parses a whole text
/// at a time, so an answer is parsed only where something may begin or end in it, and on a clock: parsing takes less than
/// a fiftieth of the time. A part of an answer that is behind a finished call, and no continuation of it, is parsed by
/// itself.
///
/// Not Sendable: one thread at a time.
public final class StreamingOutput {
    public enum Pace: Sendable {
        /// At most this share of the time is spent on parsing; what is due comes with a later piece, or at the end.
        case share(Double)
        /// Every piece is parsed at once, for tests.
        case eager
    }

    private let output: ParsedOutput
    private let parser: OutputParser
    private let pace: Pace
    /// Bytes a delimiter may begin with, and the longest one's length.
    private let firstBytes: Set<UInt8>
    private let reach: Int
    private let markers: [[UInt8]]
    private let markerBytes: Set<UInt8>
    private let markerReach: Int

    private var shownText = Shown()
    private var shownReasoning = Shown()
    private var shownCalls: [ShownCall] = []
    /// Calls of the current part that were told to their end.
    private var finishedCalls = 0
    /// Calls of earlier parts.
    private var earlierCalls = 0
    private var ids: Set<String> = []
    /// White space between a call and the text behind it; the parser of a later part drops it.
    private var space: [UInt8] = []

    /// What the text held was when it was last parsed: how long, and how long content and reasoning were.
    private var parsed = (text: 0, content: 0, reasoning: 0)
    private var openKind: OpenKind?
    private var hasFailed = false
    private var nextParse: UInt64 = 0

    private enum OpenKind { case content, reasoning }
    private struct ShownCall {
        var isNamed = false
        var arguments = Shown()
    }

    /// What was told of a text that is parsed again and again.
    private struct Shown {
        private(set) var bytes: [UInt8] = []
        private var agrees = true

        var count: Int { bytes.count }
        var isEmpty: Bool { bytes.isEmpty }

        /// What the text, cut at `end`, says beyond what was told; nil when that is nothing, or contradicts it.
        ///
        /// - Parameter kept: Bytes that the last parse left as they were: so many need not be compared.
        mutating func growth(of text: [UInt8], to end: Int, kept: Int) -> ArraySlice<UInt8>? {
            if kept < bytes.count || !agrees { agrees = text.starts(with: bytes) }
            guard agrees, end > bytes.count else { return nil }
            let delta = text[bytes.count..<end]
            bytes += delta
            return delta
        }
    }

    /// Nanoseconds spent on parsing so far.
    public private(set) var parsingTime: UInt64 = 0

    /// Whether a call was told to its end.
    public private(set) var hasCalls = false
    /// Whether ids that the format does not give are made.
    private let makesIDs: Bool

    /// - Parameters:
    ///   - markers: Texts that begin a call in this format; behind one, what cannot be read is a broken call, not text.
    ///   - reasoningFormat: `auto` or `none`, as the prompt was rendered.
    ///   - makesIDs: Whether calls get an id where the format has none.
    public init(
        parser: OutputParser, markers: [String] = [], reasoningFormat: String = "auto", pace: Pace = .share(0.015),
        makesIDs: Bool = true
    ) throws(TemplateError) {
        output = try ParsedOutput(parser: parser, reasoningFormat: reasoningFormat)
        self.parser = parser
        self.pace = pace
        self.makesIDs = makesIDs
        self.markers =
            markers.map { Array($0.utf8) }.filter { !$0.isEmpty }
            + output.delimiters.filter { delimiter in
                let text = String(decoding: delimiter, as: UTF8.self).lowercased()
                return ["tool", "call", "func"].contains { text.firstRange(ofText: $0) != nil }
            }
        markerBytes = Set(self.markers.compactMap(\.first))
        markerReach = self.markers.map(\.count).max() ?? 0
        firstBytes = markerBytes.union(output.delimiters.compactMap(\.first))
        reach = max(markerReach, output.delimiters.map(\.count).max() ?? 0)
    }

    /// Reads the next piece.
    public func append(_ piece: String) -> [GenerationEvent] {
        guard !piece.isEmpty else { return [] }
        let bytes = Array(piece.utf8)
        output.append(bytes)
        if let openKind, !bytes.contains(where: firstBytes.contains) {
            // Free text goes on: nothing in it can end it.
            output.extend(reasoning: openKind == .reasoning, by: bytes)
            return textEvents(isLast: false)
        }
        openKind = nil
        guard !hasFailed, isDue else { return [] }
        return timed {
            if output.parse() != .failed {
                noteOpenText()
                return events(isLast: false)
            }
            let events = splitBehindCalls()
            hasFailed = events.isEmpty
            return events
        }
    }

    /// Reads to the end: what was held back comes now.
    public func finish() -> [GenerationEvent] {
        timed {
            var events: [GenerationEvent] = []
            while true {
                switch output.parse() {
                case .whole where seemsGlued, .open where seemsGlued: return events + finishGlued()
                case .whole: return events + self.events(isLast: true) + finishStray()
                case .open: return events + finishOpen()
                case .failed:
                    let more = splitBehindCalls()
                    guard more.isEmpty else {
                        events += more
                        continue
                    }
                    return events + finishFailed()
                }
            }
        }
    }

    /// All that can be read so far, calls that are being written included; for tools that look at one moment.
    public func snapshot() -> OutputParser.Result {
        _ = output.parse(size: viableSize(including: output.text.count))
        return OutputParser.Result(
            content: String(decoding: output.content, as: UTF8.self),
            reasoning: String(decoding: output.reasoning, as: UTF8.self),
            toolCalls: output.calls.map {
                ToolCall(id: $0.id, name: $0.name, arguments: String(decoding: $0.arguments, as: UTF8.self))
            })
    }

    // MARK: Pace

    private var isDue: Bool {
        switch pace {
        case .eager: true
        case .share: Platform.monotonicNanoseconds >= nextParse
        }
    }

    private func timed(_ body: () -> [GenerationEvent]) -> [GenerationEvent] {
        let start = Platform.monotonicNanoseconds
        let events = body()
        let end = Platform.monotonicNanoseconds
        parsingTime += end - start
        if case .share(let share) = pace { nextParse = end + UInt64(Double(end - start) / share) }
        return events
    }

    /// Finds out whether the text's end is free text: it grew by what the text grew by, and no delimiter is beginning.
    private func noteOpenText() {
        defer { parsed = (output.text.count, output.content.count, output.reasoning.count) }
        guard output.calls.isEmpty, output.text.count > parsed.text,
            !output.text.suffix(reach).contains(where: firstBytes.contains)
        else { return }
        let grown = output.text.count - parsed.text
        if output.content.count - parsed.content == grown, output.content.last == output.text.last {
            openKind = .content
        } else if output.content.isEmpty, output.reasoning.count - parsed.reasoning == grown,
            output.reasoning.last == output.text.last
        {
            openKind = .reasoning
        }
    }

    // MARK: Telling

    private func events(isLast: Bool) -> [GenerationEvent] {
        let calls = output.calls
        var events = textEvents(isLast: isLast || !calls.isEmpty)
        for index in calls.indices where index >= finishedCalls {
            if let part = part(of: calls[index], at: index) { events.append(.toolCallPart(part)) }
            // A call is finished when the next one begins, or the answer ends.
            if index < calls.count - 1 || isLast { events += finish(calls[index], at: index) }
        }
        return events
    }

    private func textEvents(isLast: Bool) -> [GenerationEvent] {
        var events: [GenerationEvent] = []
        let reasoningIsLast = isLast || !output.content.isEmpty
        if let delta = growth(
            of: output.reasoning, to: output.reasoning.count, kept: output.keptReasoning, beyond: &shownReasoning,
            isLast: reasoningIsLast)
        {
            events.append(.reasoning(delta))
        }
        if seemsGlued, !isLast { return events }
        let isFirst = shownText.isEmpty
        // A marker inside the text is a call that the format's parser did not take for one.
        let end = strayMarker() ?? output.content.count
        guard
            let delta = growth(
                of: output.content, to: end, kept: output.keptContent, beyond: &shownText, isLast: isLast)
        else { return events }
        let before = isFirst && output.content.first?.isWhiteSpace == false ? space : []
        events.append(.text(String(decoding: before, as: UTF8.self) + delta))
        return events
    }

    /// Where in the text a marker begins, or may be beginning.
    private func strayMarker() -> Int? {
        // What was told already was looked at; a marker may reach over the edge.
        let start = max(0, min(shownText.count, output.content.count) - markerReach)
        let fresh = output.content[start...]
        for position in fresh.indices where markerBytes.contains(fresh[position]) {
            let rest = fresh[position...]
            if markers.contains(where: { rest.starts(with: $0) || $0.starts(with: rest) }) {
                return max(position, shownText.count)
            }
        }
        return nil
    }

    /// What may be told now. White space waits for what follows it: formats drop it before a marker.
    private func growth(
        of bytes: [UInt8], to limit: Int, kept: Int, beyond shown: inout Shown, isLast: Bool
    ) -> String? {
        var end = limit
        if !isLast { while end > shown.count, bytes[end - 1].isWhiteSpace { end -= 1 } }
        return shown.growth(of: bytes, to: end, kept: kept).map { String(decoding: $0, as: UTF8.self) }
    }

    private func part(of call: ParsedOutput.Call, at index: Int) -> ToolCallPart? {
        while shownCalls.count <= index { shownCalls.append(ShownCall()) }
        guard !call.name.isEmpty else { return nil }
        let delta = shownCalls[index].arguments.growth(of: call.arguments, to: call.arguments.count, kept: call.kept)
        let isNamed = shownCalls[index].isNamed
        guard !isNamed || delta != nil else { return nil }
        shownCalls[index].isNamed = true
        return ToolCallPart(
            index: earlierCalls + index, id: isNamed || call.id.isEmpty ? nil : call.id,
            name: isNamed ? nil : call.name,
            arguments: String(decoding: delta ?? [], as: UTF8.self))
    }

    private func finish(_ call: ParsedOutput.Call, at index: Int) -> [GenerationEvent] {
        finishedCalls = index + 1
        let text = String(decoding: call.arguments, as: UTF8.self)
        guard call.isComplete else {
            return [
                .brokenToolCall(
                    BrokenToolCall(
                        text: call.name + " " + text, reason: "The arguments of \(call.name) are not a JSON object."))
            ]
        }
        hasCalls = true
        return [.toolCall(ToolCall(id: id(call.id), name: call.name, arguments: text))]
    }

    /// The call's own id, or one of nine letters and digits: some formats take no other.
    private func id(_ given: String) -> String {
        if !given.isEmpty, ids.insert(given).inserted { return given }
        guard makesIDs else { return given }
        let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        while true {
            let made = String((0..<9).map { _ in letters[Int.random(in: letters.indices)] })
            if ids.insert(made).inserted { return made }
        }
    }

    // MARK: What does not fit

    /// Where calls are finished and what follows is no continuation, takes what follows as a new part.
    private func splitBehindCalls() -> [GenerationEvent] {
        let viable = viableSize()
        guard viable > 0 else { return [] }
        let sizes = stride(from: viable, through: max(1, viable - 24), by: -1)
        guard var end = sizes.first(where: { output.parse(size: $0) == .whole && !output.calls.isEmpty }) else {
            return []
        }
        // White space behind the calls is the next part's.
        while end > 1, output.text[end - 1].isWhiteSpace, output.parse(size: end - 1) == .whole { end -= 1 }
        _ = output.parse(size: end)
        let events = events(isLast: true)
        startPart(behind: end)
        return events
    }

    /// The longest beginning of the text that may still become an answer. Whatever begins a viable text is viable.
    private func viableSize(including end: Int? = nil) -> Int {
        var good = 0
        var bad = end.map { $0 + 1 } ?? output.text.count
        while bad - good > 1 {
            let middle = (good + bad) / 2
            if output.parse(size: middle) == .failed { bad = middle } else { good = middle }
        }
        return good
    }

    private func startPart(behind size: Int) {
        earlierCalls += output.calls.count
        let rest = output.text[size...]
        space = Array(rest.prefix { $0.isWhiteSpace })
        // Where the prompt itself opens the reasoning, a later part does not begin inside it.
        output.replace(size, with: parser.reasoningIsOpen ? parser.reasoningEnds[0] : "")
        shownText = Shown()
        shownReasoning = Shown()
        shownCalls = []
        finishedCalls = 0
        parsed = (0, 0, 0)
        openKind = nil
    }

    /// Whether this part follows a call and begins as another one would, but for its marker.
    private var seemsGlued: Bool {
        earlierCalls > 0 && output.calls.isEmpty && shownText.isEmpty
            && output.content.first { !$0.isWhiteSpace } == UInt8(ascii: "{")
    }

    private func finishGlued() -> [GenerationEvent] {
        guard let call = LooseCall.first(in: output.text) else { return events(isLast: true) }
        hasCalls = true
        var events: [GenerationEvent] = [
            .toolCall(ToolCall(id: id(""), name: call.name, arguments: call.arguments))
        ]
        earlierCalls += 1
        output.replace(call.end, with: "")
        let tail = output.text
        if LooseCall.first(in: tail) != nil { return events + finishGlued() }
        if !tail.isEmpty, !isMarkerFragment(tail), !isClosing(tail) {
            events.append(.text(String(decoding: tail, as: UTF8.self)))
        }
        return events
    }

    /// Whether a text is only what a format writes behind a call: "</tool_call>", "]".
    private func isClosing(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self).trimmingSpaces()
        return text == "]" || (text.hasPrefix("</") && text.hasSuffix(">") && !text.dropFirst(2).contains("<"))
    }

    /// What stands in the text from a marker on: calls, if they have the shape, else kept as it is.
    private func finishStray() -> [GenerationEvent] {
        guard output.calls.isEmpty, let start = strayMarker() else { return [] }
        var rest = Array(output.content[start...])
        var events: [GenerationEvent] = []
        while let call = LooseCall.first(in: rest) {
            hasCalls = true
            events.append(.toolCall(ToolCall(id: id(""), name: call.name, arguments: call.arguments)))
            rest.removeSubrange(..<call.end)
        }
        guard !rest.isEmpty, events.isEmpty || !isClosing(rest) else { return events }
        if startsCall(rest) || isCallFragment(rest) { return events + [broken(rest, isCut: !startsCall(rest))] }
        return events + [.text(String(decoding: rest, as: UTF8.self))]
    }

    /// The answer ends inside something. A call whose arguments are all there counts; any other is broken.
    private func finishOpen() -> [GenerationEvent] {
        guard let last = output.calls.last else {
            var events = textEvents(isLast: true)
            let tail = unreadTail()
            if startsCall(tail) || isCallFragment(tail) {
                events.append(broken(tail, isCut: true))
            } else if !tail.isEmpty, !isMarkerFragment(tail) {
                events.append(.text(String(decoding: tail, as: UTF8.self)))
            }
            return events + finishStray()
        }
        guard !last.isComplete else { return events(isLast: true) }
        let index = output.calls.count - 1
        var events = events(isLast: false)
        let written = String(decoding: last.arguments, as: UTF8.self)
        finishedCalls = index + 1
        events.append(broken(Array((last.name + " " + written).utf8), isCut: true))
        return events
    }

    /// Nothing that follows could have made an answer of it: what can be read is told, the rest is kept as it is.
    private func finishFailed() -> [GenerationEvent] {
        let viable = viableSize()
        _ = output.parse(size: viable)
        var events = textEvents(isLast: true)
        for (index, call) in output.calls.enumerated() where index >= finishedCalls && index < output.calls.count - 1 {
            events += finish(call, at: index)
        }
        let tail = unreadTail()
        if let call = LooseCall.first(in: tail) {
            hasCalls = true
            events.append(.toolCall(ToolCall(id: id(""), name: call.name, arguments: call.arguments)))
        } else if startsCall(tail) {
            events.append(broken(tail, isCut: false))
        } else if !tail.isEmpty {
            events.append(.text(String(decoding: tail, as: UTF8.self)))
        }
        return events
    }

    private func broken(_ text: [UInt8], isCut: Bool) -> GenerationEvent {
        .brokenToolCall(
            BrokenToolCall(
                text: String(decoding: text, as: UTF8.self),
                reason: isCut
                    ? "The answer ended inside a tool call." : "This looks like a tool call and is not written as one.")
        )
    }

    /// What stands behind the text and the reasoning that could be read.
    private func unreadTail() -> [UInt8] {
        let last = output.content.isEmpty ? output.reasoning : output.content
        guard !last.isEmpty else { return output.text }
        let needle = last.suffix(256)
        var start = output.text.count - needle.count
        while start >= 0 {
            if output.text[start...].starts(with: needle) { return Array(output.text[(start + needle.count)...]) }
            start -= 1
        }
        return output.text
    }

    private func startsCall(_ bytes: [UInt8]) -> Bool {
        markers.contains { bytes.firstRange(of: $0) != nil }
    }

    /// Whether a text is the beginning of a marker that cannot be anything else.
    private func isCallFragment(_ bytes: [UInt8]) -> Bool {
        let trimmed = Array(bytes.drop { $0.isWhiteSpace })
        return trimmed.count >= 5 && markers.contains { $0.starts(with: trimmed) }
    }

    /// Whether a text is the beginning of what ends reasoning or text: nothing that is meant to be read.
    private func isMarkerFragment(_ bytes: [UInt8]) -> Bool {
        let trimmed = Array(bytes.drop { $0.isWhiteSpace })
        return trimmed.isEmpty || (trimmed.count >= 3 && output.delimiters.contains { $0.starts(with: trimmed) })
    }
}

extension UInt8 {
    fileprivate var isWhiteSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}

extension Array where Element == UInt8 {
    fileprivate func firstRange(of needle: [UInt8]) -> Range<Int>? {
        guard !needle.isEmpty, count >= needle.count else { return nil }
        for start in 0...(count - needle.count) where self[start] == needle[0] && self[start...].starts(with: needle) {
            return start..<(start + needle.count)
        }
        return nil
    }
}
