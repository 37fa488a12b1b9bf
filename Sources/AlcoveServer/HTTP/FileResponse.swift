import AlcoveCore

extension HTTPResponse {
    /// A file of a folder, with validators, byte ranges and conditional answers; nil when there is no such file.
    ///
    /// One range is served, as 206; several, or a range that cannot be read, are answered with the whole file, which
    /// RFC 9110 (14.2) allows. HEAD gets the fields of the whole file: ranges are defined for GET only.
    ///
    /// - Parameter attachment: a file name makes the browser save the file instead of showing it.
    package static func file(
        _ segments: [String], in folder: ConfinedFolder, for request: HTTPRequest, contentType: String? = nil,
        attachment: String? = nil
    ) -> HTTPResponse? {
        guard let file = folder.open(segments), let name = segments.last else { return nil }
        var headers = FileResponse.validators(file)
        headers.add("Content-Type", contentType ?? ContentType.of(fileName: name))
        if let attachment { headers.add("Content-Disposition", ContentDisposition.attachment(attachment)) }
        return FileResponse(request: request, file: file).response(headers)
    }
}

/// Decides between 200, 206, 304 and 416 for one file.
struct FileResponse {
    let request: HTTPRequest
    let file: OpenFile

    static func validators(_ file: OpenFile) -> HTTPHeaders {
        [
            "ETag": file.entityTag, "Last-Modified": HTTPDate.text(file.stamp.modifiedSeconds),
            "Cache-Control": "no-cache", "Accept-Ranges": "bytes",
        ]
    }

    func response(_ headers: HTTPHeaders) -> HTTPResponse {
        let size = file.stamp.size
        if Conditions.isNotModified(request, entityTag: file.entityTag, modified: file.stamp.modifiedSeconds) {
            return HTTPResponse(status: 304, headers: headers)
        }
        var response = HTTPResponse(headers: headers, body: .file(FileRange(file: file, offset: 0, count: size)))
        guard request.method == "GET", let text = request.headers["range"], mayServePart else { return response }
        switch ByteRange.read(text, size: size) {
        case .whole: return response
        case .part(let range):
            response.status = 206
            response.headers.add("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)")
            response.body = .file(FileRange(file: file, offset: range.lowerBound, count: range.count))
            return response
        case .unsatisfiable:
            let error = HTTPError(
                416, code: "range_not_satisfiable", "The file has \(size) bytes and none in the range asked for.")
            return .json(
                error.json, status: 416, headers: ["Content-Range": "bytes */\(size)", "Accept-Ranges": "bytes"])
        }
    }

    /// If-Range: a part only of the very file the client has the rest of.
    private var mayServePart: Bool {
        guard let condition = request.headers["if-range"] else { return true }
        if condition.hasPrefix("\"") { return condition == file.entityTag }
        return HTTPDate.seconds(condition) == file.stamp.modifiedSeconds
    }
}

/// The conditional fields of RFC 9110, 13.1, that matter for reading.
enum Conditions {
    static func isNotModified(_ request: HTTPRequest, entityTag: String, modified: Int?) -> Bool {
        guard request.method == "GET" || request.method == "HEAD" else { return false }
        let tags = request.headers.values("if-none-match")
        if !tags.isEmpty {
            return tags.contains { value in
                value.split(separator: ",").map { $0.trimmingBlanks() }.contains {
                    $0 == "*" || $0 == entityTag || ($0.hasPrefix("W/") && $0.dropFirst(2) == entityTag)
                }
            }
        }
        guard let modified, let since = request.headers["if-modified-since"].flatMap(HTTPDate.seconds) else {
            return false
        }
        return modified <= since
    }
}

/// What a Range field asks of a file of a known size.
enum ByteRange: Equatable {
    case whole
    case part(Range<Int>)
    case unsatisfiable

    static func read(_ text: String, size: Int) -> ByteRange {
        guard text.prefix(6).equalsIgnoringCase("bytes=") else { return .whole }
        let ends = text.dropFirst(6).trimmingBlanks().split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { $0.decimalDigit != nil } }) else { return .whole }
        // A number too large for Int means "past the end" like any other.
        let (first, last) = (ends[0].isEmpty ? nil : Int(ends[0]) ?? .max, ends[1].isEmpty ? nil : Int(ends[1]) ?? .max)
        switch (first, last) {
        case (nil, nil): return .whole
        case (nil, let count?): return count == 0 || size == 0 ? .unsatisfiable : .part(max(0, size - count)..<size)
        case (let first?, let last):
            if let last, last < first { return .whole }
            return first >= size ? .unsatisfiable : .part(first..<min(last ?? .max, size - 1) + 1)
        }
    }
}
