package import AlcoveCore

/// What `read_file` and `write_file` make of bytes, without touching a file: pages of numbered lines, what counts as text,
/// what may be written over what.
package enum FileText {
    /// Longest file that is read.
    package static let fileLimit = 8 << 20
    /// Longest page, in bytes.
    package static let pageLimit = 64 << 10
    /// Longest line that is shown whole, in characters.
    package static let lineLimit = 2000
    package static let usualLines = 400
    static let mostLines = 1_000_000

    package static let readSchema: JSONValue = [
        "type": "object",
        "properties": [
            "path": ["type": "string", "minLength": 1],
            "offset": ["type": "integer", "minimum": 1],
            "limit": ["type": "integer", "minimum": 1, "maximum": 1_000_000],
        ],
        "required": ["path"], "additionalProperties": false,
    ]

    /// `content` may be any JSON: what is no text is written as JSON.
    package static let writeSchema: JSONValue = [
        "type": "object",
        "properties": ["path": ["type": "string", "minLength": 1], "content": [:], "overwrite": ["type": "boolean"]],
        "required": ["path", "content"], "additionalProperties": false,
    ]

    // MARK: reading

    /// A part of a file as a model sees it.
    package struct Page: Sendable, Equatable {
        /// Header, numbered lines, and where to go on.
        package var text: String
        /// The lines shown, from 1; empty for an empty file.
        package var lines: Range<Int>
        package var total: Int
    }

    /// The lines from `offset` (from 1) on, at most `limit` and at most 64 KiB of them.
    ///
    /// - Throws: for a file that is too long or no text, and for an offset past its end.
    package static func page(
        of bytes: [UInt8], path: String, offset: Int = 1, limit: Int = usualLines
    ) throws(FileTextError) -> Page {
        if bytes.count > fileLimit { throw .tooLong(path: path, size: bytes.count) }
        if let kind = binaryKind(bytes) { throw .notText(path: path, kind: kind, size: bytes.count) }
        guard let (encoding, text) = FileEncoding.decode(bytes) else {
            throw .notText(path: path, kind: "broken UTF-16", size: bytes.count)
        }
        let lines = SearchedText(text)
        let total = lines.lines.count
        if total == 0 { return Page(text: "\(path) is empty.", lines: 1..<1, total: 0) }
        guard offset >= 1, offset <= total else { throw .pastEnd(path: path, offset: offset, total: total) }

        var shown = ""
        var next = offset
        var isRepaired = false
        while next <= total, next - offset < max(1, limit) {
            let line = self.line(next, lines.text(of: next - 1), &isRepaired)
            // One line always fits: 2,000 characters are 8,000 bytes at most.
            if shown.utf8.count + line.utf8.count > pageLimit { break }
            shown += line
            next += 1
        }
        var header = "\(path), \(offset == next - 1 ? "line \(offset)" : "lines \(offset)-\(next - 1)") of \(total)"
        switch encoding {
        case .utf16LittleEndian, .utf16BigEndian: header += " (UTF-16)"
        case .plain, .utf8WithMark: break
        }
        if isRepaired { header += " (bytes that are not UTF-8 are shown as \u{FFFD})" }
        var footer = ""
        if next <= total {
            let rest = total - next + 1
            footer = "(\(rest) more \(rest == 1 ? "line" : "lines"); go on with offset \(next).)\n"
        }
        return Page(text: "\(header):\n\(shown)\(footer)", lines: offset..<next, total: total)
    }

    private static func line(_ number: Int, _ bytes: ArraySlice<UInt8>, _ isRepaired: inout Bool) -> String {
        let label = String(number)
        let padding = String(repeating: " ", count: max(0, 5 - label.utf8.count))
        var text: String
        if let valid = String(validating: bytes, as: UTF8.self) {
            text = valid
        } else {
            text = String(decoding: bytes, as: UTF8.self)
            isRepaired = true
        }
        let scalars = text.unicodeScalars
        // Bytes are never fewer than characters: the common line is not counted.
        if bytes.count > lineLimit, scalars.count > lineLimit {
            let rest = scalars.count - lineLimit
            text = String(scalars.prefix(lineLimit)) + " ... (\(rest) more \(rest == 1 ? "character" : "characters"))"
        }
        return "\(padding)\(label) | \(text)\n"
    }

    // MARK: what is text

    private static let signatures: [([UInt8], String)] = [
        ([0x89, 0x50, 0x4E, 0x47], "a PNG image"), ([0xFF, 0xD8, 0xFF], "a JPEG image"),
        (Array("GIF8".utf8), "a GIF image"), (Array("%PDF-".utf8), "a PDF document"),
        ([0x50, 0x4B, 0x03, 0x04], "a ZIP archive or an office document"), ([0x1F, 0x8B], "gzip data"),
        ([0x7F, 0x45, 0x4C, 0x46], "a program"), (Array("SQLite format 3".utf8), "an SQLite database"),
        (Array("GGUF".utf8), "a model"),
    ]

    /// What a file is that is no text; nil for text.
    ///
    /// Known beginnings tell; otherwise a NUL (where no byte order mark announces UTF-16), or control characters in more
    /// than a tenth of the first 8 KiB.
    package static func binaryKind(_ bytes: [UInt8]) -> String? {
        if let known = signatures.first(where: { bytes.starts(with: $0.0) }) { return known.1 }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) { return nil }
        let head = bytes.prefix(8192)
        if head.contains(0) { return "binary data" }
        let controls = head.count { $0 < 0x20 && !(0x09...0x0D).contains($0) && $0 != 0x1B || $0 == 0x7F }
        return controls * 10 > head.count ? "binary data" : nil
    }

    // MARK: writing

    /// What writing a file comes to.
    package enum Writing: Sendable, Equatable {
        case create([UInt8])
        /// Only where the caller said `overwrite`.
        case replace([UInt8])
        /// The file holds just this already.
        case nothing
    }

    /// Decides before anything is touched; `existing` is what is at the path, nil for nothing.
    ///
    /// An existing file is replaced only on demand, and keeps its CR LF and its byte order mark then.
    package static func writing(
        _ content: JSONValue, to path: String, existing: [UInt8]?, overwrites: Bool = false
    ) throws(FileTextError) -> Writing {
        let bytes = Array((content.string ?? content.text(.indented)).utf8)
        guard let existing else { return .create(bytes) }
        let styled = inStyle(of: existing, bytes)
        if existing == bytes || existing == styled { return .nothing }
        guard overwrites else { throw .exists(path: path) }
        return .replace(styled)
    }

    private static func inStyle(of old: [UInt8], _ new: [UInt8]) -> [UInt8] {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        var out = old.starts(with: mark) && !new.starts(with: mark) ? mark : []
        let ends = SearchedText(old).lines.map(\.ending.count)
        guard ends.contains(2), !ends.contains(1) else { return out + new }
        for (index, byte) in new.enumerated() {
            if byte == 0x0A, index == 0 || new[index - 1] != 0x0D { out.append(0x0D) }
            out.append(byte)
        }
        return out
    }

    // MARK: names

    /// What to say about a path that leads nowhere, given the files there are.
    package static func missing(_ path: String, among files: [String]) -> FileTextError {
        func name(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }
        let wanted = name(path)
        let same = files.filter { name($0) == wanted }.sorted()
        if !same.isEmpty {
            return .missing(path: path, hint: "Did you mean \(same.prefix(3).joined(separator: " or "))?")
        }
        let room = max(2, wanted.count / 3)
        let near = files.lazy.filter { abs(name($0).count - wanted.count) <= 8 && wanted.utf8.count <= 255 }
            .map { ($0, editDistance(wanted, name($0))) }.filter { $0.1 <= room }.min { ($0.1, $0.0) < ($1.1, $1.0) }
        if let near { return .missing(path: path, hint: "Did you mean \(near.0)?") }
        let some = files.sorted().prefix(10)
        if some.isEmpty { return .missing(path: path, hint: "There are no files here yet.") }
        let more = files.count > some.count ? " and \(files.count - some.count) more" : ""
        return .missing(
            path: path, hint: "There \(some.count == 1 ? "is" : "are") \(some.joined(separator: ", "))\(more).")
    }
}

