package import AlcoveCore

/// An error that knows which HTTP status it is.
package protocol HTTPStatusProviding: UserFacingError {
    var httpStatus: Int { get }
    /// Fields that belong to the refusal, such as `Allow` of a 405.
    var headers: HTTPHeaders { get }
}

extension HTTPStatusProviding {
    package var headers: HTTPHeaders { HTTPHeaders() }
}

/// A refusal of the HTTP layer itself.
package struct HTTPError: HTTPStatusProviding, Equatable {
    package let httpStatus: Int
    package let code: String
    package let message: String
    package let hint: String?
    /// Fields that belong to the refusal, such as `Allow` of a 405.
    package let headers: HTTPHeaders

    package init(
        _ httpStatus: Int, code: String, _ message: String, hint: String? = nil, headers: HTTPHeaders = HTTPHeaders()
    ) {
        self.httpStatus = httpStatus
        self.code = code
        self.message = message
        self.hint = hint
        self.headers = headers
    }

    static func badRequest(_ message: String) -> HTTPError { HTTPError(400, code: "bad_request", message) }

    static func bodyTooLarge(limit: Int) -> HTTPError {
        HTTPError(413, code: "body_too_large", "The request body is larger than the \(limit) bytes allowed here.")
    }

    package static let notFound = HTTPError(404, code: "not_found", "There is nothing at this address.")
    static let tooSlow = HTTPError(408, code: "request_timeout", "The request did not arrive in time.")
    static let clientLeft = HTTPError(400, code: "client_left", "The client left before the request body was complete.")
}

/// Where the server writes what only its operator should read: one line a call.
///
/// Lines hold no tokens, no query strings and no line breaks that came from outside.
package struct Log: Sendable {
    private let write: @Sendable (String) -> Void

    package init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }

    package static let silent = Log { _ in }

    package func callAsFunction(_ line: String) {
        write(String(line.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) }))
    }
}
