public import AlcoveCore

/// Why an adapter cannot be used.
public enum AdapterError: UserFacingError, Equatable {
    case badScale(String)
    case notAnAdapter(name: String)
    case otherArchitecture(name: String, found: String, model: String, wanted: String)
    case doesNotFit(name: String, model: String, what: String)
    case failed(name: String, reason: String)

    public var code: String {
        switch self {
        case .badScale: "lora_bad_scale"
        case .notAnAdapter: "lora_not_an_adapter"
        case .otherArchitecture: "lora_other_architecture"
        case .doesNotFit: "lora_does_not_fit"
        case .failed: "lora_failed"
        }
    }

    public var message: String {
        switch self {
        case .badScale(let text): "The scale of an adapter is a number from -100 to 100, not \(text)."
        case .notAnAdapter(let name): "\(name) is no LoRA adapter."
        case .otherArchitecture(let name, let found, let model, let wanted):
            "\(name) is an adapter for models of the architecture \(found), and \(model) is of \(wanted)."
        case .doesNotFit(let name, let model, let what): "\(name) does not fit \(model): \(what)."
        case .failed(let name, let reason): "The adapter \(name) could not be loaded: \(reason)."
        }
    }

    public var hint: String? {
        switch self {
        case .badScale: "1 is as the adapter was trained."
        case .notAnAdapter: "Choose a GGUF file of an adapter; a model is chosen with --model."
        case .otherArchitecture, .doesNotFit: "Choose the model it was trained on, or leave the adapter out."
        case .failed: nil
        }
    }

    public var place: ErrorPlace {
        switch self {
        case .badScale: .request
        case .notAnAdapter, .otherArchitecture, .doesNotFit, .failed: .data
        }
    }
}
