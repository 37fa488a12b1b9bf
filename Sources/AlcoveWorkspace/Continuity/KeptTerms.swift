internal import AlcoveCore
internal import AlcoveStorage

/// What a kept item is about, as far as its words tell: for comparing items with each other.
struct KeptTerms {
    let item: KeptItem
    /// Its words but for those that are in every sentence, numbers and negations; pairs of characters where a script has no
    /// words.
    let words: Set<String>
    let numbers: Set<String>
    /// Whether it says that something is not so.
    let isNegated: Bool

    init(_ item: KeptItem) {
        self.item = item
        let text = item.text.isEmpty ? item.title : item.text
        let all = KeptWords(text.prefix(KeptTerms.readLength)).wanted
        numbers = Set(all.filter { $0.allSatisfy(\.isNumber) })
        isNegated = all.contains { KeptTerms.negations.contains($0) || KeptTerms.isNegation($0) }
        words = Set(all).subtracting(numbers).subtracting(KeptTerms.everywhere).subtracting(KeptTerms.negations)
    }

    /// Most characters of a text that are compared.
    private static let readLength = 2_000

    /// A pair of characters that begins or ends with a Chinese word for "not".
    private static func isNegation(_ pair: String) -> Bool { pair.contains { "不没未别勿".contains($0) } }

    private static let negations: Set<String> = [
        "not", "no", "never", "none", "without", "cannot", "don", "doesn", "didn", "won", "isn", "aren", "wasn",
        "shouldn",
        "mustn", "不", "没", "未", "别", "勿",
    ]

    private static let everywhere: Set<String> = [
        "a", "an", "the", "and", "or", "of", "to", "in", "on", "at", "for", "from", "by", "with", "as", "is", "are",
        "was",
        "were", "be", "been", "it", "its", "this", "that", "these", "those", "we", "i", "you", "they", "he", "she",
        "our",
        "my", "your", "their", "will", "would", "should", "shall", "can", "could", "may", "might", "must", "do", "does",
        "did", "have", "has", "had", "what", "which", "who", "when", "where", "why", "how", "if", "then", "than", "so",
        "but", "because", "there", "here", "about", "into", "up", "out", "t", "s", "use", "uses", "using", "used",
    ]
}

/// Finds which of many items share words with one, without comparing it with each of them.
struct TermIndex {
    /// What one item has in common with another.
    struct Overlap {
        let terms: KeptTerms
        /// Words of both.
        let shared: Int
        /// The share of the first one's words that the other has.
        let coverage: Double
        /// Words of both among the words of either.
        let likeness: Double
    }

    let all: [KeptTerms]
    private var places: [String: [Int]] = [:]

    init(_ all: [KeptTerms]) {
        self.all = all
        for (place, terms) in all.enumerated() { for word in terms.words { places[word, default: []].append(place) } }
    }

    /// Those that share a word with an item, in the index's order, without the item itself.
    func overlaps(of terms: KeptTerms) -> [Overlap] {
        var shared: [Int: Int] = [:]
        for word in terms.words { for place in places[word] ?? [] { shared[place, default: 0] += 1 } }
        return shared.sorted { $0.key < $1.key }.compactMap { place, count in
            let other = all[place]
            if other.item.id == terms.item.id { return nil }
            return Overlap(
                terms: other, shared: count, coverage: Double(count) / Double(terms.words.count),
                likeness: Double(count) / Double(terms.words.count + other.words.count - count))
        }
    }
}

extension Transaction {
    /// The newest items of a type of knowledge, to be compared.
    func terms(of type: KnowledgeType, limit: Int) throws -> [KeptTerms] {
        try keptItems("kind = 'knowledge' AND type = ? ORDER BY number DESC LIMIT ?", [type.rawValue, limit])
            .map(KeptTerms.init)
    }

    func openTasks(limit: Int) throws -> [KeptTerms] {
        try keptItems("kind = 'task' AND state = 'open' ORDER BY number DESC LIMIT ?", [limit]).map(KeptTerms.init)
    }
}

/// Kept items named in a sentence, so that each can be looked up.
enum Cited {
    static func one(_ item: KeptItem) -> String { "\"\(item.title)\" (\(item.id.text.prefix(8)))" }

    static func list(_ items: [KeptItem]) -> String { items.map(one).joined(separator: ", ") }
}
