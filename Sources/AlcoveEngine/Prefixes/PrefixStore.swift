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
        var lastUsed: UInt64
    }

    struct Limits: Sendable {
        var checkpoints = 4
        var endStates = 4
        /// Bytes of all states together: the most a device of this size should spend on being quick.
        var bytes = PrefixStore.usualBytes
    }

    /// Shorter beginnings are computed as quickly as they are copied.
    static let fewestTokens = 32

    /// A sixteenth of the machine's memory, at most half a gigabyte.
    private static var usualBytes: Int { min(Int(clamping: Platform.physicalBytes / 16), 512 << 20) }

    private(set) var entries: [Entry] = []
    private let limits: Limits

    init(limits: Limits = Limits()) { self.limits = limits }

    /// The longest state that is wholly the beginning of a prompt, with at least one token of it left to compute.
    func best(for prompt: [Token]) -> Int? {
        entries.indices.filter { index in
            let tokens = entries[index].tokens
            return tokens.count < prompt.count && prompt.starts(with: tokens)
        }.max { entries[$0].tokens.count < entries[$1].tokens.count }
    }

    func holds(_ tokens: some Collection<Token>) -> Bool {
        entries.contains { $0.tokens.count == tokens.count && $0.tokens.elementsEqual(tokens) }
    }

    mutating func touch(_ index: Int) { entries[index].lastUsed = Platform.monotonicNanoseconds }

    /// Keeps a state; older ones of its kind go when there are too many, and the oldest of all when they are too large.
    mutating func keep(_ tokens: [Token], _ state: [UInt8], _ kind: Kind) {
        guard tokens.count >= PrefixStore.fewestTokens, !state.isEmpty, state.count <= limits.bytes else { return }
        entries.removeAll { $0.kind == kind && $0.tokens == tokens }
        // A chat that went on takes the place of its earlier end.
        if kind == .endState { entries.removeAll { $0.kind == .endState && tokens.starts(with: $0.tokens) } }
        entries.append(Entry(tokens: tokens, state: state, kind: kind, lastUsed: Platform.monotonicNanoseconds))
        let most = kind == .checkpoint ? limits.checkpoints : limits.endStates
        while entries.count(where: { $0.kind == kind }) > most, removeOldest(where: { $0.kind == kind }) {}
        while entries.reduce(0, { $0 + $1.state.count }) > limits.bytes, removeOldest(where: { _ in true }) {}
    }

    mutating func remove(_ index: Int) { entries.remove(at: index) }

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
