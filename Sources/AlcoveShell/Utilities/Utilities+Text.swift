internal import AlcoveCore

extension Utilities {
    @Sendable static func cat(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options(
            "nubsAEeTtv", longNames: ["--number": "n", "--show-all": "A", "--show-ends": "E", "--squeeze-blank": "s"])
        var number = 0
        var wasEmpty = false
        let changes = !options.flags.subtracting(["u"]).isEmpty
        let showsEnds = options.has("A") || options.has("E") || options.has("e")
        let showsTabs = options.has("A") || options.has("T") || options.has("t")
        let showsOthers = options.has("A") || options.has("e") || options.has("t") || options.has("v")
        func visible(_ line: [UInt8]) -> [UInt8] {
            guard showsTabs || showsOthers else { return line }
            var out: [UInt8] = []
            for byte in line {
                if byte == 9 {
                    out += showsTabs ? [94, 73] : [9]
                } else if !showsOthers {
                    out.append(byte)
                } else {
                    let low = byte & 0x7F
                    if byte >= 0x80 { out += [77, 45] }
                    out += low < 32 ? [94, low + 64] : low == 127 ? [94, 63] : [low]
                }
            }
            return out
        }
        let isWhole = try call.eachInput(options.operands) { (_, source) throws(Flow) in
            if changes {
                var lines = LineReader(source)
                var writer = BlockWriter(call)
                while let line = try lines.next() {
                    if options.has("s"), line.isEmpty, wasEmpty { continue }
                    wasEmpty = line.isEmpty
                    if options.has("b") ? !line.isEmpty : options.has("n") {
                        number += 1
                        let digits = "\(number)"
                        try writer.add(String(repeating: " ", count: max(0, 6 - digits.count)).utf8)
                        try writer.add("\(digits)\t".utf8)
                    }
                    try writer.add(visible(line))
                    if lines.hadEnd { try writer.add(showsEnds ? [36, 10] : [10]) }
                }
                return try writer.flush()
            }
            while true {
                let piece = try source.read(1 << 16, isLine: false)
                if piece.isEmpty { return }
                try call.write(piece)
            }
        }
        return isWhole ? 0 : 1
    }

    @Sendable static func tee(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("ai")
        var sinks: [any ByteSink] = []
        var status: Int32 = 0
        for operand in options.operands {
            do throws(Flow) {
                if let sink = try call.shell.open(operand, for: options.has("a") ? .appending : .truncating).sink {
                    sinks.append(sink)
                }
            } catch {
                guard case .failed(let what) = error else { throw error }
                try call.complain(what)
                status = 1
            }
        }
        let source = try call.input()
        while true {
            let piece = try source.read(1 << 16, isLine: false)
            if piece.isEmpty { return status }
            try call.write(piece)
            for sink in sinks { try sink.write(piece) }
        }
    }

    /// `-5` for `-n 5`, as everybody writes it.
    private static func withOldCount(_ call: UtilityCall) -> UtilityCall {
        guard call.words.count > 1, call.words[1].count > 1,
            call.words[1][0] == 45 || (call.words[1][0] == 43 && call.words[0].last == 108),
            call.words[1].dropFirst().allSatisfy(\.isDigit)
        else { return call }
        var words = call.words
        words[1] = Array("-n".utf8) + (words[1][0] == 43 ? words[1] : Array(words[1].dropFirst()))
        return UtilityCall(shell: call.shell, words: words)
    }

    private static func header(_ call: UtilityCall, _ name: [UInt8], _ isFirst: inout Bool) throws(Flow) {
        let shownName = name == [45] ? Array("standard input".utf8) : name
        try call.write((isFirst ? [] : [10]) + Array("==> ".utf8) + shownName + Array(" <==\n".utf8))
        isFirst = false
    }

    @Sendable static func head(_ given: UtilityCall) throws(Flow) -> Int32 {
        let call = withOldCount(given)
        let options = try call.options(
            "qv", valued: "nc", longNames: ["--lines=": "n", "--bytes=": "c", "--quiet": "q"])
        let lines = try call.number(options.values["n"]) ?? 10
        let bytes = try call.number(options.values["c"])
        var isFirst = true
        let isWhole = try call.eachInput(options.operands) { (name, source) throws(Flow) in
            if options.operands.count > 1, !options.has("q") { try header(call, name, &isFirst) }
            if lines < 0 || (bytes ?? 0) < 0 {
                let all = try call.all(source)
                if let bytes { return try call.write(Array(all.dropLast(-bytes))) }
                var parts = all.split(separator: 10, omittingEmptySubsequences: false)
                if parts.last?.isEmpty == true { parts.removeLast() }
                for part in parts.dropLast(-lines) { try call.write(Array(part) + [10]) }
                return
            }
            var left = bytes ?? lines
            while left > 0 {
                let piece = try source.read(bytes == nil ? 1 << 16 : min(left, 1 << 16), isLine: bytes == nil)
                if piece.isEmpty { return }
                try call.write(piece)
                if bytes != nil { left -= piece.count } else if piece.last == 10 { left -= 1 }
            }
        }
        return isWhole ? 0 : 1
    }

