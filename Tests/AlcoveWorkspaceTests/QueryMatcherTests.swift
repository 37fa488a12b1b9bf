import AlcoveStorage
import Testing

@testable import AlcoveWorkspace

struct QueryMatcherTests {
    /// What is compared by numbers is what comparing the strings would tell.
    @Test func numbersTellWhatStringsTell() throws {
        var draw = Draw(seed: 7)
        let alphabet = [
            "a", "b", "ab", "cd", "red", "Red", "house", "houses", "é", "Ж", "ж", "模", "型", "天气", "モデ", "날", "9",
        ]
        let gaps = ["", " ", " ", ", ", "-", "\n"]
        func text(_ longest: Int) -> String {
            (0..<draw.next(longest)).map { _ in alphabet[draw.next(alphabet.count)] + gaps[draw.next(gaps.count)] }
                .joined()
        }
        var found = 0
        for _ in 0..<3_000 {
            let ranking = Ranking(text(8)), title = text(4), body = text(40)
            guard !ranking.isEmpty else { continue }
            let matcher = try #require(ranking.matcher)
            let numbers = try #require(matcher.read(title: KeptLine(title), text: KeptLine(body)))
            let strings = ranking.read(KeptWords(title), KeptWords(body))
            #expect(numbers == strings, "\(ranking.words) in \(title) / \(body)")
            found += numbers.neighbours
        }
        #expect(found > 50)
    }

    /// Spellings with marks of their own, scripts with clusters: compared as text, so that one spelling finds the other.
    @Test(arguments: [("cafe\u{301}", "a café"), ("café", "a cafe\u{301}"), ("ภาษาไทย", "ภาษาไทย"), ("😀", "so 😀")])
    func whatHasSeveralSpellingsIsComparedAsText(_ query: String, _ text: String) {
        let documents = ["nothing", text].map { Ranking.Document(id: $0, text: $0) }
        #expect(Ranking(query).hits(in: documents).map(\.index) == [1])
    }
}

/// A small generator, so that every run draws the same.
private struct Draw {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % limit
    }
}
