package import AlcoveCore

extension Patch {
    /// Reads the envelope, also inside a Markdown fence or a heredoc, or a JSON object or list of operations.
    package init(parsing bytes: [UInt8]) throws(PatchError) {
        var bytes = bytes[...]
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
        let first = bytes.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
            let json: JSONValue
            do throws(JSONError) {
                json = try JSONValue(parsing: bytes)
            } catch {
                throw .unreadable(line: nil, reason: "it begins like JSON, but at byte \(error.offset) \(error.reason)")
            }
            self = try Patch(json)
            return
        }
        var reader = PatchReader(bytes)
        self.init(sections: try reader.envelope(), usesCRLF: reader.usesCRLF)
    }

    package init(parsing text: String) throws(PatchError) { try self.init(parsing: Array(text.utf8)) }

    /// The patch in a tool's arguments: under `patch` or one of the names models use for it, or operations.
    package init(_ arguments: JSONValue) throws(PatchError) {
        if let object = arguments.object {
            let known = ["patch", "input", "diff", "content", "text"]
            let texts = (known + object.keys.filter { !known.contains($0) }).compactMap { object[$0]?.string }
            if let text = texts.first(where: { $0.contains(PatchReader.begin) }) {
                var reader = PatchReader(Array(text.utf8)[...])
                self.init(sections: try reader.envelope(), usesCRLF: reader.usesCRLF)
                return
            }
            if let text = object["patch"]?.string {
                self = try text.utf8.first == UInt8(ascii: "{") ? Patch.nested(text) : Patch(parsing: text)
                return
            }
        }
        self.init(sections: try PatchOperations.sections(arguments))
    }

    /// One level of JSON in a text, not more.
    private static func nested(_ text: String) throws(PatchError) -> Patch {
        guard let json = try? JSONValue(parsing: text) else {
            throw .unreadable(line: nil, reason: "it begins like JSON and is none")
        }
        return Patch(sections: try PatchOperations.sections(json))
    }
}

/// Patches written as JSON objects: `type`, `path`, `diff` or `content`, `move_to`.
private enum PatchOperations {
    static func sections(_ json: JSONValue) throws(PatchError) -> [Patch.Section] {
        let items = json["operations"]?.array ?? json.array ?? (json["type"] == nil ? [] : [json])
        if items.isEmpty { throw .unreadable(line: nil, reason: "it does not begin with \(PatchReader.begin)") }
        var sections: [Patch.Section] = []
        for (index, item) in items.enumerated() {
            sections.append(try section(item["operation"] ?? item, number: index + 1))
        }
        return sections
    }

    private static func section(_ item: JSONValue, number: Int) throws(PatchError) -> Patch.Section {
        func refuse(_ reason: String) -> PatchError { .unreadable(line: nil, reason: "operation \(number) \(reason)") }

        guard let path = item["path"]?.string else { throw refuse("has no path") }
        let plain = try PatchPath.plain(Array(path.utf8))
        switch item["type"]?.string {
        case "create_file", "add_file", "create", "add":
            if let text = item["content"]?.string {
                return Patch.Section(path: plain, action: .add(PatchReader.lines(of: Array(text.utf8)[...]).texts))
            }
            guard let diff = item["diff"]?.string else { throw refuse("has neither content nor diff") }
            var reader = PatchReader(Array(diff.utf8)[...])
            return Patch.Section(path: plain, action: .add(try reader.addedLines()))
        case "update_file", "update":
            let target = try item["move_to"]?.string.map { text throws(PatchError) in
                try PatchPath.plain(Array(text.utf8))
            }
            guard let diff = item["diff"]?.string ?? (target == nil ? nil : "") else { throw refuse("has no diff") }
            var reader = PatchReader(Array(diff.utf8)[...])
            let hunks = try reader.hunks()
            if hunks.isEmpty, target == nil { throw refuse("has an empty diff") }
            return Patch.Section(path: plain, action: .update(moveTo: target, hunks: hunks))
        case "delete_file", "delete", "remove": return Patch.Section(path: plain, action: .delete)
        default: throw refuse("has no type that is known: create_file, update_file or delete_file")
        }
    }
}

/// Reads a patch line by line.
struct PatchReader {
    static let begin = "*** Begin Patch"
    static let end = "*** End Patch"

    private(set) var usesCRLF = false
    private var lines: [[UInt8]]
    private var position = 0

    init(_ bytes: ArraySlice<UInt8>) {
        let split = PatchReader.lines(of: bytes)
        lines = split.texts
        usesCRLF = split.crlf * 2 > split.texts.count
    }

