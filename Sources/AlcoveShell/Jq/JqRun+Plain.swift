internal import AlcoveCore

/// Functions of plain values.
extension JqRun {
    private func array(_ value: JSONValue, _ what: String) throws(JqEnd) -> [JSONValue] {
        guard case .array(let values) = value else {
            throw .sentence("\(JqValue.shownKind(value)) cannot be \(what), as it is not an array")
        }
        return values
    }

    private func string(_ value: JSONValue, _ what: String) throws(JqEnd) -> String {
        guard case .string(let text) = value else {
            throw .sentence("\(JqValue.shownKind(value)) cannot be \(what), as it is not a string")
        }
        return text
    }

    private func real(_ value: JSONValue) throws(JqEnd) -> Double {
        guard let number = JqValue.double(value) else { throw .sentence("\(JqValue.shownKind(value)) is not a number") }
        return number
    }

    private static let functions: [String: @Sendable (Double) -> Double] = [
        "floor": { $0.rounded(.down) }, "ceil": { $0.rounded(.up) }, "round": { $0.rounded() },
        "sqrt": { $0.squareRoot() },
        "log": { log($0) }, "log2": { log2($0) }, "log10": { log10($0) }, "exp": { exp($0) }, "exp2": { exp2($0) },
        "exp10": { pow(10, $0) }, "fabs": { abs($0) }, "abs": { abs($0) }, "trunc": { $0.rounded(.towardZero) },
        "sin": { sin($0) }, "cos": { cos($0) }, "significand": { $0.significand },
    ]

