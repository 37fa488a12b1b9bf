import Testing

@testable import AlcoveEngine

/// Decides on made-up costs: what it does must not depend on this machine.
struct SpeculationGovernorTests {
    /// A machine on which a step of 4 or 8 rows costs this many plain ones.
    private struct Machine {
        var four: Double
        var eight: Double

        func cost(_ rows: Int) -> UInt64 {
            UInt64(1_000_000 * (rows == 1 ? 1 : rows <= 4 ? four : eight))
        }
    }

    /// Tokens and time of so many steps, in which every so-many-th drafted token fails.
    private func run(
        _ steps: Int, on machine: Machine, matched: Int = 3, _ governor: inout SpeculationGovernor,
        comesTrue: (Int) -> Bool
    ) -> (tokens: Int, time: UInt64, drafts: [Int]) {
        var tokens = 0, time: UInt64 = 0, drafts: [Int] = [], count = 0
        for _ in 0..<steps {
            let length = governor.length(matched: matched)
            let cost = machine.cost(length + 1)
            governor.took(cost, rows: length + 1)
            var accepted = 0
            for _ in 0..<length {
                count += 1
                guard comesTrue(count) else { break }
                accepted += 1
            }
            if length > 0 { governor.took(accepted, of: length, matched: matched) }
            tokens += 1 + accepted
            time += cost
            drafts.append(length)
        }
        return (tokens, time, drafts)
    }

    @Test func measuresBeforeItDrafts() {
        var governor = SpeculationGovernor()
        #expect(run(4, on: Machine(four: 1, eight: 1), &governor) { _ in true }.drafts.prefix(3) == [0, 0, 0])
        #expect(run(1, on: Machine(four: 1, eight: 1), &governor) { _ in true }.drafts != [0])
    }

    @Test func quotingIsDraftedInFullLength() {
        var governor = SpeculationGovernor()
        let result = run(400, on: Machine(four: 2.1, eight: 3.4), &governor) { _ in true }

        #expect(Double(result.tokens) * 1e6 / Double(result.time) > 2.1)
        #expect(result.drafts.count { $0 == 7 } > 350)
    }

    /// Nothing is ever right: at most three parts in a hundred may be lost.
    @Test(arguments: [2, 3]) func proseIsLeftAlone(matched: Int) {
        var governor = SpeculationGovernor()
        let result = run(2_000, on: Machine(four: 2.1, eight: 3.4), matched: matched, &governor) { _ in false }

        #expect(Double(result.tokens) * 1e6 / Double(result.time) > 0.97)
        #expect(result.drafts.contains { $0 > 0 }, "it never tried")
    }

    @Test func aMachineOnWhichRowsCostStepsGetsNoDrafts() {
        var governor = SpeculationGovernor()
        let result = run(2_000, on: Machine(four: 4, eight: 8), &governor) { _ in true }

        #expect(Double(result.tokens) * 1e6 / Double(result.time) > 0.97)
        #expect(result.drafts.count { $0 > 0 } < 60)
    }

    @Test func whatWasParkedIsTriedAgainAndTakenUp() {
        var governor = SpeculationGovernor()
        let machine = Machine(four: 1.5, eight: 2)
        _ = run(300, on: machine, &governor) { _ in false }
        let later = run(700, on: machine, &governor) { _ in true }

        #expect(later.drafts.suffix(100).count { $0 == 7 } > 90)
    }

    @Test func aPauseOfTheMachineIsNotACost() {
        var governor = SpeculationGovernor()
        _ = run(50, on: Machine(four: 1.5, eight: 2), &governor) { _ in true }
        governor.took(1_000_000_000, rows: 8)
        governor.took(1_000_000_000, rows: 4)

        #expect(governor.length(matched: 3) == 7)
    }

    @Test func aPlainStepIsMeasuredNowAndThen() {
        var governor = SpeculationGovernor()
        let drafts = run(600, on: Machine(four: 1.5, eight: 2), &governor) { _ in true }.drafts

        #expect((2...8).contains(drafts.dropFirst(3).count { $0 == 0 }))
    }
}
