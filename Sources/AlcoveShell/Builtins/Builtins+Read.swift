internal import AlcoveCore

extension Builtins {
    private struct ReadOptions {
        var isRaw = false
        var delimiter: UInt8 = 10
        var array: String?
        var most: Int?
        var isExact = false
        var descriptor = 0
    }

    /// `read`, with what bash adds: -a -d -n -N -u -t -s.
    @Sendable static func read(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        var rest = words.dropFirst()
        var options = ReadOptions()
        while let word = rest.first, word.first == 45, word.count > 1 {
            rest.removeFirst()
            if word == [45, 45] { break }
            var place = 1
            while place < word.count {
                let letter = word[place]
                place += 1
                if letter == 114 || letter == 115 || letter == 101 {
                    if letter == 114 { options.isRaw = true }
                    continue
                }
                guard "padnNtu".utf8.contains(letter) else {
                    throw .failed(
                        "there is no option -\([letter].text). It has: -r -p TEXT -a NAME -d BYTE -n N -N N -u N -t N -s"
                    )
                }
                guard let value = place < word.count ? Array(word[place...]) : rest.popFirst() else {
                    throw .failed("the option -\([letter].text) needs a value")
                }
                switch letter {
                case 112: try shell.state.files[2]?.sink?.write(value)
                case 97:
                    guard value.isName else { throw .failed("\(shown(value)) is no name of a variable") }
                    options.array = value.text
                case 100: options.delimiter = value.first ?? 0
                case 110, 78:
                    options.most = Int(value.text)
                    options.isExact = letter == 78
                case 117: options.descriptor = Int(value.text) ?? 0
                default: break
                }
                break
            }
        }
        let names = rest.isEmpty && options.array == nil ? [Array("REPLY".utf8)] : Array(rest)
        for name in names where !name.isName { throw .failed("\(shown(name)) is no name of a variable") }
        guard let source = shell.state.files[options.descriptor]?.source else {
            throw .failed("the standard input is closed")
        }
        let (line, hasEnded) = try readText(source, options)
        if let array = options.array {
            shell.state.variables[array] = .init(array: ShellArray(split(line, shell.separators)))
        } else if rest.isEmpty {
            try shell.set("REPLY", line.map(\.byte))
        } else if options.isExact {
            try shell.set(names[0].text, line.map(\.byte))
            for name in names.dropFirst() { try shell.set(name.text, [UInt8]()) }
        } else {
            try assign(line, to: names.map(\.text), shell)
        }
        return hasEnded ? 0 : 1
    }

    private static func readText(
        _ source: any ByteSource, _ options: ReadOptions
    ) throws(Flow) -> ([(byte: UInt8, isLiteral: Bool)], hasEnded: Bool) {
        // A byte and whether it was escaped.
        var line: [(byte: UInt8, isLiteral: Bool)] = []
        var isEscaped = false
        var characters = 0
        if options.most == 0 { return (line, true) }
        let byBytes = options.delimiter != 10 || options.most != nil
        while true {
            let piece = try source.read(byBytes ? 1 : 1 << 16, isLine: !byBytes)
            if piece.isEmpty { return (line, false) }
            for byte in piece {
                if isEscaped {
                    isEscaped = false
                    if byte != 10 { line.append((byte, true)) }
                } else if byte == 92, !options.isRaw {
                    isEscaped = true
                    continue
                } else if byte == options.delimiter, !options.isExact {
                    return (line, true)
                } else if byte != 0 {
                    line.append((byte, false))
                }
                if byte & 0xC0 != 0x80 { characters += 1 }
                if let most = options.most, characters >= most, Pattern.length([byte], 0) == 1,
                    byte < 0x80 || endsCharacter(line)
                {
                    return (line, true)
                }
            }
            if line.count > Shell.longestValue {
                throw .failed("the line is longer than \(Shell.longestValue) bytes")
            }
        }
    }

