internal import AlcoveCore

/// Whole states of sequences, kept beside the context: what a prompt begins with need not be computed again.
///
/// Two kinds. A checkpoint is the beginning that many chats share; it is copied out for each and never consumed. An end
/// state is a chat that had to leave the context for another. Used on the engine's thread only.
struct PrefixStore {
    enum Kind { case checkpoint, endState }

    struct Entry {
        let tokens: [Token]
        let state: [UInt8]
        let kind: Kind
        /// Earlier places in the state, where memory forgets.
        var marks: [SequenceMark] = []
        var lastUsed: UInt64

        var bytes: Int { state.count + marks.reduce(0) { $0 + $1.state.count } }
    }

    struct Limits: Sendable {
        var checkpoints = 4
        var endStates = 4
        /// Bytes of all states together: the most a device of this size should spend on being quick.
        var bytes = 512 << 20

        /// - Parameter memory: what this process may have. A sixteenth of it at most; a small device keeps one state of each
        ///   kind.
        init(memory: UInt64 = MemoryReading.ownBytes) {
            bytes = min(Int(clamping: memory / 16), bytes)
            if memory < Limits.smallDevice { (checkpoints, endStates) = (1, 1) }
        }

        /// Phones, and what is limited to as much.
        private static let smallDevice: UInt64 = 6 << 30
    }

    /// Shorter beginnings are computed as quickly as they are copied.
    static let fewestTokens = 32

    private(set) var entries: [Entry] = []
    private let limits: Limits

    init(limits: Limits = Limits()) { self.limits = limits }

    /// The state that has most of a prompt's beginning, and how much of it can be used.
    func best(for prompt: [Token], cutsExactly: Bool) -> (index: Int, count: Int)? {
        var best: (index: Int, count: Int)?
        for (index, entry) in entries.enumerated() {
            let count = reusable(of: entry.tokens, entry.marks, for: prompt, cutsExactly: cutsExactly)
            if count >= PrefixStore.fewestTokens, count > best?.count ?? 0 { best = (index, count) }
        }
        return best
    }

    var bytes: Int { entries.reduce(0) { $0 + $1.bytes } }

    func holds(_ tokens: some Collection<Token>) -> Bool {
        entries.contains { $0.tokens.count == tokens.count && $0.tokens.elementsEqual(tokens) }
    }

    mutating func touch(_ index: Int) { entries[index].lastUsed = Platform.monotonicNanoseconds }

    /// Keeps a state; older ones of its kind go when there are too many, and the oldest of all when they are too large.
    mutating func keep(_ tokens: [Token], _ state: [UInt8], _ kind: Kind, marks: [SequenceMark] = []) {
        guard tokens.count >= PrefixStore.fewestTokens, !state.isEmpty, state.count <= limits.bytes else { return }
        entries.removeAll { $0.kind == kind && $0.tokens == tokens }
        // A chat that went on takes the place of its earlier end.
        if kind == .endState { entries.removeAll { $0.kind == .endState && tokens.starts(with: $0.tokens) } }
        entries.append(
            Entry(
                tokens: tokens, state: state, kind: kind, marks: marks, lastUsed: Platform.monotonicNanoseconds))
        let most = kind == .checkpoint ? limits.checkpoints : limits.endStates
        while entries.count(where: { $0.kind == kind }) > most, removeOldest(where: { $0.kind == kind }) {}
        while bytes > limits.bytes, removeOldest(where: { _ in true }) {}
    }

    mutating func remove(_ tokens: [Token]) { entries.removeAll { $0.tokens == tokens } }

    /// Gives back what only serves speed.
    mutating func removeAll() { entries.removeAll() }

    private mutating func removeOldest(where condition: (Entry) -> Bool) -> Bool {
        guard
            let index = entries.indices.filter({ condition(entries[$0]) }).min(by: {
                entries[$0].lastUsed < entries[$1].lastUsed
            })
        else { return false }
        entries.remove(at: index)
        return true
    }
}

/// How many tokens of a prompt are there exactly in what a sequence or a state holds, with at least one left to compute: its
/// logits are needed.
///
/// - Parameter cutsExactly: whether the memory can be cut anywhere; otherwise only the whole, or what is before a mark.
func reusable(of held: [Token], _ marks: [SequenceMark], for prompt: [Token], cutsExactly: Bool) -> Int {
    let most = min(held.count, prompt.count)
    var common = 0
    while common < most, held[common] == prompt[common] { common += 1 }
    let usable = min(common, prompt.count - 1)
    if cutsExactly || usable == held.count { return usable }
    return marks.map(\.count).filter { $0 <= usable }.max() ?? 0
}
