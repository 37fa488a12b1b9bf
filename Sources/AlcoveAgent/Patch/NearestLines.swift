/// The part of a file that is most like lines which are not in it: what a model needs to mend its patch.
enum NearestLines {
    private static let excerptLimit = 2048
    private static let lineLimit = 200

    /// Numbered lines of the file around the most likely place.
    static func excerpt(of text: SearchedText, around pattern: [[UInt8]], anchor: Int?) -> [String] {
        guard !text.lines.isEmpty else { return [] }
        let place = bestByEqualLines(text, pattern) ?? bestByLikeness(text, pattern) ?? anchor ?? 0
        let first = max(0, min(place, text.lines.count - 1) - 1)
        let last = min(text.lines.count - 1, first + max(4, min(pattern.count, 40)) + 1)
        var lines: [String] = []
        var size = 0
        for index in first...last {
            let number = String(index + 1)
            let padding = String(repeating: " ", count: max(0, 5 - number.count))
            let line = "\(padding)\(number) | \(PatchReader.shown(Array(text.text(of: index)), limit: lineLimit))"
            size += line.utf8.count + 1
            if size > excerptLimit { break }
            lines.append(line)
        }
        return lines
    }

    /// The offset at which most lines agree, white space at the ends aside.
    private static func bestByEqualLines(_ text: SearchedText, _ pattern: [[UInt8]]) -> Int? {
        var wanted: [Int: [Int]] = [:]
        for (index, line) in pattern.prefix(200).enumerated() where !Whitespace.trimmed(line).isEmpty {
            let hash = SearchedText.hash(line, .bothEnds)
            // A line that comes again and again tells little, and counting it would cost the product of both.
            if wanted[hash, default: []].count < 4 { wanted[hash, default: []].append(index) }
        }
        var votes: [Int: Int] = [:]
        for (line, hash) in text.hashes(.bothEnds).enumerated() {
            for index in wanted[hash] ?? [] where line >= index { votes[line - index, default: 0] += 1 }
        }
        return votes.max { ($0.value, -$0.key) < ($1.value, -$1.key) }?.key
    }

    /// The line most like the first line that says something, by pairs of letters.
    private static func bestByLikeness(_ text: SearchedText, _ pattern: [[UInt8]]) -> Int? {
        guard let line = pattern.first(where: { Whitespace.trimmed($0).count > 1 }) else { return nil }
        let wanted = Pairs(Whitespace.trimmed(line))
        var best: (score: Double, index: Int)?
        for index in text.lines.indices {
            let score = wanted.likeness(Pairs(text.text(of: index)))
            if score > 0.3, score > best?.score ?? 0 { best = (score, index) }
        }
        return best?.index
    }

    /// Which pairs of neighbouring letters occur, in 256 drawers.
    private struct Pairs {
        private var bits = SIMD4<UInt64>.zero

        init(_ line: ArraySlice<UInt8>) {
            for (a, b) in zip(line.prefix(lineLimit), line.prefix(lineLimit).dropFirst()) where a != 0x20 || b != 0x20 {
                let drawer = (Int(a) &* 31 &+ Int(b)) & 255
                bits[drawer >> 6] |= 1 << UInt64(drawer & 63)
            }
        }

        private static func count(_ bits: SIMD4<UInt64>) -> Int {
            (0..<4).reduce(0) { $0 + bits[$1].nonzeroBitCount }
        }

        func likeness(_ other: Pairs) -> Double {
            let both = Pairs.count(bits & other.bits), all = Pairs.count(bits) + Pairs.count(other.bits)
            return all == 0 ? 0 : 2 * Double(both) / Double(all)
        }
    }

    /// A line without the number that read_file and others put before it; nil when there is none.
    static func withoutNumber(_ line: [UInt8]) -> [UInt8]? {
        var rest = line[...].drop { $0 == 0x20 || $0 == 0x09 }
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard !digits.isEmpty else { return nil }
        rest = rest.dropFirst(digits.count)
        if rest.starts(with: " |".utf8) {
            rest = rest.dropFirst(2)
        } else if let mark = rest.first, [UInt8(ascii: "|"), UInt8(ascii: ":"), 0x09].contains(mark) {
            rest = rest.dropFirst()
        } else if rest.starts(with: "→".utf8) {
            rest = rest.dropFirst(3)
        } else {
            return nil
        }
        if rest.first == 0x20 { rest = rest.dropFirst() }
        return Array(rest)
    }
}
