import AlcoveCore

/// The status line and fields of a response as bytes.
struct ResponseHead {
    enum Length {
        case bytes(Int)
        case chunked
        /// Until the connection closes: streams for HTTP/1.0.
        case untilClose
        /// 204 and 304, which have no body and no length.
        case none
    }

    /// On every response, unless it names the field itself.
    ///
    /// A page of ours may load from us and from nowhere else, sits in nobody's frame, and tells nobody where it was.
    static let security: HTTPHeaders = [
        "Content-Security-Policy":
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
            + "connect-src 'self'; manifest-src 'self'; media-src 'self' blob:; form-action 'none'; base-uri 'none'; "
            + "frame-ancestors 'none'",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    ]

    private static let securityBytes = security.fields.reduce(into: [UInt8]()) { write($1, to: &$0) }

    static func bytes(
        status: Int, headers: HTTPHeaders, length: Length, minorVersion: Int, keepsAlive: Bool, isStream: Bool
    ) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(1024)
        out += "HTTP/1.1 ".utf8
        out += String(status).utf8
        out.append(0x20)
        out += reason(status).utf8
        out += "\r\nDate: ".utf8
        out += HTTPDate.now.utf8
        out += "\r\n".utf8
        var namesSecurity = false
        for field in headers.fields where !isOurs(field.name) {
            namesSecurity = namesSecurity || security[field.name] != nil
            write(field, to: &out)
        }
        if namesSecurity {
            for field in security.fields where headers[field.name] == nil { write(field, to: &out) }
        } else {
            out += securityBytes
        }
        if !keepsAlive {
            out += "Connection: close\r\n".utf8
        } else if minorVersion == 0 || isStream {
            out += "Connection: keep-alive\r\n".utf8
        }
        switch length {
        case .bytes(let count):
            out += "Content-Length: ".utf8
            out += String(count).utf8
            out += "\r\n".utf8
        case .chunked: out += "Transfer-Encoding: chunked\r\n".utf8
        case .untilClose, .none: break
        }
        out += "\r\n".utf8
        return out
    }

    /// Fields that frame the message: the connection decides them, never a handler.
    private static func isOurs(_ name: String) -> Bool {
        switch name.utf8.count {
        case 4: name.equalsIgnoringCase("date")
        case 10: name.equalsIgnoringCase("connection")
        case 14: name.equalsIgnoringCase("content-length")
        case 17: name.equalsIgnoringCase("transfer-encoding")
        default: false
        }
    }

    /// A name or value cannot end its line: what would is written as a space (and `_` in a name).
    private static func write(_ field: HTTPHeaders.Field, to out: inout [UInt8]) {
        for byte in field.name.utf8 { out.append(byte.isTokenCharacter ? byte : UInt8(ascii: "_")) }
        out.append(UInt8(ascii: ":"))
        out.append(0x20)
        for byte in field.value.utf8 { out.append(byte >= 0x20 && byte != 0x7F || byte == 0x09 ? byte : 0x20) }
        out.append(0x0D)
        out.append(0x0A)
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 206: "Partial Content"
        case 303: "See Other"
        case 304: "Not Modified"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 416: "Range Not Satisfiable"
        case 417: "Expectation Failed"
        case 422: "Unprocessable Content"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 505: "HTTP Version Not Supported"
        case 507: "Insufficient Storage"
        default: status < 400 ? "Done" : "Refused"
        }
    }
}
