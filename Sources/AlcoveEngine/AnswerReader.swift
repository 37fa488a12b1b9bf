internal import AlcoveCore
internal import AlcoveTemplates

/// Turns the tokens of one answer into deltas of reasoning, text and tool calls.
///
/// Bytes become characters, stop strings end the answer, and the template's parser tells the rest apart.
struct AnswerReader {
    private let vocabulary: Vocabulary
    /// Nil where every text is an answer as it stands.
    private let output: StreamingOutput?
    private let shownControls: Set<Token>
    private var bytes: [UInt8] = []
    private var assembler = UTF8Assembler()
    private var stops: StopMatcher

    init(vocabulary: Vocabulary, prompt: RenderedPrompt, stop: [String]) {
        self.vocabulary = vocabulary
        output = prompt.parser.isPlain ? nil : try? StreamingOutput(parser: prompt.parser, markers: prompt.callMarkers)
        shownControls = Set(prompt.preservedTokens.compactMap { vocabulary.controlToken(spelled: $0) })
        stops = StopMatcher(stops: stop + prompt.stops)
    }

    /// Whether the answer has called a tool.
    var hasCalls: Bool { output?.hasCalls ?? false }

    /// The deltas of one token, and whether a stop string was reached.
    mutating func read(_ token: Token) -> (events: [GenerationEvent], stopped: Bool) {
        bytes.removeAll(keepingCapacity: true)
        vocabulary.appendBytes(of: token, showsControl: shownControls.contains(token), to: &bytes)
        let (piece, stopped) = stops.append(assembler.append(bytes))
        return (show(piece), stopped)
    }

    /// What is left when the answer has ended.
    mutating func finish(stopped: Bool) -> [GenerationEvent] {
        var piece = ""
        if !stopped {
            let (tail, found) = stops.append(assembler.finish())
            piece = found ? tail : tail + stops.finish()
        }
        return show(piece) + (output?.finish() ?? [])
    }

    private func show(_ piece: String) -> [GenerationEvent] {
        guard let output else { return piece.isEmpty ? [] : [.text(piece)] }
        return output.append(piece)
    }
}
