package import AlcoveCore

/// A script that is not one.
package struct SyntaxError: UserFacingError, Equatable {
    package let line: Int
    package let what: String
    package let hint: String?
    /// The text ended too early: with more of it, it may be right.
    package let isIncomplete: Bool

    init(line: Int, _ what: String, hint: String? = nil, isIncomplete: Bool = false) {
        self.line = line
        self.what = what
        self.hint = hint
        self.isIncomplete = isIncomplete
    }

    package var code: String { "shell_syntax" }
    package var message: String { "line \(line): \(what)." }
    package var place: ErrorPlace { .request }
}
