internal import AlcoveCore

typealias Utility = @Sendable (UtilityCall) throws(Flow) -> Int32

/// The programs a script may expect, as functions: bytes in, bytes out.
enum Utilities {
    static let all: [String: Utility] = [textTable, fileTable, systemTable, scriptTable, answers].reduce(into: [:]) {
        all, table in
        all.merge(table) { one, _ in one }
    }

    private static let textTable: [String: Utility] = [
        "awk": awk, "base64": base64, "cat": cat, "cksum": checksum, "cmp": compareBytes, "column": column,
        "comm": common, "cut": cut, "diff": diff, "egrep": extendedGrep, "expand": expand, "fgrep": fixedGrep,
        "fmt": fmt, "fold": fold, "gawk": awk, "grep": grep, "head": head, "hexdump": hexDump, "join": join, "jq": jq,
        "less": cat, "mawk": awk, "md5sum": md5, "more": cat, "nl": numberedLines, "od": octalDump, "paste": paste,
        "patch": patch, "rev": reversedCharacters, "sed": sed, "sha1sum": sha1, "sha256sum": sha256,
        "sha384sum": sha384, "sha512sum": sha512, "shuf": shuffle, "sort": sort, "split": split, "tac": reversedLines,
        "tail": tail, "tee": tee, "tr": translate, "tsort": topologicalSort, "unexpand": unexpand, "uniq": unique,
        "wc": count, "xxd": xxd, "yes": yes,
    ]

    private static let fileTable: [String: Utility] = [
        "basename": baseName, "chmod": changeRights, "cp": copy, "df": diskFree, "dirname": folderName, "du": diskUse,
        "file": kindOfFile, "find": find, "gunzip": gunzip, "gzip": gzip, "ln": link, "ls": list, "mkdir": makeFolder,
        "mktemp": makeTemporary, "mv": move, "readlink": readLink, "realpath": realPath, "rm": remove,
        "rmdir": removeFolder, "stat": status, "tar": tar, "touch": touch, "truncate": truncate, "unzip": unzip,
        "zcat": zcat, "zip": zip,
    ]

    private static let systemTable: [String: Utility] = [
        "bash": shell, "bc": bc, "cal": calendar, "dash": shell, "date": date, "env": environment, "expr": expr,
        "factor": factor, "nice": plainRun, "nohup": plainRun, "numfmt": numberFormat, "printenv": printEnvironment,
        "seq": sequence, "sh": shell, "sleep": sleep, "stdbuf": plainRun, "time": timed, "timeout": timeout,
        "which": which, "xargs": xargs,
    ]

    static let names: [String] = all.keys.sorted()

    @Sendable static func yes(_ call: UtilityCall) throws(Flow) -> Int32 {
        let words = call.words.dropFirst()
        let line = (words.isEmpty ? [121] : Array(words.joined(separator: [32]))) + [10]
        let block = Array(repeatElement(line, count: max(1, 8192 / line.count)).joined())
        while true {
            try call.control.check()
            try call.write(block)
        }
    }

    @Sendable static func sleep(_ call: UtilityCall) throws(Flow) -> Int32 {
        guard call.words.count > 1 else { throw .failed("a number of seconds belongs after it") }
        var total = 0.0
        for word in call.words.dropFirst() {
            guard let seconds = Seconds.read(word) else { throw .failed("\(shown(word)) is not a time") }
            total += seconds
        }
        try call.control.sleep(seconds: total)
        return 0
    }

    @Sendable static func sequence(_ call: UtilityCall) throws(Flow) -> Int32 {
        var words = Array(call.words.dropFirst())
        var separator: [UInt8] = [10]
        var isPadded = false
        var format: [UInt8]?
        while let word = words.first, word.count > 1, word[0] == 45, !word[1].isDigit, word[1] != 46 {
            words.removeFirst()
            if word == [45, 45] { break }
            switch word[1] {
            case 119: isPadded = true
            case 115, 102:
                guard let value = word.count > 2 ? Array(word.dropFirst(2)) : words.isEmpty ? nil : words.removeFirst()
                else {
                    throw .failed("the option \(word.text) needs a value")
                }
                if word[1] == 115 { separator = value } else { format = value }
            default: throw .failed("there is no option \(shown(word)). It has: -w -s TEXT -f FORMAT")
            }
        }
        guard (1...3).contains(words.count) else { throw .failed("it takes LAST, FIRST LAST or FIRST STEP LAST") }
        var numbers: [Double] = []
        var places = 0
        for word in words {
            guard let number = Double(word.text), number.isFinite else {
                throw .failed("\(shown(word)) is not a number")
            }
            numbers.append(number)
        }
        for word in words.dropLast() {
            if let point = word.firstIndex(of: 46) { places = max(places, word.count - point - 1) }
        }
        let first = numbers.count > 1 ? numbers[0] : 1
        let step = numbers.count > 2 ? numbers[1] : 1
        let last = numbers[numbers.count - 1]
        guard step != 0 else { throw .failed("a step of 0 never ends") }
        if let format, AwkNumber.printed(format.text.replacing("%%", with: ""), 1.0).isEmpty || !format.contains(37) {
            throw .failed("\(shown(format)): a conversion such as %g belongs into it")
        }
        if let format,
            let letter = format.text.replacing("%%", with: "").split(separator: "%").last?.first(where: { $0.isLetter }
            ),
            !"aefgEFG".contains(letter)
        {
            throw .failed("\(shown(format)): the conversion is one of %e %f %g")
        }
        func text(_ value: Double) -> [UInt8] { AwkNumber.printed("%.\(places)f", value) }
        let width = isPadded ? max(text(first).count, text(last).count) : 0
        var writer = BlockWriter(call)
        var index = 0.0
        while true {
            let value = first + index * step
            if step > 0 ? value > last + 1e-9 * abs(step) : value < last - 1e-9 * abs(step) { break }
            if index > 0 { try writer.add(separator) }
            if let format {
                try writer.add(AwkNumber.printed(format.text, value))
            } else if isPadded {
                var digits = text(value)
                while digits.count < width { digits.insert(48, at: digits.first == 45 ? 1 : 0) }
                try writer.add(digits)
            } else if places == 0, abs(value) < 1e15 {
                try writer.add("\(Int64(value))".utf8)
            } else {
                var buffer = [CChar](repeating: 0, count: 400)
                let count = withVaList([value]) { vsnprintf(&buffer, buffer.count, "%.\(places)f", $0) }
                try writer.add(buffer.prefix(Int(count)).map { UInt8(bitPattern: $0) })
            }
            index += 1
            if Int(index) % 1024 == 0 { try call.control.check() }
        }
        if index > 0 { try writer.add([10]) }
        try writer.flush()
        return 0
    }