    private static func endsCharacter(_ line: [(byte: UInt8, isLiteral: Bool)]) -> Bool {
        var start = line.count - 1
        while start > 0, line[start].byte & 0xC0 == 0x80 { start -= 1 }
        let first = line[start].byte
        let count = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1
        return line.count - start >= count
    }

    private static func split(_ line: [(byte: UInt8, isLiteral: Bool)], _ separators: [UInt8]) -> [[UInt8]] {
        var builder = FieldBuilder(separators: separators)
        for piece in line {
            if piece.isLiteral { builder.add(quoted: [piece.byte]) } else { builder.add(split: [piece.byte]) }
        }
        builder.end()
        return builder.fields.map(\.text)
    }

    /// `mapfile` and `readarray`.
    @Sendable static func readLines(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        var rest = words.dropFirst()
        var dropsEnd = false
        var delimiter: UInt8 = 10
        var most = Int.max
        var skipped = 0
        var start: Int?
        while let word = rest.first, word.first == 45, word.count > 1 {
            rest.removeFirst()
            if word == Array("-t".utf8) {
                dropsEnd = true
                continue
            }
            let letter = word[1]
            guard "dnsOu".utf8.contains(letter), let value = word.count > 2 ? Array(word[2...]) : rest.popFirst() else {
                throw .failed("there is no option \(shown(word)). It has: -t -d BYTE -n N -s N -O N")
            }
            switch letter {
            case 100: delimiter = value.first ?? 0
            case 110: most = Int(value.text) ?? 0
            case 115: skipped = Int(value.text) ?? 0
            case 79: start = Int(value.text)
            default: break
            }
        }
        if most == 0 { most = .max }
        let name = rest.first?.text ?? "MAPFILE"
        guard Array(name.utf8).isName else { throw .failed("\(name) is no name of a variable") }
        guard let source = shell.state.files[0]?.source else { throw .failed("the standard input is closed") }
        var array =
            start == nil ? ShellArray(isNamed: false) : shell.state.variables[name]?.array ?? ShellArray(isNamed: false)
        var index = start ?? 0
        let records = AwkRecords(source)
        var count = 0
        while count < most, let line = try records.next(.byte(delimiter)) {
            try shell.control.check()
            if skipped > 0 {
                skipped -= 1
                continue
            }
            array[Array("\(index)".utf8)] = dropsEnd || records.lastWasCut ? line : line + [delimiter]
            index += 1
            count += 1
            if count > 1_000_000 { throw .failed("an array may have 1000000 elements") }
        }
        shell.state.variables[name] = .init(array: array)
        return 0
    }

    private static func assign(
        _ line: [(byte: UInt8, isLiteral: Bool)], to names: [String], _ shell: Shell
    ) throws(Flow) {
        let separators = shell.separators
        func cuts(_ index: Int) -> Bool { !line[index].isLiteral && separators.contains(line[index].byte) }
        func isBlank(_ index: Int) -> Bool { cuts(index) && [32, 9, 10].contains(line[index].byte) }
        var place = 0
        while place < line.count, isBlank(place) { place += 1 }
        for name in names.dropLast() {
            let start = place
            while place < line.count, !cuts(place) { place += 1 }
            try shell.set(name, line[start..<place].map(\.byte))
            while place < line.count, isBlank(place) { place += 1 }
            if place < line.count, cuts(place) {
                place += 1
                while place < line.count, isBlank(place) { place += 1 }
            }
        }
        var end = line.count
        while end > place, isBlank(end - 1) { end -= 1 }
        // One field that ends in a separator is that field alone.
        if end > place, cuts(end - 1), !(place..<end - 1).contains(where: { cuts($0) && !isBlank($0) }) {
            var fieldEnd = end - 1
            while fieldEnd > place, isBlank(fieldEnd - 1) { fieldEnd -= 1 }
            if !(place..<fieldEnd).contains(where: cuts) { end = fieldEnd }
        }
        try shell.set(names[names.count - 1], line[place..<end].map(\.byte))
    }
}
