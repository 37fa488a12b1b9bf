import AlcoveCore

/// The request line and header fields of a request, and what they say about its body.
package struct HTTPRequestHead: Sendable, Equatable {
    package enum BodyLength: Sendable, Equatable {
        case fixed(Int)
        case chunked
    }

    package var method: String
    /// As it stood on the request line; see `HTTPTarget` for what it means.
    package var target: String
    /// 0 or 1, for HTTP/1.0 and HTTP/1.1.
    package var minorVersion: Int
    package var headers: HTTPHeaders
    package var bodyLength: BodyLength
    package var keepsAlive: Bool
    package var expectsContinue: Bool

    var hasBody: Bool { bodyLength != .fixed(0) }
}

/// Reads HTTP/1.x requests out of bytes: a pure function, whatever the pieces the bytes come in.
///
/// Strict where leniency has let requests be smuggled: lines end in CR LF (a bare LF or CR is refused), no folded
/// fields, no blank before a colon, one Content-Length in plain digits, never beside Transfer-Encoding, no coding but
/// `chunked`. Blank lines before a request are skipped, as RFC 9112 (2.2) asks. Trailer fields are checked, bounded and
/// dropped.
package struct HTTPRequestParser: Sendable {
    package struct Limits: Sendable {
        /// Request line and fields together; the trailer section has the same limit of its own.
        package var headerBytes = 65_536
        package var requestLineBytes = 16_384
        package var fieldCount = 100
        /// One chunk-size line with its extensions.
        package var chunkLineBytes = 1_024
        /// All chunk extensions of one body.
        package var extensionBytes = 16_384

        package init() {}
    }

    package enum Event: Sendable, Equatable {
        case head(HTTPRequestHead)
        case body([UInt8])
        case end
    }

    private enum State {
        case requestLine
        case fields(method: String, target: String, minorVersion: Int)
        case fixed(remaining: Int)
        case chunkSize
        case chunkData(remaining: Int)
        case chunkDataEnd
        case trailers
        case failed(HTTPError)
    }

    private let limits: Limits
    private var state = State.requestLine
    private var buffer: [UInt8] = []
    private var start = 0
    /// Where the search for the next line feed goes on, so that a dripped line is not searched again and again.
    private var searched = 0
    private var headers = HTTPHeaders()
    private var sectionBytes = 0
    private var sectionFields = 0
    private var extensionBytes = 0

    package init(limits: Limits = Limits()) { self.limits = limits }

    /// Whether nothing is held of a request that has not been handed out to its `end`.
    package var isBetweenRequests: Bool {
        if case .requestLine = state { start == buffer.count } else { false }
    }

    package mutating func feed(_ bytes: some Sequence<UInt8>) {
        if start == buffer.count {
            buffer.removeAll(keepingCapacity: buffer.capacity <= 16_384)
            (start, searched) = (0, 0)
        } else if start > 16_384 {
            buffer.removeSubrange(..<start)
            (start, searched) = (0, searched - start)
        }
        buffer.append(contentsOf: bytes)
    }

    /// The next event, or nil when more bytes are needed. After a throw every call throws the same.
    package mutating func next() throws(HTTPError) -> Event? {
        if case .failed(let error) = state { throw error }
        do throws(HTTPError) {
            while true {
                switch state {
                case .requestLine:
                    guard let line = try takeLine() else { return nil }
                    if !line.isEmpty { try readRequestLine(line) }
                case .fields:
                    guard let line = try takeLine() else { return nil }
                    if line.isEmpty { return .head(try finishHead()) }
                    headers.add(try field(line))
                case .fixed(0):
                    state = .requestLine
                    return .end
                case .fixed(let remaining):
                    guard let bytes = take(upTo: remaining) else { return nil }
                    state = .fixed(remaining: remaining - bytes.count)
                    return .body(bytes)
                case .chunkSize:
                    guard let line = try takeLine() else { return nil }
                    state = try chunk(line)
                case .chunkData(let remaining):
                    guard let bytes = take(upTo: remaining) else { return nil }
                    state = remaining == bytes.count ? .chunkDataEnd : .chunkData(remaining: remaining - bytes.count)
                    return .body(bytes)
                case .chunkDataEnd:
                    guard try takeChunkEnd() else { return nil }
                    beginSection()
                    state = .chunkSize
                case .trailers:
                    guard let line = try takeLine() else { return nil }
                    if line.isEmpty {
                        beginSection()
                        state = .requestLine
                        return .end
                    }
                    _ = try field(line)
                case .failed(let error): throw error
                }
            }
        } catch {
            state = .failed(error)
            throw error
        }
    }

    /// Bytes of a body of known length that have not been handed out; nil inside a chunked body.
    var remainingBody: Int? {
        switch state {
        case .fixed(let remaining): remaining
        case .requestLine: 0
        default: nil
        }
    }
}

