internal import AlcoveCore

/// Decides whether a draft is worth computing, from what steps cost here and how many drafted tokens came true.
///
/// A row more in a step is never free, and on small models nearly as dear as a step of its own. Whatever measures as a
/// loss is parked, for longer each time, and then tried once more. The costs belong to the model and the machine and
/// outlast an answer.
struct SpeculationGovernor {
    /// Lengths of drafts: with the token before them they fill the groups of four rows in which ggml computes.
    static let lengths = [3, 7]
    /// Least gain for which a draft is made.
    private static let margin = 1.05
    /// Steps with drafts after which a plain one is measured again.
    private static let mostWithoutPlain = 128

    /// How drafts of one kind of place fared, older ones counting less.
    private struct Record {
        var accepted: Double
        var tried: Double
        /// Plain steps until it is tried again.
        var parked = 0
        var losses = 0

        /// As if drafts did well, so that the first ones are made; one that fails wholly is enough to park.
        static let hopeful = Record(accepted: 2, tried: 2.5)

        /// Chance that the next drafted token comes true when those before it did.
        var chance: Double { min(accepted / tried, 0.98) }
    }

    /// One for each source of drafts.
    private var records = Draft.Source.allCases.map { _ in Record.hopeful }
    /// The last few times that a draft model took for a token.
    private var draftTimes: [Double] = []
    /// The last few times of a step, by rows.
    private var times: [Int: [Double]] = [:]
    private var sincePlain = 0
    /// Drafts always, whatever it costs: for tests and for measuring.
    private let always: Bool

    init(always: Bool = false) { self.always = always }

    /// An answer begins. Its words are others, so what was parked for long is tried sooner.
    mutating func begin() {
        for index in records.indices {
            records[index].parked = min(records[index].parked, 32)
            records[index].losses = min(records[index].losses, 2)
        }
    }

    /// Length of the draft to compute; 0 is none.
    mutating func length(of source: Draft.Source) -> Int {
        let index = source.rawValue
        if always { return records[index].chance > 0.85 ? 7 : 3 }
        guard let plain = cost(rows: 1), sincePlain < SpeculationGovernor.mostWithoutPlain else { return 0 }
        guard records[index].parked == 0 else { return 0 }
        let chance = records[index].chance
        func gain(_ length: Int) -> Double {
            let expected = (chance - pow(chance, Double(length + 1))) / (1 - chance)
            let drafting = source == .model ? draftCost(plain: plain) * Double(length) : 0
            return (1 + expected) * plain / (guess(rows: length + 1, plain: plain) + drafting)
        }
        let best = SpeculationGovernor.lengths.max { gain($0) < gain($1) } ?? 0
        if gain(best) >= SpeculationGovernor.margin { return best }
        let losses = records[index].losses
        records[index] = .hopeful
        records[index].parked = 32 << min(losses, 3)
        records[index].losses = losses + 1
        return 0
    }

    /// A step of one sequence alone was computed.
    mutating func took(_ nanoseconds: UInt64, rows: Int) {
        var list = times[rows] ?? []
        list.append(Double(nanoseconds))
        if list.count > 9 { list.removeFirst() }
        times[rows] = list
        guard rows == 1 else {
            sincePlain += 1
            return
        }
        sincePlain = 0
        for index in records.indices where records[index].parked > 0 { records[index].parked -= 1 }
    }

    /// A draft model has guessed.
    mutating func took(_ cost: DraftModel.Cost) {
        draftTimes.append(Double(cost.nanoseconds) / Double(max(1, cost.tokens)))
        if draftTimes.count > 9 { draftTimes.removeFirst() }
    }

    /// A draft was computed.
    mutating func took(_ accepted: Int, of drafted: Int, source: Draft.Source) {
        let index = source.rawValue
        records[index].accepted = 0.8 * records[index].accepted + Double(accepted)
        records[index].tried = 0.8 * records[index].tried + Double(accepted) + (accepted < drafted ? 1 : 0)
        if accepted == drafted { records[index].losses = 0 }
    }

    /// The median of the last times, so that a pause of the machine is not taken for a cost.
    private func cost(rows: Int) -> Double? {
        guard let list = times[rows], list.count >= (rows == 1 ? 3 : 1) else { return nil }
        return list.sorted()[list.count / 2]
    }

    /// What a token of a draft model costs; before it is known, a fifth of a plain step.
    private func draftCost(plain: Double) -> Double {
        draftTimes.isEmpty ? plain / 5 : draftTimes.sorted()[draftTimes.count / 2]
    }

    /// What a step costs, or what it cost on the machine this was written on, in plain steps.
    private func guess(rows: Int, plain: Double) -> Double {
        if let cost = cost(rows: rows) { return cost }
        return rows <= 4 ? 2.1 * plain : 1.6 * guess(rows: 4, plain: plain)
    }
}
