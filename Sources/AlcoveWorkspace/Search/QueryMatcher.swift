internal import AlcoveStorage

/// What a query sees of a document.
struct RankedText: Sendable, Hashable {
    /// How often each word of the query stands in it.
    var frequencies: [Int]
    var length = 0
    /// How many of the query's neighbours stand side by side in it.
    var neighbours = 0
    /// How many of the query's trigrams it has.
    var trigrams = 0

    init(words: Int) { frequencies = [Int](repeating: 0, count: words) }
}

/// Finds the words, neighbours and trigrams of one query in texts, by numbers only.
///
/// It tells what comparing strings would tell (`Ranking.read`), some thirty times as fast, for texts in which equal text is
/// equal scalars (`KeptLine.isPlain`).
struct QueryMatcher: Sendable {
    private let wordCount: Int
    private let words: NumberTable
    private let pieces: NumberTable
    /// Numbers of pieces that stand side by side in the query, a pair as often as it does.
    private let pairs: [(first: Int, second: Int)]
    /// Stretches of scripts without spaces that are phrases by themselves.
    private let phrases: [[UInt32]]
    private let trigrams: NumberTable
    private let trigramCount: Int

    /// Nil for a query that has to be compared as text.
    init?(_ line: KeptLine, words: [String], trigrams: [UInt64: Int]) {
        guard line.isPlain else { return nil }
        wordCount = words.count
        self.words = NumberTable(words.map { QueryMatcher.key($0.unicodeScalars.map(\.value)[...]) })
        let all = line.pieces.prefix(Ranking.queryWords)
        var keys: [UInt64] = []
        let numbers = all.map { piece -> Int in
            let key = QueryMatcher.key(line.scalars[piece.start..<piece.end])
            if let known = keys.firstIndex(of: key) { return known }
            keys.append(key)
            return keys.count - 1
        }
        pieces = NumberTable(keys)
        pairs = zip(numbers, numbers.dropFirst()).map { ($0, $1) }
        phrases = all.filter { $0.isSpaceless && $0.end - $0.start > 2 }.map { Array(line.scalars[$0.start..<$0.end]) }
        self.trigrams = NumberTable(trigrams.sorted { $0.value < $1.value }.map(\.key))
        trigramCount = trigrams.count
    }

    /// - Returns: nil for a text that has to be compared as text.
    func read(title: KeptLine, text: KeptLine) -> RankedText? {
        guard title.isPlain, text.isPlain else { return nil }
        var seen = Seen(matcher: self)
        seen.read(title, times: Ranking.titleWeight, matcher: self)
        seen.read(text, times: 1, matcher: self)
        var found = seen.found
        if found.frequencies.contains(where: { $0 > 0 }) {
            found.neighbours =
                pairs.count { seen.pairs.contains($0.first * Ranking.queryWords + $0.second) }
                + phrases.count { phrase in
                    [title, text].contains { line in QueryMatcher.holds(line, phrase) }
                }
        }
        return found
    }

    private static func holds(_ line: KeptLine, _ phrase: [UInt32]) -> Bool {
        line.pieces.contains { piece in
            guard piece.isSpaceless, piece.end - piece.start >= phrase.count else { return false }
            return (piece.start...piece.end - phrase.count).contains { start in
                phrase.indices.allSatisfy { line.scalars[start + $0] == phrase[$0] }
            }
        }
    }

    /// What was seen of one document so far.
    private struct Seen {
        var found: RankedText
        var pairs: Set<Int> = []
        private var trigrams: [Bool]

        init(matcher: QueryMatcher) {
            found = RankedText(words: matcher.wordCount)
            trigrams = [Bool](repeating: false, count: matcher.trigramCount)
        }

        mutating func read(_ line: KeptLine, times: Int, matcher: QueryMatcher) {
            var before = -1
            for piece in line.pieces {
                let range = line.scalars[piece.start..<piece.end]
                let key = QueryMatcher.key(range)
                if piece.isSpaceless {
                    found.length += times * range.count
                    countCharacters(range, times, matcher)
                } else {
                    found.length += times
                    let word = matcher.words.number(of: key)
                    if word >= 0 { found.frequencies[word] += times }
                }
                let number = matcher.pieces.number(of: key)
                if before >= 0, number >= 0 { pairs.insert(before * Ranking.queryWords + number) }
                before = number
                if matcher.trigramCount > 0 { countTrigrams(range, matcher) }
            }
        }

        /// Every character, and every pair of neighbours.
        private mutating func countCharacters(_ range: ArraySlice<UInt32>, _ times: Int, _ matcher: QueryMatcher) {
            for index in range.indices {
                let word = matcher.words.number(of: QueryMatcher.key(range[index...index]))
                if word >= 0 { found.frequencies[word] += times }
                guard index + 1 < range.endIndex else { continue }
                let pair = matcher.words.number(of: QueryMatcher.key(range[index...index + 1]))
                if pair >= 0 { found.frequencies[pair] += times }
            }
        }

        private mutating func countTrigrams(_ range: ArraySlice<UInt32>, _ matcher: QueryMatcher) {
            guard range.count >= 3 else { return }
            for index in range.startIndex + 2..<range.endIndex {
                let key = Ranking.trigram(range[index - 2], range[index - 1], range[index])
                let number = matcher.trigrams.number(of: key)
                if number >= 0, !trigrams[number] {
                    trigrams[number] = true
                    found.trigrams += 1
                }
            }
        }
    }

    /// A number for a stretch of scalars (FNV-1a over whole scalars). Of 64 bits, so that two words of one search never
    /// share one in practice; if they did, one text would stand in a wrong place.
    private static func key(_ scalars: ArraySlice<UInt32>) -> UInt64 {
        var key: UInt64 = 0xCBF2_9CE4_8422_2325
        for scalar in scalars { key = (key ^ UInt64(scalar)) &* 0x100_0000_01B3 }
        return key ^ key >> 29
    }
}

/// Numbers of keys by their place in a list: a table with open places, made once and read often.
struct NumberTable: Sendable {
    private var keys: [UInt64]
    /// Negative where nothing is.
    private var numbers: [Int32]
    private let mask: Int

    init(_ list: [UInt64]) {
        var size = 16
        while size < list.count * 4 { size *= 2 }
        keys = [UInt64](repeating: 0, count: size)
        numbers = [Int32](repeating: -1, count: size)
        mask = size - 1
        for (number, key) in list.enumerated() {
            var place = NumberTable.place(key, mask)
            while numbers[place] >= 0 { place = (place + 1) & mask }
            (keys[place], numbers[place]) = (key, Int32(number))
        }
    }

    /// - Returns: -1 for a key that is not in the list.
    func number(of key: UInt64) -> Int {
        var place = NumberTable.place(key, mask)
        while numbers[place] >= 0 {
            if keys[place] == key { return Int(numbers[place]) }
            place = (place + 1) & mask
        }
        return -1
    }

    private static func place(_ key: UInt64, _ mask: Int) -> Int {
        Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 40) & mask
    }
}
