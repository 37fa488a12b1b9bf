public import AlcoveCore

/// Why the engine could not do what was asked.
public enum EngineError: UserFacingError, Equatable {
    case modelMissing(path: String)
    case modelUnreadable(path: String, reason: String)
    /// The header is fine and llama.cpp still refuses the file.
    case loadFailed(path: String, reason: String)
    case loadCancelled(path: String)
    case contextFailed(cells: Int, bytes: UInt64, reason: String)
    /// The weights and the shortest chat are more than may be taken.
    case tooLittleMemory(path: String, weights: UInt64, context: UInt64, free: UInt64)
    /// A chat has grown beyond what may be taken.
    case noMemoryForContext(tokens: Int, needed: UInt64, free: UInt64)
    case promptTooLong(tokens: Int, limit: Int)
    case emptyPrompt
    case decodeFailed(status: Int32, reason: String)
    /// One of the workers that compute the model has gone, or was too slow.
    case workerLost(names: String)
    /// The workers answer and do not take the model.
    case workersRefused(names: String, reason: String)
    case unloaded
    /// An encoder: it makes vectors and no words.
    case cannotWrite
    /// A model whose file does not say how its vectors become one.
    case noEmbeddings(model: String)
    /// A reranker.
    case ranksOnly(model: String)
    case emptyInput(index: Int)
    case inputTooLong(index: Int, tokens: Int, limit: Int)
    /// The last attempt to load this file ended the process.
    case crashedBefore(path: String)
    case projectorMissing(path: String)
    /// The header is fine and the library still refuses the projector.
    case projectorFailed(name: String, reason: String)
    /// A picture or a sound for a model that takes in words alone.
    case cannotSee
    case cannotHear
    case tooManyPictures(count: Int, limit: Int)
    /// A picture or a sound that the library does not take.
    case mediaRefused(reason: String)
    /// No copy in another quantisation could be written.
    case quantizeFailed(path: String, reason: String)

    public var code: String {
        switch self {
        case .modelMissing: "model_missing"
        case .modelUnreadable: "model_unreadable"
        case .loadFailed: "model_load_failed"
        case .loadCancelled: "model_load_cancelled"
        case .contextFailed: "context_failed"
        case .tooLittleMemory: "model_needs_memory"
        case .noMemoryForContext: "context_needs_memory"
        case .promptTooLong: "prompt_too_long"
        case .emptyPrompt: "prompt_empty"
        case .decodeFailed: "decode_failed"
        case .workerLost: "worker_lost"
        case .workersRefused: "worker_refused"
        case .unloaded: "model_unloaded"
        case .cannotWrite: "model_cannot_write"
        case .noEmbeddings, .ranksOnly: "model_cannot_embed"
        case .emptyInput: "input_empty"
        case .inputTooLong: "input_too_long"
        case .crashedBefore: "model_crashed_before"
        case .quantizeFailed: "quantize_failed"
        case .projectorMissing: "projector_missing"
        case .projectorFailed: "projector_failed"
        case .cannotSee: "vision_not_ready"
        case .cannotHear: "audio_not_ready"
        case .tooManyPictures: "too_many_pictures"
        case .mediaRefused: "media_refused"
        }
    }

