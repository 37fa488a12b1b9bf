internal import AlcoveCore

/// Runs a filter. Each filter gives any number of values to the closure it is handed.
///
/// Stays on its thread.
final class JqRun {
    typealias Out = (JSONValue) throws(JqEnd) -> Void
    typealias PathOut = ([JSONValue], JSONValue) throws(JqEnd) -> Void
    static let deepest = 1200

    let control: RunControl
    let environment: JSONValue
    var expressions: [String: LibraryPattern] = [:]
    /// What `input` reads next.
    var nextInput: () throws(JqEnd) -> JSONValue? = { () throws(JqEnd) in nil }
    private var depth = 0
    private var steps = 0
    private var labels = 0
    // Filters run filters through these. Where the optimiser sees a function hand itself a closure it makes a copy of the
    // function for that closure, and of the copy: three quarters of a release build's time went there.
    private var evaluator: (JqRun, JqFilter, JSONValue, Scope, Out) throws(JqEnd) -> Void = {
        (run, filter, input, scope, out) throws(JqEnd) in try run.evaluate(filter, input, scope, out)
    }
    var pathFinder: (JqRun, JqFilter, [JSONValue], JSONValue, Scope, PathOut) throws(JqEnd) -> Void = {
        (run, filter, path, value, scope, out) throws(JqEnd) in try run.findPaths(filter, path, value, scope, out)
    }

    init(_ control: RunControl, environment: JSONValue) {
        self.control = control
        self.environment = environment
    }

    /// A filter with the names it sees.
    struct Closure {
        var filter: JqFilter
        var scope: Scope
    }

    /// Variables, functions and labels, the innermost first.
    final class Scope {
        enum Entry {
            case variable(String, JSONValue)
            case closure(String, Closure)
            case function(JqDefinition)
            case label(String, Int)
            case top
        }

        let entry: Entry
        let outer: Scope?

        init(_ entry: Entry = .top, _ outer: Scope? = nil) {
            self.entry = entry
            self.outer = outer
        }
    }

    private func step() throws(JqEnd) {
        steps &+= 1
        if steps & 1023 == 0 { do throws(Flow) { try control.check() } catch { throw .flow(error) } }
    }

    func run(_ filter: JqFilter, _ input: JSONValue, _ scope: Scope, _ out: Out) throws(JqEnd) {
        try evaluator(self, filter, input, scope, out)
    }