    func plain(_ name: String, _ input: JSONValue, _ given: [JSONValue]) throws(JqEnd) -> JSONValue {
        if let function = JqRun.functions[name] { return JqValue.number(function(try real(input))) }
        switch name {
        case "not": return .bool(!JqValue.isTrue(input))
        case "type": return .string(JqValue.kind(input))
        case "length":
            switch input {
            case .null: return 0
            case .bool: throw .sentence("\(JqValue.shownKind(input)) has no length")
            case .integer, .double: return JqValue.number(abs(try real(input)))
            case .string(let text): return .integer(Int64(text.unicodeScalars.count))
            case .array(let values): return .integer(Int64(values.count))
            case .object(let object): return .integer(Int64(object.count))
            }
        case "utf8bytelength": return .integer(Int64(try string(input, "measured").utf8.count))
        case "keys", "keys_unsorted":
            switch input {
            case .array(let values): return .array(values.indices.map { .integer(Int64($0)) })
            case .object(let object):
                return .array((name == "keys" ? JqValue.sortedKeys(object) : object.keys).map { .string($0) })
            default: throw .sentence("\(JqValue.shownKind(input)) has no keys")
            }
        case "has":
            switch (input, given[0]) {
            case (.object(let object), .string(let key)): return .bool(object[key] != nil)
            case (.array(let values), _):
                let index = try real(given[0])
                return .bool(index >= 0 && index < Double(values.count))
            default: throw .sentence("\(JqValue.kind(input)) has no keys of that kind")
            }
        case "contains": return .bool(try contains(input, given[0]))
        case "add":
            var sum = JSONValue.null
            for value in try items(input) { sum = try JqValue.calculate("+", sum, value) }
            return sum
        case "pow": return JqValue.number(pow(try real(given[0]), try real(given[1])))
        case "infinite": return .double(.infinity)
        case "nan": return .double(.nan)
        case "isinfinite": return .bool(try real(input).isInfinite)
        case "isnan": return .bool(try real(input).isNaN)
        case "isnormal": return .bool(try real(input).isNormal)
        case "tostring": return .string(JqRun.plain(input))
        case "tojson": return .string(JqValue.text(input))
        case "tonumber":
            if JqValue.double(input) != nil { return input }
            let text = try string(input, "read as a number")
            guard let number = AwkNumber.whole(Array(text.utf8)) else { throw .sentence("\"\(text)\" is not a number") }
            return JqValue.number(number)
        case "fromjson":
            let text = try string(input, "read as JSON")
            do throws(JSONError) { return try JSONValue(parsing: text) } catch { throw .sentence(error.message) }
        case "sort":
            let values = try array(input, "sorted")
            return .array(
                values.enumerated().sorted {
                    let order = JqValue.compare($0.element, $1.element)
                    return order != 0 ? order < 0 : $0.offset < $1.offset
                }.map(\.element))
        case "unique":
            var out: [JSONValue] = []
            guard case .array(let sorted) = try plain("sort", input, []) else { return .null }
            for value in sorted where out.last.map({ JqValue.compare($0, value) != 0 }) ?? true { out.append(value) }
            return .array(out)
        case "min", "max":
            var best: JSONValue?
            for value in try array(input, "searched") {
                guard let other = best else {
                    best = value
                    continue
                }
                let order = JqValue.compare(value, other)
                if name == "min" ? order < 0 : order >= 0 { best = value }
            }
            return best ?? .null
        case "reverse":
            switch input {
            case .null: return .array([])
            case .string(let text): return .string(String(String.UnicodeScalarView(text.unicodeScalars.reversed())))
            default: return .array(try array(input, "reversed").reversed())
            }
        case "startswith":
            return .bool(try string(input, "compared").hasPrefixBytes(try string(given[0], "a beginning")))
        case "endswith":
            return .bool(
                Array(try string(input, "compared").utf8).suffix(try string(given[0], "an end").utf8.count)
                    .elementsEqual(JqRun.plain(given[0]).utf8))
        case "ltrimstr":
            guard case .string(let text) = input, case .string(let start) = given[0], text.hasPrefixBytes(start) else {
                return input
            }
            return .string(Array(Array(text.utf8).dropFirst(start.utf8.count)).text)
        case "rtrimstr":
            guard case .string(let text) = input, case .string(let end) = given[0], !end.isEmpty,
                text.utf8.reversed().starts(with: end.utf8.reversed())
            else { return input }
            return .string(Array(Array(text.utf8).dropLast(end.utf8.count)).text)
        case "trim", "ltrim", "rtrim":
            var bytes = Array(try string(input, "trimmed").utf8)[...]
            func isBlank(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }
            if name != "rtrim" { bytes = bytes.drop(while: isBlank) }
            if name != "ltrim" { while let last = bytes.last, isBlank(last) { bytes.removeLast() } }
            return .string(Array(bytes).text)
        case "explode": return .array(try string(input, "taken apart").unicodeScalars.map { .integer(Int64($0.value)) })
        case "implode":
            var view = String.UnicodeScalarView()
            for value in try array(input, "put together") {
                view.append(Unicode.Scalar(UInt32(max(0, min(1_114_111, try real(value))))) ?? "\u{FFFD}")
            }
            return .string(String(view))
        case "split":
            return .array(
                JqValue.split(try string(input, "split"), try string(given[0], "a separator")).map { .string($0) })
        case "join":
            var out = ""
            for (index, value) in try array(input, "joined").enumerated() {
                if index > 0 { out += try string(given[0], "put between") }
                switch value {
                case .null: break
                case .array, .object: throw .sentence("\(JqValue.shownKind(value)) cannot be joined")
                default: out += JqRun.plain(value)
                }
            }
            return .string(out)
        case "ascii_downcase": return .string(Array(try string(input, "changed").utf8).map(Utilities.lowered).text)
        case "ascii_upcase":
            return .string(Array(try string(input, "changed").utf8).map { (97...122).contains($0) ? $0 - 32 : $0 }.text)
        case "first": return try member(input, 0)
        case "last": return try member(input, -1)
        case "nth": return try member(input, given[0])
        case "flatten":
            let depth = given.isEmpty ? 1e9 : try real(given[0])
            if depth < 0 { throw .sentence("the depth of flatten is not negative") }
            return .array(flat(try array(input, "flattened"), Int(depth)))
        case "index", "rindex", "indices":
            var places: [JSONValue] = []
            if case .null = input { return .null }
            if case .string(let text) = input {
                let (line, wanted) = (Array(text.utf8), Array(try string(given[0], "searched for").utf8))
                var place = 0
                while !wanted.isEmpty, place + wanted.count <= line.count {
                    if line[place..<place + wanted.count].elementsEqual(wanted) {
                        places.append(.integer(Int64(Pattern.characters(Array(line[..<place])))))
                    }
                    place += 1
                }
            } else if case .array(let values) = input {
                if case .array = given[0] {
                    if case .array(let found) = try member(input, given[0]) { places = found }
                } else {
                    for (index, value) in values.enumerated() where JqValue.compare(value, given[0]) == 0 {
                        places.append(.integer(Int64(index)))
                    }
                }
            }
            return name == "indices" ? .array(places) : (name == "index" ? places.first : places.last) ?? .null
        case "getpath":
            return try get(input, try array(given[0], "a path")[...])
        case "setpath": return try set(input, try array(given[0], "a path")[...], given[1])
        case "delpaths":
            var result = input
            let paths = try array(given[0], "paths").sorted { JqValue.compare($0, $1) > 0 }
            for path in paths { result = try remove(result, try array(path, "a path")[...]) }
            return result
        case "transpose":
            let rows = try array(input, "turned")
            var width = 0
            for row in rows { width = max(width, try array(row, "turned").count) }
            return .array(
                try (0..<width).map { (column) throws(JqEnd) in
                    .array(try rows.map { (row) throws(JqEnd) in try member(row, .integer(Int64(column))) })
                })
        case "bsearch":
            let values = try array(input, "searched")
            let place = values.firstIndex { JqValue.compare($0, given[0]) >= 0 } ?? values.count
            if place < values.count, JqValue.compare(values[place], given[0]) == 0 { return .integer(Int64(place)) }
            return .integer(Int64(-1 - place))
        case "now": return .double(Double(time(nil)))
        case "mktime": return .integer(Int64(Clock.seconds(try brokenDown(input), isUTC: true)))
        case "gmtime", "localtime":
            let seconds = try real(input)
            let parts = Clock.parts(Int(seconds.rounded(.down)), isUTC: name == "gmtime")
            return .array([
                .integer(Int64(parts.tm_year) + 1900), .integer(Int64(parts.tm_mon)), .integer(Int64(parts.tm_mday)),
                .integer(Int64(parts.tm_hour)), .integer(Int64(parts.tm_min)),
                JqValue.number(Double(parts.tm_sec) + seconds - seconds.rounded(.down)), .integer(Int64(parts.tm_wday)),
                .integer(Int64(parts.tm_yday)),
            ])
        case "strftime":
            let seconds: Int
            if let number = JqValue.double(input) {
                seconds = Int(number.rounded(.down))
            } else {
                seconds = Clock.seconds(try brokenDown(input), isUTC: true)
            }
            return .string(Clock.text(seconds, Array(try string(given[0], "a format").utf8), isUTC: true).text)
        case "fromdateiso8601":
            guard let seconds = DateText.seconds(try string(input, "read as a date"), now: 0, isUTC: true, zone: nil)
            else {
                throw .sentence("\(JqValue.shownKind(input)) is no date")
            }
            return .integer(Int64(seconds))
        case "input_line_number": return 0
        case "input_filename": return .null
        case "builtins": return .array([])
        default: throw .sentence("\(name): there is no such function")
        }
    }

