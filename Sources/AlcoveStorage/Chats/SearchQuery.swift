/// The words of a query, and how each is looked for.
struct SearchQuery {
    let words: [String]

    /// At most 8 words and 256 characters: more finds nothing that fewer would not, and costs.
    init(_ text: String) {
        let spaced = text.prefix(256).split { $0.isWhitespace || $0.unicodeScalars.contains { $0.value < 0x20 } }
        var seen = Set<String>()
        words = Array(spaced.map(String.init).filter { seen.insert($0).inserted }.prefix(8))
    }

    /// Words the index knows: "Substrings consisting of fewer than 3 unicode characters do not match any rows when used
    /// with a full-text query" (https://www.sqlite.org/fts5.html#the_trigram_tokenizer). Two letters are a word in Chinese.
    static func isIndexed(_ word: String) -> Bool { word.unicodeScalars.count >= 3 }

    /// The FTS5 expression for one word. In double quotes everything is text.
    static func quoted(_ word: String) -> String { "\"" + word.replacing("\"", with: "\"\"") + "\"" }

    /// The LIKE pattern for a word, for `ESCAPE '\'`.
    static func pattern(_ word: String) -> String {
        "%" + word.replacing("\\", with: "\\\\").replacing("%", with: "\\%").replacing("_", with: "\\_") + "%"
    }

    /// Bytes of an excerpt, and how many of them stand before the first find.
    private static let window = 240, before = 60

    /// The stretch of a text that holds the most different words of the query, with "…" where something is left out.
    func excerpt(of text: String) -> String {
        let bytes = Array(text.utf8)
        if bytes.count <= SearchQuery.window { return text }
        let folded = bytes.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
        var finds: [(at: Int, word: Int)] = []
        for (index, word) in words.enumerated() {
            // As it stands, and in lower case for scripts whose capitals are not folded above.
            for form in Set([word.lowercased(), SearchQuery.folded(word)]) {
                finds += SearchQuery.places(of: Array(form.utf8), in: folded).map { ($0, index) }
            }
        }
        finds.sort { ($0.at, $0.word) < ($1.at, $1.word) }
        var best = (start: 0, count: 0)
        for (index, find) in finds.enumerated() {
            let end = find.at + SearchQuery.window - SearchQuery.before
            let count = Set(finds[index...].prefix { $0.at < end }.map(\.word)).count
            if count > best.count { best = (find.at, count) }
        }
        return SearchQuery.cut(bytes, from: max(0, best.start - SearchQuery.before))
    }

    private static func folded(_ word: String) -> String {
        String(decoding: word.utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }, as: UTF8.self)
    }

    /// The first places of a word; a text that holds it more often is not read on.
    private static func places(of word: [UInt8], in text: [UInt8]) -> [Int] {
        var found: [Int] = [], from = text.startIndex
        while found.count < 20, let range = text[from...].firstRange(of: word) {
            found.append(range.lowerBound)
            from = range.upperBound
        }
        return found
    }

    /// Whole characters, from near a place on.
    private static func cut(_ bytes: [UInt8], from place: Int) -> String {
        func isInside(_ index: Int) -> Bool { index < bytes.count && bytes[index] & 0xC0 == 0x80 }
        var start = place, end = min(bytes.count, place + window)
        while isInside(start) { start += 1 }
        while isInside(end) { end += 1 }
        let middle = String(decoding: bytes[start..<end], as: UTF8.self)
        return (start > 0 ? "…" : "") + middle + (end < bytes.count ? "…" : "")
    }

    /// Cuts a text at the words of the query, whatever their case.
    func mark(_ text: String) -> [SearchHit.Piece] {
        let letters = Array(text)
        let folded = letters.map { $0.lowercased() }
        let wanted = words.map { word in word.map { $0.lowercased() } }
        var marked = [Bool](repeating: false, count: letters.count)
        for word in wanted where !word.isEmpty && word.count <= letters.count {
            for start in 0...(letters.count - word.count)
            where folded[start] == word[0] && folded[start..<start + word.count].elementsEqual(word) {
                for index in start..<start + word.count { marked[index] = true }
            }
        }
        var pieces: [SearchHit.Piece] = []
        var start = 0
        while start < letters.count {
            let end = marked[start...].firstIndex { $0 != marked[start] } ?? letters.count
            pieces.append(SearchHit.Piece(text: String(letters[start..<end]), isMatch: marked[start]))
            start = end
        }
        return pieces
    }
}
