package import AlcoveCore

/// The parts of this room that can be tried by themselves (`alcove plumbing`).
package func plumbingHTTP(chunks: [[UInt8]]) -> JSONValue {
    var parser = HTTPRequestParser()
    var requests: [JSONValue] = []
    var head: HTTPRequestHead?
    var body: [UInt8] = []
    var failure: HTTPError?
    feeding: for chunk in chunks {
        parser.feed(chunk)
        do throws(HTTPError) {
            while let event = try parser.next() {
                switch event {
                case .head(let next): (head, body) = (next, [])
                case .body(let bytes): body += bytes
                case .end:
                    if let head { requests.append(json(head, body)) }
                    head = nil
                }
            }
        } catch {
            failure = error
            break feeding
        }
    }
    return [
        "requests": .array(requests), "error": JSONValue(failure?.message),
        "status": failure.map { JSONValue($0.httpStatus) } ?? .null,
        "incomplete": .bool(failure == nil && !(head == nil && parser.isBetweenRequests)),
    ]
}

private func json(_ head: HTTPRequestHead, _ body: [UInt8]) -> JSONValue {
    [
        "method": .string(head.method), "target": .string(head.target),
        "headers": .array(head.headers.fields.map { [.string($0.name), .string($0.value)] }),
        "body": .string(Base64.text(body)),
    ]
}

package func plumbingSSE(chunks: [[UInt8]]) -> JSONValue {
    var parser = SSEParser()
    var events: [JSONValue] = []
    for chunk in chunks {
        parser.feed(chunk) { event in
            events.append(["type": .string(event.type), "data": .string(event.data), "id": .string(event.id)])
        }
    }
    return ["events": .array(events), "retry": parser.retryMilliseconds.map { JSONValue($0) } ?? .null]
}
