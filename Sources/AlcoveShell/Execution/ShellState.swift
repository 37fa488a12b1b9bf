/// All that a subshell has a copy of.
struct ShellState {
    struct Variable {
        var value: [UInt8]?
        var isExported = false
        var isReadOnly = false
    }

    /// The switches of `set`, by their letters.
    struct Options {
        var letters: Set<UInt8> = []
        var pipeFail = false

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
    /// Where `getopts` stands within a group of letters.
    var optionOffset = 0
}
