/// Where a hunk goes.
struct HunkPlacement {
    /// The first line that is looked for, or before which the hunk's lines go in.
    var start: Int
    var searchedCount: Int
    var fuzz: Int
    /// Further places that would fit as well, when nothing but order decided.
    var others: [Int] = []
    /// Empty lines at the end of the hunk that turned out to be gaps of the patch, not context.
    var gaps = 0
}

/// Finds the places of the hunks of one file, one after another from the top.
struct HunkPlacer {
    /// Lines that may be looked at for one file: about two seconds.
    private static let workLimit = 500_000_000

    let path: String
    let text: SearchedText
    private var cursor = 0
    private var number = 0

    init(path: String, text: SearchedText) {
        self.path = path
        self.text = text
    }

    mutating func place(_ hunk: Patch.Hunk) throws(PatchError) -> HunkPlacement {
        number += 1
        let floor = cursor
        let anchors = follow(hunk.anchors)
        cursor = anchors.cursor

        if text.work > HunkPlacer.workLimit {
            throw .unusable(path: path, reason: "finding the places of all hunks takes too long")
        }

        let lines = hunk.lines.filter { $0.kind != .add }
        let gaps = hunk.lines.reversed().prefix(while: \.isBare).count
        let patterns = HunkPlacer.patterns(lines, gaps: gaps)
        for (pattern, gaps) in patterns {
            guard var found = search(pattern, hunk, anchors, floor: floor) else { continue }
            found.gaps = gaps
            found.fuzz += anchors.fuzz
            cursor = found.start + found.searchedCount
            return found
        }
        throw miss(patterns[0].pattern, hunk, floor: floor, anchor: anchors.line)
    }

    /// What to look for: all context and deleted lines, and then without empty lines at the end.
    ///
    /// Empty lines alone tell no place: a gap before the next section would drag an insertion to the next empty line.
    private static func patterns(_ lines: [Patch.Line], gaps: Int) -> [(pattern: [[UInt8]], gaps: Int)] {
        let all = lines.map(\.text)
        let short = (pattern: Array(all.dropLast(gaps)), gaps: gaps)
        if gaps == 0 { return [(all, 0)] }
        return short.pattern.isEmpty ? [short] : [(all, 0), short]
    }

    // MARK: anchors

    private struct Anchors {
        var cursor: Int
        var fuzz = 0
        /// The line the last anchor was found at, when that moved the cursor.
        var line: Int?
        /// No anchor with a text was found.
        var allMissed = false
    }

    private func follow(_ anchors: [[UInt8]]) -> Anchors {
        var result = Anchors(cursor: cursor)
        var behind = 0  // what an earlier anchor of the same hunk has passed is another scope
        let named = anchors.filter { !$0.isEmpty }
        var found = 0
        for anchor in named {
            for rung in [Rung.exact, .bothEnds] {
                if text.first(anchor, in: behind..<result.cursor, rung) != nil {
                    found += 1
                    break
                }
                guard let line = text.first(anchor, in: result.cursor..<text.lines.count, rung) else { continue }
                found += 1
                result.cursor = line + 1
                result.line = line
                result.fuzz += rung == .exact ? 0 : 1
                behind = line + 1
                break
            }
        }
        result.allMissed = !named.isEmpty && found == 0
        return result
    }

    // MARK: lines

    private func search(
        _ pattern: [[UInt8]], _ hunk: Patch.Hunk, _ anchors: Anchors, floor: Int
    ) -> HunkPlacement? {
        let count = text.lines.count
        if pattern.isEmpty {
            // Nothing tells the place but the anchor: if that is not there, the top of the file would be a guess.
            if anchors.allMissed, !hunk.isAtEnd, count > 0 { return nil }
            return HunkPlacement(start: hunk.isAtEnd ? count : cursor, searchedCount: 0, fuzz: 0)
        }
        if hunk.isAtEnd, count - pattern.count >= cursor {
            for rung in Rung.allCases where text.fits(pattern, at: count - pattern.count, rung) {
                return HunkPlacement(start: count - pattern.count, searchedCount: pattern.count, fuzz: rung.fuzz)
            }
        }
        var best: HunkPlacement?
        for rung in Rung.allCases {
            let places = text.places(of: pattern, in: cursor..<count, rung, limit: 4)
            guard let first = places.first else { continue }
            let fuzz = rung.fuzz + (hunk.isAtEnd ? 10_000 : 0)
            best = HunkPlacement(start: first, searchedCount: pattern.count, fuzz: fuzz)
            if anchors.line == nil { best?.others = Array(places.dropFirst()) }
            break
        }
        // Models write the anchor's line again as the first line of context.
        if let line = anchors.line, line >= floor, text.equals(line, pattern[0], .bothEnds) {
            for rung in Rung.allCases where text.fits(pattern, at: line, rung) {
                return HunkPlacement(start: line, searchedCount: pattern.count, fuzz: rung.fuzz)
            }
        }
        return best
    }

    // MARK: misses

    private func miss(_ pattern: [[UInt8]], _ hunk: Patch.Hunk, floor: Int, anchor: Int?) -> PatchError {
        if pattern.isEmpty {
            let named = hunk.anchors.last { !$0.isEmpty }.map { PatchReader.shown($0) }
            return .missed(
                HunkMiss(
                    path: path, hunk: number, lineCount: text.lines.count, searched: [], searchedCount: 0, nearest: [],
                    anchor: named))
        }
        for rung in Rung.allCases {
            guard let line = text.places(of: pattern, in: 0..<text.lines.count, rung, limit: 1).first else { continue }
            return .outOfOrder(path: path, hunk: number, line: line + 1, passed: max(floor, (anchor ?? -1) + 1))
        }
        let stripped = pattern.map(NearestLines.withoutNumber)
        let isNumbered =
            !pattern.isEmpty && stripped.contains { $0 != nil }
            && Rung.allCases.contains { rung in
                let lines = zip(stripped, pattern).map { $0 ?? $1 }
                return !text.places(of: lines, in: 0..<text.lines.count, rung, limit: 1).isEmpty
            }
        return .missed(
            HunkMiss(
                path: path, hunk: number, lineCount: text.lines.count,
                searched: pattern.prefix(8).map { PatchReader.shown($0) }, searchedCount: pattern.count,
                nearest: NearestLines.excerpt(of: text, around: pattern, anchor: anchor), hasLineNumbers: isNumbered))
    }
}
