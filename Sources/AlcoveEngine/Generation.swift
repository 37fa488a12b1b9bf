internal import AlcoveCore

/// One answer in the making, as the engine's thread sees it.
final class Generation {
    enum Output {
        case promptProgress(done: Int, total: Int)
        /// How likely the next token was, when that was asked for.
        case odds(TokenOdds)
        /// A token the model chose. What is answered ends the generation.
        case token(Token)
        /// A sentence for the person.
        case notice(String)
        case finished(FinishReason, Usage)
        case failed(EngineError)
    }

    let prompt: [Token]
    let maxTokens: Int
    let stop: StopSignal
    /// Whether the same request should give the same answer again: a seed was given, or nothing is drawn at all.
    let isRepeatable: Bool
    /// Whether nothing computed for others is gone on from: a seed was given, and what is drawn with it tells roundings
    /// apart that depend on how much was there already.
    let startsAfresh: Bool
    let sampler: TokenSampler
    /// How many of the likeliest tokens to tell with each; nil looks at no odds.
    let likeliestTokens: Int?
    let priority: GenerationPriority
    /// Whether tokens may be guessed ahead; the answer is the same.
    let speculates: Bool
    private let output: (Output) -> FinishReason?
    private var repetition: RepetitionGuard?

    /// Tokens of the prompt that other chats begin with too; 0 is none.
    let sharedPrefix: Int
    /// Tokens of the prompt before what opens the answer; 0 where that is not known.
    let answerStart: Int
    /// The pictures and sounds of the prompt, by the numbers they have in it.
    let media: [Token: MediaChunk]
    var usage = Usage()
    /// Tokens the sequence holds or will hold after the computation under way.
    var fed = 0
    var startedAt: UInt64 = 0
    var firstTokenAt: UInt64 = 0
    /// The token chosen last, not computed yet.
    var next: Token?
    /// What was guessed to follow `next`, in the batch under way.
    var draft: Draft?
    /// Where the logits of the batch under way will be.
    var logitsIndex: Int32 = -1

    init(
        prompt: [Token], maxTokens: Int, sampler: TokenSampler, isRepeatable: Bool, startsAfresh: Bool = false,
        stopsRepetition: Bool,
        likeliestTokens: Int? = nil, sharedPrefix: Int = 0, answerStart: Int = 0, media: [Token: MediaChunk] = [:],
        speculates: Bool = true, priority: GenerationPriority = .normal, stop: StopSignal,
        output: @escaping (Output) -> FinishReason?
    ) {
        self.prompt = prompt
        self.maxTokens = maxTokens
        self.stop = stop
        self.isRepeatable = isRepeatable
        self.startsAfresh = startsAfresh
        self.likeliestTokens = likeliestTokens
        self.sharedPrefix = sharedPrefix
        self.answerStart = answerStart
        self.media = media
        self.speculates = speculates
        self.priority = priority
        self.output = output
        self.sampler = sampler
        repetition = stopsRepetition ? RepetitionGuard() : nil
        usage.promptTokens = prompt.count
    }

    var isReadingPrompt: Bool { next == nil }

    /// The picture or sound that is to be read next; nil where words are.
    var nextMedia: MediaChunk? { fed < prompt.count && prompt[fed] < 0 ? media[prompt[fed]] : nil }

    func report(_ odds: TokenOdds) { _ = output(.odds(odds)) }

    func note(_ sentence: String) { _ = output(.notice(sentence)) }

    func report(done: Int) { _ = output(.promptProgress(done: done, total: prompt.count)) }

    /// - Returns: why the answer ends with this token; nil when it goes on.
    func take(_ token: Token) -> FinishReason? {
        usage.completionTokens += 1
        let reason = output(.token(token))
        return repetition?.isLoop(with: token) == true ? reason ?? .repetition : reason
    }

    func finish(_ reason: FinishReason, now: UInt64) {
        if startedAt > 0 {
            let read = firstTokenAt > 0 ? firstTokenAt : now
            usage.promptSeconds = Double(read - startedAt) / 1e9
            usage.generationSeconds = Double(now - read) / 1e9
        }
        _ = output(.finished(reason, usage))
    }

    func fail(_ error: EngineError) { _ = output(.failed(error)) }
}
