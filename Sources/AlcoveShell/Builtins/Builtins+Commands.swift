internal import AlcoveCore
internal import AlcoveSandbox

extension Builtins {
    /// As bash writes it: a backslash is itself unless `-e` is given. Models write for that.
    @Sendable static func echo(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        var rest = words.dropFirst()
        var endsLine = true
        var readsEscapes = false
        while let word = rest.first, word.count > 1, word[0] == 45,
            word.dropFirst().allSatisfy({ [101, 69, 110].contains($0) })
        {
            for letter in word.dropFirst() {
                if letter == 110 { endsLine = false } else { readsEscapes = letter == 101 }
            }
            rest.removeFirst()
        }
        var bytes = Array(rest.joined(separator: [32]))
        if readsEscapes {
            let (text, isCut) = Printf.unescaped(bytes)
            bytes = text
            if isCut { endsLine = false }
        }
        if endsLine { bytes.append(10) }
        try shell.write(bytes)
        return 0
    }

    @Sendable static func help(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        try shell.write(
            Array(
                "The shell's own: \(Builtins.names.joined(separator: " "))\nUtilities: \(Utilities.names.joined(separator: " "))\n"
                    .utf8))
        return 0
    }

    @Sendable static func workingFolder(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        var folder = shell.state.folder
        if words.last == Array("-P".utf8) { folder = try Utilities.real(UtilityCall(shell: shell, words: words), ".") }
        try shell.write(Array((folder + "\n").utf8))
        return 0
    }

    @Sendable static func changeFolder(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        var rest = words.dropFirst()
        while let word = rest.first, ["-L", "-P", "--"].contains(word.text) { rest.removeFirst() }
        var target = rest.first ?? shell.value("HOME") ?? []
        var says = false
        if target == [45] {
            guard let old = shell.value("OLDPWD") else { throw .failed("there is no folder to go back to") }
            target = old
            says = true
        }
        if target.isEmpty { return 0 }
        let name = try shell.name(target)
        // As it is written, so that a link stays in the name; the walk below is what decides.
        var parts = name.hasPrefix("/") ? [] : shell.state.folder.split(separator: "/").map(String.init)
        for part in name.split(separator: "/") {
            switch part {
            case ".": break
            case "..": if !parts.isEmpty { parts.removeLast() }
            default: parts.append(String(part))
            }
        }
        let folder = "/" + parts.joined(separator: "/")
        do throws(ConfinementError) {
            let entry = try shell.here.stat(folder)
            guard entry.kind == .folder else { throw .notAFolder(path: name, name: entry.name) }
        } catch {
            try shell.complain(error.sentence)
            return 2
        }
        try shell.set("OLDPWD", text: shell.state.folder)
        shell.state.folder = folder
        try shell.set("PWD", text: folder)
        if says { try shell.write(Array((folder + "\n").utf8)) }
        return 0
    }

    @Sendable static func command(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        var rest = Array(words.dropFirst())
        var asks: UInt8?
        while let word = rest.first, word.first == 45, word.count > 1 {
            rest.removeFirst()
            if word == [45, 45] { break }
            if word == Array("-v".utf8) || word == Array("-V".utf8) { asks = word[1] }
        }
        guard let first = rest.first else { return 0 }
        guard let asks else {
            shell.running = nil
            do throws(Flow) { try shell.run(rest, named: first.text, skipsFunctions: true) } catch {
                // A special built-in command is none here: its faults do not end the shell.
                if case .exiting(2) = error, special[first.text] != nil, first.text != "exit", first.text != "exec",
                    first.text != "eval", first.text != "."
                {
                    return 2
                }
                throw error
            }
            return shell.state.status
        }
        var status: Int32 = 0
        for word in rest {
            let name = word.text
            if asks == 86 {
                status = try type(shell, [words[0], word])
            } else if ScriptParser.reserved.contains(name) || special[name] != nil || ordinary[name] != nil
                || shell.state.functions[name] != nil
            {
                try shell.write(word + [10])
            } else if Utilities.all[name] != nil {
                try shell.write(Array("/usr/bin/".utf8) + word + [10])
            } else {
                status = 127
            }
        }
        return status
    }

