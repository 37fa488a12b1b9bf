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

    /// Where it went wrong; decides the status of an HTTP answer and the program's exit code.
    var place: ErrorPlace { get }
}

/// Where an error lies, as far as whoever asked should know.
public enum ErrorPlace: Sendable {
    /// In what was asked: asking again changes nothing.
    case request
    /// What was asked for is not there.
    case missing
    /// Somebody else has it now: later it may work.
    case busy
    /// A file is not what it should be.
    case data
    /// The device has no room.
    case space
    /// Here.
    case host
}

extension UserFacingError {
    public var hint: String? { nil }
    public var place: ErrorPlace { .host }

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
    public let place: ErrorPlace

    public init(code: String, message: String, hint: String? = nil, place: ErrorPlace = .request) {
        self.code = code
        self.message = message
        self.hint = hint
        self.place = place
    }
}
