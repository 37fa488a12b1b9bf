/// Writes a file anew with hunks at their places. Lines nobody changes keep every byte, their ends included.
struct PatchedText {
    private let text: SearchedText
    /// The end of lines that go into a file without any.
    private let usualEnd: ArraySlice<UInt8>
    private var out: [UInt8] = []
    /// Lines of the old file that are dealt with.
    private var position = 0
    /// Length of the end of the last line written; 0 for one without.
    private var lastEnd = 1
    private(set) var added = 0
    private(set) var removed = 0

    init(_ text: SearchedText, usesCRLF: Bool) {
        self.text = text
        let ends = text.lines.first { !$0.ending.isEmpty }.map { text.bytes[$0.ending] }
        usualEnd = ends ?? (usesCRLF ? [0x0D, 0x0A] : [0x0A])
        out.reserveCapacity(text.bytes.count + 256)
    }

    mutating func apply(_ hunk: Patch.Hunk, at place: HunkPlacement) {
        copy(to: place.start)
        var new: [[UInt8]] = [], old: [Int] = []
        for line in hunk.lines.dropLast(place.gaps) {
            switch line.kind {
            case .add: new.append(line.text)
            case .delete: old.append(position + old.count)
            case .context:
                flush(&new, &old)
                copy(to: position + 1)
            }
        }
        flush(&new, &old)
    }

    /// The whole new text. A file whose last line had no end has none after the change either.
    mutating func finish() -> [UInt8] {
        copy(to: text.lines.count)
        if let last = text.lines.last, last.ending.isEmpty { out.removeLast(min(out.count, lastEnd)) }
        return out
    }

    private mutating func copy(to line: Int) {
        guard line > position else { return }
        endLast()
        out.append(contentsOf: text.bytes[text.lines[position].start..<text.lines[line - 1].next])
        lastEnd = text.lines[line - 1].ending.count
        position = line
    }

    /// Writes what replaces a run of deleted lines: each takes the end of the line it stands for, further ones that of
    /// the line before them.
    private mutating func flush(_ new: inout [[UInt8]], _ old: inout [Int]) {
        for (index, line) in new.enumerated() {
            endLast()
            var end = index < old.count ? text.bytes[text.lines[old[index]].ending] : []
            if end.isEmpty { end = endNear(index < old.count ? old[index] : (old.last.map { $0 + 1 } ?? position)) }
            out.append(contentsOf: line)
            out.append(contentsOf: end)
            lastEnd = end.count
        }
        added += new.count
        removed += old.count
        position += old.count
        new = []
        old = []
    }

    private func endNear(_ line: Int) -> ArraySlice<UInt8> {
        for index in [line - 1, line] where text.lines.indices.contains(index) && !text.lines[index].ending.isEmpty {
            return text.bytes[text.lines[index].ending]
        }
        return usualEnd
    }

    /// The old last line may lack an end that it needs when something follows.
    private mutating func endLast() {
        if lastEnd == 0 {
            out.append(contentsOf: endNear(text.lines.count - 1))
            lastEnd = 1
        }
    }
}
