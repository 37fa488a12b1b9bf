internal import AlcoveCore

extension Utilities {
    private struct Key {
        var first = (field: 1, byte: 1)
        var last: (field: Int, byte: Int)?
        var isNumeric = false, isHuman = false, isVersion = false, isGeneral = false, isMonth = false
        var isDictionary = false, isReversed = false, foldsCase = false, skipsBlanks = false
        var hasOwn = false
    }

    @Sendable static func sort(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options: UtilityCall.Options
        do throws(Flow) {
            options = try call.options(
                "nrufbscCzhVgMRdim", valued: "ktoST",
                longNames: [
                    "--numeric-sort": "n", "--reverse": "r", "--unique": "u", "--key=": "k", "--field-separator=": "t",
                    "--stable": "s", "--human-numeric-sort": "h", "--version-sort": "V", "--ignore-case": "f",
                    "--output=": "o", "--zero-terminated": "z", "--parallel=": "S",
                ])
        } catch {
            guard case .failed(let what) = error else { throw error }
            try call.complain(what)
            return 2
        }
        var global = Key()
        global.isNumeric = options.has("n")
        global.isHuman = options.has("h")
        global.isVersion = options.has("V")
        global.isGeneral = options.has("g")
        global.isMonth = options.has("M")
        global.isDictionary = options.has("d")
        global.isReversed = options.has("r")
        global.foldsCase = options.has("f")
        global.skipsBlanks = options.has("b")
        var keys: [Key] = []
        for (letter, value) in options.all where letter == "k" { try keys.append(key(value, global)) }
        let separator = options.values["t"]
        let end: UInt8 = options.has("z") ? 0 : 10
        if let separator, separator.count != 1, separator != [92, 48] {
            throw .failed("the separator of -t is one byte")
        }
        var lines: [[UInt8]] = []
        let isWhole = try call.eachInput(options.operands) { (_, source) throws(Flow) in
            let all = try call.all(source)
            var parts = all.split(separator: end, omittingEmptySubsequences: false)
            if parts.last?.isEmpty == true { parts.removeLast() }
            lines += parts.map { Array($0) }
        }
        guard isWhole else { return 2 }
        let used = keys.isEmpty ? [global] : keys
        let control = call.control
        func order(_ a: [UInt8], _ b: [UInt8]) -> Int {
            for key in used {
                let (x, y) =
                    keys.isEmpty && !key.skipsBlanks
                    ? (a[...], b[...]) : (part(a, key, separator?.first), part(b, key, separator?.first))
                var result: Int
                if key.isNumeric {
                    result = numeric(x, y)
                } else if key.isHuman {
                    let (one, two) = (humanScale(x), humanScale(y))
                    result = one != two ? (one < two ? -1 : 1) : numeric(x, y)
                } else if key.isVersion {
                    result = versions(x, y)
                } else if key.isGeneral {
                    let (one, two) = (AwkNumber.prefix(Array(x)), AwkNumber.prefix(Array(y)))
                    result = one < two ? -1 : one > two ? 1 : 0
                } else if key.isMonth {
                    result = month(x) - month(y)
                } else if key.isDictionary {
                    let one = x.filter { $0.isBlank || ($0.isInName && $0 != 95) }
                    let two = y.filter { $0.isBlank || ($0.isInName && $0 != 95) }
                    result = compare(
                        key.foldsCase ? one.map(raised)[...] : one[...], key.foldsCase ? two.map(raised)[...] : two[...]
                    )
                } else if key.foldsCase {
                    result = compare(x.map(raised)[...], y.map(raised)[...])
                } else {
                    result = compare(x, y)
                }
                if key.isReversed { result = -result }
                if result != 0 { return result }
            }
            return 0
        }
        func precedes(_ a: [UInt8], _ b: [UInt8]) -> Bool {
            if control.isStopped { return false }
            let result = order(a, b)
            if result != 0 || options.has("s") || options.has("u") { return result < 0 }
            let last = compare(a[...], b[...])
            return global.isReversed ? last > 0 : last < 0
        }
        if options.has("c") || options.has("C") {
            for index in lines.indices.dropFirst() {
                let result = order(lines[index - 1], lines[index])
                if result > 0 || (result == 0 && options.has("u"))
                    || (result == 0 && precedes(lines[index], lines[index - 1]))
                {
                    return 1
                }
            }
            return 0
        }
        if options.has("R") {
            lines.shuffle()
        } else if !options.has("m") || lines.count > 1 {
            lines.sort(by: precedes)
        }
        try control.check()
        if options.has("u") {
            var kept: [[UInt8]] = []
            for line in lines where kept.last.map({ order($0, line) != 0 }) ?? true { kept.append(line) }
            lines = kept
        }
        if let path = options.values["o"] {
            guard let sink = try call.shell.open(path, for: .truncating).sink else { return 2 }
            try sink.write(Array((lines + [[]]).joined(separator: [end])))
            return 0
        }
        var writer = BlockWriter(call)
        for line in lines {
            try writer.add(line)
            try writer.add([end])
        }
        try writer.flush()
        return 0
    }