    /// Lines without their ends; a line end at the very end begins no further line.
    static func lines(of bytes: ArraySlice<UInt8>) -> (texts: [[UInt8]], crlf: Int) {
        var texts: [[UInt8]] = []
        var crlf = 0
        var start = bytes.startIndex
        while start < bytes.endIndex {
            let stop = bytes[start...].firstIndex(of: 0x0A) ?? bytes.endIndex
            let hasCR = stop > start && bytes[stop - 1] == 0x0D
            if hasCR { crlf += 1 }
            texts.append(Array(bytes[start..<(hasCR ? stop - 1 : stop)]))
            start = stop + 1
        }
        return (texts, crlf)
    }

    private var next: [UInt8]? { position < lines.count ? lines[position] : nil }

    private func fault(_ reason: String) -> PatchError { .unreadable(line: position + 1, reason: reason) }

    /// The first letters of a line, for a sentence.
    static func shown(_ line: [UInt8], limit: Int = 200) -> String {
        let text = String(decoding: line.prefix(limit), as: UTF8.self)
        return line.count > limit ? text + "..." : text
    }

    // MARK: envelope

    mutating func envelope() throws(PatchError) -> [Patch.Section] {
        let wrapper = try opening()
        var sections: [Patch.Section] = []
        while true {
            skipBlank()
            guard let line = next else {
                throw .unreadable(line: nil, reason: "it ends without \(PatchReader.end), so part of it may be missing")
            }
            if isMarker(line, PatchReader.end) { break }
            sections.append(try section(line))
        }
        if sections.isEmpty { throw fault("there is nothing between \(PatchReader.begin) and \(PatchReader.end)") }
        position += 1
        try closing(wrapper)
        return sections
    }

    /// Everything before the first marker: nothing, fences, or the beginning of a heredoc, whose last word is returned.
    private mutating func opening() throws(PatchError) -> [UInt8]? {
        var word: [UInt8]?
        while let line = next {
            position += 1
            let text = Whitespace.trimmed(line)
            if text.elementsEqual(PatchReader.begin.utf8) { return word }
            if text.isEmpty || text.starts(with: "```".utf8) || text.starts(with: "~~~".utf8) { continue }
            if let found = PatchReader.heredocWord(text) {
                word = found
                continue
            }
            position -= 1
            throw fault(
                "it should be \(PatchReader.begin), not \"\(PatchReader.shown(line))\"")
        }
        throw .unreadable(line: nil, reason: "it does not begin with \(PatchReader.begin)")
    }

    private mutating func closing(_ word: [UInt8]?) throws(PatchError) {
        while let line = next {
            let text = Whitespace.trimmed(line)
            let isFence = text.elementsEqual("```".utf8) || text.elementsEqual("~~~".utf8)
            guard text.isEmpty || isFence || Array(text) == word else {
                throw fault("there is text after \(PatchReader.end): \"\(PatchReader.shown(line))\"")
            }
            position += 1
        }
    }

    /// EOF of `apply_patch <<'EOF'` and the like.
    private static func heredocWord(_ line: ArraySlice<UInt8>) -> [UInt8]? {
        var rest = line
        if rest.starts(with: "apply_patch".utf8) { rest = Whitespace.trimmed(Array(rest.dropFirst(11))) }
        guard rest.starts(with: "<<".utf8) else { return nil }
        rest = rest.dropFirst(2)
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        let word = rest.filter { $0 != UInt8(ascii: "'") && $0 != UInt8(ascii: "\"") && $0 != 0x20 }
        let isWord = word.allSatisfy { UnicodeScalar($0).properties.isAlphabetic || $0 == UInt8(ascii: "_") }
        return !word.isEmpty && isWord ? word : nil
    }

    private func isMarker(_ line: [UInt8], _ text: String) -> Bool {
        line.starts(with: text.utf8) && Whitespace.trimmed(line).elementsEqual(text.utf8)
    }

    private mutating func skipBlank() {
        while let line = next, Whitespace.trimmed(line).isEmpty { position += 1 }
    }

    // MARK: sections

    private mutating func section(_ line: [UInt8]) throws(PatchError) -> Patch.Section {
        if let path = try self.path(line, after: "*** Add File:") {
            position += 1
            return Patch.Section(path: path, action: .add(try addedLines()))
        }
        if let path = try self.path(line, after: "*** Delete File:") {
            position += 1
            skipBlank()
            if let next, !isSectionEdge(next) {
                throw fault("*** Delete File takes no lines, but here is \"\(PatchReader.shown(next))\"")
            }
            return Patch.Section(path: path, action: .delete)
        }
        if let path = try self.path(line, after: "*** Update File:") {
            position += 1
            var target: String?
            if let line = next, let to = try self.path(line, after: "*** Move to:") {
                position += 1
                target = to
            }
            let hunks = try hunks()
            if hunks.isEmpty, target == nil { throw fault("*** Update File: \(path) has no hunk") }
            return Patch.Section(path: path, action: .update(moveTo: target, hunks: hunks))
        }
        throw fault(
            "it should begin with *** Add File:, *** Update File: or *** Delete File:, not "
                + "\"\(PatchReader.shown(line))\"")
    }

