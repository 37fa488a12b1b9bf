internal import AlcoveCore

/// What was typed, matched to what a command understands.
struct Invocation: Sendable {
    /// The words that led to the command: `alcove plumbing http`.
    var path: [String]
    var command: Command
    private(set) var values: [String: String] = [:]
    private(set) var arguments: [String] = []
    private(set) var wantsHelp = false

    init(path: [String], command: Command) {
        self.path = path
        self.command = command
    }

    func has(_ option: String) -> Bool { values[option] != nil }

    func text(_ option: String) -> String? { values[option] }

    /// A whole number within a range; nil when the option is not there.
    func int(_ option: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = values[option] else { return nil }
        guard let value = Int(text), range.contains(value) else {
            throw UsageError("\(option) is a number from \(range.lowerBound) to \(range.upperBound), not \"\(text)\".")
        }
        return value
    }

    func float(_ option: String, in range: ClosedRange<Int>) throws(UsageError) -> Float? {
        guard let text = values[option] else { return nil }
        guard let value = Float(text), value >= Float(range.lowerBound), value <= Float(range.upperBound) else {
            throw UsageError("\(option) is a number from \(range.lowerBound) to \(range.upperBound), not \"\(text)\".")
        }
        return value
    }

    /// Matches words to a command's options and arguments.
    mutating func read(_ words: ArraySlice<String>) throws(UsageError) {
        var words = words
        var onlyArguments = false
        while let word = words.popFirst() {
            if command.passesWordsOn, !isOwn(word) {
                arguments += [word] + words
                return
            }
            if onlyArguments || word == "-" || !word.hasPrefix("-") {
                arguments.append(word)
            } else if word == "--" {
                onlyArguments = true
            } else if word.hasPrefix("--") {
                try readLong(word, &words)
            } else {
                try readShort(word, &words)
            }
        }
        if wantsHelp { return }
        try checkArguments()
    }

    private func isOwn(_ word: String) -> Bool {
        (command.options + [.help]).contains {
            word == $0.name || word.hasPrefix($0.name + "=") || $0.short.map { word == "-\($0)" } ?? false
        }
    }

    private mutating func readLong(_ word: String, _ words: inout ArraySlice<String>) throws(UsageError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let option = (command.options + [.help]).first(where: { $0.name == parts[0] }) else {
            let known = command.options.map(\.name) + ["--help"]
            throw UsageError(
                "\(path.joined(separator: " ")) has no option \(parts[0]).", hint: didYouMean(parts[0], among: known))
        }
        if option.value == nil, parts.count > 1 {
            throw UsageError("\(option.name) takes no value.", hint: "Write it alone.")
        }
        try take(option, parts.count > 1 ? parts[1] : nil, &words)
    }

    private mutating func readShort(_ word: String, _ words: inout ArraySlice<String>) throws(UsageError) {
        for (index, letter) in word.dropFirst().enumerated() {
            guard let option = (command.options + [.help]).first(where: { $0.short == letter }) else {
                throw UsageError(
                    "\(path.joined(separator: " ")) has no option -\(letter).",
                    hint: "\(path.joined(separator: " ")) --help lists what it has.")
            }
            if option.value != nil {
                let rest = String(word.dropFirst(index + 2))
                return try take(option, rest.isEmpty ? nil : rest, &words)
            }
            try take(option, nil, &words)
        }
    }

    private mutating func take(
        _ option: Command.Option, _ given: String?, _ words: inout ArraySlice<String>
    ) throws(UsageError) {
        if option.name == "--help" {
            wantsHelp = true
        } else if let value = option.value {
            guard let text = given ?? words.popFirst() else {
                throw UsageError("\(option.name) needs a value.", hint: "Write \(option.name) \(value).")
            }
            // Mostly a shell variable that is not set: taken as it is, a folder would be the current one.
            guard !text.isEmpty else {
                throw UsageError(
                    "\(option.name) needs a value, not an empty one.", hint: "Write \(option.name) \(value).")
            }
            values[option.name] = text
        } else {
            values[option.name] = ""
        }
    }

    private func checkArguments() throws(UsageError) {
        let name = path.joined(separator: " ")
        let needed = command.arguments.filter { !$0.isOptional }
        if arguments.count < needed.count {
            throw UsageError(
                "\(name) needs \(needed[arguments.count].name).", hint: "\(name) --help shows how it is used.")
        }
        for (argument, text) in zip(command.arguments, arguments) where text.isEmpty && !argument.isOptional {
            throw UsageError(
                "\(name) needs \(argument.name), not an empty one.", hint: "\(name) --help shows how it is used.")
        }
        if arguments.count > command.arguments.count, command.arguments.last?.repeats != true {
            throw UsageError(
                "\(name) does not know what to do with \"\(arguments[command.arguments.count])\".",
                hint: "Put words that belong together in quotes.")
        }
    }
}
