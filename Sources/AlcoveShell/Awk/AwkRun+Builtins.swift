internal import AlcoveCore

extension AwkRun {
    func builtin(_ name: String, _ arguments: [AwkExpression]) throws(AwkEnd) -> AwkValue {
        func string(_ index: Int) throws(AwkEnd) -> [UInt8] { text(try value(arguments[index])) }
        func real(_ index: Int) throws(AwkEnd) -> Double { number(try value(arguments[index])) }
        func bits(_ index: Int) throws(AwkEnd) -> UInt64 { UInt64(max(0, whole(try value(arguments[index])))) }
        func need(_ least: Int, _ most: Int) throws(AwkEnd) {
            guard (least...most).contains(arguments.count) else {
                throw fault(
                    "\(name) takes \(least == most ? "\(least)" : "\(least) to \(most)") values, not \(arguments.count)"
                )
            }
        }
        switch name {
        case "length":
            try need(0, 1)
            guard let first = arguments.first else { return .number(Double(Pattern.characters(try currentRecord()))) }
            if let cell = cell(first), let array = cell.array { return .number(Double(array.count)) }
            return .number(Double(Pattern.characters(try string(0))))
        case "substr":
            try need(2, 3)
            return .string(part(try string(0), try real(1), arguments.count > 2 ? try real(2) : nil))
        case "index":
            try need(2, 2)
            let (line, wanted) = (try string(0), try string(1))
            guard let found = AwkRun.find(wanted, in: line) else { return .number(0) }
            return .number(Double(Pattern.characters(Array(line[..<found])) + 1))
        case "split":
            try need(2, 4)
            return .number(Double(try splitInto(arguments)))
        case "sub", "gsub":
            try need(2, 3)
            return .number(Double(try replace(arguments, all: name == "gsub")))
        case "gensub":
            try need(3, 4)
            return .string(try general(arguments))
        case "match":
            try need(2, 3)
            return .number(Double(try find(arguments)))
        case "sprintf": return .string(try formatted(arguments))
        case "sin", "cos", "exp", "log", "sqrt", "int":
            try need(1, 1)
            let number = try real(0)
            switch name {
            case "sin": return .number(sin(number))
            case "cos": return .number(cos(number))
            case "exp": return .number(exp(number))
            case "log": return .number(log(number))
            case "sqrt": return .number(number.squareRoot())
            default: return .number(number.rounded(.towardZero))
            }
        case "atan2":
            try need(2, 2)
            return .number(atan2(try real(0), try real(1)))
        case "rand": return .number(random.next())
        case "srand":
            let old = seed
            seed = arguments.isEmpty ? Double(time(nil)) : try real(0)
            random = AwkRandom(seed: seed)
            return .number(old)
        case "tolower", "toupper":
            try need(1, 1)
            let given = try string(0)
            if given.allSatisfy({ $0 < 0x80 }) {
                return .string(
                    given.map { name == "tolower" ? Utilities.lowered($0) : (97...122).contains($0) ? $0 - 32 : $0 })
            }
            guard let text = String(validating: given, as: UTF8.self) else { return .string(given) }
            return .string(Array((name == "tolower" ? text.lowercased() : text.uppercased()).utf8))
        case "system":
            try need(1, 1)
            let script = try string(0)
            return .number(
                Double(
                    try inShell { () throws(Flow) in
                        try flush()
                        let job = try call.shell.startScript(script, input: nil, output: nil)
                        return try call.control.wait(for: job)
                    }))
        case "close":
            try need(1, 2)
            return .number(try close(try string(0)))
        case "fflush":
            try inShell { () throws(Flow) in try flush() }
            return .number(0)
        case "systime": return .number(Double(time(nil)))
        case "strftime":
            try need(0, 3)
            let format = arguments.isEmpty ? Array("%a %b %e %H:%M:%S %Z %Y".utf8) : try string(0)
            let when = arguments.count > 1 ? Int(try real(1)) : time(nil)
            return .string(
                Clock.text(when, format, isUTC: arguments.count > 2 ? isTrue(try value(arguments[2])) : false))
        case "mktime":
            try need(1, 2)
            let numbers = try string(0).split(separator: 32).map { Int32(Array($0).text) ?? 0 }
            guard numbers.count >= 6 else { return .number(-1) }
            var parts = tm()
            parts.tm_year = numbers[0] - 1900
            parts.tm_mon = numbers[1] - 1
            parts.tm_mday = numbers[2]
            parts.tm_hour = numbers[3]
            parts.tm_min = numbers[4]
            parts.tm_sec = numbers[5]
            parts.tm_isdst = -1
            return .number(Double(mktime(&parts)))
        case "asort", "asorti":
            try need(1, 2)
            return .number(Double(try sort(arguments, keys: name == "asorti")))
        case "and":
            try need(2, 2)
            return .number(Double(try bits(0) & bits(1)))
        case "or":
            try need(2, 2)
            return .number(Double(try bits(0) | bits(1)))
        case "xor":
            try need(2, 2)
            return .number(Double(try bits(0) ^ bits(1)))
        case "lshift":
            try need(2, 2)
            return .number(Double(try bits(0) << bits(1)))
        case "rshift":
            try need(2, 2)
            return .number(Double(try bits(0) >> bits(1)))
        case "compl":
            try need(1, 1)
            return .number(Double(~(try bits(0)) & 0x1F_FFFF_FFFF_FFFF))
        case "strtonum":
            try need(1, 1)
            let text = try string(0)
            if text.starts(with: [48]), text.count > 1, let value = Arithmetic.constant(text) {
                return .number(Double(value))
            }
            return .number(AwkNumber.prefix(text))
        default: throw fault("there is no function \(name)")
        }
    }

