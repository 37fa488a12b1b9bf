internal import AlcoveCore

extension JqRun {
    /// Functions whose meaning is most plainly said in jq itself.
    static let prelude = """
        def map(f): [.[] | f]; def values: select(. != null); def nulls: select(. == null);
        def numbers: select(type == "number"); def strings: select(type == "string");
        def arrays: select(type == "array"); def objects: select(type == "object");
        def booleans: select(type == "boolean"); def iterables: select(type == "array" or type == "object");
        def scalars: select(type != "array" and type != "object");
        def map_values(f): .[] |= f; def recurse(f): def r: ., (f | r); r;
        def recurse(f; c): def r: ., (f | select(c) | r); r;
        def to_entries: [keys_unsorted[] as $k | {key: $k, value: .[$k]}];
        def from_entries: reduce .[] as $x ({}; . + {($x | if type == "object" then (if has("key") then .key elif has("k") then .k elif has("name") then .name elif has("Name") then .Name elif has("Key") then .Key else null end) else . end | if type == "string" then . elif type == "null" then "null" else tojson end): ($x | if type == "object" then (if has("value") then .value elif has("v") then .v elif has("Value") then .Value else null end) else null end)});
        def with_entries(f): to_entries | map(f) | from_entries;
        def while(c; u): def w: if c then ., (u | w) else empty end; w;
        def until(c; u): def w: if c then . else (u | w) end; w;
        def repeat(f): def r: ., (f | r); r; def inside(x): . as $x | x | contains($x);
        def in(x): . as $x | x | has($x); def combinations: if length == 0 then [] else .[0][] as $x | (.[1:] | combinations) as $w | [$x] + $w end;
        def combinations(n): . as $d | [range(n)] | map($d) | combinations;
        def walk(f): def w: if type == "object" then map_values(w) elif type == "array" then map(w) else . end | f; w;
        def env: $ENV; def todate: strftime("%Y-%m-%dT%H:%M:%SZ"); def fromdate: fromdateiso8601;
        def date: todate; def todateiso8601: todate; def any: any(.[]; .); def all: all(.[]; .);
        def any(f): any(.[]; f); def all(f): all(.[]; f); def add(f): reduce f as $x (null; . + $x);
        def ascii: [.] | implode; def finites: select(isinfinite or isnan | not); def normals: select(isnormal);
        def paths(f): path(..|select(f))|select(length > 0); def leaf_paths: paths(scalars);
        def del(f): delpaths([path(f)]); def pick(f): . as $x | reduce path(f) as $p (null; setpath($p; $x | getpath($p)));
        def to_array: if type == "array" then . else [.] end; def match(re): match(re; null); def test(re): test(re; null);
        def capture(re): capture(re; null); def capture(re; mods): match(re; mods) | [.captures | .[] | select(.name != null) | {key: .name, value: .string}] | from_entries;
        def scan(re): scan(re; null); def scan(re; $flags): match(re; "g" + $flags) | if (.captures | length) > 0 then [.captures | .[] | .string] else .string end;
        def splits(re): splits(re; null); def splits(re; $flags): split(re; $flags) | .[];
        """

    private static let names: [String: Set<Int>] = [
        "empty": [0], "error": [0, 1], "not": [0], "length": [0], "utf8bytelength": [0], "keys": [0],
        "keys_unsorted": [0],
        "has": [1], "contains": [1], "add": [0], "range": [1, 2, 3], "floor": [0], "ceil": [0], "round": [0],
        "sqrt": [0],
        "pow": [2], "log": [0], "log2": [0], "log10": [0], "exp": [0], "exp2": [0], "exp10": [0], "fabs": [0],
        "abs": [0],
        "trunc": [0], "significand": [0], "sin": [0], "cos": [0], "tostring": [0], "tonumber": [0], "type": [0],
        "infinite": [0], "nan": [0], "isinfinite": [0], "isnan": [0], "isnormal": [0], "sort": [0], "sort_by": [1],
        "group_by": [1], "min": [0], "max": [0], "min_by": [1], "max_by": [1], "unique": [0], "unique_by": [1],
        "reverse": [0], "startswith": [1], "endswith": [1], "ltrimstr": [1], "rtrimstr": [1], "trim": [0], "ltrim": [0],
        "rtrim": [0], "explode": [0], "implode": [0], "split": [1, 2], "join": [1], "ascii_downcase": [0],
        "ascii_upcase": [0], "first": [0, 1], "last": [0, 1], "nth": [1, 2], "limit": [2], "isempty": [1],
        "flatten": [0, 1],
        "index": [1], "rindex": [1], "indices": [1], "tojson": [0], "fromjson": [0], "path": [1], "paths": [0],
        "getpath": [1], "setpath": [2], "delpaths": [1], "select": [1], "recurse": [0], "any": [2], "all": [2],
        "test": [2], "match": [2], "sub": [2, 3], "gsub": [2, 3], "now": [0], "mktime": [0], "gmtime": [0],
        "localtime": [0], "strftime": [1], "fromdateiso8601": [0], "input": [0], "inputs": [0],
        "debug": [0, 1], "stderr": [0], "transpose": [0], "halt": [0],
        "halt_error": [0, 1], "input_line_number": [0], "builtins": [0], "bsearch": [1],
        "input_filename": [0], "tostream": [0],
    ]