    public var message: String {
        switch self {
        case .modelMissing(let path): "There is no model file at \(path)."
        case .modelUnreadable(let path, let reason): "The model file \(path) cannot be read: \(reason)."
        case .loadFailed(let path, let reason): "The model \(path) could not be loaded: \(reason)."
        case .loadCancelled(let path): "Loading \(path) was cancelled."
        case .contextFailed(let cells, let bytes, let reason):
            "There is no room for a context of \(cells) tokens (about \(bytes / 1_000_000) MB): \(reason)."
        case .tooLittleMemory(let path, let weights, let context, let free):
            "\(GGUFName.ofFile(path)) needs \(ByteCount.text(weights + context)) of memory (\(ByteCount.text(weights)) of "
                + "weights, \(ByteCount.text(context)) for the shortest chat), and \(ByteCount.text(free)) are free."
        case .noMemoryForContext(let tokens, let needed, let free):
            "A chat of \(tokens) tokens needs \(ByteCount.text(needed)) of memory, and \(ByteCount.text(free)) are free."
        case .promptTooLong(let tokens, let limit): "The chat needs \(tokens) tokens and the model holds \(limit)."
        case .emptyPrompt: "The prompt is empty."
        case .decodeFailed(let status, let reason): "The model stopped computing (status \(status)): \(reason)."
        case .workerLost(let names): "A worker has gone while it computed (\(names))."
        case .workersRefused(let names, let reason):
            "The model could not be put on the workers \(names): \(reason)."
        case .unloaded: "The model was unloaded."
        case .cannotWrite: "The loaded model turns texts into vectors and cannot write."
        case .noEmbeddings(let model):
            "\(model) writes answers and makes no embeddings: its file names no pooling type."
        case .ranksOnly(let model): "\(model) ranks texts and makes no embeddings."
        case .emptyInput(let index): "Input \(index) is empty."
        case .inputTooLong(let index, let tokens, let limit):
            "Input \(index) has \(tokens) tokens and the model reads \(limit)."
        case .crashedBefore(let path): "The last attempt to load \(path) ended the program, so it was not tried again."
        case .quantizeFailed(let path, let reason): "No copy of \(path) could be written: \(reason)."
        case .projectorMissing(let path): "There is no projector at \(path)."
        case .projectorFailed(let name, let reason): "The projector \(name) could not be loaded: \(reason)."
        case .cannotSee: "The loaded model cannot see pictures."
        case .cannotHear: "The loaded model cannot hear sound."
        case .tooManyPictures(let count, let limit):
            "The conversation has \(count) pictures, frames of videos counted, and \(limit) are the most."
        case .mediaRefused(let reason): "The model cannot take this picture or sound in: \(reason)."
        }
    }

    public var place: ErrorPlace {
        switch self {
        case .modelMissing, .projectorMissing: .missing
        case .modelUnreadable, .loadFailed, .crashedBefore, .projectorFailed: .data
        case .cannotSee, .cannotHear, .tooManyPictures, .mediaRefused: .request
        case .contextFailed, .tooLittleMemory, .noMemoryForContext: .space
        case .promptTooLong, .emptyPrompt: .request
        case .cannotWrite, .noEmbeddings, .ranksOnly, .emptyInput, .inputTooLong: .request
        case .loadCancelled, .unloaded: .busy
        case .decodeFailed, .quantizeFailed, .workerLost, .workersRefused: .host
        }
    }

    public var hint: String? {
        switch self {
        case .modelMissing: "Check the path, or run `alcove models` to see what is there."
        case .modelUnreadable: nil
        case .loadFailed: "Run `alcove inspect` on the file to see what it is."
        case .loadCancelled, .unloaded, .emptyPrompt, .emptyInput, .quantizeFailed: nil
        case .cannotWrite: "Load a language model."
        case .projectorMissing: "Check the path."
        case .projectorFailed: "Use the model without it, or get the projector that was published with it."
        case .cannotSee: "Load a model that sees, with its projector, or leave the pictures out."
        case .cannotHear: "Load a model that hears, with its projector, or leave the sound out."
        case .tooManyPictures: "Begin a new chat, or leave some out."
        case .mediaRefused: "Try another picture or sound."
        case .noEmbeddings, .ranksOnly:
            "Load an embedding model, such as a GGUF file of nomic-embed-text, bge or Qwen3-Embedding."
        case .inputTooLong: "Cut it into shorter pieces."
        case .tooLittleMemory: "Close other programs, or choose a smaller model: `alcove models` says what fits."
        case .noMemoryForContext:
            "Close other programs, begin a new chat, or keep keys and values in fewer bits (setting kvCacheDtype)."
        case .contextFailed: "Choose a smaller --context, or a smaller model."
        case .promptTooLong:
            "Begin a new chat, shorten the message, or give the model a larger context (Settings, or --context)."
        case .workersRefused: "Add a worker, give them more memory, or choose a smaller model."
        case .workerLost: "Start it again with `alcove worker`, and load the model again."
        case .decodeFailed: "Load the model again; if it happens again, choose another file."
        case .crashedBefore: "Choose it again to try once more, or choose another model."
        }
    }
}