    private func evaluate(_ filter: JqFilter, _ input: JSONValue, _ scope: Scope, _ out: Out) throws(JqEnd) {
        try step()
        depth += 1
        defer { depth -= 1 }
        guard depth < JqRun.deepest else {
            throw .flow(.failed("the filter calls itself more than \(JqRun.deepest) deep"))
        }
        switch filter {
        case .identity: try out(input)
        case .literal(let value): try out(value)
        case .recurse: try recurse(input, out)
        case .text(let pieces, let format): try text(pieces[...], "", format, input, scope, out)
        case .format(let name): try out(.string(try formatted(name, input)))
        case .field(let base, let key):
            try run(base, input, scope) { (value) throws(JqEnd) in
                try self.run(key, input, scope) { (key) throws(JqEnd) in try out(try self.member(value, key)) }
            }
        case .slice(let base, let start, let end):
            try run(base, input, scope) { (value) throws(JqEnd) in
                try self.bounds(start, end, input, scope) { (from, to) throws(JqEnd) in
                    try out(try self.slice(value, from, to))
                }
            }
        case .each(let base):
            try run(base, input, scope) { (value) throws(JqEnd) in
                for item in try self.items(value) { try out(item) }
            }
        case .attempt(let body, let handler):
            // A fault of what comes after is not this one's.
            var isOutside = false
            do throws(JqEnd) {
                try run(body, input, scope) { (value) throws(JqEnd) in
                    isOutside = true
                    try out(value)
                    isOutside = false
                }
            } catch {
                guard case .fault(let what) = error, !isOutside else { throw error }
                if let handler, what != .object(["__jq": .integer(0)]) { try run(handler, what, scope, out) }
            }
        case .pipe(let left, let right):
            try run(left, input, scope) { (value) throws(JqEnd) in try self.run(right, value, scope, out) }
        case .comma(let left, let right):
            try run(left, input, scope, out)
            try run(right, input, scope, out)
        case .negative(let inner):
            try run(inner, input, scope) { (value) throws(JqEnd) in
                guard let number = JqValue.double(value) else {
                    throw .sentence("\(JqValue.shownKind(value)) cannot be negated")
                }
                try out(JqValue.number(-number))
            }
        case .binary(let sign, let left, let right):
            try run(right, input, scope) { (b) throws(JqEnd) in
                try self.run(left, input, scope) { (a) throws(JqEnd) in try out(try JqValue.calculate(sign, a, b)) }
            }
        case .and(let left, let right):
            try run(left, input, scope) { (a) throws(JqEnd) in
                guard JqValue.isTrue(a) else { return try out(.bool(false)) }
                try self.run(right, input, scope) { (b) throws(JqEnd) in try out(.bool(JqValue.isTrue(b))) }
            }
        case .or(let left, let right):
            try run(left, input, scope) { (a) throws(JqEnd) in
                if JqValue.isTrue(a) { return try out(.bool(true)) }
                try self.run(right, input, scope) { (b) throws(JqEnd) in try out(.bool(JqValue.isTrue(b))) }
            }
        case .otherwise(let left, let right):
            var hasFound = false
            do throws(JqEnd) {
                try run(left, input, scope) { (value) throws(JqEnd) in
                    if JqValue.isTrue(value) {
                        hasFound = true
                        try out(value)
                    }
                }
            } catch {
                guard case .fault = error, !hasFound else { throw error }
            }
            if !hasFound { try run(right, input, scope, out) }
        case .assign(let sign, let place, let right): try assign(sign, place, right, input, scope, out)
        case .condition(let condition, let then, let otherwise):
            try run(condition, input, scope) { (value) throws(JqEnd) in
                if JqValue.isTrue(value) { return try self.run(then, input, scope, out) }
                if let otherwise { try self.run(otherwise, input, scope, out) } else { try out(input) }
            }
        case .reduce(let source, let pattern, let start, let update):
            try run(start, input, scope) { (first) throws(JqEnd) in
                var state = first
                try self.run(source, input, scope) { (item) throws(JqEnd) in
                    try self.bind(pattern, item, input, scope) { (scope) throws(JqEnd) in
                        var last: JSONValue?
                        let before = state
                        // One owner, so that an array grows in place.
                        state = .null
                        try self.run(update, before, scope) { (value) throws(JqEnd) in last = value }
                        state = last ?? .null
                    }
                }
                try out(state)
            }
        case .foreach(let source, let pattern, let start, let update, let extract):
            try run(start, input, scope) { (first) throws(JqEnd) in
                var state = first
                try self.run(source, input, scope) { (item) throws(JqEnd) in
                    try self.bind(pattern, item, input, scope) { (scope) throws(JqEnd) in
                        try self.run(update, state, scope) { (value) throws(JqEnd) in
                            state = value
                            if let extract { try self.run(extract, value, scope, out) } else { try out(value) }
                        }
                    }
                }
            }
        case .bind(let source, let pattern, let body):
            try run(source, input, scope) { (value) throws(JqEnd) in
                try self.bind(pattern, value, input, scope) { (inner) throws(JqEnd) in
                    try self.run(body, input, inner, out)
                }
            }
        case .variable(let name):
            if name == "ENV" { return try out(environment) }
            if name == "__loc__" { return try out(["file": "<top-level>", "line": 1]) }
            try out(try variable(name, scope))
        case .array(let inner):
            var all: [JSONValue] = []
            if let inner {
                try run(inner, input, scope) { (value) throws(JqEnd) in
                    all.append(value)
                    if all.count > 5_000_000 { throw .flow(.failed("an array has more than 5000000 values")) }
                }
            }
            try out(.array(all))
        case .object(let entries): try object(entries[...], JSONObject(), input, scope, out)
        case .call(let name, let arguments): try call(name, arguments, input, scope, out)
        case .define(let definition, let body): try run(body, input, Scope(.function(definition), scope), out)
        case .label(let name, let body):
            labels += 1
            let number = labels
            do throws(JqEnd) { try run(body, input, Scope(.label(name, number), scope), out) } catch {
                guard case .leave(let left) = error, left == number else { throw error }
            }
        case .leave(let name):
            var place: Scope? = scope
            while let current = place {
                if case .label(let label, let number) = current.entry, label == name { throw .leave(number) }
                place = current.outer
            }
            throw .flow(.failed("there is no label $\(name)"))
        }
    }