    func builtin(_ name: String, _ arguments: [JqFilter], _ input: JSONValue, _ scope: Scope, _ out: Out) throws(JqEnd)
    {
        guard let counts = JqRun.names[name], counts.contains(arguments.count) else {
            let known = Array(JqRun.names.keys)
            let near = didYouMean(name, among: known).map { " " + $0 } ?? ""
            throw .flow(.failed("\(name)/\(arguments.count): there is no such function.\(near)"))
        }
        switch name {
        case "empty": return
        case "select":
            return try run(arguments[0], input, scope) { (value) throws(JqEnd) in
                if JqValue.isTrue(value) { try out(input) }
            }
        case "recurse": return try run(.recurse, input, scope, out)
        case "error":
            if arguments.isEmpty { throw .fault(input) }
            return try run(arguments[0], input, scope) { (value) throws(JqEnd) in throw .fault(value) }
        case "path":
            return try paths(arguments[0], [], input, scope) { (path, _) throws(JqEnd) in try out(.array(path)) }
        case "paths":
            return try paths(.recurse, [], input, scope) { (path, _) throws(JqEnd) in
                if !path.isEmpty { try out(.array(path)) }
            }
        case "range": return try range(arguments, input, scope, out)
        case "first" where !arguments.isEmpty: return try limited(1, arguments[0], input, scope, out)
        case "limit":
            return try run(arguments[0], input, scope) { (count) throws(JqEnd) in
                try self.limited(Int(JqValue.double(count) ?? 0), arguments[1], input, scope, out)
            }
        case "last" where !arguments.isEmpty:
            var last: JSONValue?
            try run(arguments[0], input, scope) { (value) throws(JqEnd) in last = value }
            if let last { try out(last) }
            return
        case "nth" where arguments.count == 2:
            return try run(arguments[0], input, scope) { (count) throws(JqEnd) in
                var index = Int(JqValue.double(count) ?? 0)
                var found: JSONValue?
                do throws(JqEnd) {
                    try self.run(arguments[1], input, scope) { (value) throws(JqEnd) in
                        if index == 0 {
                            found = value
                            throw .enough
                        }
                        index -= 1
                    }
                } catch { guard case .enough = error else { throw error } }
                if let found { try out(found) }
            }
        case "isempty":
            var isEmpty = true
            do throws(JqEnd) {
                try run(arguments[0], input, scope) { (_) throws(JqEnd) in
                    isEmpty = false
                    throw .enough
                }
            } catch { guard case .enough = error else { throw error } }
            return try out(.bool(isEmpty))
        case "any", "all":
            let wanted = name == "any"
            var result = !wanted
            do throws(JqEnd) {
                try run(arguments[0], input, scope) { (item) throws(JqEnd) in
                    try self.run(arguments[1], item, scope) { (value) throws(JqEnd) in
                        if JqValue.isTrue(value) == wanted {
                            result = wanted
                            throw .enough
                        }
                    }
                }
            } catch { guard case .enough = error else { throw error } }
            return try out(.bool(result))
        case "sort_by", "group_by", "min_by", "max_by", "unique_by":
            return try out(try by(name, arguments[0], input, scope))
        case "input":
            guard let next = try nextInput() else { throw .sentence("No more inputs") }
            return try out(next)
        case "inputs":
            while let next = try nextInput() { try out(next) }
            return
        case "debug", "stderr": return try out(input)
        case "halt": throw .flow(.exiting(0))
        case "halt_error": throw .flow(.exiting(5))
        case "test", "match", "sub", "gsub": return try expressions(name, arguments, input, scope, out)
        case "split" where arguments.count > 1: return try expressions(name, arguments, input, scope, out)
        case "tostream": return try stream(input, [], isTop: true, out)
        default: break
        }
        // The rest takes plain values.
        try values(arguments[...], [], input, scope) { (given) throws(JqEnd) in
            try out(try self.plain(name, input, given))
        }
    }

    private func values(
        _ filters: ArraySlice<JqFilter>, _ before: [JSONValue], _ input: JSONValue, _ scope: Scope,
        _ body: ([JSONValue]) throws(JqEnd) -> Void
    ) throws(JqEnd) {
        guard let filter = filters.first else { return try body(before) }
        try run(filter, input, scope) { (value) throws(JqEnd) in
            try self.values(filters.dropFirst(), before + [value], input, scope, body)
        }
    }

