/// A model that answers messages: the door between the agent and whatever engine is behind it.
///
/// Rendering, tokenising, parsing and grammars stay behind this door; the agent never sees a token.
public protocol LanguageModel: Sendable {
    /// What the model is and can do; does not change while it is loaded.
    var description: ModelDescription { get }

    /// Starts an answer.
    ///
    /// The stream ends after one `.finished` event, or with an error when no answer could be started at all (a prompt
    /// longer than the window, a template that refuses the conversation). The work stops when the request's `stopSignal` is
    /// set, and when nobody reads the stream any more.
    func generate(_ request: GenerationRequest) -> AsyncThrowingStream<GenerationEvent, any Error>

    /// Tokens that a request's prompt has, tool declarations included.
    ///
    /// - Throws: when the conversation cannot be put into a prompt.
    func promptTokens(of request: GenerationRequest) async throws -> Int
}

/// What is loaded, for people and for limits.
public struct ModelDescription: Sendable, Hashable {
    public var id: String
    public var name: String
    public var architecture: String
    /// Tokens the engine can hold for one sequence, prompt and answer together.
    public var contextLength: Int
    /// Tokens the model was trained for.
    public var trainedContextLength: Int
    public var parameterCount: UInt64
    public var fileBytes: UInt64
    /// How its makers say it should be sampled, where a request does not say.
    public var sampling: SamplingOptions
    /// What it takes in beside words.
    public var media = MediaAbilities.none
    /// The file that gives it that; nil for a model that reads words alone.
    public var projector: String?

    public init(
        id: String, name: String, architecture: String, contextLength: Int, trainedContextLength: Int,
        parameterCount: UInt64, fileBytes: UInt64, sampling: SamplingOptions = SamplingOptions()
    ) {
        self.id = id
        self.name = name
        self.architecture = architecture
        self.contextLength = contextLength
        self.trainedContextLength = trainedContextLength
        self.parameterCount = parameterCount
        self.fileBytes = fileBytes
        self.sampling = sampling
    }
}

/// One request for an answer.
public struct GenerationRequest: Sendable {
    public var messages: [Message]
    /// A text that the model goes on from as it stands, in place of messages and template: what programs that speak
    /// `/v1/completions` bring is no conversation. Spellings of control tokens in it stay text, and the answer is all
    /// text.
    public var rawPrompt: String?
    public var tools: [ToolDeclaration]
    public var toolChoice: ToolChoice
    /// Whether one answer may call several tools.
    public var parallelToolCalls: Bool
    /// JSON schema that the answer's text must follow; it is held to it while it is written. Not together with tools
    /// that may be called.
    public var responseSchema: JSONValue?
    /// Whether the model may reason first, where its template can say so.
    public var thinking: Bool
    public var sampling: SamplingOptions
    /// Most tokens to generate; nil means as many as the window has room for.
    public var maxTokens: Int?
    /// Most tokens of reasoning before the answer's first word; nil is three quarters of what `maxTokens` or the window
    /// leave.
    public var thinkingBudget: Int?
    /// Whether an answer that repeats itself is ended.
    public var stopsRepetition = true
    /// Whether tokens may be guessed ahead and several verified at once. Changes how quick the answer is, not what it is.
    public var speculates = true
    /// Who goes first when several want answers; among equals who came first.
    public var priority = GenerationPriority.normal
    /// Texts at which the answer ends; they are not part of it.
    public var stop: [String]
    /// How many of the likeliest tokens to tell with each token of the answer (`GenerationEvent.chance`); 0 tells the
    /// chosen one alone, nil computes nothing of the kind.
    public var likeliestTokens: Int?
    /// Stops the work and lets what was done arrive, with the reason `cancelled`.
    public var stopSignal: StopSignal

    public init(
        messages: [Message], tools: [ToolDeclaration] = [], toolChoice: ToolChoice = .auto,
        parallelToolCalls: Bool = true, responseSchema: JSONValue? = nil, thinking: Bool = false,
        sampling: SamplingOptions = SamplingOptions(), maxTokens: Int? = nil, stop: [String] = [],
        stopSignal: StopSignal = StopSignal()
    ) {
        self.messages = messages
        self.tools = tools
        self.toolChoice = toolChoice
        self.parallelToolCalls = parallelToolCalls
        self.responseSchema = responseSchema
        self.thinking = thinking
        self.sampling = sampling
        self.maxTokens = maxTokens
        self.stop = stop
        self.stopSignal = stopSignal
    }
}

