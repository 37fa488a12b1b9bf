internal import AlcoveCore
internal import CPosixShim

/// All processes that a script is, however they were started.
protocol ProcessTree: Sendable {
    /// Tells the tree what the sandbox program says about itself, as far as it has said it.
    func learn(_ status: String)

    /// Asks every process to end.
    func terminate()

    /// Ends every process for certain.
    func kill()

    /// What the tree uses now; nil when it cannot be told.
    func usage() -> TreeUsage?

    /// Whether the last process is gone for certain.
    var isGone: Bool { get }
}

struct TreeUsage: Sendable, Hashable {
    var processes = 0
    var residentBytes: UInt64 = 0
}