    @Sendable static func type(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        var status: Int32 = 0
        var rest = words.dropFirst()
        var isShort = false
        while let word = rest.first, word.first == 45, word.count > 1 {
            if word.contains(116) { isShort = true }
            rest.removeFirst()
        }
        for word in rest {
            let name = word.text
            if isShort {
                let kind =
                    ScriptParser.reserved.contains(name)
                    ? "keyword"
                    : shell.state.functions[name] != nil
                        ? "function"
                        : special[name] != nil || ordinary[name] != nil
                            ? "builtin" : Utilities.all[name] != nil ? "file" : nil
                if let kind { try shell.write(Array((kind + "\n").utf8)) } else { status = 1 }
                continue
            }
            let what: String
            if ScriptParser.reserved.contains(name) {
                what = "is a shell keyword"
            } else if shell.state.functions[name] != nil {
                what = "is a shell function"
            } else if special[name] != nil {
                what = "is a special shell builtin"
            } else if ordinary[name] != nil {
                what = "is a shell builtin"
            } else if Utilities.all[name] != nil {
                what = "is /usr/bin/\(name)"
            } else {
                what = "not found"
                status = 127
            }
            try shell.write(word + Array((what == "not found" ? ": \(what)\n" : " \(what)\n").utf8))
        }
        return status
    }

    @Sendable static func mask(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        guard words.count > 1 else {
            let digits = String(shell.state.mask, radix: 8)
            try shell.write(Array((String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "\n").utf8))
            return 0
        }
        guard let mask = UInt16(words[1].text, radix: 8), mask <= 0o777 else {
            throw .failed("\(shown(words[1])): an octal number up to 777 belongs here")
        }
        shell.state.mask = mask
        return 0
    }

    @Sendable static func wait(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        if words.count == 1 {
            for job in shell.state.jobs { _ = try shell.control.wait(for: job) }
            shell.state.jobs = []
            return 0
        }
        var status: Int32 = 0
        for word in words.dropFirst() {
            guard let job = shell.state.jobs.first(where: { "\($0.number)" == word.text }) else {
                status = 127
                continue
            }
            status = try shell.control.wait(for: job)
        }
        return status
    }

    @Sendable static func getOptions(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        guard words.count > 2 else { throw try shell.fatal("getopts: letters and a name belong after it") }
        var letters = words[1]
        let isQuiet = letters.first == 58
        if isQuiet { letters.removeFirst() }
        let name = words[2].text
        let arguments = words.count > 3 ? Array(words[3...]) : shell.state.positional
        var index = max(1, shell.value("OPTIND").flatMap { Int($0.text) } ?? 1)
        var offset = shell.state.optionOffset
        func leave(_ found: [UInt8], _ argument: [UInt8]?, _ status: Int32) throws(Flow) -> Int32 {
            try shell.set("OPTIND", text: "\(index)")
            shell.state.optionOffset = offset
            try shell.set(name, found)
            if let argument { try shell.set("OPTARG", argument) } else { try shell.unset("OPTARG") }
            return status
        }
        guard index <= arguments.count else { return try leave([63], nil, 1) }
        var word = arguments[index - 1]
        if offset == 0 || offset >= word.count {
            offset = 0
            if word == [45, 45] {
                index += 1
                return try leave([63], nil, 1)
            }
            guard word.count > 1, word[0] == 45 else { return try leave([63], nil, 1) }
            offset = 1
        }
        let letter = word[offset]
        offset += 1
        let place = letter == 58 ? nil : letters.firstIndex(of: letter)
        let takesArgument = place.map { $0 + 1 < letters.count && letters[$0 + 1] == 58 } ?? false
        if place == nil || !takesArgument {
            if offset >= word.count {
                index += 1
                offset = 0
            }
            if place != nil { return try leave([letter], nil, 0) }
            if !isQuiet { try shell.complain("there is no option -\([letter].text)") }
            return try leave([63], isQuiet ? [letter] : nil, 0)
        }
        if offset < word.count {
            word.removeFirst(offset)
            index += 1
            offset = 0
            return try leave([letter], word, 0)
        }
        index += 1
        offset = 0
        if index <= arguments.count {
            let argument = arguments[index - 1]
            index += 1
            return try leave([letter], argument, 0)
        }
        if !isQuiet { try shell.complain("the option -\([letter].text) needs a value") }
        return try leave(isQuiet ? [58] : [63], isQuiet ? [letter] : nil, 0)
    }
}
