/// An error that a person may read as it stands.
///
/// The command line, the JSON answers and the page all show the same two sentences, so that one place decides the words.
public protocol UserFacingError: Error {
    /// Stable name in snake_case, for programs.
    var code: String { get }

    /// One sentence: what happened, to what.
    var message: String { get }

    /// One sentence: what to try, when there is anything to try.
    var hint: String? { get }
}

extension UserFacingError {
    public var hint: String? { nil }

    /// Message and hint as one line.
    public var sentence: String { hint.map { "\(message) \($0)" } ?? message }

    /// The body of an HTTP refusal: `{"error": sentence, "code": ..., "hint": ...}`.
    public var json: JSONValue {
        var object = JSONObject()
        object["error"] = .string(message)
        object["code"] = .string(code)
        if let hint { object["hint"] = .string(hint) }
        return .object(object)
    }
}

/// The fault of something a caller sent: a request body, a flag, a field.
public struct InputError: UserFacingError, Equatable {
    public let code: String
    public let message: String
    public let hint: String?

    public init(code: String, message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }
}