    private static func raised(_ byte: UInt8) -> UInt8 { (97...122).contains(byte) ? byte - 32 : byte }

    private static func compare(_ a: ArraySlice<UInt8>, _ b: ArraySlice<UInt8>) -> Int {
        let count = min(a.count, b.count)
        let result = a.withUnsafeBytes { x in
            b.withUnsafeBytes { y in count == 0 ? 0 : memcmp(x.baseAddress!, y.baseAddress!, count) }
        }
        return result != 0 ? Int(result) : a.count - b.count
    }

    private static func key(_ text: [UInt8], _ global: Key) throws(Flow) -> Key {
        var key = Key()
        let ends = text.split(separator: 44, omittingEmptySubsequences: false).map { Array($0) }
        func place(_ text: [UInt8], _ usual: Int) throws(Flow) -> (Int, Int) {
            let letters = text.drop { $0.isDigit || $0 == 46 }
            for letter in letters {
                key.hasOwn = true
                switch letter {
                case 110: key.isNumeric = true
                case 104: key.isHuman = true
                case 86: key.isVersion = true
                case 103: key.isGeneral = true
                case 77: key.isMonth = true
                case 100: key.isDictionary = true
                case 105: break
                case 114: key.isReversed = true
                case 102: key.foldsCase = true
                case 98: key.skipsBlanks = true
                default: throw .failed("there is no way of sorting called \([letter].text)")
                }
            }
            let numbers = text.prefix(text.count - letters.count).split(separator: 46).map { Int(Array($0).text) ?? 0 }
            guard let field = numbers.first, field > 0 else {
                throw .failed("\(shown(text)) is no field, which count from 1")
            }
            return (field, numbers.count > 1 ? numbers[1] : usual)
        }
        key.first = try place(ends[0], 1)
        if ends.count > 1 { key.last = try place(ends[1], 0) }
        if !key.hasOwn {
            key.isNumeric = global.isNumeric
            key.isHuman = global.isHuman
            key.isVersion = global.isVersion
            key.isGeneral = global.isGeneral
            key.isMonth = global.isMonth
            key.isDictionary = global.isDictionary
            key.isReversed = global.isReversed
            key.foldsCase = global.foldsCase
            key.skipsBlanks = global.skipsBlanks
        }
        return key
    }

    /// The part of a line that a key means.
    private static func part(_ line: [UInt8], _ key: Key, _ separator: UInt8?) -> ArraySlice<UInt8> {
        func fieldStart(_ field: Int) -> Int {
            var place = 0
            for _ in 1..<max(1, field) {
                if let separator {
                    guard let next = line[place...].firstIndex(of: separator) else { return line.count }
                    place = next + 1
                } else {
                    while place < line.count, line[place].isBlank { place += 1 }
                    while place < line.count, !line[place].isBlank { place += 1 }
                }
            }
            return place
        }
        func fieldEnd(_ field: Int) -> Int {
            var place = fieldStart(field)
            if let separator { return line[place...].firstIndex(of: separator) ?? line.count }
            while place < line.count, line[place].isBlank { place += 1 }
            while place < line.count, !line[place].isBlank { place += 1 }
            return place
        }
        var start = fieldStart(key.first.field)
        if key.skipsBlanks { while start < line.count, line[start].isBlank { start += 1 } }
        start = min(line.count, start + key.first.byte - 1)
        var end = line.count
        if let last = key.last {
            if last.byte == 0 {
                end = fieldEnd(last.field)
            } else {
                var from = fieldStart(last.field)
                if key.skipsBlanks { while from < line.count, line[from].isBlank { from += 1 } }
                end = min(line.count, from + last.byte)
            }
        }
        return line[start..<max(start, end)]
    }

