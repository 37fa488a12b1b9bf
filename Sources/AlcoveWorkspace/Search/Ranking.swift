package import AlcoveCore
internal import AlcoveStorage

/// Orders texts by how well they answer a query: by words alone, no vectors.
///
/// Four signals, each between 0 and 1: how telling the words are that were found (as BM25 counts), whether they stand side
/// by side as in the query, how much of the query was found, and how many of its triples of characters. The same input
/// gives the same order on every device; texts that are equally good keep the order they came in.
package struct Ranking: Sendable {
    /// Something that can be found.
    package struct Document: Sendable {
        package var id: String
        package var title: String
        package var text: String

        package init(id: String, title: String = "", text: String) {
            self.id = id
            self.title = title
            self.text = text
        }
    }

    /// Why a text stands where it does.
    package struct Signals: Sendable, Hashable {
        package var words = 0.0
        package var phrase = 0.0
        package var coverage = 0.0
        package var trigrams = 0.0
        /// Words of the query that the text holds, in the query's order.
        package var found: [String] = []

        package var score: Double {
            let sum = 0.6 * words + 0.15 * phrase + 0.15 * coverage + 0.1 * trigrams
            // To a fixed number of digits: the last ones depend on the order of additions.
            return (sum * 1e9).rounded() / 1e9
        }

        package var json: JSONValue {
            [
                "words": .double(words), "phrase": .double(phrase), "coverage": .double(coverage),
                "trigrams": .double(trigrams), "found": .array(found.map { .string($0) }),
            ]
        }
    }

    package struct Hit: Sendable, Hashable {
        /// Place among the documents that were given.
        package var index: Int
        package var signals: Signals
    }

    /// What is known of all texts, of which those ranked may be a few.
    package struct Corpus: Sendable {
        package var count: Int
        /// In how many of them a word stands.
        package var frequencies: [String: Int]

        package init(count: Int, frequencies: [String: Int]) {
            self.count = count
            self.frequencies = frequencies
        }
    }

    /// Most words of a query that count, and most characters that are read of it.
    package static let queryWords = 24, queryLength = 512
    /// Below this share of trigrams a text without a word of the query is no hit.
    static let likeness = 0.45
    /// What a word of the title counts, in words of the text.
    static let titleWeight = 3
    private static let saturation = 1.2, lengthShare = 0.75

    /// The query's words, without repetitions, in order.
    package let words: [String]
    private let neighbours: [String]
    private let trigrams: [UInt64: Int]
    /// Nil where words have to be compared as text.
    let matcher: QueryMatcher?

    package init(_ query: String) {
        let line = KeptLine(query.prefix(Ranking.queryLength))
        let parsed = KeptWords(line)
        var seen = Set<String>()
        words = Array(parsed.wanted.filter { seen.insert($0).inserted }.prefix(Ranking.queryWords))
        let pieces = parsed.pieces.prefix(Ranking.queryWords)
        // Two words that stand together; a spaceless piece of three characters or more is a phrase by itself.
        neighbours =
            zip(pieces, pieces.dropFirst()).map { $0.text + " " + $1.text }
            + pieces.filter { $0.isSpaceless && $0.text.count > 2 }.map(\.text)
        var trigrams: [UInt64: Int] = [:]
        for piece in pieces {
            for key in Ranking.trigrams(piece.text.unicodeScalars.map(\.value)) where trigrams[key] == nil {
                trigrams[key] = trigrams.count
            }
        }
        self.trigrams = trigrams
        matcher = QueryMatcher(line, words: words, trigrams: trigrams)
    }

    package var isEmpty: Bool { words.isEmpty }

    /// The hits among the documents, best first.
    ///
    /// - Parameter corpus: Nil when the documents are all there is.
    package func hits(in documents: [Document], corpus: Corpus? = nil, limit: Int = 50) -> [Hit] {
        if words.isEmpty || limit <= 0 { return [] }
        let contents = documents.map(content)
        let count = max(corpus?.count ?? documents.count, documents.count, 1)
        let weights = words.indices.map { word in
            let among = contents.count { $0.frequencies[word] > 0 }
            return weight(max(corpus?.frequencies[words[word]] ?? 0, among), of: count)
        }
        let average = max(1, Double(contents.reduce(0) { $0 + $1.length }) / Double(max(1, contents.count)))
        let scored = contents.indices.compactMap { index -> (hit: Hit, score: Double)? in
            guard let signals = signals(contents[index], weights: weights, average: average) else { return nil }
            return (Hit(index: index, signals: signals), signals.score)
        }
        let order = scored.sorted { ($0.score, $1.hit.index) > ($1.score, $0.hit.index) }
        return order.prefix(limit).map(\.hit)
    }

    private func weight(_ frequency: Int, of count: Int) -> Double {
        log(1 + (Double(max(0, count - frequency)) + 0.5) / (Double(frequency) + 0.5))
    }

    private func signals(_ content: RankedText, weights: [Double], average: Double) -> Signals? {
        var signals = Signals()
        var all = 0.0, found = 0.0, scored = 0.0
        let room =
            Ranking.saturation * (1 - Ranking.lengthShare + Ranking.lengthShare * Double(content.length) / average)
        for (word, weight) in weights.enumerated() {
            all += weight
            let frequency = Double(content.frequencies[word])
            guard frequency > 0 else { continue }
            found += weight
            scored += weight * frequency / (frequency + room)
            signals.found.append(words[word])
        }
        if !trigrams.isEmpty { signals.trigrams = Double(content.trigrams) / Double(trigrams.count) }
        guard !signals.found.isEmpty || signals.trigrams >= Ranking.likeness else { return nil }
        if all > 0 {
            signals.words = scored / all
            signals.coverage = found / all
        }
        if !neighbours.isEmpty {
            signals.phrase = Double(content.neighbours) / Double(neighbours.count)
        }
        return signals
    }

    /// What the query sees of a document.
    private func content(_ document: Document) -> RankedText {
        let title = KeptLine(document.title), text = KeptLine(document.text)
        return matcher?.read(title: title, text: text) ?? read(KeptWords(title), KeptWords(text))
    }

    /// The same by comparing strings, for every script and spelling.
    func read(_ title: KeptWords, _ text: KeptWords) -> RankedText {
        let numbers = Dictionary(uniqueKeysWithValues: words.enumerated().map { ($1, $0) })
        var content = RankedText(words: words.count)
        count(title, times: Ranking.titleWeight, numbers, in: &content)
        count(text, times: 1, numbers, in: &content)
        let lines = [title.line, text.line]
        if content.frequencies.contains(where: { $0 > 0 }) {
            let padded = lines.map { Array((" " + $0 + " ").utf8) }
            content.neighbours = neighbours.count { pair in
                // Whole words, except where a script has none.
                let isPair = pair.contains(" ")
                let wanted = Array((isPair ? " " + pair + " " : pair).utf8)
                return padded.contains { $0.firstRange(of: wanted) != nil }
            }
        }
        var seen = [Bool](repeating: false, count: trigrams.count)
        for line in lines {
            for key in Ranking.trigrams(line.unicodeScalars.map(\.value)) {
                if let number = trigrams[key], !seen[number] {
                    seen[number] = true
                    content.trigrams += 1
                }
            }
        }
        return content
    }

    private func count(_ words: KeptWords, times: Int, _ numbers: [String: Int], in content: inout RankedText) {
        for piece in words.pieces {
            guard piece.isSpaceless else {
                content.length += times
                if let number = numbers[piece.text] { content.frequencies[number] += times }
                continue
            }
            let letters = Array(piece.text)
            content.length += times * letters.count
            for (index, letter) in letters.enumerated() {
                if let number = numbers[String(letter)] { content.frequencies[number] += times }
                guard index + 1 < letters.count else { continue }
                if let number = numbers[String(letters[index...index + 1])] { content.frequencies[number] += times }
            }
        }
    }

    /// Each three scalars in a row.
    private static func trigrams(_ scalars: [UInt32]) -> [UInt64] {
        if scalars.count < 3 { return [] }
        return (2..<scalars.count).map { trigram(scalars[$0 - 2], scalars[$0 - 1], scalars[$0]) }
    }

    /// Three scalars packed; one needs 21 bits.
    static func trigram(_ first: UInt32, _ second: UInt32, _ third: UInt32) -> UInt64 {
        UInt64(first) << 42 | UInt64(second) << 21 | UInt64(third)
    }
}
