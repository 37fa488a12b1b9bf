/// What is known of the file when a request is sent.
struct RequestState: Sendable {
    var address: WebAddress
    var name: String
    /// Bytes that are there and should not be sent again; 0 asks for the whole file.
    var position: UInt64 = 0
    var validator: Validator?
    /// What the server said of the length before.
    var knownTotal: UInt64?
    var expectedBytes: UInt64?
    var checksHash = false
    /// Whether a redirect has led here.
    var isRedirected = false
}

/// What is done with a response, decided from its head alone.
enum ResponsePlan: Equatable {
    /// The body is the file from a position on, up to an end where the server named one.
    case write(from: UInt64, end: UInt64?, total: UInt64?, validator: Validator?)
    case redirect(String)
    /// All of it is there already.
    case complete
    /// What is there is of no use: begin anew.
    case restart
    case retry(reason: String, after: Int?)
    case fail(DownloadError)

    init(_ head: ResponseHead, _ state: RequestState) {
        let coding = head["Content-Encoding"]?.lowercased() ?? "identity"
        if [200, 206].contains(head.status), coding != "identity", !coding.isEmpty {
            self = .fail(.encoded(url: state.address.shown, coding: coding))
            return
        }
        self =
            switch head.status {
            case 200: ResponsePlan.whole(head, state)
            case 206: ResponsePlan.part(head, state)
            case 301, 302, 303, 307, 308: ResponsePlan.redirect(head, state)
            case 416: ResponsePlan.unsatisfiable(head, state)
            default: ResponsePlan.refusal(head, state)
            }
    }

    /// The whole file, also where a part was asked for: the server cannot do better, or the file has changed.
    private static func whole(_ head: ResponseHead, _ state: RequestState) -> ResponsePlan {
        let isChunked = head["Transfer-Encoding"]?.lowercased().contains("chunked") ?? false
        let length = isChunked ? nil : head["Content-Length"].flatMap { ContentRange.number($0) }
        if let length, let expected = state.expectedBytes, length != expected {
            if length == 0 { return .fail(.emptyFile(name: state.name)) }
            if isPage(head) { return .fail(.webPage(url: state.address.shown)) }
            return .fail(.wrongSize(name: state.name, expected: expected, actual: length))
        }
        // A page of unknown length is never a model; one of the right length was asked for as such.
        if length == nil, state.expectedBytes != nil, isPage(head) { return .fail(.webPage(url: state.address.shown)) }
        if length == nil, !isChunked, state.expectedBytes == nil {
            return .fail(.noLength(url: state.address.shown))
        }
        let total = length ?? state.expectedBytes
        return .write(from: 0, end: nil, total: total, validator: Validator(head))
    }

    private static func part(_ head: ResponseHead, _ state: RequestState) -> ResponsePlan {
        guard let range = head["Content-Range"].flatMap(ContentRange.init), let bytes = range.bytes else {
            return .restart
        }
        if let total = range.total {
            if let expected = state.expectedBytes, total != expected {
                return .fail(.wrongSize(name: state.name, expected: expected, actual: total))
            }
            if state.position > 0, let known = state.knownTotal, total != known { return .restart }
        }
        // One that starts later leaves a hole. One that starts earlier is written where it belongs.
        guard bytes.lowerBound <= state.position else { return .restart }
        // If-Range should have made this a 200; not every server knows it.
        if state.position > 0, let now = Validator(head), let before = state.validator, now.kind == before.kind,
            now != before
        {
            return .restart
        }
        // Without a length nobody could tell when it is complete; asked for whole, a server has to say.
        guard let total = range.total ?? state.knownTotal ?? state.expectedBytes else { return .restart }
        return .write(
            from: bytes.lowerBound, end: bytes.upperBound + 1, total: total,
            validator: Validator(head) ?? (state.position > 0 ? state.validator : nil))
    }

    private static func redirect(_ head: ResponseHead, _ state: RequestState) -> ResponsePlan {
        guard let location = head["Location"], !location.isEmpty else {
            return .fail(.badRedirect(from: state.address.shown, reason: "is redirected without an address"))
        }
        return .redirect(location)
    }

    private static func unsatisfiable(_ head: ResponseHead, _ state: RequestState) -> ResponsePlan {
        guard state.position > 0 else { return refusal(head, state) }
        guard let total = head["Content-Range"].flatMap(ContentRange.init)?.total, total == state.position,
            state.expectedBytes == nil || state.expectedBytes == total
        else { return .restart }
        // Of the right length; that it is the same file still, the validator or the hash must say.
        if state.checksHash { return .complete }
        guard let before = state.validator else { return .restart }
        if let now = Validator(head), now.kind == before.kind, now != before { return .restart }
        return .complete
    }

    private static func refusal(_ head: ResponseHead, _ state: RequestState) -> ResponsePlan {
        let after = head["Retry-After"].flatMap { Int($0) }
        let reason = "the server answered with status \(head.status)"
        switch head.status {
        case 408, 425, 429, 500...599: return .retry(reason: reason, after: after)
        // A signed address lasts for minutes; the first address gives a fresh one.
        case 400...499 where state.isRedirected: return .retry(reason: reason, after: after)
        default: return .fail(.refused(url: state.address.shown, status: head.status))
        }
    }

    private static func isPage(_ head: ResponseHead) -> Bool {
        let type = head["Content-Type"]?.lowercased() ?? ""
        return type.hasPrefix("text/html") || type.hasPrefix("application/xhtml")
    }
}

/// What tells one version of a file from another, strongly enough to join parts of it (RFC 9110, 13.1.5).
struct Validator: Sendable, Hashable {
    enum Kind: String, Sendable {
        case entityTag = "etag"
        case lastModified
    }

    let kind: Kind
    let text: String

    init(kind: Kind, text: String) {
        self.kind = kind
        self.text = text
    }

    /// Nil when the response has none that is strong.
    init?(_ head: ResponseHead) {
        if let tag = head["ETag"], tag.hasPrefix("\""), tag.hasSuffix("\""), tag.utf8.count >= 2 {
            self.init(kind: .entityTag, text: tag)
            return
        }
        // A date counts only when the file could not have changed again within the same second.
        guard let modified = head["Last-Modified"], let now = head["Date"], modified != now, !modified.isEmpty else {
            return nil
        }
        self.init(kind: .lastModified, text: modified)
    }
}
