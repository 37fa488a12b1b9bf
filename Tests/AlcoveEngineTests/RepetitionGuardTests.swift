import Testing

@testable import AlcoveEngine

/// Field report: an answer that never ends because it says the same for ever.
struct RepetitionGuardTests {
    /// How many tokens of the list are taken before a loop is seen; nil when none is.
    private func taken(_ tokens: some Sequence<Int>) -> Int? {
        var repetition = RepetitionGuard()
        for (index, token) in tokens.enumerated() where repetition.isLoop(with: Int32(token)) { return index + 1 }
        return nil
    }

    @Test(arguments: [(1, 128), (3, 128), (16, 128), (17, 136), (32, 256), (64, 512)])
    func aUnitIsALoopFromTheEighthCopyAndHundredAndTwentyEightTokens(unit: Int, tokens: Int) {
        #expect(taken((0..<10_000).lazy.map { $0 % unit }) == tokens)
    }

    @Test func whatCameBeforeDoesNotMatter() {
        let before = Array(1_000..<1_777)
        #expect(taken(before + (0..<500).map { $0 % 5 }) == before.count + 128)
    }

    @Test func longerUnitsAndNearMissesAreNoLoop() {
        #expect(taken((0..<10_000).lazy.map { $0 % 65 }) == nil)
        // One different token in each hundred.
        #expect(taken((0..<10_000).lazy.map { $0 % 100 == 0 ? $0 : 7 }) == nil)
        // A list that counts on: the number changes, the rest does not.
        #expect(taken((0..<10_000).lazy.map { $0 % 4 == 0 ? 100 + $0 : $0 % 4 }) == nil)
    }
}
