internal import AlcoveCore

/// How nearly lines must agree; the lower the rung, the more is forgiven.
enum Rung: Int, CaseIterable {
    case exact, trailingSpace, bothEnds

    var fuzz: Int {
        switch self {
        case .exact: 0
        case .trailingSpace: 1
        case .bothEnds: 100
        }
    }
}

/// A file as lines of bytes that can be searched for runs of lines.
///
/// The search is linear whatever the lines are (Knuth, Morris and Pratt over a hash of each line, each hit compared in
/// full): a file of a million equal lines is no trap.
final class SearchedText {
    struct Line {
        var start: Int
        /// Past the text.
        var end: Int
        /// Past the line's end: 0, 1 (LF) or 2 (CR LF) bytes further.
        var next: Int

        var text: Range<Int> { start..<end }
        var ending: Range<Int> { end..<next }
    }

    let bytes: [UInt8]
    let lines: [Line]
    private var hashes: [Rung: [Int]] = [:]
    private var extents: [Rung: [Int: (first: Int, last: Int)]] = [:]
    /// Lines looked at by searches so far; a patch of many hunks can make this the product of both lengths.
    private(set) var work = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        lines = bytes.withUnsafeBufferPointer(SearchedText.split)
    }

    private static func split(_ bytes: UnsafeBufferPointer<UInt8>) -> [Line] {
        guard let base = bytes.baseAddress else { return [] }
        var lines: [Line] = []
        var start = 0
        while start < bytes.count {
            guard let found = memchr(base + start, 0x0A, bytes.count - start) else {
                lines.append(Line(start: start, end: bytes.count, next: bytes.count))
                break
            }
            let stop = UnsafeRawPointer(found) - UnsafeRawPointer(base)
            let hasCR = stop > start && bytes[stop - 1] == 0x0D
            lines.append(Line(start: start, end: hasCR ? stop - 1 : stop, next: stop + 1))
            start = stop + 1
        }
        return lines
    }

    func text(of index: Int) -> ArraySlice<UInt8> { bytes[lines[index].text] }

    // MARK: comparing

    private static func range(
        _ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, _ rung: Rung
    ) -> Range<Int> {
        rung == .exact ? range : Whitespace.trim(bytes, range, leading: rung == .bothEnds)
    }

    static func hash(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, _ rung: Rung) -> Int {
        var hasher = Hasher()
        hasher.combine(
            bytes: UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[self.range(bytes, range, rung)])))
        return hasher.finalize()
    }

    static func hash(_ line: [UInt8], _ rung: Rung) -> Int {
        line.withUnsafeBufferPointer { hash($0, 0..<$0.count, rung) }
    }

    func hashes(_ rung: Rung) -> [Int] {
        if let known = hashes[rung] { return known }
        let made = bytes.withUnsafeBufferPointer { buffer in
            lines.map { SearchedText.hash(buffer, $0.text, rung) }
        }
        hashes[rung] = made
        return made
    }

    /// For each line's hash where it first and last stands.
    private func extents(_ rung: Rung) -> [Int: (first: Int, last: Int)] {
        if let known = extents[rung] { return known }
        var made: [Int: (first: Int, last: Int)] = [:]
        made.reserveCapacity(lines.count)
        for (index, hash) in hashes(rung).enumerated() { made[hash, default: (index, index)].last = index }
        extents[rung] = made
        return made
    }

    /// The part of a range outside which the pattern cannot be, going by where each of its lines occurs at all.
    private func narrowed(_ range: Range<Int>, _ wanted: [Int], _ rung: Rung) -> Range<Int>? {
        let extents = extents(rung)
        var low = range.lowerBound, high = range.upperBound - wanted.count
        for (offset, hash) in wanted.enumerated() {
            guard let extent = extents[hash] else { return nil }
            low = max(low, extent.first - offset)
            high = min(high, extent.last - offset)
        }
        return low <= high ? low..<high + wanted.count : nil
    }

    func equals(_ index: Int, _ line: [UInt8], _ rung: Rung) -> Bool {
        bytes.withUnsafeBufferPointer { mine in
            line.withUnsafeBufferPointer { other in
                let a = SearchedText.range(mine, lines[index].text, rung)
                let b = SearchedText.range(other, 0..<other.count, rung)
                guard a.count == b.count else { return false }
                guard !a.isEmpty, let left = mine.baseAddress, let right = other.baseAddress else { return true }
                return memcmp(left + a.lowerBound, right + b.lowerBound, a.count) == 0
            }
        }
    }

    func fits(_ pattern: [[UInt8]], at index: Int, _ rung: Rung) -> Bool {
        guard index >= 0, index + pattern.count <= lines.count else { return false }
        return pattern.indices.allSatisfy { equals(index + $0, pattern[$0], rung) }
    }

    // MARK: searching

    /// The first places, at most `limit`, that agree on this rung and lie within a range of lines.
    func places(of pattern: [[UInt8]], in range: Range<Int>, _ rung: Rung, limit: Int) -> [Int] {
        guard !pattern.isEmpty, pattern.count <= range.count else { return [] }
        let wanted = pattern.map { SearchedText.hash($0, rung) }
        work += wanted.count
        guard let range = narrowed(range, wanted, rung) else { return [] }
        let hashes = hashes(rung)
        // border[i]: length of the longest proper prefix of wanted[...i] that is its suffix too.
        var border = [Int](repeating: 0, count: wanted.count)
        var length = 0
        for index in wanted.indices.dropFirst() {
            while length > 0, wanted[index] != wanted[length] { length = border[length - 1] }
            if wanted[index] == wanted[length] { length += 1 }
            border[index] = length
        }
        var found: [Int] = []
        length = 0
        for index in range {
            work += 1
            while length > 0, hashes[index] != wanted[length] { length = border[length - 1] }
            if hashes[index] == wanted[length] { length += 1 }
            guard length == wanted.count else { continue }
            let start = index + 1 - length
            if fits(pattern, at: start, rung) {
                found.append(start)
                if found.count == limit { break }
            }
            length = border[length - 1]
        }
        return found
    }

    /// The first line in a range that agrees.
    func first(_ line: [UInt8], in range: Range<Int>, _ rung: Rung) -> Int? {
        places(of: [line], in: range, rung, limit: 1).first
    }
}