    private func cell(_ expression: AwkExpression) -> AwkCell? {
        switch expression {
        case .global(let index): globals[index]
        case .local(let index): frames[frames.count - 1][index]
        default: nil
        }
    }

    private func arrayArgument(_ expression: AwkExpression) throws(AwkEnd) -> AwkArray {
        guard let array = cell(expression)?.asArray() else { throw fault("an array belongs here") }
        return array
    }

    /// By characters, with both ends rounded as POSIX asks.
    private func part(_ text: [UInt8], _ from: Double, _ count: Double?) -> [UInt8] {
        let start = from.isNaN ? 1 : from.rounded(.toNearestOrEven)
        let end = count.map { $0.isNaN ? start : (start + $0.rounded(.toNearestOrEven)) } ?? .infinity
        let first = max(1, start)
        guard end > first else { return [] }
        if text.allSatisfy({ $0 < 0x80 }) {
            guard first <= Double(text.count) else { return [] }
            let last = min(Double(text.count), end - 1)
            return last < first ? [] : Array(text[Int(first) - 1..<Int(last)])
        }
        var place = 0
        var number = 1.0
        var out: [UInt8] = []
        while place < text.count, number < end {
            let length = Pattern.length(text, place)
            if number >= first { out += text[place..<place + length] }
            place += length
            number += 1
        }
        return out
    }

    static func find(_ wanted: [UInt8], in line: [UInt8]) -> Int? {
        if wanted.isEmpty { return 0 }
        guard wanted.count <= line.count else { return nil }
        for start in 0...(line.count - wanted.count)
        where line[start] == wanted[0] && line[start..<start + wanted.count].elementsEqual(wanted) {
            return start
        }
        return nil
    }

    private func splitInto(_ arguments: [AwkExpression]) throws(AwkEnd) -> Int {
        let line = text(try value(arguments[0]))
        let target = try arrayArgument(arguments[1])
        let parts: [[UInt8]]
        if arguments.count < 3 {
            parts = try split(line, by: text(globals[Special.fieldSeparator].value))
        } else if case .matchesRecord(let pattern) = arguments[2] {
            parts = split(line, by: try expression(pattern))
        } else {
            parts = try split(line, by: text(value(arguments[2])))
        }
        target.removeAll()
        for (index, part) in parts.enumerated() { target[Array("\(index + 1)".utf8)] = .input(part) }
        return parts.count
    }

    // MARK: Replacing

