internal import AlcoveStorage

/// Finds the items that may answer a query; `Ranking` orders them. Never more than a bound, whatever the query.
///
/// Which items are found is the same each time: the index is asked in an order that depends on the words and their
/// frequencies alone, and gives the newest first.
struct KeptCandidates {
    /// Most items that are ranked.
    static let limit = 160
    /// How far a word's frequency is counted.
    static let frequencyLimit = 2_000
    /// With how many of the rarest words an intersection begins.
    private static let firstWords = 4
    /// How many finds inside words are looked at for one that is of the wanted kind.
    private static let letterReach = 2_000
    /// Most characters of a text that ranking reads.
    private static let readLength = 1_200

    struct Candidate {
        var number: Int64
        var document: Ranking.Document
    }

    private let transaction: Transaction
    private let words: [String]
    private let kinds: [KeptKind]
    private let isAll: Bool
    private(set) var frequencies: [String: Int] = [:]
    private var numbers: [Int64] = []
    private var seen = Set<Int64>()

    init(_ words: [String], kinds: Set<KeptKind>, in transaction: Transaction) {
        self.transaction = transaction
        self.words = words
        self.kinds = KeptKind.allCases.filter(kinds.contains)
        isAll = kinds.count == KeptKind.allCases.count
    }

    /// Candidates, newest first.
    mutating func find() throws -> [Candidate] {
        for word in words {
            frequencies[word] =
                try transaction.first(
                    "SELECT count(*) FROM (SELECT rowid FROM kept_words WHERE kept_words MATCH ? LIMIT ?)",
                    KeptCandidates.quoted(word), KeptCandidates.frequencyLimit
                ) { $0.int(0) } ?? 0
        }
        // Few enough to be ranked all: nothing has to be looked for.
        let all = try newest(KeptCandidates.limit + 1)
        if all.count <= KeptCandidates.limit {
            numbers = all
        } else {
            try findWords()
            try findLetters()
        }
        return try documents()
    }

    /// How many items there are, and how often the words stand in them.
    func corpus() throws -> Ranking.Corpus {
        let count = try transaction.first("SELECT max(number) FROM kept") { $0.int(0) } ?? 0
        return Ranking.Corpus(count: count, frequencies: frequencies)
    }

    private mutating func take(_ found: [Int64]) {
        for number in found where numbers.count < KeptCandidates.limit && seen.insert(number).inserted {
            numbers.append(number)
        }
    }

    private var isFull: Bool { numbers.count >= KeptCandidates.limit }

    /// As many of the words together as there are items for, then fewer, then each alone; rarest words first.
    private mutating func findWords() throws {
        let rarest = words.filter { (frequencies[$0] ?? 0) > 0 }.sorted {
            (frequencies[$0] ?? 0, $0) < (frequencies[$1] ?? 0, $1)
        }
        if rarest.count > 1 {
            // What has the rarest n words is among what has the rarest n - 1, so that the search begins in the middle and
            // goes on to more words only while those leave too much.
            var found: [Int: [Int64]] = [:]
            var size = min(KeptCandidates.firstWords, rarest.count)
            while true {
                found[size] = try with(rarest.prefix(size), limit: KeptCandidates.limit)
                guard found[size]?.count == KeptCandidates.limit, size < rarest.count else { break }
                size += 1
            }
            while size >= 2, !isFull {
                take(try found[size] ?? with(rarest.prefix(size), limit: KeptCandidates.limit))
                size -= 1
            }
        }
        for word in rarest where !isFull { take(try with([word], limit: KeptCandidates.limit / 2)) }
    }

    /// Inside other words; and where a word is nowhere, its beginning and its end, for what was mistyped.
    private mutating func findLetters() throws {
        for word in words where word.unicodeScalars.count >= 3 {
            let isUnknown = frequencies[word] == 0
            if isUnknown || numbers.count < KeptCandidates.limit / 2 { try takeLetters(word) }
            guard isUnknown, word.count >= 5 else { continue }
            let part = max(3, word.count / 2)
            try takeLetters(String(word.prefix(part)))
            try takeLetters(String(word.suffix(part)))
        }
    }

    private mutating func takeLetters(_ letters: String) throws {
        guard !isFull else { return }
        let wanted = KeptCandidates.limit / 4
        if isAll {
            take(
                try transaction.rows(
                    "SELECT rowid FROM kept_letters WHERE kept_letters MATCH ? ORDER BY rowid DESC LIMIT ?",
                    KeptCandidates.quoted(letters), wanted
                ) { $0.integer(0) })
            return
        }
        // The index of letters knows no kinds. CROSS JOIN keeps the order: the index first, then one look for each find.
        let found = try transaction.rows(
            """
            SELECT number FROM (SELECT rowid AS found FROM kept_letters WHERE kept_letters MATCH ?
                ORDER BY rowid DESC LIMIT \(KeptCandidates.letterReach))
            CROSS JOIN kept ON number = found AND \(isOfKind) LIMIT ?
            """, [KeptCandidates.quoted(letters)] + kindValues + [wanted]
        ) { $0.integer(0) }
        take(found)
    }

    private func with(_ words: some Sequence<String>, limit: Int) throws -> [Int64] {
        let all = words.map(KeptCandidates.quoted).joined(separator: " AND ")
        let marks = kinds.map { KeptCandidates.quoted($0.mark) }.joined(separator: " OR ")
        return try transaction.rows(
            "SELECT rowid FROM kept_words WHERE kept_words MATCH ? ORDER BY rowid DESC LIMIT ?",
            isAll ? all : "\(all) AND (\(marks))", limit
        ) { $0.integer(0) }
    }

    private func newest(_ limit: Int) throws -> [Int64] {
        try transaction.rows("SELECT number FROM kept WHERE \(isOfKind) LIMIT ?", kindValues + [limit]) {
            $0.integer(0)
        }
    }

    private func documents() throws -> [Candidate] {
        if numbers.isEmpty { return [] }
        let places = numbers.map { _ in "?" }.joined(separator: ", ")
        return try transaction.rows(
            """
            SELECT number, id, title, substr(content, 1, \(KeptCandidates.readLength)) FROM kept
            WHERE number IN (\(places)) ORDER BY number DESC
            """, numbers.map { $0 as (any SQLBindable)? }
        ) {
            Candidate(
                number: $0.integer(0),
                document: Ranking.Document(id: $0.text(1), title: $0.text(2), text: $0.text(3)))
        }
    }

    private var isOfKind: String { "kind IN (\(kinds.map { _ in "?" }.joined(separator: ", ")))" }
    private var kindValues: [(any SQLBindable)?] { kinds.map(\.rawValue) }

    /// In double quotes everything is text.
    private static func quoted(_ word: String) -> String { "\"" + word.replacing("\"", with: "\"\"") + "\"" }
}
