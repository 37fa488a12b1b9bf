internal import AlcoveCore

/// One command of the program: its name, its words, what it does.
struct Command: Sendable {
    var name: String
    /// One line for the list of commands.
    var summary: String
    /// What is worth knowing besides, for `--help`.
    var discussion = ""
    var arguments: [Argument] = []
    var options: [Option] = []
    var subcommands: [Command] = []
    /// Whether it does something without one of its subcommands.
    var runsAlone = false
    /// Whether the first word that is no option of its own, and all after it, are for somebody else to read.
    var passesWordsOn = false
    var run: @Sendable (Invocation) async throws -> ExitCode = { _ in .success }

    /// A word without dashes.
    struct Argument: Sendable {
        var name: String
        var help: String
        var isOptional = false
        /// Takes all words that are left.
        var repeats = false
    }

    /// A word with dashes.
    struct Option: Sendable {
        var name: String
        var short: Character?
        /// What stands for the value in the help; nil for a switch.
        var value: String?
        var help: String
    }
}

extension Command.Option {
    static let help = Command.Option(name: "--help", short: "h", value: nil, help: "Show this help.")
}

/// How the program ended, for scripts. The numbers are those of sysexits(3) where it has one.
enum ExitCode: Int32, Sendable, CaseIterable {
    case success = 0
    /// It could not be done; the sentence on standard error says why.
    case failure = 1
    /// The command line cannot be read.
    case usage = 64
    /// A file is not what it should be.
    case badData = 65
    /// A file is not there or cannot be opened.
    case noInput = 66
    /// Something that is needed is not running or not installed.
    case unavailable = 69
    /// Ctrl-C.
    case interrupted = 130

    var meaning: String {
        switch self {
        case .success: "done"
        case .failure: "it could not be done; standard error says why"
        case .usage: "the command line cannot be read"
        case .badData: "a file is not what it should be"
        case .noInput: "a file is not there or cannot be opened"
        case .unavailable: "something that is needed is missing or busy"
        case .interrupted: "stopped by Ctrl-C"
        }
    }
}

/// A command line that cannot be read.
struct UsageError: UserFacingError {
    let message: String
    let hint: String?
    var code: String { "usage" }

    init(_ message: String, hint: String? = nil) {
        self.message = message
        self.hint = hint
    }
}