    private func variable(_ name: String, _ scope: Scope) throws(JqEnd) -> JSONValue {
        var place: Scope? = scope
        while let current = place {
            if case .variable(let other, let value) = current.entry, other == name { return value }
            place = current.outer
        }
        throw .flow(.failed("there is no variable $\(name)"))
    }

    private func recurse(_ value: JSONValue, _ out: Out) throws(JqEnd) {
        try step()
        try out(value)
        switch value {
        case .array(let values): for inner in values { try recurse(inner, out) }
        case .object(let object): for (_, inner) in object.members { try recurse(inner, out) }
        default: break
        }
    }

    private func text(
        _ pieces: ArraySlice<JqPiece>, _ before: String, _ format: String?, _ input: JSONValue, _ scope: Scope,
        _ out: Out
    ) throws(JqEnd) {
        guard let piece = pieces.first else { return try out(.string(before)) }
        let rest = pieces.dropFirst()
        switch piece {
        case .text(let text): try self.text(rest, before + text, format, input, scope, out)
        case .filter(let filter):
            try run(filter, input, scope) { (value) throws(JqEnd) in
                let text =
                    try format.map { (name) throws(JqEnd) in try self.formatted(name, value) } ?? JqRun.plain(value)
                try self.text(rest, before + text, format, input, scope, out)
            }
        }
    }

    static func plain(_ value: JSONValue) -> String {
        if case .string(let text) = value { return text }
        return JqValue.text(value)
    }

    private func object(
        _ entries: ArraySlice<JqEntry>, _ before: JSONObject, _ input: JSONValue,
        _ scope: Scope, _ out: Out
    ) throws(JqEnd) {
        guard let entry = entries.first else { return try out(.object(before)) }
        try run(entry.key, input, scope) { (key) throws(JqEnd) in
            guard case .string(let name) = key else {
                throw .sentence("a key is a string, not \(JqValue.shownKind(key))")
            }
            func add(_ value: JSONValue) throws(JqEnd) {
                var object = before
                object[name] = value
                try self.object(entries.dropFirst(), object, input, scope, out)
            }
            if let filter = entry.value {
                try self.run(filter, input, scope) { (value) throws(JqEnd) in try add(value) }
            } else {
                try add(try self.member(input, key))
            }
        }
    }

    private func bind(
        _ pattern: JqPattern, _ value: JSONValue, _ input: JSONValue, _ scope: Scope,
        _ body: (Scope) throws(JqEnd) -> Void
    ) throws(JqEnd) {
        switch pattern {
        case .name(let name): try body(Scope(.variable(name, value), scope))
        case .array(let parts):
            try bindAll(
                parts.enumerated().map { (.literal(.integer(Int64($0.offset))), $0.element) }[...], value, input, scope,
                body)
        case .object(let parts): try bindAll(parts.map { ($0.key, $0.pattern) }[...], value, input, scope, body)
        }
    }

    private func bindAll(
        _ parts: ArraySlice<(JqFilter, JqPattern)>, _ value: JSONValue, _ input: JSONValue, _ scope: Scope,
        _ body: (Scope) throws(JqEnd) -> Void
    ) throws(JqEnd) {
        guard let (key, pattern) = parts.first else { return try body(scope) }
        try run(key, input, scope) { (key) throws(JqEnd) in
            let inner = try self.member(value, key)
            try self.bind(pattern, inner, input, scope) { (scope) throws(JqEnd) in
                try self.bindAll(parts.dropFirst(), value, input, scope, body)
            }
        }
    }

    // MARK: Parts of values

    func member(_ value: JSONValue, _ key: JSONValue) throws(JqEnd) -> JSONValue {
        switch (value, key) {
        case (.null, .string), (.null, .integer), (.null, .double), (.null, .null): return .null
        case (.object(let object), .string(let name)): return object[name] ?? .null
        case (.array(let values), .integer), (.array(let values), .double):
            guard let number = JqValue.double(key), abs(number) < 1e15 else { return .null }
            let index = Int(number.rounded(.down))
            let place = index < 0 ? index + values.count : index
            return place >= 0 && place < values.count ? values[place] : .null
        case (_, .object(let range)):
            return try slice(value, range["start"] ?? .null, range["end"] ?? .null)
        case (.array(let values), .array(let wanted)):
            guard !wanted.isEmpty, wanted.count <= values.count else { return wanted.isEmpty ? .null : .array([]) }
            let places = (0...(values.count - wanted.count)).filter { start in
                zip(values[start...], wanted).allSatisfy { JqValue.compare($0, $1) == 0 }
            }
            return .array(places.map { .integer(Int64($0)) })
        default:
            if case .string(let name) = key { throw .sentence("\(JqValue.kind(value)) has no member \"\(name)\"") }
            throw .sentence("\(JqValue.kind(value)) cannot be indexed with \(JqValue.kind(key))")
        }
    }