    @Sendable static func tail(_ given: UtilityCall) throws(Flow) -> Int32 {
        let call = withOldCount(given)
        let options = try call.options(
            "qvfF", valued: "nc", longNames: ["--lines=": "n", "--bytes=": "c", "--quiet": "q"])
        let isBytes = options.values["c"] != nil
        let text = options.values["c"] ?? options.values["n"] ?? Array("10".utf8)
        let fromStart = text.first == 43
        guard let count = Int(text.text).map(abs) else { throw .failed("\(shown(text)) is not a number") }
        var isFirst = true
        let isWhole = try call.eachInput(options.operands) { (name, source) throws(Flow) in
            if options.operands.count > 1, !options.has("q") { try header(call, name, &isFirst) }
            if fromStart {
                var skip = max(0, count - 1)
                while skip > 0 {
                    let piece = try source.read(isBytes ? min(skip, 1 << 16) : 1 << 16, isLine: !isBytes)
                    if piece.isEmpty { return }
                    if isBytes { skip -= piece.count } else if piece.last == 10 { skip -= 1 }
                }
                while true {
                    let piece = try source.read(1 << 16, isLine: false)
                    if piece.isEmpty { return }
                    try call.write(piece)
                }
            }
            if isBytes { return try call.write(Array(try call.all(source).suffix(count))) }
            // Only as many lines as are wanted are kept.
            var kept: [[UInt8]] = []
            var start = 0
            var lines = LineReader(source)
            var endsLine = true
            while let line = try lines.next() {
                endsLine = lines.hadEnd
                if count == 0 { continue }
                if kept.count < count {
                    kept.append(line)
                } else {
                    kept[start] = line
                    start = (start + 1) % count
                }
            }
            var out: [UInt8] = []
            for index in kept.indices { out += kept[(start + index) % kept.count] + [10] }
            if !endsLine, !out.isEmpty { out.removeLast() }
            try call.write(out)
        }
        return isWhole ? 0 : 1
    }

    @Sendable static func count(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("lwcmL")
        struct Counts { var lines = 0, words = 0, characters = 0, bytes = 0, longest = 0 }
        let wanted = options.flags.isEmpty ? Set("lwc") : options.flags
        var rows: [(Counts, [UInt8])] = []
        var total = Counts()
        let isWhole = try call.eachInput(options.operands) { (name, source) throws(Flow) in
            var counts = Counts()
            var isInWord = false
            var columns = 0
            while true {
                let piece = try source.read(1 << 16, isLine: false)
                if piece.isEmpty { break }
                counts.bytes += piece.count
                for byte in piece {
                    if byte == 10 {
                        counts.lines += 1
                        columns = 0
                    } else if byte & 0xC0 != 0x80 {
                        columns = byte == 9 ? columns / 8 * 8 + 8 : columns + 1
                        counts.longest = max(counts.longest, columns)
                    }
                    if byte & 0xC0 != 0x80 { counts.characters += 1 }
                    let isSpace = byte == 32 || (9...13).contains(byte)
                    if !isSpace, !isInWord { counts.words += 1 }
                    isInWord = !isSpace
                }
            }
            rows.append((counts, options.operands.isEmpty ? [] : name))
            total.longest = max(total.longest, counts.longest)
            total.lines += counts.lines
            total.words += counts.words
            total.characters += counts.characters
            total.bytes += counts.bytes
        }
        if options.operands.count > 1 { rows.append((total, Array("total".utf8))) }
        let columns = wanted.intersection("lwmcL").count
        // As wide as the largest number; seven where the size is not known beforehand.
        let isStandardInput =
            (options.operands.isEmpty || options.operands.contains([45]))
            && !(call.shell.state.files[0]?.source is FileStream)
        let width = columns == 1 && rows.count == 1 ? 1 : isStandardInput ? 7 : "\(total.bytes)".count
        for (counts, name) in rows {
            var columns: [String] = []
            for (letter, value) in [
                ("l", counts.lines), ("w", counts.words), ("m", counts.characters), ("c", counts.bytes),
                ("L", counts.longest),
            ]
            where wanted.contains(Character(letter)) {
                let digits = "\(value)"
                columns.append(String(repeating: " ", count: max(0, width - digits.count)) + digits)
            }
            try call.write(Array(columns.joined(separator: " ").utf8) + (name.isEmpty ? [] : [32] + name) + [10])
        }
        return isWhole ? 0 : 1
    }

