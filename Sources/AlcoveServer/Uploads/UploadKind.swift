/// What an uploaded file is good for, by its ending. What is not listed here is neither taken nor served.
package enum UploadKind: String, Sendable, Hashable, CaseIterable {
    case image, video, audio, pdf, document, text

    var endings: [String] {
        switch self {
        case .image: ["png", "jpg", "jpeg", "gif", "webp", "bmp", "heic", "heif"]
        case .video: ["mp4", "mov", "avi", "mkv", "webm"]
        case .audio: ["mp3", "wav", "ogg", "flac", "m4a"]
        case .pdf: ["pdf"]
        case .document: ["docx", "xlsx", "pptx"]
        case .text:
            [
                "txt", "csv", "json", "xml", "md", "log", "py", "js", "ts", "cs", "java", "cpp", "c", "h", "html",
                "css", "yaml", "yml", "toml", "ini", "cfg", "sh", "bat", "ps1", "rb", "go", "rs", "swift", "kt", "sql",
                "r", "m", "tex", "rtf",
            ]
        }
    }

    private static let kinds = allCases.reduce(into: [String: UploadKind]()) { kinds, kind in
        for ending in kind.endings { kinds[ending] = kind }
    }

    /// - Parameter ending: Lower-case, without its dot.
    init?(ending: String) {
        guard let kind = UploadKind.kinds[ending] else { return nil }
        self = kind
    }

    /// The type under which a file is served: text is always plain text, so that none of it is ever a page of ours.
    static func contentType(ending: String) -> String {
        switch UploadKind(ending: ending) {
        case .text?: "text/plain; charset=utf-8"
        case .document?: documentTypes[ending] ?? ContentType.unknown
        default: otherTypes[ending] ?? ContentType.of(fileName: "x." + ending)
        }
    }

    private static let otherTypes = ["avi": "video/x-msvideo", "mkv": "video/x-matroska"]
    private static let documentTypes = [
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ]

    /// The ending that a media type stands for; nil for types that say nothing.
    static func ending(ofType type: String) -> String? {
        let plain = String(type.prefix { $0 != ";" }.trimmingBlanks()).lowercased()
        return endingsByType[plain]
    }

    private static let endingsByType: [String: String] = [
        "image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp", "image/bmp": "bmp",
        "image/heic": "heic", "image/heif": "heif", "video/mp4": "mp4", "video/quicktime": "mov",
        "video/x-msvideo": "avi", "video/x-matroska": "mkv", "video/webm": "webm", "audio/mpeg": "mp3",
        "audio/wav": "wav", "audio/x-wav": "wav", "audio/wave": "wav", "audio/ogg": "ogg", "audio/flac": "flac",
        "audio/x-flac": "flac", "audio/mp4": "m4a", "audio/x-m4a": "m4a", "application/pdf": "pdf",
        "text/plain": "txt", "text/csv": "csv", "text/markdown": "md", "text/html": "html", "text/css": "css",
        "text/xml": "xml", "text/javascript": "js", "application/json": "json", "application/xml": "xml",
        "application/rtf": "rtf", "text/rtf": "rtf",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    ]
}
