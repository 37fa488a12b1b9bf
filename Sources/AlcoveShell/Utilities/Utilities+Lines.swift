internal import AlcoveCore

/// Utilities that put lines together, take them apart or turn them round.
extension Utilities {
    @Sendable static func reversedLines(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("br", valued: "s")
        let isWhole = try call.eachInput(options.operands) { (_, source) throws(Flow) in
            let all = try call.all(source)
            var parts = all.split(separator: 10, omittingEmptySubsequences: false)
            // A last line without an end keeps having none, and stands before the next.
            let hasEnd = parts.last?.isEmpty == true
            if hasEnd { parts.removeLast() }
            var writer = BlockWriter(call)
            for (index, part) in parts.reversed().enumerated() {
                try writer.add(part)
                if index > 0 || hasEnd { try writer.add([10]) }
            }
            try writer.flush()
        }
        return isWhole ? 0 : 1
    }

    @Sendable static func reversedCharacters(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("")
        let isWhole = try call.eachInput(options.operands) { (_, source) throws(Flow) in
            var lines = LineReader(source)
            var writer = BlockWriter(call)
            while let line = try lines.next() {
                var out: [UInt8] = []
                var place = 0
                var starts: [Int] = []
                while place < line.count {
                    starts.append(place)
                    place += Pattern.length(line, place)
                }
                for start in starts.reversed() { out += line[start..<start + Pattern.length(line, start)] }
                try writer.add(out)
                if lines.hadEnd { try writer.add([10]) }
            }
            try writer.flush()
        }
        return isWhole ? 0 : 1
    }

    @Sendable static func numberedLines(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("p", valued: "bwsvin")
        let style = options.values["b"]?.text ?? "t"
        let width = try call.number(options.values["w"]) ?? 6
        let separator = options.values["s"] ?? [9]
        var number = try call.number(options.values["v"]) ?? 1
        let step = try call.number(options.values["i"]) ?? 1
        let format = options.values["n"]?.text ?? "rn"
        let isWhole = try call.eachInput(options.operands) { (_, source) throws(Flow) in
            var lines = LineReader(source)
            var writer = BlockWriter(call)
            while let line = try lines.next() {
                if style == "a" || (style == "t" && !line.isEmpty) {
                    let digits = "\(number)"
                    let room = String(repeating: format == "rz" ? "0" : " ", count: max(0, width - digits.count))
                    try writer.add((format == "ln" ? digits + room : room + digits).utf8)
                    try writer.add(separator)
                    number += step
                } else {
                    try writer.add([UInt8](repeating: 32, count: width + separator.count))
                }
                try writer.line(line)
            }
            try writer.flush()
        }
        return isWhole ? 0 : 1
    }

    /// Readers of all operands; the standard input may be among them more than once.
    private static func readers(_ call: UtilityCall, _ operands: [[UInt8]]) throws(Flow) -> [SharedLines] {
        var standard: SharedLines?
        var out: [SharedLines] = []
        for operand in operands {
            if operand == [45] {
                let shared: SharedLines
                if let known = standard { shared = known } else { shared = SharedLines(try call.input()) }
                standard = shared
                out.append(shared)
            } else if let source = try call.shell.open(operand, for: .reading).source {
                out.append(SharedLines(source))
            }
        }
        return out
    }

    final class SharedLines {
        private var lines: LineReader
        init(_ source: any ByteSource) { lines = LineReader(source) }
        func next() throws(Flow) -> [UInt8]? { try lines.next() }
    }

    @Sendable static func paste(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("sz", valued: "d")
        var delimiters: [[UInt8]] = [[9]]
        if let given = options.values["d"] {
            delimiters = []
            var place = 0
            while place < given.count {
                if given[place] == 92, place + 1 < given.count {
                    let letter = given[place + 1]
                    delimiters.append(letter == 48 ? [] : letter == 110 ? [10] : letter == 116 ? [9] : [letter])
                    place += 2
                } else {
                    delimiters.append([given[place]])
                    place += 1
                }
            }
            if delimiters.isEmpty { delimiters = [[]] }
        }
        let inputs = try readers(call, options.operands.isEmpty ? [[45]] : options.operands)
        var writer = BlockWriter(call)
        if options.has("s") {
            for input in inputs {
                var index = 0
                while let line = try input.next() {
                    if index > 0 { try writer.add(delimiters[(index - 1) % delimiters.count]) }
                    try writer.add(line)
                    index += 1
                }
                try writer.add([10])
            }
            try writer.flush()
            return 0
        }
        while true {
            var row: [UInt8] = []
            var hasAny = false
            for (index, input) in inputs.enumerated() {
                if index > 0 { row += delimiters[(index - 1) % delimiters.count] }
                if let line = try input.next() {
                    row += line
                    hasAny = true
                }
            }
            if !hasAny { break }
            try writer.line(row)
        }
        try writer.flush()
        return 0
    }