    @Sendable static func unique(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options(
            "cduiDz", valued: "fsw",
            longNames: ["--count": "c", "--repeated": "d", "--unique": "u", "--ignore-case": "i"])
        let operands = options.operands
        guard operands.count < 3 else { throw .failed("it takes one input and one output") }
        let skippedFields = try call.number(options.values["f"]) ?? 0
        let skipped = try call.number(options.values["s"]) ?? 0
        let most = try call.number(options.values["w"]) ?? .max
        var sink: (any ByteSink)?
        if operands.count == 2 { sink = try call.shell.open(operands[1], for: .truncating).sink }
        var writer = BlockWriter(call)
        func write(_ bytes: [UInt8]) throws(Flow) {
            if let sink { try sink.write(bytes) } else { try writer.add(bytes) }
        }
        func emit(_ lines: [[UInt8]], _ count: Int) throws(Flow) {
            if options.has("D") {
                if count > 1 { for line in lines { try write(line + [10]) } }
                return
            }
            if options.has("d"), count < 2 { return }
            if options.has("u"), count > 1 { return }
            var out = lines[0] + [10]
            if options.has("c") {
                let digits = "\(count)"
                out = Array((String(repeating: " ", count: max(0, 7 - digits.count)) + digits + " ").utf8) + out
            }
            try write(out)
        }
        func key(_ line: [UInt8]) -> [UInt8] {
            var place = 0
            for _ in 0..<skippedFields {
                while place < line.count, line[place].isBlank { place += 1 }
                while place < line.count, !line[place].isBlank { place += 1 }
            }
            let rest = Array(line.dropFirst(place).dropFirst(skipped).prefix(most))
            return options.has("i") ? rest.map(lowered) : rest
        }
        let isWhole = try call.eachInput(Array(operands.prefix(1))) { (_, source) throws(Flow) in
            var lines = LineReader(source)
            var current: [[UInt8]] = []
            var currentKey: [UInt8] = []
            var count = 0
            while let line = try lines.next() {
                let lineKey = key(line)
                if count > 0, currentKey == lineKey {
                    count += 1
                    if options.has("D") { current.append(line) }
                    continue
                }
                if count > 0 { try emit(current, count) }
                current = [line]
                currentKey = lineKey
                count = 1
            }
            if count > 0 { try emit(current, count) }
        }
        try writer.flush()
        return isWhole ? 0 : 1
    }

    static func lowered(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte + 32 : byte }

    @Sendable static func cut(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options(
            "snzC", valued: "bcfd",
            longNames: [
                "--complement": "C", "--output-delimiter=": "o", "--delimiter=": "d", "--fields=": "f",
                "--characters=": "c", "--bytes=": "b", "--only-delimited": "s",
            ])
        let kinds = options.all.filter { "bcf".contains($0.letter) }
        guard kinds.count == 1 else { throw .failed("one of -b, -c and -f belongs after it, with a list") }
        let ranges = try ranges(kinds[0].value)
        let delimiter = options.values["d"] ?? [9]
        guard delimiter.count == 1 else { throw .failed("the delimiter is one byte") }
        let between = options.values["o"] ?? (kinds[0].letter == "f" ? delimiter : [])
        func isIn(_ number: Int) -> Bool { ranges.contains { $0.contains(number) } != options.has("C") }
        let isWhole = try call.eachInput(options.operands) { (_, source) throws(Flow) in
            var lines = LineReader(source)
            var writer = BlockWriter(call)
            while let line = try lines.next() {
                if kinds[0].letter == "f" {
                    guard line.contains(delimiter[0]) else {
                        if !options.has("s") { try writer.line(line) }
                        continue
                    }
                    let fields = line.split(separator: delimiter[0], omittingEmptySubsequences: false)
                    let chosen = fields.enumerated().filter { isIn($0.offset + 1) }.map(\.element)
                    try writer.line(Array(chosen.joined(separator: between)))
                } else {
                    try writer.line(line.enumerated().filter { isIn($0.offset + 1) }.map(\.element))
                }
            }
            try writer.flush()
        }
        return isWhole ? 0 : 1
    }

