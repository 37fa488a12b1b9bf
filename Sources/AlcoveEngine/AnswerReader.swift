internal import AlcoveCore
internal import AlcoveTemplates

/// Turns the tokens of one answer into deltas of reasoning and text.
///
/// Bytes become characters, stop strings end the answer, and the template's parser tells reasoning from answer. The
/// library parses a whole text each time, so parsing is put on a clock: it may take a fiftieth of the time.
struct AnswerReader {
    private let vocabulary: Vocabulary
    private let parser: OutputParser
    private let shownControls: Set<Token>
    private var bytes: [UInt8] = []
    private var assembler = UTF8Assembler()
    private var stops: StopMatcher
    private var text = ""
    private var shown = OutputParser.Result()
    private var nextParse: UInt64 = 0

    init(vocabulary: Vocabulary, prompt: RenderedPrompt, stop: [String]) {
        self.vocabulary = vocabulary
        parser = prompt.parser
        shownControls = Set(
            (prompt.grammar?.preservedTokens ?? []).compactMap { vocabulary.controlToken(spelled: $0) })
        stops = StopMatcher(stops: stop + prompt.stops)
    }

    /// The deltas of one token, and whether a stop string was reached.
    mutating func read(_ token: Token) -> (events: [GenerationEvent], stopped: Bool) {
        bytes.removeAll(keepingCapacity: true)
        vocabulary.appendBytes(of: token, showsControl: shownControls.contains(token), to: &bytes)
        let (piece, stopped) = stops.append(assembler.append(bytes))
        return (show(piece, isLast: false), stopped)
    }

    /// What is left when the answer has ended.
    mutating func finish(stopped: Bool) -> [GenerationEvent] {
        var piece = ""
        if !stopped {
            let (tail, found) = stops.append(assembler.finish())
            piece = found ? tail : tail + stops.finish()
        }
        return show(piece, isLast: true)
    }

    private mutating func show(_ piece: String, isLast: Bool) -> [GenerationEvent] {
        if parser.isPlain { return piece.isEmpty ? [] : [.text(piece)] }
        text += piece
        let now = Platform.monotonicNanoseconds
        guard isLast || (!piece.isEmpty && now >= nextParse) else { return [] }
        // What cannot be parsed stays as it is: a broken answer is shown, not lost.
        let result = (try? parser.parse(text, isPartial: !isLast)) ?? OutputParser.Result(content: text)
        let end = Platform.monotonicNanoseconds
        nextParse = end + 50 * (end - now)
        var events: [GenerationEvent] = []
        if let delta = growth(from: shown.reasoning, to: result.reasoning) { events.append(.reasoning(delta)) }
        if let delta = growth(from: shown.content, to: result.content) { events.append(.text(delta)) }
        if result.reasoning.utf8.count > shown.reasoning.utf8.count { shown.reasoning = result.reasoning }
        if result.content.utf8.count > shown.content.utf8.count { shown.content = result.content }
        return events
    }

    /// What was added; nothing is ever taken back.
    private func growth(from old: String, to new: String) -> String? {
        guard new.utf8.count > old.utf8.count, new.utf8.starts(with: old.utf8) else { return nil }
        return String(decoding: new.utf8.dropFirst(old.utf8.count), as: UTF8.self)
    }
}
