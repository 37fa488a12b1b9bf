/// What a route lets a client send.
package struct BodyRule: Sendable {
    /// Most bytes of the body.
    package var limit: Int
    /// Media types a body may have.
    package var types: [String]

    package static let json = json(upTo: 1_048_576)
    package static func json(upTo limit: Int) -> BodyRule { BodyRule(limit: limit, types: ["application/json"]) }
    package static func multipart(upTo limit: Int) -> BodyRule {
        BodyRule(limit: limit, types: ["multipart/form-data"])
    }
}

/// Chooses the handler of a request: routes are tried in the order they were added.
///
/// A pattern is literal segments (case matters), `{name}` for one segment and a last `{*name}` for one or more. A
/// handler may decline with nil, and matching goes on. HEAD falls back to GET; a path that matches under other methods
/// only is a 405 that lists them.
package struct Router: Sendable {
    package typealias Handler = @Sendable (HTTPRequest) async throws -> HTTPResponse?

    private struct Route {
        let method: String
        let pattern: RoutePattern
        let body: BodyRule
        let handler: Handler
    }

    private var routes: [Route] = []

    package init() {}

    package mutating func on(
        _ method: String, _ pattern: String, body: BodyRule = .json, _ handler: @escaping Handler
    ) {
        routes.append(Route(method: method, pattern: RoutePattern(pattern), body: body, handler: handler))
    }

    package mutating func get(_ pattern: String, _ handler: @escaping Handler) { on("GET", pattern, handler) }
    package mutating func post(_ pattern: String, body: BodyRule = .json, _ handler: @escaping Handler) {
        on("POST", pattern, body: body, handler)
    }
    package mutating func put(_ pattern: String, body: BodyRule = .json, _ handler: @escaping Handler) {
        on("PUT", pattern, body: body, handler)
    }
    package mutating func patch(_ pattern: String, body: BodyRule = .json, _ handler: @escaping Handler) {
        on("PATCH", pattern, body: body, handler)
    }
    package mutating func delete(_ pattern: String, _ handler: @escaping Handler) { on("DELETE", pattern, handler) }

    /// Whether any route's pattern fits the path, whatever the method.
    func knows(_ segments: [String]) -> Bool { routes.contains { $0.pattern.match(segments) != nil } }

    /// - Throws: what the handler throws; an `HTTPError` 415 or 413 for a body the route does not take, 404, 405.
    package func respond(to request: HTTPRequest) async throws -> HTTPResponse {
        var others: [String] = []
        var declined = false
        for route in routes {
            guard let parameters = route.pattern.match(request.target.segments) else { continue }
            guard route.method == request.method || (route.method == "GET" && request.method == "HEAD") else {
                if !others.contains(route.method) { others.append(route.method) }
                continue
            }
            try check(request, against: route.body)
            var request = request
            request.parameters = parameters
            request.body.limit = route.body.limit
            if let response = try await route.handler(request) { return response }
            declined = true
        }
        if others.isEmpty || declined { throw HTTPError.notFound }
        if others.contains("GET") { others.append("HEAD") }
        throw HTTPError(
            405, code: "method_not_allowed", "This address does not take \(request.method).",
            headers: ["Allow": others.joined(separator: ", ")])
    }

    /// Types a form of a foreign page can send without asking first are never taken (T5). A request with neither a body
    /// nor a type has nothing to misread; its Origin and its cookie have been checked before.
    private func check(_ request: HTTPRequest, against rule: BodyRule) throws(HTTPError) {
        guard ["POST", "PUT", "PATCH", "DELETE"].contains(request.method) else { return }
        guard request.body.isPresent || request.contentType != nil else { return }
        guard let type = request.contentType, rule.types.contains(type) else {
            throw HTTPError(
                415, code: "unsupported_media_type",
                "This address takes a body of type \(rule.types.joined(separator: " or ")) only.")
        }
        // Nothing here unpacks bodies, so that no small one can become a large one.
        if let coding = request.headers["content-encoding"], !coding.equalsIgnoringCase("identity") {
            throw HTTPError(415, code: "unsupported_content_encoding", "Compressed request bodies are not taken.")
        }
        if let length = request.body.declaredLength, length > rule.limit {
            throw .bodyTooLarge(limit: rule.limit)
        }
    }
}

/// A route's pattern, cut into segments.
struct RoutePattern: Sendable {
    private enum Segment {
        case literal(String)
        case name(String)
        case rest(String)
    }

    private let segments: [Segment]

    init(_ text: String) {
        segments = text.split(separator: "/").map { part in
            if part.hasPrefix("{*"), part.hasSuffix("}") { return .rest(String(part.dropFirst(2).dropLast())) }
            if part.hasPrefix("{"), part.hasSuffix("}") { return .name(String(part.dropFirst().dropLast())) }
            return .literal(String(part))
        }
    }

    /// The named parts; nil when the path does not fit.
    func match(_ path: [String]) -> [String: String]? {
        var parameters: [String: String] = [:]
        for (index, segment) in segments.enumerated() {
            guard index < path.count else { return nil }
            switch segment {
            case .literal(let text):
                if text != path[index] { return nil }
            case .name(let name): parameters[name] = path[index]
            case .rest(let name):
                parameters[name] = path[index...].joined(separator: "/")
                return parameters
            }
        }
        return path.count == segments.count ? parameters : nil
    }
}