    func items(_ value: JSONValue) throws(JqEnd) -> [JSONValue] {
        switch value {
        case .array(let values): return values
        case .object(let object): return object.members.map(\.value)
        default: throw .sentence("\(JqValue.shownKind(value)) cannot be iterated over")
        }
    }

    private func bounds(
        _ start: JqFilter?, _ end: JqFilter?, _ input: JSONValue, _ scope: Scope,
        _ body: (JSONValue, JSONValue) throws(JqEnd) -> Void
    ) throws(JqEnd) {
        try run(end ?? .literal(.null), input, scope) { (to) throws(JqEnd) in
            try self.run(start ?? .literal(.null), input, scope) { (from) throws(JqEnd) in try body(from, to) }
        }
    }

    static func range(_ count: Int, _ from: JSONValue, _ to: JSONValue) -> Range<Int> {
        func place(_ value: JSONValue, _ usual: Int, _ rule: FloatingPointRoundingRule) -> Int {
            guard let number = JqValue.double(value) else { return usual }
            let index = Int(max(-1e15, min(1e15, number.rounded(rule))))
            return max(0, min(count, index < 0 ? index + count : index))
        }
        let start = place(from, 0, .down)
        return start..<max(start, place(to, count, .up))
    }

    func slice(_ value: JSONValue, _ from: JSONValue, _ to: JSONValue) throws(JqEnd) -> JSONValue {
        switch value {
        case .null: return .null
        case .array(let values): return .array(Array(values[JqRun.range(values.count, from, to)]))
        case .string(let text):
            let scalars = Array(text.unicodeScalars)
            var out = String.UnicodeScalarView()
            out.append(contentsOf: scalars[JqRun.range(scalars.count, from, to)])
            return .string(String(out))
        default: throw .sentence("\(JqValue.kind(value)) cannot be sliced")
        }
    }

    // MARK: Functions

    func call(_ name: String, _ arguments: [JqFilter], _ input: JSONValue, _ scope: Scope, _ out: Out) throws(JqEnd) {
        var place: Scope? = scope
        while let current = place {
            switch current.entry {
            case .closure(let other, let closure) where other == name && arguments.isEmpty:
                return try run(closure.filter, input, closure.scope, out)
            case .function(let definition)
            where definition.name == name && definition.parameters.count == arguments.count:
                return try callDefined(definition, current, arguments, input, scope, out)
            default: place = current.outer
            }
        }
        try builtin(name, arguments, input, scope, out)
    }

    private func callDefined(
        _ definition: JqDefinition, _ home: Scope, _ arguments: [JqFilter], _ input: JSONValue, _ scope: Scope,
        _ out: Out
    ) throws(JqEnd) {
        try callBound(
            zip(definition.parameters, arguments).map { ($0, $1) }[...], definition.body, home, input, scope, out)
    }

    private func callBound(
        _ pairs: ArraySlice<(String, JqFilter)>, _ body: JqFilter, _ inner: Scope, _ input: JSONValue, _ scope: Scope,
        _ out: Out
    ) throws(JqEnd) {
        guard let (parameter, argument) = pairs.first else { return try run(body, input, inner, out) }
        let closure = Closure(filter: argument, scope: scope)
        guard parameter.hasPrefix("$") else {
            return try callBound(
                pairs.dropFirst(), body, Scope(.closure(parameter, closure), inner), input, scope, out)
        }
        let name = String(parameter.dropFirst())
        try run(argument, input, scope) { (value) throws(JqEnd) in
            let bound = Scope(
                .variable(name, value), Scope(.closure(name, Closure(filter: .literal(value), scope: scope)), inner))
            try self.callBound(pairs.dropFirst(), body, bound, input, scope, out)
        }
    }
}