    private func limited(_ count: Int, _ filter: JqFilter, _ input: JSONValue, _ scope: Scope, _ out: Out) throws(JqEnd)
    {
        guard count > 0 else { return }
        var left = count
        var isOurs = false
        do throws(JqEnd) {
            try run(filter, input, scope) { (value) throws(JqEnd) in
                left -= 1
                try out(value)
                if left == 0 {
                    isOurs = true
                    throw .enough
                }
            }
        } catch { guard case .enough = error, isOurs else { throw error } }
    }

    private func range(_ arguments: [JqFilter], _ input: JSONValue, _ scope: Scope, _ out: Out) throws(JqEnd) {
        try values(arguments[...], [], input, scope) { (given) throws(JqEnd) in
            let numbers = given.map { JqValue.double($0) }
            guard numbers.allSatisfy({ $0 != nil }) else { throw .sentence("the ends of a range are numbers") }
            let start = numbers.count > 1 ? numbers[0] ?? 0 : 0
            let end = (numbers.count > 1 ? numbers[1] : numbers[0]) ?? 0
            let by = numbers.count > 2 ? numbers[2] ?? 1 : 1
            guard by != 0 else { return }
            var value = start
            while by > 0 ? value < end : value > end {
                try out(JqValue.number(value))
                value += by
            }
        }
    }

    private func by(_ name: String, _ filter: JqFilter, _ input: JSONValue, _ scope: Scope) throws(JqEnd) -> JSONValue {
        guard case .array(let values) = input else {
            throw .sentence("\(JqValue.shownKind(input)) cannot be sorted, as it is not an array")
        }
        var keyed: [(key: JSONValue, value: JSONValue)] = []
        for value in values {
            var key: [JSONValue] = []
            try run(filter, value, scope) { (part) throws(JqEnd) in key.append(part) }
            keyed.append((.array(key), value))
        }
        let sorted = keyed.enumerated().sorted {
            let order = JqValue.compare($0.element.key, $1.element.key)
            return order != 0 ? order < 0 : $0.offset < $1.offset
        }.map(\.element)
        switch name {
        case "sort_by": return .array(sorted.map(\.value))
        case "min_by": return sorted.first?.value ?? .null
        case "max_by":
            guard let last = sorted.last else { return .null }
            return last.value
        default:
            var groups: [[JSONValue]] = []
            var last: JSONValue?
            for item in sorted {
                if let last, JqValue.compare(last, item.key) == 0 {
                    groups[groups.count - 1].append(item.value)
                } else {
                    groups.append([item.value])
                }
                last = item.key
            }
            return .array(name == "group_by" ? groups.map { .array($0) } : groups.map { $0[0] })
        }
    }

    private func stream(_ value: JSONValue, _ path: [JSONValue], isTop: Bool, _ out: Out) throws(JqEnd) {
        let inner: [(JSONValue, JSONValue)]
        switch value {
        case .array(let values): inner = values.enumerated().map { (.integer(Int64($0.offset)), $0.element) }
        case .object(let object): inner = object.members.map { (.string($0.key), $0.value) }
        default: inner = []
        }
        guard let last = inner.last else { return try out([.array(path), value]) }
        for (key, value) in inner { try stream(value, path + [key], isTop: false, out) }
        try out([.array(path + [last.0])])
    }

    // MARK: Expressions

    private func compiled(_ text: String, _ flags: String) throws(JqEnd) -> LibraryPattern {
        let key = flags + "/" + text
        if let known = expressions[key] { return known }
        do throws(Flow) {
            var source = Array(text.utf8)
            // Names of groups are taken out; captures give them back.
            while let start = AwkRun.find(Array("(?<".utf8), in: source), let end = source[start...].firstIndex(of: 62)
            {
                source.replaceSubrange(start...end, with: [40])
            }
            var folds = flags.contains("i")
            if source.starts(with: Array("(?i)".utf8)) {
                source.removeFirst(4)
                folds = true
            }
            let made = try LibraryPattern(PerlPattern.portable(source), isExtended: true, foldsCase: folds)
            expressions[key] = made
            return made
        } catch {
            if case .failed(let what) = error { throw .sentence(what) }
            throw .flow(error)
        }
    }

    private static func groupNames(_ text: String) -> [String?] {
        var names: [String?] = []
        let bytes = Array(text.utf8)
        var place = 0
        while place < bytes.count {
            if bytes[place] == 92 { place += 2; continue }
            if bytes[place] == 40 {
                if bytes[place...].starts(with: Array("(?<".utf8)), let end = bytes[place...].firstIndex(of: 62) {
                    names.append(Array(bytes[(place + 3)..<end]).text)
                } else if !bytes[place...].starts(with: Array("(?".utf8)) {
                    names.append(nil)
                }
            }
            place += 1
        }
        return names
    }