    /// The power of the unit after the number: 0 for none, negative for numbers below zero.
    private static func humanScale(_ text: ArraySlice<UInt8>) -> Int {
        let start = text.drop { $0.isBlank }
        let isNegative = start.first == 45
        let rest = start.drop { $0 == 45 }.drop { $0.isDigit || $0 == 46 }
        let unit = rest.first.flatMap { Array("KMGTPEZY".utf8).firstIndex(of: $0 == 107 ? 75 : $0) }.map { $0 + 1 } ?? 0
        let digits = start.drop { $0 == 45 }.prefix { $0.isDigit || $0 == 46 }
        if digits.allSatisfy({ $0 == 48 || $0 == 46 }) { return 0 }
        return isNegative ? -unit - 1 : unit + 1
    }

    private static func month(_ text: ArraySlice<UInt8>) -> Int {
        let name = Array(text.drop { $0.isBlank }.prefix(3).map(raised)).text
        return
            (["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"].firstIndex(of: name)
            ?? -1) + 1
    }

    /// Runs of digits by their number, the rest by their bytes.
    private static func versions(_ a: ArraySlice<UInt8>, _ b: ArraySlice<UInt8>) -> Int {
        var (x, y) = (a, b)
        while !x.isEmpty || !y.isEmpty {
            let (textX, textY) = (x.prefix { !$0.isDigit }, y.prefix { !$0.isDigit })
            if !textX.elementsEqual(textY) { return compare(textX, textY) }
            x = x.dropFirst(textX.count)
            y = y.dropFirst(textY.count)
            let (digitsX, digitsY) = (x.prefix { $0.isDigit }, y.prefix { $0.isDigit })
            let (one, two) = (digitsX.drop { $0 == 48 }, digitsY.drop { $0 == 48 })
            if one.count != two.count { return one.count - two.count }
            let order = compare(one, two)
            if order != 0 { return order }
            x = x.dropFirst(digitsX.count)
            y = y.dropFirst(digitsY.count)
        }
        return 0
    }

    /// By the number at the start; digits of any length.
    private static func numeric(_ a: ArraySlice<UInt8>, _ b: ArraySlice<UInt8>) -> Int {
        let (x, y) = (number(a), number(b))
        if x.isNegative != y.isNegative { return x.isNegative ? -1 : 1 }
        var result = x.whole.count - y.whole.count
        if result == 0 { result = compare(x.whole, y.whole) }
        if result == 0 { result = compare(x.fraction, y.fraction) }
        return x.isNegative ? -result : result
    }

    private static func number(
        _ text: ArraySlice<UInt8>
    ) -> (isNegative: Bool, whole: ArraySlice<UInt8>, fraction: ArraySlice<UInt8>) {
        var rest = text.drop { $0.isBlank }
        var isNegative = false
        if rest.first == 45 {
            isNegative = true
            rest.removeFirst()
        }
        let digits = rest.prefix { $0.isDigit }
        var fraction: ArraySlice<UInt8> = []
        let after = rest.dropFirst(digits.count)
        if after.first == 46 {
            fraction = after.dropFirst().prefix { $0.isDigit }
            while fraction.last == 48 { fraction.removeLast() }
        }
        let whole = digits.drop { $0 == 48 }
        return (isNegative && !(whole.isEmpty && fraction.isEmpty), whole, fraction)
    }
}
