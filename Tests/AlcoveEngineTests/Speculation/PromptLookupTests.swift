import Testing

@testable import AlcoveEngine

struct PromptLookupTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let tokens: [Int32]
        let last: Int32
        let expected: [Int32]?
        var matched = 3
        var testDescription: String { name }
    }

    static let cases = [
        Case(name: "three tokens", tokens: [1, 2, 3, 4, 5, 6, 9, 1, 2], last: 3, expected: [4, 5, 6]),
        Case(name: "the newest place", tokens: [1, 2, 3, 4, 1, 2, 3, 5, 1, 2], last: 3, expected: [5, 1, 2]),
        Case(
            name: "three before a newer two", tokens: [1, 2, 3, 4, 5, 6, 8, 2, 3, 7, 1, 2], last: 3,
            expected: [4, 5, 6]),
        Case(name: "two tokens", tokens: [7, 2, 3, 4, 5, 6, 1, 2], last: 3, expected: [4, 5, 6], matched: 2),
        Case(name: "one token is too few", tokens: [7, 3, 4, 5, 1, 2], last: 3, expected: nil),
        Case(name: "at the very beginning", tokens: [2, 3, 4, 5, 6, 2], last: 3, expected: [4, 5, 6], matched: 2),
        Case(name: "a circle goes on", tokens: [1, 2, 1, 2, 1], last: 2, expected: [1, 2, 1]),
        Case(name: "one token over and over", tokens: [5, 5, 5], last: 5, expected: [5, 5, 5]),
        Case(name: "too short", tokens: [5], last: 5, expected: nil),
        Case(name: "nothing", tokens: [], last: 5, expected: nil),
    ]

    @Test(arguments: cases) func guessesWhatFollowed(_ c: Case) {
        let draft = PromptLookup.draft(after: c.tokens, c.last, count: 3)

        #expect(draft?.tokens == c.expected)
        if c.expected != nil { #expect(draft?.source == (c.matched == 3 ? .threeTokens : .twoTokens)) }
    }
}
