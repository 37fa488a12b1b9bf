internal import AlcoveCore

/// All that a subshell has a copy of.
struct ShellState {
    struct Variable {
        /// Of an array: nil. `scalar` has its first element.
        var value: [UInt8]?
        var array: ShellArray?
        var isExported = false
        var isReadOnly = false
        /// `declare -i`: what is assigned is calculated.
        var isNumber = false
        /// `declare -l` and `-u`.
        var letters: UInt8?
        /// `declare -n`: the variable that is meant.
        var refersTo: String?

        /// What `$name` gives.
        var scalar: [UInt8]? { array.map { $0[ShellArray.first] } ?? value }
    }

    /// The switches of `set`, by their letters.
    struct Options {
        var letters: Set<UInt8> = []
        var pipeFail = false
        /// Switches of `shopt` that change something here.
        var shopt: Set<String> = []

        func has(_ letter: Character) -> Bool { letters.contains(letter.asciiValue ?? 0) }
    }

    var variables: [String: Variable] = [:]
    var functions: [String: Command] = [:]
    var name: [UInt8] = Array("sh".utf8)
    var positional: [[UInt8]] = []
    var options = Options()
    var status: Int32 = 0
    var files: [Int: OpenFile] = [:]
    /// As scripts see it; absolute.
    var folder: String
    var mask: UInt16 = 0o022
    /// What runs on a signal or at the exit; an empty text ignores it.
    var traps: [String: [UInt8]] = [:]
    var jobs: [Job] = []
    var lastJob: Int?
    /// Statuses of the last pipeline's stages.
    var stageStatuses: [Int32] = []
    var folderStack: [String] = []
    /// What `$SECONDS` counts from, and what `$RANDOM` goes on with.
    var started = Platform.monotonicNanoseconds
    var random = UInt64.random(in: .min ... .max)
    /// Names of the functions that run, the innermost last.
    var calls: [String] = []
    /// Where `getopts` stands within a group of letters.
    var optionOffset = 0
}