    @Sendable static func baseName(_ call: UtilityCall) throws(Flow) -> Int32 {
        let words = call.words.dropFirst().filter { $0 != [45, 45] }
        guard (1...2).contains(words.count) else { throw .failed("it takes a path and perhaps an ending") }
        var path = words[0]
        while path.count > 1, path.last == 47 { path.removeLast() }
        if let slash = path.lastIndex(of: 47), path.count > 1 { path.removeFirst(slash + 1) }
        if words.count > 1, path.count > words[1].count, path.suffix(words[1].count).elementsEqual(words[1]) {
            path.removeLast(words[1].count)
        }
        try call.write(path + [10])
        return 0
    }

    @Sendable static func folderName(_ call: UtilityCall) throws(Flow) -> Int32 {
        let words = call.words.dropFirst().filter { $0 != [45, 45] }
        guard !words.isEmpty else { throw .failed("a path belongs after it") }
        for word in words {
            var path = word
            while path.count > 1, path.last == 47 { path.removeLast() }
            while !path.isEmpty, path.last != 47 { path.removeLast() }
            while path.count > 1, path.last == 47 { path.removeLast() }
            try call.write((path.isEmpty ? [46] : path) + [10])
        }
        return 0
    }

    @Sendable static func environment(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("i", valued: "u", stopsEarly: true)
        let copy = call.shell.subshell()
        if options.has("i") { copy.state.variables = copy.state.variables.filter { !$0.value.isExported } }
        for (_, name) in options.all { copy.state.variables[name.text] = nil }
        var rest = options.operands[...]
        while let word = rest.first, let sign = word.firstIndex(of: 61) {
            copy.state.variables[Array(word[..<sign]).text] = .init(value: Array(word[(sign + 1)...]), isExported: true)
            rest.removeFirst()
        }
        if let command = rest.first {
            let words = Array(rest)
            copy.state.functions = [:]
            return copy.finish { (shell) throws(Flow) in try shell.run(words, named: command.text) }
        }
        for (name, variable) in copy.state.variables.sorted(by: { $0.key < $1.key }) where variable.isExported {
            if let value = variable.value { try call.write(Array("\(name)=".utf8) + value + [10]) }
        }
        return 0
    }

    /// A shell within the shell: what is not exported stays outside.
    @Sendable static func shell(_ call: UtilityCall) throws(Flow) -> Int32 {
        var rest = call.words.dropFirst()
        let copy = call.shell.subshell()
        copy.depth = call.shell.depth + 1
        copy.tested = 0
        copy.state.functions = [:]
        copy.state.variables = copy.state.variables.filter { $0.value.isExported }
        copy.state.variables["PWD"] = .init(value: Array(copy.state.folder.utf8), isExported: true)
        copy.state.options = .init()
        copy.state.name = call.words[0]
        copy.state.positional = []
        var script: [UInt8]?
        while let word = rest.first, word.count > 1, word[0] == 45 || word[0] == 43 {
            rest.removeFirst()
            if word == [45, 45] { break }
            if word[1] == 111 {
                if let name = rest.popFirst() { try Builtins.setOption(copy, name.text, word[0] == 45) }
                continue
            }
            for letter in word.dropFirst() where letter != 115 && letter != 99 {
                if letter == 111 {
                    if let name = rest.popFirst() { try Builtins.setOption(copy, name.text, true) }
                    continue
                }
                if word[0] == 45 { copy.state.options.letters.insert(letter) }
            }
            guard word.contains(99) else { continue }
            guard let text = rest.popFirst() else { throw .failed("the option -c needs a script") }
            script = text
            if let name = rest.popFirst() { copy.state.name = name }
            break
        }
        if script == nil, let file = rest.popFirst() {
            script = try call.shell.contents(of: file)
            copy.state.name = file
        }
        copy.state.positional = Array(rest)
        let text: [UInt8]
        if let script { text = script } else { text = try call.all(call.input()) }
        let status = copy.finish { (shell) throws(Flow) in try shell.run(script: text) }
        try call.control.check()
        return status
    }
}
