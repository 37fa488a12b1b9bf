/// The words of `--help`, made from the command's own tables so that they cannot go out of date.
enum HelpText {
    static func text(for command: Command, path: [String]) -> String {
        var lines: [String] = []
        if !command.summary.isEmpty { lines += [command.summary, ""] }
        lines.append("Usage: " + usage(of: command, path: path))
        if !command.discussion.isEmpty { lines += ["", command.discussion] }
        if !command.arguments.isEmpty {
            lines += ["", "Arguments:"] + table(command.arguments.map { ($0.name, $0.help) })
        }
        if !command.subcommands.isEmpty {
            lines += ["", "Commands:"] + table(command.subcommands.map { ($0.name, $0.summary) })
        }
        let options = command.options + [.help]
        lines += ["", "Options:"] + table(options.map { (label(of: $0), $0.help) })
        if path.count == 1 {
            let codes = ExitCode.allCases.map { ("\($0.rawValue)", $0.meaning) }
            lines += ["", "Exit codes:"] + table(codes)
            lines += ["", "\(path[0]) COMMAND --help tells more about one of them."]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func usage(of command: Command, path: [String]) -> String {
        var words = path
        if !command.options.isEmpty { words.append("[OPTIONS]") }
        if !command.subcommands.isEmpty { words.append(command.runsAlone ? "[COMMAND]" : "COMMAND") }
        for argument in command.arguments {
            let name = argument.repeats ? "\(argument.name)..." : argument.name
            words.append(argument.isOptional ? "[\(name)]" : name)
        }
        return words.joined(separator: " ")
    }

    private static func label(of option: Command.Option) -> String {
        let name = option.short.map { "-\($0), \(option.name)" } ?? "    \(option.name)"
        return option.value.map { "\(name) \($0)" } ?? name
    }

    private static func table(_ rows: [(String, String)]) -> [String] {
        let width = min(28, rows.map(\.0.count).max() ?? 0)
        return rows.flatMap { label, help -> [String] in
            let lines = wrapped(help, width: 96 - width)
            let pad = String(repeating: " ", count: width + 4)
            let head = "  " + label + String(repeating: " ", count: max(2, width + 2 - label.count))
            if label.count > width { return ["  " + label] + lines.map { pad + $0 } }
            return [head + (lines.first ?? "")] + lines.dropFirst().map { pad + $0 }
        }
    }

    private static func wrapped(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + word.count < width {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
