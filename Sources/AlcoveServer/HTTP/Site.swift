/// What is served as a whole: access control, then static files, then routes.
///
/// Access is decided before anything of a request is looked at. A path that no route knows may be a file; both are
/// answered on the connection's thread, without a task.
package struct Site: HTTPApplication {
    private let access: AccessControl
    private let router: Router
    private let files: StaticFiles?

    package init(access: AccessControl, router: Router, files: StaticFiles? = nil) {
        self.access = access
        self.router = router
        self.files = files
    }

    package func immediateResponse(to request: HTTPRequest) -> HTTPResponse? {
        if let response = access.response(to: request) { return response }
        return router.knows(request.target.segments) ? nil : files?.response(to: request)
    }

    package func respond(to request: HTTPRequest) async throws -> HTTPResponse {
        do {
            return try await router.respond(to: request)
        } catch let error as HTTPError where error.httpStatus == 404 {
            // A handler that declined may stand before a file.
            if let response = files?.response(to: request) { return response }
            throw error
        }
    }
}
