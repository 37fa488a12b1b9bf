import AlcoveCore

/// Who may ask: a client on this machine that knows this launch's token.
///
/// Other web pages in the same browser can reach a loopback port as well. Host is checked against DNS rebinding, Origin
/// and Sec-Fetch-Site against requests of foreign pages, on every route; the token against everything else.
package struct AccessControl: Sendable {
    /// 48 hexadecimal digits, new at every launch.
    package let token: String
    /// Paths that need no token; their Host is checked all the same.
    private let publicPaths: Set<String>

    package init(token: String = AccessControl.newToken(), publicPaths: Set<String> = ["/health"]) {
        self.token = token
        self.publicPaths = publicPaths
    }

    package static func newToken() -> String { hexText(Platform.randomBytes(24)) }

    /// The address to open: the token leaves it at the first request.
    package func entryURL(port: UInt16) -> String { "http://127.0.0.1:\(port)/?token=\(token)" }

    /// Cookies are shared by all ports of a host, so two Alcoves need two names.
    package static func cookieName(port: UInt16) -> String { "alcove_token_\(port)" }

    /// The refusal of a request, or the redirect that signs a browser in; nil when the request may pass.
    package func response(to request: HTTPRequest) -> HTTPResponse? {
        do throws(HTTPError) {
            try checkHost(request)
            try checkOrigin(request)
            if publicPaths.contains(request.path) { return nil }
            if let offered = request.query("token"), request.path == "/", ["GET", "HEAD"].contains(request.method) {
                guard matches(offered) else { throw AccessControl.unauthorized }
                return signIn(port: request.serverPort)
            }
            guard offeredTokens(request).contains(where: matches) else { throw AccessControl.unauthorized }
            return nil
        } catch {
            return refusal(error, to: request)
        }
    }

    private func checkHost(_ request: HTTPRequest) throws(HTTPError) {
        guard let authority = authority(request), isOurs(authority, port: request.serverPort) else {
            throw HTTPError(
                403, code: "foreign_host", "This server answers only to its own address on this machine.",
                hint: "Open http://127.0.0.1:\(request.serverPort)/ instead.")
        }
    }

    private func authority(_ request: HTTPRequest) -> String? { request.target.authority ?? request.headers["host"] }

    private func isOurs(_ authority: String, port: UInt16) -> Bool {
        ["127.0.0.1", "localhost", "[::1]"].contains { host in
            authority.equalsIgnoringCase("\(host):\(port)") || (port == 80 && authority.equalsIgnoringCase(host))
        }
    }

    private func checkOrigin(_ request: HTTPRequest) throws(HTTPError) {
        let refusal = HTTPError(403, code: "foreign_origin", "Pages of other sites may not use this server.")
        if let origin = request.headers["origin"] {
            guard let authority = authority(request), origin.equalsIgnoringCase("http://\(authority)") else {
                throw refusal
            }
        }
        // Another port of this machine is "same-site" to a browser, and no more ours than a foreign site.
        if let site = request.headers["sec-fetch-site"], site != "same-origin", site != "none" { throw refusal }
    }

    private func offeredTokens(_ request: HTTPRequest) -> [String] {
        var tokens: [String] = []
        if let authorization = request.headers["authorization"], authorization.prefix(7).equalsIgnoringCase("bearer ") {
            tokens.append(String(authorization.dropFirst(7).trimmingBlanks()))
        }
        let name = AccessControl.cookieName(port: request.serverPort)
        for field in request.headers.values("cookie") {
            for pair in field.split(separator: ";") {
                let parts = pair.trimmingBlanks().split(separator: "=", maxSplits: 1)
                if parts.count == 2, parts[0] == name { tokens.append(String(parts[1])) }
            }
        }
        return tokens
    }

    /// Takes as long for a wrong token as for the right one.
    private func matches(_ offered: String) -> Bool {
        let (ours, theirs) = (Array(token.utf8), Array(offered.utf8))
        guard ours.count == theirs.count else { return false }
        return zip(ours, theirs).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private func signIn(port: UInt16) -> HTTPResponse {
        HTTPResponse(
            status: 303,
            headers: [
                "Location": "/", "Cache-Control": "no-store",
                "Set-Cookie": "\(AccessControl.cookieName(port: port))=\(token); Path=/; HttpOnly; SameSite=Strict",
            ])
    }

    private static let unauthorized = HTTPError(
        401, code: "unauthorized", "This needs the token of the running Alcove.",
        hint: "Open the address that `alcove serve` prints, or send the token as `Authorization: Bearer`.",
        headers: ["WWW-Authenticate": "Bearer"])

    private static let style =
        ":root{color-scheme:light dark}body{margin:0;min-height:100vh;display:grid;place-items:center;"
        + "background:light-dark(#f6f3ec,#121614);color:light-dark(#22201b,#ebe7dd);font:17px/1.5 system-ui,sans-serif}"
        + "main{max-width:28rem;padding:2rem}h1{font:600 1.6rem/1.2 ui-serif,Georgia,serif;"
        + "color:light-dark(#1b6456,#6fc2b0);margin:0 0 1rem}p{margin:.6rem 0}"

    private func refusal(_ error: HTTPError, to request: HTTPRequest) -> HTTPResponse {
        var headers = error.headers
        headers.add("Cache-Control", "no-store")
        guard request.wantsHTML, ["GET", "HEAD"].contains(request.method) else {
            let body = ErrorLayout(path: request.path).body(of: error, status: error.httpStatus)
            return .json(body, status: error.httpStatus, headers: headers)
        }
        let words =
            error.httpStatus == 401
            ? (
                "This page needs the key of the Alcove that is running now.",
                "Open it by the address that Alcove printed when it started; that address holds the key."
            )
            : (error.message, error.hint ?? "")
        // A browser gets a page to read. The words are our own: nothing of the request is in it.
        let page =
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Alcove</title>"
            + "<meta name=\"viewport\" content=\"width=device-width\"><style>\(AccessControl.style)</style>"
            + "<main><h1>Alcove</h1><p>\(words.0)</p><p>\(words.1)</p></main></html>\n"
        headers.add("Content-Type", "text/html; charset=utf-8")
        // The page's style sheet cannot be had without the token; this one is our own text and runs nothing.
        headers.add("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
        return HTTPResponse(status: error.httpStatus, headers: headers, body: .bytes(Array(page.utf8)))
    }
}
