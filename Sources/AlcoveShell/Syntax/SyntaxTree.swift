/// Commands with `;`, `&` or a new line between them.
package struct CommandList: Sendable {
    package struct Item: Sendable {
        package var chain: CommandChain
        package var isBackground: Bool
    }

    package var items: [Item] = []
}

/// Pipelines with `&&` and `||` between them, which bind equally and from the left.
package struct CommandChain: Sendable {
    package enum Link: Sendable {
        case and
        case or
    }

    package var first: Pipeline
    package var rest: [(link: Link, pipeline: Pipeline)] = []
}

package struct Pipeline: Sendable {
    package var isNegated = false
    /// `time` before it: what it took is written when it has ended.
    package var isTimed = false
    package var commands: [Command]
}

package indirect enum Command: Sendable {
    case simple(SimpleCommand)
    case compound(CompoundCommand, redirections: [Redirection], line: Int)
    case function(name: String, body: Command)

    mutating func add(_ redirection: Redirection) {
        switch self {
        case .simple(var command):
            command.redirections.append(redirection)
            self = .simple(command)
        case .compound(let compound, let redirections, let line):
            self = .compound(compound, redirections: redirections + [redirection], line: line)
        case .function: break
        }
    }
}

package struct SimpleCommand: Sendable {
    package struct Assignment: Sendable {
        package enum Value: Sendable {
            case word(Word)
            /// `(...)`: elements, each perhaps with the key it is for.
            case list([Element])
        }

        package struct Element: Sendable {
            package var key: [WordPart]?
            package var word: Word
        }

        package var name: String
        /// Between brackets after the name.
        package var key: [WordPart]?
        /// `+=`
        package var appends = false
        package var value: Value
    }

    package var assignments: [Assignment] = []
    package var words: [Word] = []
    package var redirections: [Redirection] = []
    package var line: Int
}

package indirect enum CompoundCommand: Sendable {
    case group(CommandList)
    case subshell(CommandList)
    case conditional(branches: [(condition: CommandList, body: CommandList)], otherwise: CommandList?)
    case loop(condition: CommandList, body: CommandList, isUntil: Bool)
    /// `for ((a; b; c))`
    case count(start: [WordPart], condition: [WordPart], step: [WordPart], body: CommandList)
    /// `((...))`
    case arithmetic([WordPart])
    /// `[[ ... ]]`
    case condition(Condition)
    /// Over the positional parameters when there are no words at all.
    case each(variable: String, words: [Word]?, body: CommandList)
    case choice(subject: Word, arms: [(patterns: [Word], body: CommandList, end: ArmEnd)])

    package enum ArmEnd: Sendable {
        /// `;;`
        case leave
        /// `;&`: the next arm's commands run too.
        case fallThrough
        /// `;;&`: the next patterns are tried.
        case goOn
    }
}

/// What stands between `[[` and `]]`.
package indirect enum Condition: Sendable {
    case not(Condition)
    case and(Condition, Condition)
    case or(Condition, Condition)
    case word(Word)
    case unary(String, Word)
    case binary(Word, String, Word)
    case expression(Word, [WordPart])
}

package struct Redirection: Sendable {
    package enum Kind: Sendable {
        case read(Word)
        case write(Word, clobbers: Bool)
        case append(Word)
        case readWrite(Word)
        /// `<&` and `>&`: a number, or `-` to close.
        case duplicate(Word, isInput: Bool)
        case text(HereDocument)
        /// `<<<`
        case string(Word)
        /// `&>` and `&>>`: output and errors.
        case both(Word, appends: Bool)
    }

    package var descriptor: Int
    package var kind: Kind
}

/// The text of a `<<`. It stands after the line that asks for it, so the tree is made before it is known.
///
/// Unchecked: the parser fills it in before it gives the tree away, and nobody changes it after that.
package final class HereDocument: @unchecked Sendable {
    package internal(set) var parts: [WordPart] = []
    let delimiter: [UInt8]
    let isQuoted: Bool
    let stripsTabs: Bool

    init(delimiter: [UInt8], isQuoted: Bool, stripsTabs: Bool) {
        self.delimiter = delimiter
        self.isQuoted = isQuoted
        self.stripsTabs = stripsTabs
    }
}

/// One word as it was written, its expansions still to be made.
package struct Word: Sendable {
    package var parts: [WordPart] = []
    package var line: Int
    /// One, where the word is an assignment that stands after `declare` and its like.
    package var declared: [SimpleCommand.Assignment] = []

    /// The bytes of a word that has neither quotes nor expansions.
    var plain: [UInt8]? {
        if parts.isEmpty { return [] }
        guard parts.count == 1, case .literal(let bytes) = parts[0] else { return nil }
        return bytes
    }
}

package indirect enum WordPart: Sendable {
    /// Written without quotes: may hold pattern characters and a tilde.
    case literal([UInt8])
    /// In single quotes or after a backslash.
    case quoted([UInt8])
    /// In double quotes; literals in it are quoted.
    case doubleQuoted([WordPart])
    case parameter(ParameterExpansion)
    case substitution(CommandList, line: Int)
    case arithmetic([WordPart])
    /// `<(...)` and `>(...)`
    case process(CommandList, isInput: Bool, line: Int)
}

package struct ParameterExpansion: Sendable {
    package enum Parameter: Sendable {
        case variable(String)
        case positional(Int)
        /// One of `@ * # ? - $ !`.
        case special(UInt8)
        case element(String, [WordPart])
        /// `a[@]` or `a[*]`: the sign tells which.
        case elements(String, UInt8)
        /// `!a[@]` or `!a[*]`
        case keys(String, UInt8)
        /// `!name`: the variable whose name is the value.
        case indirect(String)
        /// `!prefix@` or `!prefix*`
        case names(String, UInt8)
    }

    package enum Operation: Sendable {
        case value
        case length
        /// `-`, `=`, `?` or `+`, with a colon where an empty value counts as none.
        case whenUnset(UInt8, orEmpty: Bool, word: [WordPart])
        /// `#`, `##`, `%`, `%%`.
        case trim(suffix: Bool, longest: Bool, pattern: [WordPart])
        /// `:offset:length`
        case part(from: [WordPart], count: [WordPart]?)
        /// `/`, `//`, `/#` and `/%`
        case replace(Replacement, pattern: [WordPart], with: [WordPart])
        /// `^`, `^^`, `,`, `,,`
        case letters(isUpper: Bool, isAll: Bool, pattern: [WordPart])
        /// `@Q` and its like.
        case transform(UInt8)
    }

    package enum Replacement: Sendable {
        case first
        case all
        case prefix
        case suffix
    }

    package var parameter: Parameter
    package var operation: Operation
    package var line: Int
}
