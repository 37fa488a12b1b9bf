internal import AlcoveCore
internal import AlcoveSandbox

/// One run of a utility: its words and the shell whose descriptors, folder and limits it uses.
struct UtilityCall {
    let shell: Shell
    let words: [[UInt8]]

    var control: RunControl { shell.control }

    /// What stands before the operands, read as getopt(3) would.
    struct Options {
        var flags: Set<Character> = []
        var values: [Character: [UInt8]] = [:]
        var all: [(letter: Character, value: [UInt8])] = []
        var operands: [[UInt8]] = []

        func has(_ letter: Character) -> Bool { flags.contains(letter) }
    }

    /// - Parameters:
    ///   - flags: Letters that stand alone.
    ///   - valued: Letters that take a value.
    ///   - stopsEarly: Whether the first operand ends the options, as for commands that run others.
    ///   - longNames: Letters by long names; one that ends in an equals sign takes a value.
    func options(
        _ flags: String, valued: String = "", stopsEarly: Bool = false, longNames: [String: Character] = [:]
    ) throws(Flow) -> Options {
        var options = Options()
        var rest = words.dropFirst()
        while let word = rest.popFirst() {
            guard word.first == 45, word.count > 1 else {
                options.operands.append(word)
                if stopsEarly { break }
                continue
            }
            if word == [45, 45] { break }
            if word[1] == 45, let letter = longNames[word.text] {
                options.flags.insert(letter)
                continue
            }
            if word[1] == 45, let sign = word.firstIndex(of: 61), let letter = longNames[Array(word[...sign]).text] {
                let value = Array(word[(sign + 1)...])
                options.values[letter] = value
                options.all.append((letter, value))
                continue
            }
            if word[1] == 45 { throw .failed("there is no option \(shown(word)). It has: \(usage(flags, valued))") }
            var place = 1
            while place < word.count {
                let letter = Character(Unicode.Scalar(word[place]))
                place += 1
                if flags.contains(letter) {
                    options.flags.insert(letter)
                } else if valued.contains(letter) {
                    guard let value = place < word.count ? Array(word[place...]) : rest.popFirst() else {
                        throw .failed("the option -\(letter) needs a value")
                    }
                    options.values[letter] = value
                    options.all.append((letter, value))
                    break
                } else {
                    throw .failed("there is no option -\(letter). It has: \(usage(flags, valued))")
                }
            }
        }
        options.operands += rest
        return options
    }

    private func usage(_ flags: String, _ valued: String) -> String {
        let all = flags.map { "-\($0)" } + valued.map { "-\($0) VALUE" }
        return all.isEmpty ? "none" : all.joined(separator: " ")
    }

    func number(_ value: [UInt8]?) throws(Flow) -> Int? {
        guard let value else { return nil }
        guard let number = Int(value.text) else { throw .failed("\(shown(value)) is not a number") }
        return number
    }

    // MARK: Files

    /// Something done with the workspace; a refusal is a fault of the utility.
    func confined<Value>(
        _ body: (ConfinedPaths) throws(ConfinementError) -> Value
    ) throws(Flow) -> Value {
        do throws(ConfinementError) { return try body(shell.here) } catch { throw .failed(error.sentence) }
    }

    /// The same, where the rest goes on: a refusal is said, and nil given back.
    func trying<Value>(
        _ body: (ConfinedPaths) throws(ConfinementError) -> Value
    ) throws(Flow) -> Value? {
        do throws(ConfinementError) { return try body(shell.here) } catch {
            try complain(error.sentence)
            return nil
        }
    }

    // MARK: Other commands

    /// Runs a command as a program of its own would: nothing it changes stays.
    func run(_ words: [[UInt8]], in folder: String? = nil, withInput input: OpenFile? = nil) throws(Flow) -> Int32 {
        guard let first = words.first else { return 0 }
        let copy = shell.subshell()
        copy.depth = shell.depth + 1
        copy.tested = 0
        copy.running = nil
        copy.state.functions = [:]
        if let input { copy.state.files[0] = input }
        if let folder { try enter(folder, copy) }
        let status = copy.finish { (shell) throws(Flow) in try shell.run(words, named: first.text) }
        try control.check()
        return status
    }