    private func brokenDown(_ value: JSONValue) throws(JqEnd) -> tm {
        let numbers = try array(value, "a date").map { (part) throws(JqEnd) in try real(part) }
        guard numbers.count >= 6 else { throw .sentence("a date has at least six numbers") }
        var parts = tm()
        parts.tm_year = Int32(clamping: Int(numbers[0]) - 1900)
        parts.tm_mon = Int32(clamping: Int(numbers[1]))
        parts.tm_mday = Int32(clamping: Int(numbers[2]))
        parts.tm_hour = Int32(clamping: Int(numbers[3]))
        parts.tm_min = Int32(clamping: Int(numbers[4]))
        parts.tm_sec = Int32(clamping: Int(numbers[5]))
        return parts
    }

    private func flat(_ values: [JSONValue], _ depth: Int) -> [JSONValue] {
        values.flatMap { value -> [JSONValue] in
            if case .array(let inner) = value, depth > 0 { return flat(inner, depth - 1) }
            return [value]
        }
    }

    private func contains(_ a: JSONValue, _ b: JSONValue) throws(JqEnd) -> Bool {
        switch (a, b) {
        case (.object(let one), .object(let two)):
            for (key, value) in two.members {
                guard let inner = one[key] else { return false }
                if try !contains(inner, value) { return false }
            }
            return true
        case (.array(let one), .array(let two)):
            for wanted in two {
                var found = false
                for value in one where JqValue.kind(value) == JqValue.kind(wanted) {
                    if try contains(value, wanted) {
                        found = true
                        break
                    }
                }
                if !found { return false }
            }
            return true
        case (.string(let one), .string(let two)): return AwkRun.find(Array(two.utf8), in: Array(one.utf8)) != nil
        default:
            guard JqValue.kind(a) == JqValue.kind(b) else {
                throw .sentence(
                    "\(JqValue.shownKind(a)) and \(JqValue.shownKind(b)) cannot have their containment checked")
            }
            return JqValue.compare(a, b) == 0
        }
    }

