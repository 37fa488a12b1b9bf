/// What serves requests; knows nothing of sockets.
package protocol HTTPApplication: Sendable {
    /// Answers, on the connection's own thread, what needs no waiting. Nil sends the request on to `respond`.
    func immediateResponse(to request: HTTPRequest) -> HTTPResponse?

    func respond(to request: HTTPRequest) async throws -> HTTPResponse
}

extension HTTPApplication {
    package func immediateResponse(to request: HTTPRequest) -> HTTPResponse? { nil }
}
