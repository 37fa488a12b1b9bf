/// What was typed after `node`.
struct JavaScriptCommandLine: Equatable {
    enum Source: Equatable {
        case code(String)
        case file(String)
        case input
    }

    /// What is said instead of running anything.
    struct Answer: Error, Equatable {
        var text: String
        var isFault: Bool
    }

    var source = Source.input
    var prints = false
    var arguments: [String] = []

    static let usage = """
        node [-e CODE | -p CODE | FILE | -] [ARGUMENTS]
        JavaScript runs within Alcove: files of the workspace, no sockets, no other programs, no packages of npm.
        """

    static func read(_ words: [String]) -> Result<JavaScriptCommandLine, Answer> {
        var line = JavaScriptCommandLine()
        var rest = words[...]
        var code: String?
        while let word = rest.first, word.hasPrefix("-"), word != "-" {
            rest.removeFirst()
            var name = word
            var given: String?
            if word.hasPrefix("--"), let sign = word.firstIndex(of: "=") {
                name = String(word[..<sign])
                given = String(word[word.index(after: sign)...])
            }
            switch name {
            case "--": break
            case "-e", "--eval", "-p", "--print", "-pe":
                guard let text = given ?? rest.popFirst() else {
                    return .failure(Answer(text: "node: \(word) requires an argument", isFault: true))
                }
                code = text
                line.prints = line.prints || name.contains("p")
                continue
            case "-v", "--version": return .failure(Answer(text: "v20.0.0", isFault: false))
            case "-h", "--help": return .failure(Answer(text: usage, isFault: false))
            case "-c", "--check", "-i", "--interactive", "--test", "--watch", "--inspect", "--inspect-brk", "-r",
                "--require":
                return .failure(Answer(text: "node: the option \(word) is not there. \(usage)", isFault: true))
            default:
                // Those that tune Node's own engine or its warnings mean nothing here.
                let isTuning =
                    [
                        "--no-", "--trace-", "--max-", "--experimental-", "--enable-", "--stack-", "--harmony",
                        "--unhandled-",
                    ]
                    .contains { name.hasPrefix($0) }
                    || ["--use_strict", "--expose-gc", "--input-type", "--env-file"].contains(name)
                guard isTuning else {
                    return .failure(Answer(text: "node: bad option: \(word)\n\(usage)", isFault: true))
                }
                continue
            }
            break
        }
        if let code {
            line.source = .code(code)
        } else if let file = rest.first, file != "-" {
            rest.removeFirst()
            line.source = .file(file)
        }
        line.arguments = Array(rest)
        return .success(line)
    }
}