    // MARK: Formats

    func formatted(_ name: String, _ value: JSONValue) throws(JqEnd) -> String {
        switch name {
        case "text": return JqRun.plain(value)
        case "json": return JqValue.text(value)
        case "csv", "tsv":
            let isCSV = name == "csv"
            let cells = try array(value, isCSV ? "csv-formatted" : "tsv-formatted").map {
                (cell) throws(JqEnd) -> String in
                switch cell {
                case .null: return ""
                case .integer, .double, .bool: return JqValue.text(cell)
                case .string(let text):
                    if isCSV { return "\"" + text.replacing("\"", with: "\"\"") + "\"" }
                    return text.replacing("\\", with: "\\\\").replacing("\t", with: "\\t").replacing("\n", with: "\\n")
                        .replacing("\r", with: "\\r")
                default: throw .sentence("\(JqValue.shownKind(cell)) is not valid in a \(name) row")
                }
            }
            return cells.joined(separator: isCSV ? "," : "\t")
        case "html":
            return JqRun.plain(value).replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(
                ">", with: "&gt;"
            )
            .replacing("'", with: "&#39;").replacing("\"", with: "&quot;")
        case "uri":
            var out: [UInt8] = []
            for byte in JqRun.plain(value).utf8 {
                if byte.isInName || [45, 46, 126].contains(byte) {
                    out.append(byte)
                } else {
                    let digits = String(byte, radix: 16, uppercase: true)
                    out += Array(("%" + (digits.count < 2 ? "0" : "") + digits).utf8)
                }
            }
            return out.text
        case "sh":
            func quoted(_ value: JSONValue) throws(JqEnd) -> String {
                switch value {
                case .string(let text): return "'" + text.replacing("'", with: "'\\''") + "'"
                case .array, .object: throw .sentence("\(JqValue.shownKind(value)) can not be escaped for shell")
                default: return JqValue.text(value)
                }
            }
            if case .array(let values) = value {
                return try values.map { (value) throws(JqEnd) in try quoted(value) }.joined(separator: " ")
            }
            return try quoted(value)
        case "base64": return Base64.text(Array(JqRun.plain(value).utf8))
        case "base64d":
            var text = JqRun.plain(value)
            while text.utf8.count % 4 != 0 { text += "=" }
            guard let bytes = Base64.bytes(text) else {
                throw .sentence("\(JqValue.shownKind(value)) is not valid base64 data")
            }
            return bytes.text
        default:
            throw .flow(
                .failed("@\(name) is no format; there are @text @json @csv @tsv @html @uri @sh @base64 @base64d"))
        }
    }
}

extension String {
    fileprivate func hasPrefixBytes(_ start: String) -> Bool { utf8.starts(with: start.utf8) }
}