// MARK: Lines

extension HTTPRequestParser {
    private var lineLimit: Int {
        switch state {
        case .requestLine: limits.requestLineBytes
        case .chunkSize: limits.chunkLineBytes
        default: limits.headerBytes
        }
    }

    private var tooLong: HTTPError {
        switch state {
        case .requestLine:
            HTTPError(
                414, code: "target_too_long", "The request line is longer than \(limits.requestLineBytes) bytes.")
        case .chunkSize: .badRequest("A chunk size line of the request body is too long.")
        default: tooManyFields
        }
    }
    private var tooManyFields: HTTPError {
        HTTPError(
            431, code: "headers_too_large",
            "The header fields take more than \(limits.headerBytes) bytes or are more than \(limits.fieldCount).")
    }

    private mutating func beginSection() { (sectionBytes, sectionFields) = (0, 0) }

    /// The next line without its CR LF; nil when it has not all come.
    private mutating func takeLine() throws(HTTPError) -> ArraySlice<UInt8>? {
        let room = lineLimit - sectionBytes
        guard let end = lineFeed() else {
            if buffer.count - start > room { throw tooLong }
            searched = buffer.count
            return nil
        }
        let line = buffer[start..<end]
        if line.count + 1 > room { throw tooLong }
        guard line.last == 0x0D else { throw .badRequest("A line of the request does not end in CR LF.") }
        let content = line.dropLast()
        if content.contains(0x0D) { throw .badRequest("A line of the request holds a stray CR.") }
        sectionBytes += line.count + 1
        start = end + 1
        searched = start
        return content
    }

    private func lineFeed() -> Int? {
        buffer.withUnsafeBytes { bytes in
            guard searched < bytes.count, let base = bytes.baseAddress else { return nil }
            return memchr(base + searched, 0x0A, bytes.count - searched).map { UnsafeRawPointer($0) - base }
        }
    }

    private mutating func take(upTo limit: Int) -> [UInt8]? {
        let count = min(limit, buffer.count - start)
        if count == 0 { return nil }
        defer {
            start += count
            searched = start
        }
        return Array(buffer[start..<start + count])
    }

    private mutating func takeChunkEnd() throws(HTTPError) -> Bool {
        let rest = buffer[start...].prefix(2)
        guard rest.elementsEqual([0x0D, 0x0A].prefix(rest.count)) else {
            throw .badRequest("A chunk of the request body is longer than its size says.")
        }
        if rest.count < 2 { return false }
        start += 2
        searched = start
        return true
    }
}

// MARK: Head

extension HTTPRequestParser {
    private mutating func readRequestLine(_ line: ArraySlice<UInt8>) throws(HTTPError) {
        let parts = line.split(separator: 0x20, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[1].isEmpty else {
            throw .badRequest("The request line is not a method, a target and a version with one space between.")
        }
        guard (1...32).contains(parts[0].count), parts[0].allSatisfy(\.isTokenCharacter) else {
            throw .badRequest("The request's method is not a word.")
        }
        guard parts[1].allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .badRequest("The request's target holds a character that has to be percent-encoded.")
        }
        let method = String(decoding: parts[0], as: UTF8.self)
        let minorVersion = try minorVersion(parts[2])
        if method == "CONNECT" { throw HTTPError(501, code: "not_implemented", "This server is no proxy.") }
        headers = HTTPHeaders()
        state = .fields(method: method, target: String(decoding: parts[1], as: UTF8.self), minorVersion: minorVersion)
    }

    private func minorVersion(_ text: ArraySlice<UInt8>) throws(HTTPError) -> Int {
        let bytes = Array(text)
        guard bytes.count == 8, bytes.starts(with: "HTTP/".utf8), let major = bytes[5].decimalDigit,
            bytes[6] == UInt8(ascii: "."), let minor = bytes[7].decimalDigit
        else { throw .badRequest("The request line does not end in an HTTP version.") }
        if major != 1 {
            throw HTTPError(
                505, code: "version_not_supported", "This server speaks HTTP/1.1, not HTTP/\(major).\(minor).")
        }
        return min(Int(minor), 1)
    }