    private static func ranges(_ list: [UInt8]) throws(Flow) -> [ClosedRange<Int>] {
        var ranges: [ClosedRange<Int>] = []
        for part in list.split(separator: 44) {
            let ends = part.split(separator: 45, omittingEmptySubsequences: false).map { Array($0).text }
            let low = ends[0].isEmpty ? 1 : Int(ends[0]) ?? 0
            let high = ends.count == 1 ? low : ends[1].isEmpty ? Int.max : Int(ends[1]) ?? 0
            guard ends.count < 3, part != [45], low > 0, high >= low else {
                throw .failed("\(shown(part)) is no list of places, which count from 1")
            }
            ranges.append(low...high)
        }
        guard !ranges.isEmpty else { throw .failed("a list of places is missing") }
        return ranges
    }

    @Sendable static func translate(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("cCds")
        let sets = options.operands
        guard (1...2).contains(sets.count) else { throw .failed("one or two sets of characters belong after it") }
        var first = try set(sets[0], fill: nil)
        if options.has("c") || options.has("C") {
            let members = Set(first)
            first = (0...255).map { UInt8($0) }.filter { !members.contains($0) }
        }
        var map = (0...255).map { UInt8($0) }
        var deletes = [Bool](repeating: false, count: 256)
        var squeezes = [Bool](repeating: false, count: 256)
        if options.has("d") {
            for byte in first { deletes[Int(byte)] = true }
            if options.has("s"), sets.count > 1 {
                for byte in try set(sets[1], fill: nil) { squeezes[Int(byte)] = true }
            }
        } else if sets.count > 1 {
            let second = try set(sets[1], fill: first.count)
            guard let last = second.last else { throw .failed("the second set is empty") }
            for (index, byte) in first.enumerated() { map[Int(byte)] = index < second.count ? second[index] : last }
            if options.has("s") { for byte in second { squeezes[Int(byte)] = true } }
        } else if options.has("s") {
            for byte in first { squeezes[Int(byte)] = true }
        } else {
            throw .failed("a second set is missing")
        }
        let source = try call.input()
        var before: UInt8?
        while true {
            let piece = try source.read(1 << 16, isLine: false)
            if piece.isEmpty { return 0 }
            var out: [UInt8] = []
            out.reserveCapacity(piece.count)
            for byte in piece where !deletes[Int(byte)] {
                let new = map[Int(byte)]
                if squeezes[Int(new)], new == before { continue }
                before = new
                out.append(new)
            }
            try call.write(out)
        }
    }

    /// The bytes of a set of `tr`, in order.
    private static func set(_ given: [UInt8], fill: Int?) throws(Flow) -> [UInt8] {
        // A byte, and whether it was escaped.
        var text: [(byte: UInt8, isLiteral: Bool)] = []
        var place = 0
        while place < given.count {
            if given[place] == 92, place + 1 < given.count {
                let isOctal = (48...55).contains(given[place + 1])
                var length = 2
                if isOctal {
                    length = 1
                    while length < 4, place + length < given.count, (48...55).contains(given[place + length]) {
                        length += 1
                    }
                }
                let simple = Printf.unescaped(Array(given[place..<place + length])).0
                text.append((simple.count == 1 ? simple[0] : given[place + 1], true))
                place += length
            } else {
                text.append((given[place], false))
                place += 1
            }
        }
        var out: [UInt8] = []
        var index = 0
        while index < text.count {
            if !text[index].isLiteral, text[index].byte == 91, index + 1 < text.count, text[index + 1].byte == 58,
                let end = text[(index + 2)...].firstIndex(where: { $0.byte == 58 }), end + 1 < text.count,
                text[end + 1].byte == 93
            {
                let name = text[index + 2..<end].map(\.byte).text
                guard let ranges = Pattern.classes[name] else { throw .failed("there is no class [:\(name):]") }
                for range in ranges { out += (range.0...range.1).map { UInt8($0) } }
                index = end + 2
                continue
            }
            if index + 2 < text.count, text[index + 1].byte == 45, !text[index + 1].isLiteral {
                let (low, high) = (text[index].byte, text[index + 2].byte)
                guard low <= high else { throw .failed("the range \([low, 45, high].text) runs backwards") }
                out += Array(low...high)
                index += 3
                continue
            }
            if !text[index].isLiteral, text[index].byte == 91, index + 3 < text.count, text[index + 2].byte == 42,
                let end = text[(index + 3)...].firstIndex(where: { $0.byte == 93 })
            {
                let digits = text[index + 3..<end].map(\.byte)
                if digits.allSatisfy(\.isDigit) {
                    let count = Int(digits.text) ?? max(0, (fill ?? 0) - out.count)
                    out += [UInt8](repeating: text[index + 1].byte, count: min(count, 1 << 16))
                    index = end + 1
                    continue
                }
            }
            out.append(text[index].byte)
            index += 1
        }
        return out
    }
}