    @Sendable static func join(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("i", valued: "avt12oej")
        guard options.operands.count == 2 else { throw .failed("it takes two files") }
        let inputs = try readers(call, options.operands)
        let separator = options.values["t"]?.first
        let common = try call.number(options.values["j"]) ?? 1
        let fields = [try call.number(options.values["1"]) ?? common, try call.number(options.values["2"]) ?? common]
        let empty = options.values["e"] ?? []
        var alone: Set<Int> = []
        for (letter, value) in options.all where letter == "a" || letter == "v" { alone.insert(Int(value.text) ?? 0) }
        let pairs = options.values["v"] == nil
        let order = options.values["o"]?.split(whereSeparator: { $0 == 44 || $0 == 32 }).map { Array($0).text }
        let fold = options.has("i")
        struct Row {
            var fields: [[UInt8]]
            var key: [UInt8]
        }
        func row(_ index: Int) throws(Flow) -> Row? {
            guard let line = try inputs[index].next() else { return nil }
            let parts =
                separator.map { line.split(separator: $0, omittingEmptySubsequences: false).map { Array($0) } }
                ?? line.split(whereSeparator: { $0.isBlank }).map { Array($0) }
            let key = fields[index] <= parts.count ? parts[fields[index] - 1] : []
            return Row(fields: parts, key: fold ? key.map(lowered) : key)
        }
        var writer = BlockWriter(call)
        func write(_ one: Row?, _ two: Row?) throws(Flow) {
            let rows = [one, two]
            var out: [[UInt8]] = []
            if let order {
                for item in order {
                    if item == "0" {
                        let index = one == nil ? 1 : 0
                        out.append(
                            rows[index].map { fields[index] <= $0.fields.count ? $0.fields[fields[index] - 1] : [] }
                                ?? [])
                        continue
                    }
                    let parts = item.split(separator: ".").map { Int($0) ?? 0 }
                    guard parts.count == 2, (1...2).contains(parts[0]), parts[1] > 0 else {
                        throw .failed("\(item) is no field; write FILE.FIELD")
                    }
                    let fields = rows[parts[0] - 1]?.fields ?? []
                    out.append(parts[1] <= fields.count ? fields[parts[1] - 1] : empty)
                }
            } else {
                let index = one == nil ? 1 : 0
                if let row = rows[index] {
                    out.append(fields[index] <= row.fields.count ? row.fields[fields[index] - 1] : [])
                }
                for (index, row) in rows.enumerated() {
                    guard let row else { continue }
                    out += row.fields.enumerated().filter { $0.offset != fields[index] - 1 }.map(\.element)
                }
            }
            try writer.line(Array(out.joined(separator: [separator ?? 32])))
        }
        var one = try row(0)
        var two = try row(1)
        while let left = one, let right = two {
            try call.control.check()
            if left.key == right.key {
                var group: [Row] = [right]
                while let more = try row(1) {
                    two = more
                    if more.key != left.key { break }
                    group.append(more)
                    two = nil
                }
                if group.last?.key == two?.key { two = nil }
                if two?.key == left.key || (two.map { $0.fields == right.fields } ?? false) { two = nil }
                let key = left.key
                while let current = one, current.key == key {
                    if pairs { for other in group { try write(current, other) } }
                    one = try row(0)
                }
            } else if left.key.lexicographicallyPrecedes(right.key) {
                if alone.contains(1) { try write(left, nil) }
                one = try row(0)
            } else {
                if alone.contains(2) { try write(nil, right) }
                two = try row(1)
            }
        }
        while let left = one {
            if alone.contains(1) { try write(left, nil) }
            one = try row(0)
        }
        while let right = two {
            if alone.contains(2) { try write(nil, right) }
            two = try row(1)
        }
        try writer.flush()
        return 0
    }

