package import AlcoveCore

/// Reads a form from its pieces, for `alcove plumbing multipart`.
package func plumbingMultipart(contentType: String, chunks: [[UInt8]]) throws(MultipartError) -> JSONValue {
    var parser = try MultipartParser(contentType: contentType)
    var parts: [JSONValue] = []
    var part: MultipartPart?
    var data: [UInt8] = []
    for chunk in chunks {
        parser.feed(chunk)
        while let event = try parser.next() {
            switch event {
            case .part(let next): (part, data) = (next, [])
            case .bytes(let bytes): data += bytes
            case .partEnd:
                guard let part else { continue }
                parts.append([
                    "name": .string(part.name), "filename": JSONValue(part.fileName),
                    "content_type": JSONValue(part.contentType), "data": .string(Base64.text(data)),
                ])
            case .end: break
            }
        }
    }
    try parser.finish()
    return ["parts": .array(parts)]
}
