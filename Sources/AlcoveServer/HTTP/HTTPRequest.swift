/// One request as a handler sees it.
package struct HTTPRequest: Sendable {
    package var method: String
    package var target: HTTPTarget
    package var headers: HTTPHeaders
    package var body: HTTPRequestBody
    /// What the route's pattern named, filled in by the router.
    package var parameters: [String: String] = [:]
    /// The port of this server, which Host and Origin have to name.
    package var serverPort: UInt16

    package init(
        method: String, target: HTTPTarget, headers: HTTPHeaders = HTTPHeaders(),
        body: HTTPRequestBody = HTTPRequestBody(), serverPort: UInt16
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        self.serverPort = serverPort
    }

    package var path: String { target.path }

    package func query(_ name: String) -> String? { target.query(name) }

    /// The media type of the body, lower-case and without parameters; nil when none is named.
    package var contentType: String? {
        headers["content-type"].map { String($0.prefix { $0 != ";" }.trimmingBlanks()).lowercased() }
    }

    /// Whether this is a browser going to an address, which wants a page to read rather than JSON.
    var wantsHTML: Bool { headers["accept"]?.contains("text/html") ?? false }
}

/// The body of a request, pulled piece by piece: nothing is read from the network until a handler asks.
package struct HTTPRequestBody: Sendable {
    private enum Source: Sendable {
        case bytes([UInt8])
        case exchange(HTTPExchange)
    }

    private let source: Source
    /// Whether the request has a body at all.
    package let isPresent: Bool
    /// Bytes the client says it will send; nil when it does not say.
    package let declaredLength: Int?
    /// Most bytes that may come; past them reading throws a 413. Set by the route.
    package internal(set) var limit: Int

    init(exchange: HTTPExchange, length: HTTPRequestHead.BodyLength) {
        source = .exchange(exchange)
        isPresent = length != .fixed(0)
        declaredLength = if case .fixed(let count) = length { count } else { nil }
        limit = 1_048_576
    }

    /// A body that is there already, for tests.
    package init(_ bytes: [UInt8] = [], limit: Int = .max) {
        source = .bytes(bytes)
        isPresent = !bytes.isEmpty
        declaredLength = bytes.count
        self.limit = limit
    }

    /// All of the body.
    ///
    /// - Throws: an `HTTPError` 413 past the limit, 408 when it comes too slowly; `CancellationError` when the client
    ///   has left.
    package func collect() async throws -> [UInt8] {
        if let declaredLength, declaredLength > limit { throw HTTPError.bodyTooLarge(limit: limit) }
        var all: [UInt8] = []
        var chunks = chunks().makeAsyncIterator()
        while let chunk = try await chunks.next() {
            if all.isEmpty { all = chunk } else { all += chunk }
        }
        return all
    }

    /// The body in pieces of up to 64 KiB; the client is made to wait while a piece is worked on. To be read once.
    package func chunks() -> Chunks { Chunks(body: self) }

    package struct Chunks: AsyncSequence, AsyncIteratorProtocol, Sendable {
        package typealias Element = [UInt8]
        fileprivate let body: HTTPRequestBody
        private var received = 0
        private var isFinished = false

        fileprivate init(body: HTTPRequestBody) { self.body = body }

        package func makeAsyncIterator() -> Chunks { self }

        package mutating func next() async throws -> [UInt8]? {
            if isFinished { return nil }
            if let declared = body.declaredLength, declared > body.limit {
                throw HTTPError.bodyTooLarge(limit: body.limit)
            }
            let chunk: [UInt8]?
            switch body.source {
            case .bytes(let bytes): chunk = received == 0 && !bytes.isEmpty ? bytes : nil
            case .exchange(let exchange): chunk = try await exchange.nextBodyChunk()
            }
            guard let chunk else {
                isFinished = true
                return nil
            }
            received += chunk.count
            if received > body.limit { throw HTTPError.bodyTooLarge(limit: body.limit) }
            return chunk
        }
    }
}
