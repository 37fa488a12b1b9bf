/// What an answer that went round in a circle repeated, in words for the person and the model.
///
/// Finds the shortest unit of at most 512 characters that the text ends with at least four times, 64 characters in all.
struct TextLoop: Equatable {
    let unit: String
    let count: Int

    static let window = 8_192
    private static let longestUnit = 512
    private static let fewestCopies = 4
    private static let fewestCharacters = 64

    init?(endOf text: String) {
        let tail = Array(text.suffix(TextLoop.window))
        for period in 1...TextLoop.longestUnit {
            guard period * TextLoop.fewestCopies <= tail.count else { return nil }
            var index = tail.count - 1
            while index >= period, tail[index] == tail[index - period] { index -= 1 }
            let length = tail.count - 1 - index + period
            if length >= max(period * TextLoop.fewestCopies, TextLoop.fewestCharacters) {
                unit = String(tail[(tail.count - period)...])
                count = length / period
                return
            }
        }
        return nil
    }

    /// The unit in quotation marks and on one line, and how often it came.
    var quoted: String {
        let line = unit.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let shown = line.count > 48 ? line.prefix(47) + "…" : Substring(line)
        return shown.isEmpty ? "blank space came \(count) times" : "“\(shown)” came \(count) times"
    }
}