    @Sendable static func common(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("123iz")
        guard options.operands.count == 2 else { throw .failed("it takes two files") }
        let inputs = try readers(call, options.operands)
        var writer = BlockWriter(call)
        func write(_ column: Int, _ line: [UInt8]) throws(Flow) {
            if options.has(Character("\(column)")) { return }
            let tabs = (1..<column).filter { !options.has(Character("\($0)")) }.count
            try writer.add([UInt8](repeating: 9, count: tabs))
            try writer.line(line)
        }
        var one = try inputs[0].next()
        var two = try inputs[1].next()
        while true {
            if let left = one, let right = two {
                if left == right {
                    try write(3, left)
                    one = try inputs[0].next()
                    two = try inputs[1].next()
                } else if left.lexicographicallyPrecedes(right) {
                    try write(1, left)
                    one = try inputs[0].next()
                } else {
                    try write(2, right)
                    two = try inputs[1].next()
                }
            } else if let left = one {
                try write(1, left)
                one = try inputs[0].next()
            } else if let right = two {
                try write(2, right)
                two = try inputs[1].next()
            } else {
                break
            }
        }
        try writer.flush()
        return 0
    }

    @Sendable static func split(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("d", valued: "lban", longNames: ["--numeric-suffixes": "d"])
        let source: any ByteSource
        if let first = options.operands.first, first != [45] {
            guard let opened = try call.shell.open(first, for: .reading).source else { return 1 }
            source = opened
        } else {
            source = try call.input()
        }
        let prefix = options.operands.count > 1 ? options.operands[1] : [120]
        let letters = try call.number(options.values["a"]) ?? 2
        var number = 0
        func open() throws(Flow) -> (any ByteSink)? {
            var suffix: [UInt8] = []
            var rest = number
            let base = options.has("d") ? 10 : 26
            for _ in 0..<letters {
                suffix.insert(UInt8(rest % base) + (options.has("d") ? 48 : 97), at: 0)
                rest /= base
            }
            guard rest == 0 else {
                throw .failed("there are more parts than suffixes of \(letters) letters; -a gives longer ones")
            }
            number += 1
            return try call.shell.open(prefix + suffix, for: .truncating).sink
        }
        if let text = options.values["b"] {
            guard let size = Sizes.bytes(text), size > 0 else { throw .failed("\(shown(text)) is no size") }
            var sink: (any ByteSink)?
            var left = 0
            while true {
                if left == 0 { left = size; sink = nil }
                let piece = try source.read(min(left, 1 << 16), isLine: false)
                if piece.isEmpty { return 0 }
                if sink == nil { sink = try open() }
                try sink?.write(piece)
                left -= piece.count
            }
        }
        var most = try call.number(options.values["l"]) ?? 1000
        guard most > 0 else { throw .failed("-l needs a number of lines") }
        var lines = LineReader(source)
        if let parts = try call.number(options.values["n"]), parts > 0 {
            // So many files of about as many bytes: cut as GNU cuts, at bytes.
            let all = try call.all(source)
            for index in 0..<parts {
                let from = all.count / parts * index
                let to = index == parts - 1 ? all.count : all.count / parts * (index + 1)
                try open()?.write(Array(all[from..<to]))
            }
            return 0
        }
        most = max(1, most)
        var block: [UInt8] = []
        var count = 0
        var sink: (any ByteSink)?
        while let line = try lines.next() {
            if sink == nil { sink = try open() }
            block += line
            if lines.hadEnd { block.append(10) }
            count += 1
            if count == most || block.count > 1 << 16 {
                try sink?.write(block)
                block = []
                if count == most { (count, sink) = (0, nil) }
            }
        }
        if !block.isEmpty { try sink?.write(block) }
        return 0
    }

    @Sendable static func fold(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("sb", valued: "w")
        let width = try call.number(options.values["w"]) ?? 80
        guard width > 0 else { throw .failed("-w needs a width") }
        let isWhole = try call.eachInput(options.operands) { (_, source) throws(Flow) in
            var lines = LineReader(source)
            var writer = BlockWriter(call)
            while var line = try lines.next() {
                while true {
                    var end = 0
                    var columns = 0
                    while end < line.count, columns < width {
                        end += options.has("b") ? 1 : Pattern.length(line, end)
                        columns += 1
                    }
                    if end >= line.count { break }
                    if options.has("s"), let blank = line[..<end].lastIndex(where: { $0.isBlank }) { end = blank + 1 }
                    try writer.line(Array(line[..<end]))
                    line.removeFirst(end)
                }
                try writer.add(line)
                if lines.hadEnd { try writer.add([10]) }
            }
            try writer.flush()
        }
        return isWhole ? 0 : 1
    }