    private func path(_ line: [UInt8], after marker: String) throws(PatchError) -> String? {
        guard line.starts(with: marker.utf8) else { return nil }
        return try PatchPath.plain(Whitespace.trimmed(Array(line.dropFirst(marker.utf8.count))))
    }

    /// Where a section ends: no line of a file begins like this, since each has a mark of its own before it.
    private func isSectionEdge(_ line: [UInt8]) -> Bool {
        line.starts(with: "*** ".utf8) && !isMarker(line, "*** End of File")
    }

    mutating func addedLines() throws(PatchError) -> [[UInt8]] {
        var added: [[UInt8]] = []
        while let line = next, !isSectionEdge(line) {
            if line.first == UInt8(ascii: "+") {
                added.append(Array(line.dropFirst()))
            } else if Whitespace.trimmed(line).isEmpty {
                let gap = position
                skipBlank()
                if let line = next, !isSectionEdge(line) {
                    position = gap
                    throw fault("every line of a new file begins with +, an empty one too")
                }
                break
            } else {
                throw fault("every line of a new file begins with +, not like \"\(PatchReader.shown(line))\"")
            }
            position += 1
        }
        if added.isEmpty { throw fault("the new file has no lines; one \"+\" alone is an empty line") }
        return added
    }

    // MARK: hunks

    mutating func hunks() throws(PatchError) -> [Patch.Hunk] {
        var hunks: [Patch.Hunk] = []
        while let line = next, !isSectionEdge(line) {
            if hunks.isEmpty, line.isEmpty, !hasHunkAhead() {
                skipBlank()
                break
            }
            hunks.append(try hunk(isFirst: hunks.isEmpty))
        }
        return hunks
    }

    private func hasHunkAhead() -> Bool {
        guard let line = lines[position...].first(where: { !Whitespace.trimmed($0).isEmpty }) else { return false }
        return !isSectionEdge(line)
    }

    private mutating func hunk(isFirst: Bool) throws(PatchError) -> Patch.Hunk {
        var hunk = Patch.Hunk()
        while let line = next, let anchor = PatchReader.anchor(line) {
            hunk.anchors.append(anchor)
            position += 1
        }
        if hunk.anchors.isEmpty, !isFirst {
            throw fault("a hunk after the first begins with @@, not with \"\(PatchReader.shown(next ?? []))\"")
        }
        while let line = next, !isSectionEdge(line), PatchReader.anchor(line) == nil {
            if isMarker(line, "*** End of File") {
                hunk.isAtEnd = true
                position += 1
                skipBlankBeforeEdge()
                break
            }
            if let parsed = try parse(line) { hunk.lines.append(parsed) }
            position += 1
        }
        if hunk.lines.isEmpty { throw fault("the hunk has no lines") }
        return hunk
    }

    private mutating func skipBlankBeforeEdge() {
        let start = position
        skipBlank()
        if let line = next, !isSectionEdge(line), PatchReader.anchor(line) == nil { position = start }
    }

    private static func anchor(_ line: [UInt8]) -> [UInt8]? {
        guard line.starts(with: "@@".utf8) else { return nil }
        let rest = line.dropFirst(2)
        if Whitespace.trimmed(Array(rest)).isEmpty { return [] }
        return rest.first == 0x20 ? Array(rest.dropFirst()) : nil
    }

    private func parse(_ line: [UInt8]) throws(PatchError) -> Patch.Line? {
        switch line.first {
        case nil: return Patch.Line(kind: .context, text: [], isBare: true)
        case UInt8(ascii: " "): return Patch.Line(kind: .context, text: Array(line.dropFirst()))
        case UInt8(ascii: "-"): return Patch.Line(kind: .delete, text: Array(line.dropFirst()))
        case UInt8(ascii: "+"): return Patch.Line(kind: .add, text: Array(line.dropFirst()))
        // What diff writes after a last line without an end; ours keeps such an end by itself.
        case UInt8(ascii: "\\") where line.starts(with: #"\ No newline"#.utf8): return nil
        default:
            throw fault(
                "a line of a hunk begins with a space, - or +, and a hunk with @@, not like "
                    + "\"\(PatchReader.shown(line))\"")
        }
    }
}