    /// The same beside this one, perhaps to be stopped by itself.
    func start(
        _ words: [[UInt8]], input: OpenFile? = nil, output: OpenFile? = nil, under own: RunControl? = nil
    ) throws(Flow) -> Job {
        let copy = shell.subshell(under: own)
        copy.tested = 0
        copy.running = nil
        copy.state.functions = [:]
        if let input { copy.state.files[0] = input }
        if let output { copy.state.files[1] = output }
        return try shell.start(copy) { (shell) throws(Flow) in
            if let first = words.first { try shell.run(words, named: first.text) }
        }
    }

    private func enter(_ folder: String, _ copy: Shell) throws(Flow) {
        if folder.hasPrefix("/") {
            copy.state.folder = folder
        } else if folder != "." {
            copy.state.folder += "/" + folder
        }
    }

    // MARK: Streams

    func input() throws(Flow) -> any ByteSource {
        guard let source = shell.state.files[0]?.source else { throw .failed("the standard input is closed") }
        return source
    }

    func write(_ bytes: [UInt8]) throws(Flow) { try shell.write(bytes) }

    func complain(_ what: String) throws(Flow) { try shell.complain(what) }

    /// Opens each operand, or the standard input for none and for `-`; what cannot be opened is said, and the rest done.
    ///
    /// - Returns: false when something was left out.
    func eachInput(
        _ operands: [[UInt8]], _ body: (_ name: [UInt8], any ByteSource) throws(Flow) -> Void
    ) throws(Flow) -> Bool {
        var isWhole = true
        for operand in operands.isEmpty ? [[45]] : operands {
            try control.check()
            do throws(Flow) {
                if operand == [45] {
                    try body(operand, try input())
                } else if let source = try shell.open(operand, for: .reading).source {
                    try body(operand, source)
                }
            } catch {
                guard case .failed(let what) = error else { throw error }
                try complain(what)
                isWhole = false
            }
        }
        return isWhole
    }

    func all(_ source: any ByteSource) throws(Flow) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let piece = try source.read(1 << 18, isLine: false)
            if piece.isEmpty { return bytes }
            bytes += piece
            try control.check()
            if UInt64(bytes.count) > control.limits.memoryBytes / 8 {
                throw .failed(
                    "the input is longer than \(control.limits.memoryBytes / 8) bytes, which would have to be kept")
            }
        }
    }
}

/// Lines of a source, read ahead in blocks.
struct LineReader {
    private let source: any ByteSource
    private var block: [UInt8] = []
    private var place = 0
    /// Whether the line returned last had a new line at its end.
    private(set) var hadEnd = true

    init(_ source: any ByteSource) { self.source = source }

    /// Without the new line; nil at the end.
    mutating func next() throws(Flow) -> [UInt8]? {
        var line: [UInt8] = []
        while true {
            if let end = block[place...].firstIndex(of: 10) {
                line += block[place..<end]
                place = end + 1
                hadEnd = true
                return line
            }
            line += block[place...]
            block = try source.read(1 << 16, isLine: false)
            place = 0
            if block.isEmpty {
                hadEnd = false
                return line.isEmpty ? nil : line
            }
            if line.count > Shell.longestValue { throw .failed("a line is longer than \(Shell.longestValue) bytes") }
        }
    }
}

/// Collects output and passes it on in blocks.
struct BlockWriter {
    private let call: UtilityCall
    private var block: [UInt8] = []

    init(_ call: UtilityCall) { self.call = call }

    mutating func add(_ bytes: some Sequence<UInt8>) throws(Flow) {
        block.append(contentsOf: bytes)
        if block.count >= 1 << 15 { try flush() }
    }

    mutating func line(_ bytes: [UInt8]) throws(Flow) {
        block += bytes
        try add([10])
    }

    mutating func flush() throws(Flow) {
        if !block.isEmpty { try call.write(block) }
        block.removeAll(keepingCapacity: true)
    }
}