    private mutating func field(_ line: ArraySlice<UInt8>) throws(HTTPError) -> HTTPHeaders.Field {
        sectionFields += 1
        if sectionFields > limits.fieldCount { throw tooManyFields }
        if line.first == 0x20 || line.first == 0x09 {
            throw .badRequest("A header field is folded over two lines, which is not allowed any more.")
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            throw .badRequest("A header field has no colon.")
        }
        let name = line[..<colon]
        guard !name.isEmpty, name.allSatisfy(\.isTokenCharacter) else {
            throw .badRequest("The name of a header field is not a word.")
        }
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        var value = line[(colon + 1)...].drop(while: isBlank)
        while let last = value.last, isBlank(last) { value = value.dropLast() }
        guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw .badRequest("The value of a header field holds a control character.")
        }
        // What is not UTF-8 is taken as Latin-1, which is what the standards once said and which loses nothing.
        let text =
            String(validating: value, as: UTF8.self)
            ?? String(String.UnicodeScalarView(value.map { Unicode.Scalar($0) }))
        return HTTPHeaders.Field(name: String(decoding: name, as: UTF8.self), value: text)
    }

    private mutating func finishHead() throws(HTTPError) -> HTTPRequestHead {
        guard case .fields(let method, let target, let minorVersion) = state else {
            preconditionFailure("a head ends only while its fields are read")
        }
        let hosts = headers.values("host").count
        if hosts > 1 { throw .badRequest("The request has more than one Host field.") }
        if hosts == 0 && minorVersion == 1 { throw .badRequest("The request has no Host field.") }
        let length = try bodyLength(minorVersion: minorVersion)
        let expectation = headers["expect"]
        if let expectation, !expectation.equalsIgnoringCase("100-continue") {
            throw HTTPError(417, code: "expectation_failed", "The only expectation this server meets is 100-continue.")
        }
        let closes = headers.lists("close", in: "connection")
        let keepsAlive = !closes && (minorVersion == 1 || headers.lists("keep-alive", in: "connection"))
        let head = HTTPRequestHead(
            method: method, target: target, minorVersion: minorVersion, headers: headers, bodyLength: length,
            keepsAlive: keepsAlive, expectsContinue: expectation != nil && minorVersion == 1 && length != .fixed(0))
        beginSection()
        extensionBytes = 0
        headers = HTTPHeaders()
        switch length {
        case .fixed(let count): state = .fixed(remaining: count)
        case .chunked: state = .chunkSize
        }
        return head
    }

    private func bodyLength(minorVersion: Int) throws(HTTPError) -> HTTPRequestHead.BodyLength {
        let lengths = headers.values("content-length")
        let codings = headers.values("transfer-encoding")
        if !codings.isEmpty {
            if !lengths.isEmpty {
                throw .badRequest("The request has both Content-Length and Transfer-Encoding.")
            }
            if minorVersion == 0 { throw .badRequest("An HTTP/1.0 request cannot have a Transfer-Encoding.") }
            if codings.count > 1 { throw .badRequest("The request has more than one Transfer-Encoding field.") }
            guard codings[0].equalsIgnoringCase("chunked") else {
                throw HTTPError(
                    501, code: "not_implemented", "The only transfer encoding this server reads is chunked.")
            }
            return .chunked
        }
        if lengths.count > 1 { throw .badRequest("The request has more than one Content-Length field.") }
        guard let text = lengths.first else { return .fixed(0) }
        // 18 digits always fit 63 bits; "+5", "-5", "5, 5" and "0x5" are not digits.
        guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ $0.decimalDigit != nil }),
            let count = Int(text)
        else { throw .badRequest("The request's Content-Length is not a number of bytes.") }
        return .fixed(count)
    }

    private mutating func chunk(_ line: ArraySlice<UInt8>) throws(HTTPError) -> State {
        let digits = line.prefix { $0.hexDigit != nil }
        guard (1...15).contains(digits.count) else {
            throw .badRequest("A chunk of the request body does not begin with its size.")
        }
        let rest = line.dropFirst(digits.count)
        let extensionText = rest.drop { $0 == 0x20 || $0 == 0x09 }
        guard rest.isEmpty || extensionText.first == UInt8(ascii: ";") else {
            throw .badRequest("A chunk size of the request body is followed by something else.")
        }
        guard extensionText.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw .badRequest("A chunk extension of the request body holds a control character.")
        }
        extensionBytes += rest.count
        if extensionBytes > limits.extensionBytes {
            throw .badRequest("The chunk extensions of the request body are too long.")
        }
        beginSection()
        let size = digits.reduce(0) { $0 << 4 | Int($1.hexDigit!) }  // only digits are left, and 15 of them fit
        return size == 0 ? .trailers : .chunkData(remaining: size)
    }
}

extension HTTPHeaders {
    fileprivate mutating func add(_ field: Field) { add(field.name, field.value) }
}

extension UInt8 {
    var decimalDigit: UInt8? { (0x30...0x39).contains(self) ? self - 0x30 : nil }
}