    private func matches(_ text: String, _ expression: String, _ flags: String) throws(JqEnd) -> [JSONValue] {
        let pattern = try compiled(expression, flags)
        let line = Array(text.utf8)
        let names = JqRun.groupNames(expression)
        var found: [JSONValue] = []
        var from = 0
        func part(_ range: Range<Int>?) -> JSONObject {
            guard let range else { return ["offset": -1, "length": 0, "string": .null] }
            return [
                "offset": .integer(Int64(Pattern.characters(Array(line[..<range.lowerBound])))),
                "length": .integer(Int64(Pattern.characters(Array(line[range])))),
                "string": .string(Array(line[range]).text),
            ]
        }
        while from <= line.count, let groups = pattern.groups(line, from: from), let whole = groups[0] {
            var object = part(whole)
            object["captures"] = .array(
                groups.dropFirst().enumerated().map { index, range in
                    var capture = part(range)
                    capture["name"] = index < names.count ? names[index].map { .string($0) } ?? .null : .null
                    return .object(capture)
                })
            found.append(.object(object))
            if !flags.contains("g") { break }
            from =
                whole.isEmpty
                ? whole.upperBound + max(1, whole.upperBound < line.count ? Pattern.length(line, whole.upperBound) : 1)
                : whole.upperBound
        }
        return found
    }

    private func expressions(
        _ name: String, _ arguments: [JqFilter], _ input: JSONValue, _ scope: Scope, _ out: Out
    ) throws(JqEnd) {
        guard case .string(let text) = input else {
            throw .sentence("\(JqValue.shownKind(input)) cannot be matched, as it is not a string")
        }
        let hasReplacement = name == "sub" || name == "gsub"
        let filters = hasReplacement ? [arguments[0]] + arguments.dropFirst(2) : arguments
        try values(filters[...], [], input, scope) { (given) throws(JqEnd) in
            var (expression, flags) = ("", "")
            if case .array(let both) = given[0] {
                expression = both.first.map(JqRun.plain) ?? ""
                flags = both.count > 1 ? JqRun.plain(both[1]) : ""
            } else {
                guard case .string(let plain) = given[0] else {
                    throw .sentence("\(JqValue.shownKind(given[0])) is no expression")
                }
                expression = plain
            }
            if given.count > 1, case .string(let more) = given[1] { flags += more }
            switch name {
            case "test": try out(.bool(!(try self.matches(text, expression, flags)).isEmpty))
            case "match": for match in try self.matches(text, expression, flags) { try out(match) }
            case "split":
                var parts: [JSONValue] = []
                let scalars = Array(text.unicodeScalars)
                var start = 0
                func piece(_ range: Range<Int>) -> JSONValue {
                    var view = String.UnicodeScalarView()
                    view.append(contentsOf: scalars[range])
                    return .string(String(view))
                }
                for match in try self.matches(text, expression, flags + "g") {
                    guard case .object(let object) = match, case .integer(let offset)? = object["offset"],
                        case .integer(let length)? = object["length"]
                    else { continue }
                    parts.append(piece(start..<Int(offset)))
                    start = Int(offset + length)
                }
                parts.append(piece(start..<scalars.count))
                try out(.array(parts))
            default:
                let found = try self.matches(text, expression, flags + (name == "gsub" ? "g" : ""))
                try self.replaced(text, found[...], arguments[1], 0, "", scope, out)
            }
        }
    }

    private func replaced(
        _ text: String, _ found: ArraySlice<JSONValue>, _ filter: JqFilter, _ start: Int, _ before: String,
        _ scope: Scope, _ out: Out
    ) throws(JqEnd) {
        let scalars = Array(text.unicodeScalars)
        func piece(_ range: Range<Int>) -> String {
            var view = String.UnicodeScalarView()
            view.append(contentsOf: scalars[range])
            return String(view)
        }
        guard case .object(let match)? = found.first, case .integer(let offset)? = match["offset"],
            case .integer(let length)? = match["length"], case .array(let captures)? = match["captures"]
        else { return try out(.string(before + piece(start..<scalars.count))) }
        var named = JSONObject()
        for capture in captures {
            if case .object(let capture) = capture, case .string(let name)? = capture["name"] {
                named[name] = capture["string"] ?? .null
            }
        }
        try run(filter, .object(named), scope) { (value) throws(JqEnd) in
            guard case .string(let with) = value else {
                throw .sentence("\(JqValue.shownKind(value)) cannot be put into a string")
            }
            try self.replaced(
                text, found.dropFirst(), filter, Int(offset + length),
                before + piece(start..<max(start, Int(offset))) + with, scope, out)
        }
    }
}
