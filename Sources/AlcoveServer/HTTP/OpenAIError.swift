package import AlcoveCore

/// A refusal below `/v1` that names the parameter at fault.
package struct OpenAIError: HTTPStatusProviding, Equatable {
    package let httpStatus: Int
    package let code: String
    package let message: String
    package let hint: String?
    /// The parameter as programs find it in their request, such as `messages[2].role`.
    package let param: String?
    package let headers: HTTPHeaders

    package init(
        _ httpStatus: Int = 400, code: String, _ message: String, hint: String? = nil, param: String? = nil,
        headers: HTTPHeaders = HTTPHeaders()
    ) {
        self.httpStatus = httpStatus
        self.code = code
        self.message = message
        self.hint = hint
        self.param = param
        self.headers = headers
    }

    /// The body of any error as programs written for OpenAI's API read it, whatever part of the host it comes from.
    ///
    /// - Parameter path: the address; the same fault lies in another parameter of another route.
    package static func body(of error: any UserFacingError, status: Int, path: String = "") -> JSONValue {
        let type =
            switch status {
            case 403: "permission_error"
            case 500...: "server_error"
            default: "invalid_request_error"
            }
        var (code, param) = names[error.code] ?? (error.code, nil)
        if param == "messages", path == "/v1/completions" { param = "prompt" }
        return [
            "error": [
                "message": .string(error.sentence), "type": .string(type),
                "param": JSONValue((error as? OpenAIError)?.param ?? param), "code": .string(code),
            ]
        ]
    }

    /// What such programs look for by another name than ours.
    private static let names: [String: (code: String, param: String?)] = [
        "unauthorized": ("invalid_api_key", nil),
        "prompt_too_long": ("context_length_exceeded", "messages"),
        "bad_schema": ("invalid_json_schema", "response_format"),
        "input_too_long": ("context_length_exceeded", "input"),
        "input_empty": ("input_empty", "input"),
        "bad_token": ("bad_token", "input"),
        "too_many_inputs": ("too_many_inputs", "input"),
        "model_cannot_write": ("model_cannot_write", "model"),
        "model_cannot_embed": ("model_cannot_embed", "model"),
    ]
}

/// How errors are laid out for the program that asked.
enum ErrorLayout {
    case ours
    case openAI(path: String)

    /// By the address, so that a refusal before any route is reached has the right form as well.
    init(path: String) { self = path == "/v1" || path.hasPrefix("/v1/") ? .openAI(path: path) : .ours }

    func body(of error: any UserFacingError, status: Int) -> JSONValue {
        switch self {
        case .ours: error.json
        case .openAI(let path): OpenAIError.body(of: error, status: status, path: path)
        }
    }
}
