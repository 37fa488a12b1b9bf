/// Decides what a file is: by its name, then by the type the client gave, then by its bytes.
///
/// Bytes that are clearly something else outrank a name: phones send HEIC under the name of a PNG.
enum UploadNaming {
    /// Bytes of a file's beginning that are looked at.
    static let headBytes = 4096

    /// The ending to keep a file under.
    ///
    /// - Parameter name: As it is shown to people.
    static func ending(name: String, type: String?, head: [UInt8]) throws(UploadError) -> String {
        let named = ending(ofName: name)
        if let named, UploadKind(ending: named) == nil { throw .unsupported(name: name, ending: named) }
        guard let claimed = named ?? type.flatMap(UploadKind.ending(ofType:)) else {
            guard let found = FileSignature.ending(of: head) else { throw .noEnding(name: name) }
            return found
        }
        guard let found = FileSignature.ending(of: head) else {
            switch UploadKind(ending: claimed) {
            case .image?, .pdf?, .document?: throw .notWhatItSays(name: name, ending: claimed)
            default: return claimed
            }
        }
        // A text may begin with any letters; a file of another kind that begins so also holds zero bytes.
        if UploadKind(ending: claimed) == .text, !head.contains(0) { return claimed }
        return isSame(claimed, found) ? claimed : found
    }

    /// What follows the last dot, lower-case; nil when the name has no ending.
    static func ending(ofName name: String) -> String? {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
        let ending = name[name.index(after: dot)...].lowercased()
        let isPlain =
            (1...10).contains(ending.utf8.count)
            && ending.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) }
        return isPlain ? ending : nil
    }

    /// Whether two endings are of one format, or of formats that begin alike.
    private static func isSame(_ a: String, _ b: String) -> Bool {
        if a == b { return true }
        let alike: [Set<String>] = [
            ["jpg", "jpeg"], ["heic", "heif"], ["mp4", "mov", "m4a"], ["mkv", "webm"], ["docx", "xlsx", "pptx"],
        ]
        return alike.contains { $0.contains(a) && $0.contains(b) }
    }
}

/// What a file's first bytes say it is.
enum FileSignature {
    static func ending(of head: [UInt8]) -> String? {
        func has(_ text: String, at place: Int = 0) -> Bool { head.dropFirst(place).starts(with: text.utf8) }
        if head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "png" }
        if head.starts(with: [0xFF, 0xD8, 0xFF]) { return "jpg" }
        if has("GIF87a") || has("GIF89a") { return "gif" }
        if has("RIFF") {
            if has("WEBP", at: 8) { return "webp" }
            if has("WAVE", at: 8) { return "wav" }
            if has("AVI ", at: 8) { return "avi" }
        }
        // Two letters begin many a text; the reserved bytes of the header are zero in a bitmap.
        if has("BM"), head.count >= 14, head[6..<10].allSatisfy({ $0 == 0 }) { return "bmp" }
        if has("ftyp", at: 4) { return brand(Array(head.dropFirst(8).prefix(4))) }
        if has("%PDF-") { return "pdf" }
        if head.starts(with: [0x50, 0x4B, 0x03, 0x04]) { return office(head) }
        if has("OggS") { return "ogg" }
        if has("fLaC") { return "flac" }
        if has("ID3") { return "mp3" }
        if head.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) {
            return contains("webm", in: Array(head.prefix(64))) ? "webm" : "mkv"
        }
        return nil
    }

    /// ISO 14496-12, 4.3: the main brand of a file of boxes.
    private static func brand(_ bytes: [UInt8]) -> String? {
        switch String(decoding: bytes, as: UTF8.self) {
        case "heic", "heix", "hevc", "hevx", "heim", "heis": "heic"
        case "mif1", "msf1", "heif": "heif"
        case "M4A ", "M4B ": "m4a"
        case "qt  ": "mov"
        case "avif", "avis": nil
        default: "mp4"
        }
    }

    /// An office file is a zip archive; its first names tell which.
    private static func office(_ head: [UInt8]) -> String? {
        for (mark, ending) in [("word/", "docx"), ("xl/", "xlsx"), ("ppt/", "pptx")] where contains(mark, in: head) {
            return ending
        }
        // Some writers put these names later.
        return contains("[Content_Types].xml", in: head) || contains("_rels/", in: head) ? "docx" : nil
    }

    private static func contains(_ text: String, in bytes: [UInt8]) -> Bool {
        let wanted = Array(text.utf8)
        guard bytes.count >= wanted.count else { return false }
        return (0...bytes.count - wanted.count).contains { bytes[$0...].starts(with: wanted) }
    }
}
