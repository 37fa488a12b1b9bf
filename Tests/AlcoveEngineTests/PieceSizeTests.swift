import Testing

@testable import AlcoveEngine

struct PieceSizeTests {
    @Test func beforeAnythingIsMeasuredPiecesAreSmall() {
        #expect(PieceSize().tokens(atMost: 512) == 64)
        #expect(PieceSize().tokens(atMost: 40) == 40)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let perToken: Double
        let step: Double
        let expected: Int
        var testDescription: String { name }
    }

    static let cases = [
        Case(name: "a small model", perToken: 2, step: 14, expected: 64),
        Case(name: "a quick machine", perToken: 0.1, step: 5, expected: 512),
        Case(name: "a large model", perToken: 20, step: 90, expected: 16),
        Case(name: "a step that is late already", perToken: 2, step: 400, expected: 16),
        Case(name: "between", perToken: 1, step: 30, expected: 112),
    ]

    /// Milliseconds as measured on such machines.
    @Test(arguments: cases) func whatAPieceMayCostIsHeld(_ c: Case) {
        var size = PieceSize()
        for _ in 0..<20 {
            size.took(UInt64(c.step * 1e6), prompt: 0, answers: 2)
            size.took(UInt64((c.step + 64 * c.perToken) * 1e6), prompt: 64, answers: 2)
            size.took(UInt64(512 * c.perToken * 1e6), prompt: 512, answers: 0)
        }
        #expect(size.tokens(atMost: 512) == c.expected)
    }

    @Test func aBusyMachineGetsSmallerPieces() {
        var size = PieceSize()
        for _ in 0..<10 { size.took(512_000_000, prompt: 512, answers: 0) }
        let idle = size.tokens(atMost: 512)
        for _ in 0..<10 { size.took(2_048_000_000, prompt: 512, answers: 0) }

        #expect(size.tokens(atMost: 512) < idle / 2)
    }

    @Test func theLastFewTokensOfAPromptSayNothing() {
        var size = PieceSize()
        for _ in 0..<10 { size.took(512_000_000, prompt: 512, answers: 0) }
        let before = size.tokens(atMost: 512)
        for _ in 0..<10 { size.took(15_000_000, prompt: 1, answers: 0) }

        #expect(size.tokens(atMost: 512) == before)
    }
}