    @Sendable static func expand(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("i", valued: "t")
        let size = try call.number(options.values["t"]) ?? 8
        guard size > 0 else { throw .failed("-t needs a width") }
        let isWhole = try call.eachInput(options.operands) { (_, source) throws(Flow) in
            var lines = LineReader(source)
            var writer = BlockWriter(call)
            while let line = try lines.next() {
                var out: [UInt8] = []
                var column = 0
                var isStart = true
                for byte in line {
                    if !byte.isBlank { isStart = false }
                    if byte == 9, !options.has("i") || isStart {
                        repeat {
                            out.append(32)
                            column += 1
                        } while column % size != 0
                    } else {
                        out.append(byte)
                        if byte & 0xC0 != 0x80 { column += 1 }
                    }
                }
                try writer.add(out)
                if lines.hadEnd { try writer.add([10]) }
            }
            try writer.flush()
        }
        return isWhole ? 0 : 1
    }

    @Sendable static func unexpand(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("a", valued: "t")
        let size = try call.number(options.values["t"]) ?? 8
        let all = options.has("a") || options.values["t"] != nil
        let isWhole = try call.eachInput(options.operands) { (_, source) throws(Flow) in
            var lines = LineReader(source)
            var writer = BlockWriter(call)
            while let line = try lines.next() {
                var out: [UInt8] = []
                var column = 0
                var blanks = 0
                var isStart = true
                func emit() {
                    guard blanks > 0 else { return }
                    var from = column - blanks
                    if blanks == 1 { out.append(32); blanks = 0; return }
                    while (from / size + 1) * size <= column {
                        out.append(9)
                        from = (from / size + 1) * size
                    }
                    out += [UInt8](repeating: 32, count: column - from)
                    blanks = 0
                }
                for byte in line {
                    if byte == 32, isStart || all {
                        blanks += 1
                        column += 1
                    } else if byte == 9, isStart || all {
                        let next = (column / size + 1) * size
                        blanks += next - column
                        column = next
                    } else {
                        emit()
                        isStart = false
                        out.append(byte)
                        if byte & 0xC0 != 0x80 { column += 1 }
                    }
                }
                emit()
                try writer.line(out)
            }
            try writer.flush()
        }
        return isWhole ? 0 : 1
    }

    @Sendable static func column(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("txn", valued: "sco")
        var rows: [[UInt8]] = []
        let isWhole = try call.eachInput(options.operands) { (_, source) throws(Flow) in
            var lines = LineReader(source)
            while let line = try lines.next() { if line.contains(where: { !$0.isBlank }) { rows.append(line) } }
        }
        var writer = BlockWriter(call)
        if options.has("t") {
            let separators = options.values["s"]
            let between = options.values["o"] ?? [32, 32]
            let cells = rows.map { row in
                separators.map { s in row.split(omittingEmptySubsequences: false) { s.contains($0) }.map { Array($0) } }
                    ?? row.split(whereSeparator: { $0.isBlank }).map { Array($0) }
            }
            var widths: [Int] = []
            for row in cells {
                for (index, cell) in row.enumerated() {
                    if index == widths.count { widths.append(0) }
                    widths[index] = max(widths[index], Pattern.characters(cell))
                }
            }
            for row in cells {
                var out: [UInt8] = []
                for (index, cell) in row.enumerated() {
                    out += cell
                    if index < row.count - 1 {
                        out += [UInt8](repeating: 32, count: widths[index] - Pattern.characters(cell)) + between
                    }
                }
                try writer.line(out)
            }
        } else {
            let width = try call.number(options.values["c"]) ?? 80
            let longest = rows.map { Pattern.characters($0) }.max() ?? 0
            let cell = (longest / 8 + 1) * 8
            let columns = max(1, width / cell)
            let height = (rows.count + columns - 1) / columns
            for line in 0..<height {
                var out: [UInt8] = []
                for column in 0..<columns {
                    let index = options.has("x") ? line * columns + column : column * height + line
                    guard index < rows.count else { break }
                    out += rows[index]
                    let next = options.has("x") ? index + 1 : index + height
                    guard next < rows.count, column < columns - 1 else { break }
                    var at = Pattern.characters(rows[index])
                    while at < cell {
                        out.append(9)
                        at = (at / 8 + 1) * 8
                    }
                }
                try writer.line(out)
            }
        }
        try writer.flush()
        return isWhole ? 0 : 1
    }

