internal import AlcoveCore
internal import Dispatch

/// States that outlive their sequence: in memory, and of checkpoints on disk. Used on the engine's thread only.
struct KeptStates {
    private(set) var inMemory: PrefixStore
    private let files: CheckpointFiles?
    /// Checkpoints on disk that were not needed yet.
    private var stored: [CheckpointFiles.Found]
    private let writing = DispatchQueue(label: "alcove.checkpoints", qos: .utility)

    /// Whether the memory of the model can be cut anywhere.
    private let cutsExactly: Bool
    /// Whether checkpoints are of the shape that the next start will have, and so of use on disk.
    var isStored = true

    init(limits: PrefixStore.Limits, files: CheckpointFiles?, cutsExactly: Bool) {
        self.cutsExactly = cutsExactly
        inMemory = PrefixStore(limits: limits)
        self.files = files
        stored = files?.list() ?? []
    }

    var isEmpty: Bool { inMemory.entries.isEmpty }

    func holds(_ tokens: [Token]) -> Bool { inMemory.holds(tokens) }

    /// The state that has most of a prompt's beginning, and how much of it; nil when that is not more than is there anyway.
    mutating func best(for prompt: [Token], longerThan live: Int) -> (entry: PrefixStore.Entry, count: Int)? {
        takeFromDisk(for: prompt, longerThan: live)
        guard let (index, count) = inMemory.best(for: prompt, cutsExactly: cutsExactly), count > live else {
            return nil
        }
        inMemory.touch(index)
        return (inMemory.entries[index], count)
    }

    /// A state that the library does not take is of no use to anybody.
    mutating func forget(_ tokens: [Token]) { inMemory.remove(tokens) }

    mutating func keepEnd(_ tokens: [Token], _ state: [UInt8], _ marks: [SequenceMark]) {
        inMemory.keep(tokens, state, .endState, marks: marks)
    }

    mutating func keepCheckpoint(_ tokens: [Token], _ state: [UInt8]) {
        inMemory.keep(tokens, state, .checkpoint)
        guard let files, isStored, !state.isEmpty else { return }
        writing.async { files.write(tokens, state) }
    }

    /// Gives back what is in memory; what is on disk will be read again when it is of use.
    ///
    /// - Returns: how many bytes that were.
    mutating func giveBack() -> Int {
        let bytes = inMemory.bytes
        inMemory.removeAll()
        if let files {
            writing.sync {}
            stored = files.list()
        }
        return bytes
    }

    /// What was begun is on the disk when this returns.
    mutating func end() {
        inMemory.removeAll()
        writing.sync {}
    }

    /// Reads a checkpoint from disk when it is the best there is for a prompt.
    private mutating func takeFromDisk(for prompt: [Token], longerThan live: Int) {
        guard isStored else { return }
        let known = inMemory.best(for: prompt, cutsExactly: cutsExactly)?.count ?? 0
        let fitting = stored.indices.filter {
            let tokens = stored[$0].tokens
            return tokens.count > max(live, known) && tokens.count < prompt.count && prompt.starts(with: tokens)
        }
        guard let index = fitting.max(by: { stored[$0].tokens.count < stored[$1].tokens.count }) else { return }
        let file = stored.remove(at: index)
        if let state = files?.state(of: file) { inMemory.keep(file.tokens, state, .checkpoint) }
    }
}
