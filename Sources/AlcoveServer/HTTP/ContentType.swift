/// Media types by file name.
package enum ContentType {
    private static let types: [String: String] = [
        "html": "text/html; charset=utf-8", "htm": "text/html; charset=utf-8",
        "js": "text/javascript; charset=utf-8", "mjs": "text/javascript; charset=utf-8",
        "css": "text/css; charset=utf-8", "json": "application/json; charset=utf-8",
        "webmanifest": "application/manifest+json; charset=utf-8",
        "txt": "text/plain; charset=utf-8", "md": "text/plain; charset=utf-8", "csv": "text/plain; charset=utf-8",
        "svg": "image/svg+xml", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
        "webp": "image/webp", "bmp": "image/bmp", "ico": "image/x-icon", "heic": "image/heic", "heif": "image/heif",
        "mp4": "video/mp4", "mov": "video/quicktime", "m4v": "video/x-m4v", "webm": "video/webm",
        "mp3": "audio/mpeg", "wav": "audio/wav", "m4a": "audio/mp4", "aac": "audio/aac", "ogg": "audio/ogg",
        "flac": "audio/flac", "caf": "audio/x-caf", "pdf": "application/pdf", "woff": "font/woff",
        "woff2": "font/woff2", "ttf": "font/ttf",
    ]

    package static func of(fileName: String) -> String {
        guard let dot = fileName.lastIndex(of: ".") else { return unknown }
        return types[fileName[fileName.index(after: dot)...].lowercased()] ?? unknown
    }

    package static let unknown = "application/octet-stream"
}

/// The field that names a file to be saved (RFC 6266), safe for any name.
package enum ContentDisposition {
    package static func attachment(_ fileName: String) -> String { value("attachment", fileName) }
    package static func inline(_ fileName: String) -> String { value("inline", fileName) }

    /// An ASCII name for every reader, and the true one in UTF-8 (RFC 5987) when that differs.
    ///
    /// Folders are cut off, control characters dropped; what a quoted string or an old reader could trip over (quotes,
    /// backslashes, percent signs) is `_` in the ASCII form.
    private static func value(_ kind: String, _ fileName: String) -> String {
        let scalars = fileName.unicodeScalars.filter { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
        let base =
            String(String.UnicodeScalarView(scalars)).split { $0 == "/" || $0 == "\\" }.last.map(String.init) ?? ""
        let name = base == "" || base == "." || base == ".." ? "download" : base
        let plain = String(
            name.unicodeScalars.map { $0.isASCII && !"\"\\%".unicodeScalars.contains($0) ? Character($0) : "_" })
        let quoted = "\(kind); filename=\"\(plain)\""
        return plain == name ? quoted : "\(quoted); filename*=UTF-8''\(percentEncoded(name))"
    }

    private static func percentEncoded(_ text: String) -> String {
        text.utf8.reduce(into: "") { out, byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: out.unicodeScalars.append(.init(byte))
            default: out += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
    }
}