/// Whether an answer calls tools.
public enum ToolChoice: Sendable, Hashable {
    /// As the model likes.
    case auto
    /// At least one call; the model can write nothing else.
    case required
    /// No call. The tools stay declared, so that the prompt's beginning stays the same.
    case none
    /// A call of this tool and of no other.
    case named(String)
}

/// How the next token is chosen. The defaults are llama.cpp's; greedy is temperature 0.
public struct SamplingOptions: Sendable, Hashable {
    /// 0 chooses the likeliest token always; higher is freer. 0 to 5.
    public var temperature: Float = 0.8
    /// Only the k likeliest tokens compete; 0 means all.
    public var topK: Int = 40
    /// Only the likeliest tokens that together reach this probability compete; 1 means all.
    public var topP: Float = 0.95
    /// Tokens less likely than this share of the likeliest are out; 0 means none.
    public var minP: Float = 0.05
    /// Above 1 makes recent tokens less likely; 1 is off.
    public var repetitionPenalty: Float = 1
    public var frequencyPenalty: Float = 0
    public var presencePenalty: Float = 0
    /// Tokens the penalties look back on.
    public var penaltyWindow: Int = 64
    /// The same seed gives the same answer; nil draws one.
    public var seed: UInt32?

    public init() {}

    /// Always the likeliest token.
    public static var greedy: SamplingOptions {
        var options = SamplingOptions()
        options.temperature = 0
        return options
    }
}

/// What comes out of a model while it answers.
public enum GenerationEvent: Sendable, Hashable {
    /// The prompt is being read: tokens done, tokens in all.
    case promptProgress(done: Int, total: Int)
    /// How likely the next token was; before whatever the token becomes, which may wait for more tokens.
    case chance(TokenChance)
    case reasoning(String)
    case text(String)
    /// More of a call that is being written; for showing, never for acting.
    case toolCallPart(ToolCallPart)
    /// A call that is written to its end, in the order of writing. Its arguments are a JSON object, checked against
    /// nothing else; its id is unique in the answer.
    case toolCall(ToolCall)
    /// What was meant as a call and cannot be read as one. Nothing is lost: the loop can show it to the model.
    case brokenToolCall(BrokenToolCall)
    /// Something the person should know, as a sentence; it is not part of the answer.
    case notice(String)
    case finished(FinishReason, Usage)
}

/// More of a call that is being written.
public struct ToolCallPart: Sendable, Hashable {
    /// Which call of the answer, from 0.
    public var index: Int
    /// The tool, told with the first part only.
    public var name: String?
    /// The call's id, with the first part, where the format writes one before the arguments.
    public var id: String?
    /// What the arguments grew by, as JSON text.
    public var arguments: String

    public init(index: Int, id: String? = nil, name: String?, arguments: String) {
        self.index = index
        self.id = id
        self.name = name
        self.arguments = arguments
    }
}

/// A call that cannot be read, as the model wrote it.
public struct BrokenToolCall: Sendable, Hashable {
    public var text: String
    /// What is wrong with it, as a sentence.
    public var reason: String

    public init(text: String, reason: String) {
        self.text = text
        self.reason = reason
    }
}

/// Why an answer ended.
public enum FinishReason: String, Sendable, Hashable {
    /// The model ended it, or a stop string did.
    case stop
    /// The model ended it, and it asks for tools.
    case toolCalls
    /// The token limit or the window was reached.
    case length
    /// The same words came over and over.
    case repetition
    /// All tokens that reasoning may take were used, and no answer was begun.
    case thinkingBudget
    case cancelled
    /// The engine failed after the answer had begun.
    case error

    /// Whether a limit cut the answer, as clients count it: one that repeated itself was ended, not cut.
    public var isTruncation: Bool { self == .length || self == .thinkingBudget }
}

/// What an answer cost.
public struct Usage: Sendable, Hashable {
    /// Why nothing of the prompt was reused, in a few words; nil when something was.
    public var missReason: String?
    public var promptTokens = 0
    /// Prompt tokens that did not have to be computed again.
    public var reusedTokens = 0
    public var completionTokens = 0
    /// Tokens that were guessed ahead, and how many of them came true.
    public var draftedTokens = 0
    public var acceptedTokens = 0
    /// Whether the tokens were not counted but estimated, because a server elsewhere does not tell them.
    public var isEstimated = false
    public var promptSeconds = 0.0
    public var generationSeconds = 0.0

    public init() {}

    public var tokensPerSecond: Double { generationSeconds > 0 ? Double(completionTokens) / generationSeconds : 0 }
}