    private func replace(_ arguments: [AwkExpression], all: Bool) throws(AwkEnd) -> Int {
        let pattern = try pattern(arguments[0])
        let replacement = text(try value(arguments[1]))
        let target = arguments.count > 2 ? arguments[2] : .field(.number(0))
        let line = text(try value(target))
        var out: [UInt8] = []
        var copied = 0
        let count = try eachMatch(pattern, line, all: all) { (groups, range) in
            out += line[copied..<range.lowerBound]
            var place = 0
            while place < replacement.count {
                let byte = replacement[place]
                if byte == 92, place + 1 < replacement.count, [38, 92].contains(replacement[place + 1]) {
                    out.append(replacement[place + 1])
                    place += 2
                } else {
                    if byte == 38 { out += line[range] } else { out.append(byte) }
                    place += 1
                }
            }
            copied = range.upperBound
        }
        guard count > 0 else { return 0 }
        out += line[copied...]
        if out.count > Shell.longestValue { throw fault("a text is longer than \(Shell.longestValue) bytes") }
        switch target {
        case .global, .local, .field, .element: try assign(target, .string(out))
        default: break
        }
        return count
    }

    private func eachMatch(
        _ pattern: LibraryPattern, _ line: [UInt8], all: Bool, _ body: ([Range<Int>?], Range<Int>) -> Void
    ) throws(AwkEnd) -> Int {
        var from = 0
        var count = 0
        var lastEnd = -1
        while from <= line.count, let groups = pattern.groups(line, from: from), let range = groups[0] {
            if range.isEmpty, range.lowerBound == lastEnd {
                guard from < line.count else { break }
                from += Pattern.length(line, from)
                lastEnd = -1
                // The empty match after the byte just passed is looked for again.
                continue
            }
            count += 1
            body(groups, range)
            if !all { break }
            lastEnd = range.upperBound
            if range.isEmpty {
                guard range.lowerBound < line.count else { break }
                from = range.lowerBound + Pattern.length(line, range.lowerBound)
                lastEnd = -1
            } else {
                from = range.upperBound
            }
            if count & 1023 == 0 { try inShell { () throws(Flow) in try call.control.check() } }
        }
        return count
    }

    private func general(_ arguments: [AwkExpression]) throws(AwkEnd) -> [UInt8] {
        let pattern = try pattern(arguments[0])
        let replacement = text(try value(arguments[1]))
        let how = try value(arguments[2])
        let line = arguments.count > 3 ? text(try value(arguments[3])) : try currentRecord()
        let isAll = [71, 103].contains(text(how).first ?? 0)
        let which = isAll ? 0 : max(1, Int(number(how)))
        var out: [UInt8] = []
        var copied = 0
        var seen = 0
        _ = try eachMatch(pattern, line, all: true) { (groups, range) in
            seen += 1
            guard isAll || seen == which else { return }
            out += line[copied..<range.lowerBound]
            var place = 0
            while place < replacement.count {
                let byte = replacement[place]
                place += 1
                if byte == 38 {
                    out += line[range]
                } else if byte == 92, place < replacement.count {
                    let next = replacement[place]
                    place += 1
                    if next.isDigit {
                        let group = Int(next) - 48
                        if group < groups.count, let part = groups[group] { out += line[part] }
                    } else {
                        out.append(next)
                    }
                } else {
                    out.append(byte)
                }
            }
            copied = range.upperBound
        }
        return out + line[copied...]
    }

    private func find(_ arguments: [AwkExpression]) throws(AwkEnd) -> Int {
        let line = text(try value(arguments[0]))
        let groups = try pattern(arguments[1]).groups(line)
        if arguments.count > 2 {
            let target = try arrayArgument(arguments[2])
            target.removeAll()
            for (index, range) in (groups ?? []).enumerated() {
                guard let range else { continue }
                target[Array("\(index)".utf8)] = .input(Array(line[range]))
                let between = text(globals[Special.subscriptSeparator].value)
                let prefix = Array("\(index)".utf8) + between
                target[prefix + Array("start".utf8)] = .number(
                    Double(Pattern.characters(Array(line[..<range.lowerBound])) + 1))
                target[prefix + Array("length".utf8)] = .number(Double(Pattern.characters(Array(line[range]))))
            }
        }
        guard let range = groups?[0] else {
            globals[Special.matchStart].value = .number(0)
            globals[Special.matchLength].value = .number(-1)
            return 0
        }
        let start = Pattern.characters(Array(line[..<range.lowerBound])) + 1
        globals[Special.matchStart].value = .number(Double(start))
        globals[Special.matchLength].value = .number(Double(Pattern.characters(Array(line[range]))))
        return start
    }

