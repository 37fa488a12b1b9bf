package import AlcoveCore

/// What a handler answers.
package struct HTTPResponse: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        case file(FileRange)
        case stream(HTTPStream)
    }

    package var status: Int
    package var headers: HTTPHeaders
    package var body: Body

    package init(status: Int = 200, headers: HTTPHeaders = HTTPHeaders(), body: Body = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    package static func json(_ value: JSONValue, status: Int = 200, headers: HTTPHeaders = HTTPHeaders())
        -> HTTPResponse
    {
        var response = HTTPResponse(status: status, headers: headers, body: .bytes(value.bytes()))
        response.headers["Content-Type"] = "application/json; charset=utf-8"
        return response
    }

    package static func text(_ text: String, type: String = "text/plain; charset=utf-8", status: Int = 200)
        -> HTTPResponse
    {
        HTTPResponse(status: status, headers: ["Content-Type": type], body: .bytes(Array(text.utf8)))
    }
}

/// A body made while it is sent.
///
/// Nothing is written before the first `write`: until then an error thrown by `produce` becomes a refusal with its own
/// status. A stream without a write is an empty body.
package struct HTTPStream: Sendable {
    package var produce: @Sendable (HTTPStreamWriter) async throws -> Void
    /// Written whenever nothing else was for this long, once the stream has begun.
    package var idle: (interval: Duration, bytes: [UInt8])?
    /// Written when the server stops under an open stream.
    package var farewell: [UInt8] = []
    /// Last bytes when `produce` fails after its first write; nil cuts the connection, so that the client sees a fault.
    package var failure: (@Sendable (any Error) -> [UInt8])?

    package init(_ produce: @escaping @Sendable (HTTPStreamWriter) async throws -> Void) { self.produce = produce }

    /// Sends what a sequence yields.
    package init<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces) where Pieces.Element == [UInt8] {
        self.init { writer in
            for try await piece in pieces { try await writer.write(piece) }
        }
    }
}

/// Where a stream's producer puts its bytes.
package struct HTTPStreamWriter: Sendable {
    let exchange: HTTPExchange

    /// Hands bytes over, and waits while more than 64 KiB have not been sent yet.
    ///
    /// - Throws: `CancellationError` when the client has left or the server stops; the task is cancelled as well.
    package func write(_ bytes: [UInt8]) async throws { try await exchange.write(bytes) }
}

/// One answer for every error, decided in one place.
struct ErrorResponses {
    let log: Log

    func response(for error: any Error, to path: String) -> HTTPResponse {
        let layout = ErrorLayout(path: path)
        if let error = error as? any HTTPStatusProviding {
            let status = error.httpStatus
            return .json(layout.body(of: error, status: status), status: status, headers: error.headers)
        }
        if let error = error as? any UserFacingError {
            // What a client did wrong is the client's to read, with whatever words of its own are in it.
            if error.place == .host { log("\(path) failed: \(error.sentence)") }
            let status = error.place.httpStatus
            return .json(layout.body(of: error, status: status), status: status)
        }
        // Work that was stopped because its client left, or by a person: nothing went wrong.
        if error is CancellationError {
            let cancelled = InputError(code: "cancelled", message: "The request was cancelled.")
            return .json(layout.body(of: cancelled, status: 503), status: 503)
        }
        let id = hexText(Platform.randomBytes(6))
        log("\(path) failed (\(id)): \(error)")
        let fault = InputError(
            code: "internal", message: "Something went wrong inside Alcove.",
            hint: "The log tells more under the id \(id).")
        var body = layout.body(of: fault, status: 500).object ?? [:]
        if case .ours = layout { body["id"] = .string(id) }
        return .json(.object(body), status: 500)
    }
}

extension ErrorPlace {
    var httpStatus: Int {
        switch self {
        case .request: 400
        case .missing: 404
        case .busy: 503
        case .data: 422
        case .space: 507
        case .host: 500
        }
    }
}
