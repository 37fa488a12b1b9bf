package import AlcoveCore

/// An answer of server-sent events: a `data:` line of JSON a frame.
///
/// The first frame is awaited before any header is written, so that a refusal keeps its own status. After it, five
/// seconds without a frame are bridged by a comment line. A sequence without frames is a 200 with an empty body.
package enum ServerSentEvents {
    package static let keepAlive = Array(": keep-alive\n\n".utf8)

    package static func frame(_ value: JSONValue) -> [UInt8] {
        // JSON as we write it holds no line break, so one `data:` line is enough.
        Array("data: ".utf8) + value.bytes() + [0x0A, 0x0A]
    }

    /// - Parameters:
    ///   - headers: more fields, such as the id of a turn.
    ///   - keepAliveInterval: silence after which a comment is written; tests make it short.
    package static func response<Frames: AsyncSequence & Sendable>(
        _ frames: Frames, headers: HTTPHeaders = HTTPHeaders(), keepAliveInterval: Duration = .seconds(5)
    ) -> HTTPResponse where Frames.Element == JSONValue {
        response(headers: headers, keepAliveInterval: keepAliveInterval) { send in
            for try await value in frames { try await send(value) }
        }
    }

    /// The same for frames that are pushed.
    package static func response(
        headers: HTTPHeaders = HTTPHeaders(), keepAliveInterval: Duration = .seconds(5),
        _ produce: @escaping @Sendable (_ send: @Sendable (JSONValue) async throws -> Void) async throws -> Void
    ) -> HTTPResponse {
        var stream = HTTPStream { writer in
            try await produce { try await writer.write(frame($0)) }
        }
        stream.idle = (keepAliveInterval, keepAlive)
        stream.farewell = frame(["error": "Alcove is stopping.", "code": "server_stopping"])
        stream.failure = { error in
            if let error = error as? any UserFacingError { return frame(error.json) }
            return frame(["error": "Something went wrong inside Alcove.", "code": "internal"])
        }
        var all: HTTPHeaders = [
            "Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no",
        ]
        all.add(headers)
        return HTTPResponse(headers: all, body: .stream(stream))
    }
}