    private func sort(_ arguments: [AwkExpression], keys: Bool) throws(AwkEnd) -> Int {
        let source = try arrayArgument(arguments[0])
        let target = arguments.count > 1 ? try arrayArgument(arguments[1]) : source
        var values = keys ? source.keys.map { AwkValue.string($0) } : source.keys.map { source[$0] }
        func rank(_ value: AwkValue) -> (Double, [UInt8])? {
            switch value {
            case .number(let number): (number, [])
            case .input(let text): AwkNumber.whole(text).map { ($0, []) }
            default: nil
            }
        }
        values.sort { a, b in
            switch (rank(a), rank(b)) {
            case (let x?, let y?): x.0 < y.0
            case (nil, nil): text(a).lexicographicallyPrecedes(text(b))
            case (nil, _): false
            default: true
            }
        }
        target.removeAll()
        for (index, value) in values.enumerated() { target[Array("\(index + 1)".utf8)] = value }
        return values.count
    }

    // MARK: printf

    func formatted(_ arguments: [AwkExpression]) throws(AwkEnd) -> [UInt8] {
        guard let first = arguments.first else { throw fault("a format belongs here") }
        let format = text(try value(first))
        var used = 1
        func next() throws(AwkEnd) -> AwkValue {
            guard used < arguments.count else {
                throw fault("there are too few values for the format \(shown(format))")
            }
            used += 1
            return try value(arguments[used - 1])
        }
        var out: [UInt8] = []
        var place = 0
        while place < format.count {
            guard format[place] == 37 else {
                out.append(format[place])
                place += 1
                continue
            }
            if place + 1 < format.count, format[place + 1] == 37 {
                out.append(37)
                place += 2
                continue
            }
            let start = place
            place += 1
            var flags = ""
            while place < format.count, "-+ 0#".utf8.contains(format[place]) {
                flags.unicodeScalars.append(Unicode.Scalar(format[place]))
                place += 1
            }
            func number() throws(AwkEnd) -> Int? {
                if place < format.count, format[place] == 42 {
                    place += 1
                    return Int(max(-1e6, min(1e6, self.number(try next()))))
                }
                var value: Int?
                while place < format.count, format[place].isDigit {
                    value = min((value ?? 0) * 10 + Int(format[place]) - 48, 1 << 20)
                    place += 1
                }
                return value
            }
            var width = try number()
            if let given = width, given < 0 {
                flags += "-"
                width = -given
            }
            var precision: Int?
            if place < format.count, format[place] == 46 {
                place += 1
                precision = max(0, try number() ?? 0)
            }
            while place < format.count, [104, 108, 76, 113].contains(format[place]) { place += 1 }
            guard place < format.count else {
                out += format[start...]
                break
            }
            let letter = format[place]
            place += 1
            let size = (width.map { "\($0)" } ?? "") + (precision.map { ".\($0)" } ?? "")
            func pad(_ text: [UInt8]) {
                let blanks = [UInt8](repeating: 32, count: max(0, (width ?? 0) - Pattern.characters(text)))
                out += flags.contains("-") ? text + blanks : blanks + text
            }
            switch letter {
            case 100, 105:
                let value = self.number(try next())
                if value.isNaN || value.isInfinite || abs(value) >= 9.2e18 {
                    out += AwkNumber.printed(
                        "%" + flags + (width.map { "\($0)" } ?? "") + ".0f", value.rounded(.towardZero))
                } else {
                    out += AwkNumber.printed("%" + flags + size + "lld", Int64(value))
                }
            case 111, 120, 88, 117:
                out += AwkNumber.printed("%" + flags + size + "ll" + [letter].text, whole(try next()))
            case 101, 69, 102, 70, 103, 71, 97, 65:
                out += AwkNumber.printed("%" + flags + size + [letter].text, self.number(try next()))
            case 99:
                let value = try next()
                if case .number(let code) = value {
                    let scalar = Unicode.Scalar(UInt32(max(0, min(1_114_111, code.isNaN ? 0 : code))))
                    pad(Array(String(Character(scalar ?? "\u{FFFD}")).utf8))
                } else {
                    let given = text(value)
                    pad(given.isEmpty ? [] : Array(given.prefix(Pattern.length(given, 0))))
                }
            case 115:
                var given = text(try next())
                if let precision { given = part(given, 1, Double(precision)) }
                pad(given)
            default: out += format[start..<place]
            }
            if out.count > Shell.longestValue { throw fault("a text is longer than \(Shell.longestValue) bytes") }
        }
        return out
    }
}
