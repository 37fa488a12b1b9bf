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
        _ steps: Int, on machine: Machine, source: Draft.Source = .threeTokens, drafting: Double = 0,
        _ governor: inout SpeculationGovernor,
        comesTrue: (Int) -> Bool
    ) -> (tokens: Int, time: UInt64, drafts: [Int]) {
        var tokens = 0, time: UInt64 = 0, drafts: [Int] = [], count = 0
        for _ in 0..<steps {
            let length = governor.length(of: source)
            let drafted = UInt64(1_000_000 * drafting * Double(length))
            if source == .model, length > 0 { governor.took(DraftModel.Cost(nanoseconds: drafted, tokens: length)) }
            governor.took(machine.cost(length + 1), rows: length + 1)
            let cost = machine.cost(length + 1) + drafted
            var accepted = 0
            for _ in 0..<length {
                count += 1
                guard comesTrue(count) else { break }
                accepted += 1
            }
            if length > 0 { governor.took(accepted, of: length, source: source) }
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
    @Test(arguments: Draft.Source.allCases) func proseIsLeftAlone(source: Draft.Source) {
        var governor = SpeculationGovernor()
        let result = run(2_000, on: Machine(four: 2.1, eight: 3.4), source: source, &governor) { _ in false }

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

        #expect(governor.length(of: .threeTokens) == 7)
    }

    /// Always right, and too dear: what guessing costs counts.
    @Test func aDraftModelAsDearAsTheModelIsParked() {
        var governor = SpeculationGovernor()
        let machine = Machine(four: 2.1, eight: 3.4)
        let dear = run(2_000, on: machine, source: .model, drafting: 1, &governor) { _ in true }
        #expect(Double(dear.tokens) * 1e6 / Double(dear.time) > 0.95)
        #expect(dear.drafts.count { $0 > 0 } < 100)

        governor = SpeculationGovernor()
        let cheap = run(400, on: machine, source: .model, drafting: 0.1, &governor) { _ in true }
        #expect(Double(cheap.tokens) * 1e6 / Double(cheap.time) > 1.6)
    }

    @Test func aPlainStepIsMeasuredNowAndThen() {
        var governor = SpeculationGovernor()
        let drafts = run(600, on: Machine(four: 1.5, eight: 2), &governor) { _ in true }.drafts

        #expect((2...8).contains(drafts.dropFirst(3).count { $0 == 0 }))
    }
}