    @Sendable static func fmt(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("suc", valued: "wp")
        let width = try call.number(options.values["w"]) ?? 75
        let isWhole = try call.eachInput(options.operands) { (_, source) throws(Flow) in
            var lines = LineReader(source)
            var writer = BlockWriter(call)
            var words: [[UInt8]] = []
            var indent: [UInt8] = []
            func flush() throws(Flow) {
                var line = indent
                var columns = indent.count
                var isEmpty = true
                for word in words {
                    let size = Pattern.characters(word)
                    if !isEmpty, columns + 1 + size > width {
                        try writer.line(line)
                        line = indent
                        columns = indent.count
                        isEmpty = true
                    }
                    if !isEmpty {
                        line.append(32)
                        columns += 1
                    }
                    line += word
                    columns += size
                    isEmpty = false
                }
                if !isEmpty { try writer.line(line) }
                words = []
            }
            while let line = try lines.next() {
                let start = Array(line.prefix { $0.isBlank })
                let parts = line.split(whereSeparator: { $0.isBlank }).map { Array($0) }
                if parts.isEmpty {
                    try flush()
                    try writer.line([])
                    continue
                }
                if !words.isEmpty, start != indent { try flush() }
                indent = start
                words += parts
            }
            try flush()
            try writer.flush()
        }
        return isWhole ? 0 : 1
    }

    @Sendable static func shuffle(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("er", valued: "nio")
        var lines: [[UInt8]] = []
        if let range = options.values["i"] {
            let ends = range.split(separator: 45).map { Int(Array($0).text) ?? 0 }
            guard ends.count == 2, ends[0] <= ends[1], ends[1] - ends[0] < 1_000_000 else {
                throw .failed("\(shown(range)) is no range; write LOW-HIGH")
            }
            lines = (ends[0]...ends[1]).map { Array("\($0)".utf8) }
        } else if options.has("e") {
            lines = options.operands
        } else {
            _ = try call.eachInput(Array(options.operands.prefix(1))) { (_, source) throws(Flow) in
                var reader = LineReader(source)
                while let line = try reader.next() { lines.append(line) }
            }
        }
        lines.shuffle()
        var writer = BlockWriter(call)
        for line in lines.prefix(max(0, try call.number(options.values["n"]) ?? lines.count)) { try writer.line(line) }
        try writer.flush()
        return 0
    }

    @Sendable static func topologicalSort(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("")
        var words: [[UInt8]] = []
        _ = try call.eachInput(options.operands) { (_, source) throws(Flow) in
            words += try call.all(source).split(whereSeparator: { $0.isBlank || $0 == 10 }).map { Array($0) }
        }
        guard words.count % 2 == 0 else { throw .failed("the input has an odd number of words") }
        var order: [[UInt8]] = []
        var after: [[UInt8]: [[UInt8]]] = [:]
        var counts: [[UInt8]: Int] = [:]
        for index in stride(from: 0, to: words.count, by: 2) {
            for word in words[index...index + 1] where counts[word] == nil {
                counts[word] = 0
                order.append(word)
            }
            if words[index] != words[index + 1] {
                after[words[index], default: []].append(words[index + 1])
                counts[words[index + 1], default: 0] += 1
            }
        }
        var ready = order.filter { counts[$0] == 0 }
        var done = 0
        var writer = BlockWriter(call)
        while !ready.isEmpty {
            let word = ready.removeFirst()
            try writer.line(word)
            done += 1
            for next in after[word] ?? [] {
                counts[next, default: 0] -= 1
                if counts[next] == 0 { ready.append(next) }
            }
        }
        try writer.flush()
        if done < order.count { throw .failed("the input goes round in a circle") }
        return 0
    }
}

/// Sizes as people write them.
enum Sizes {
    static func bytes(_ text: [UInt8]) -> Int? {
        let digits = text.prefix { $0.isDigit }
        guard let number = Int(Array(digits).text) else { return nil }
        let units: [String: Int] = [
            "": 1, "b": 512, "k": 1 << 10, "K": 1 << 10, "kB": 1000, "KB": 1000, "M": 1 << 20, "MB": 1_000_000,
            "G": 1 << 30, "GB": 1_000_000_000, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "T": 1 << 40,
        ]
        guard let unit = units[Array(text.dropFirst(digits.count)).text] else { return nil }
        let (size, isOver) = number.multipliedReportingOverflow(by: unit)
        return isOver ? nil : size
    }
}
