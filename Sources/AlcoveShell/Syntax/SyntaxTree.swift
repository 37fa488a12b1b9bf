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
    package var commands: [Command]
}

package indirect enum Command: Sendable {
    case simple(SimpleCommand)
    case compound(CompoundCommand, redirections: [Redirection], line: Int)
    case function(name: String, body: Command)
}

package struct SimpleCommand: Sendable {
    package struct Assignment: Sendable {
        package var name: String
        package var value: Word
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
    /// Over the positional parameters when there are no words at all.
    case each(variable: String, words: [Word]?, body: CommandList)
    case choice(subject: Word, arms: [(patterns: [Word], body: CommandList)])
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
}

package struct ParameterExpansion: Sendable {
    package enum Parameter: Sendable, Equatable {
        case variable(String)
        case positional(Int)
        /// One of `@ * # ? - $ !`.
        case special(UInt8)
    }

    package enum Operation: Sendable {
        case value
        case length
        /// `-`, `=`, `?` or `+`, with a colon where an empty value counts as none.
        case whenUnset(UInt8, orEmpty: Bool, word: [WordPart])
        /// `#`, `##`, `%`, `%%`.
        case trim(suffix: Bool, longest: Bool, pattern: [WordPart])
    }

    package var parameter: Parameter
    package var operation: Operation
    package var line: Int
}