/// Why a file was not read or written.
package enum FileTextError: UserFacingError, Equatable {
    case tooLong(path: String, size: Int)
    case notText(path: String, kind: String, size: Int)
    case pastEnd(path: String, offset: Int, total: Int)
    case exists(path: String)
    case missing(path: String, hint: String)

    package var code: String {
        switch self {
        case .tooLong: "file_too_long"
        case .notText: "not_text"
        case .pastEnd: "past_end"
        case .exists: "file_exists"
        case .missing: "no_such_file"
        }
    }

    package var place: ErrorPlace { if case .missing = self { .missing } else { .request } }

    package var message: String {
        switch self {
        case .tooLong(let path, let size):
            "\(path) has \(size) bytes, and files up to \(FileText.fileLimit) bytes are read."
        case .notText(let path, let kind, let size): "\(path) is not text but \(kind) (\(size) bytes)."
        case .pastEnd(let path, let offset, let total):
            "\(path) has \(total) \(total == 1 ? "line" : "lines"); there is no line \(offset)."
        case .exists(let path): "There is a file at \(path) already, and it was left as it is."
        case .missing(let path, _): "There is no file at \(path)."
        }
    }

    package var hint: String? {
        switch self {
        case .tooLong: "Search it or cut a part out with a command."
        case .notText: "Look at it with a command that knows the format."
        case .pastEnd: "Lines are counted from 1."
        case .exists: "Change it with apply_patch."
        case .missing(_, let hint): hint
        }
    }
}
