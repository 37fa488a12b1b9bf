internal import AlcoveCore

/// Places in a value: what a filter points at, and changing it there.
extension JqRun {
    func paths(
        _ filter: JqFilter, _ path: [JSONValue], _ value: JSONValue, _ scope: Scope, _ out: PathOut
    ) throws(JqEnd) { try pathFinder(self, filter, path, value, scope, out) }

    func findPaths(
        _ filter: JqFilter, _ path: [JSONValue], _ value: JSONValue, _ scope: Scope, _ out: PathOut
    ) throws(JqEnd) {
        switch filter {
        case .identity: try out(path, value)
        case .field(let base, let key):
            try paths(base, path, value, scope) { (path, inner) throws(JqEnd) in
                try self.run(key, value, scope) { (key) throws(JqEnd) in
                    try out(path + [key], try self.member(inner, key))
                }
            }
        case .slice(let base, let start, let end):
            try paths(base, path, value, scope) { (path, inner) throws(JqEnd) in
                var ends: [JSONValue] = []
                for bound in [start, end] {
                    var found = JSONValue.null
                    if let bound { try self.run(bound, value, scope) { (value) throws(JqEnd) in found = value } }
                    ends.append(found)
                }
                try out(path + [["start": ends[0], "end": ends[1]]], try self.slice(inner, ends[0], ends[1]))
            }
        case .each(let base):
            try paths(base, path, value, scope) { (path, inner) throws(JqEnd) in
                switch inner {
                case .null: break
                case .object(let object): for (key, value) in object.members { try out(path + [.string(key)], value) }
                default:
                    for (index, item) in try self.items(inner).enumerated() {
                        try out(path + [.integer(Int64(index))], item)
                    }
                }
            }
        case .recurse: try recurse(path, value, out)
        case .pipe(let left, let right):
            try paths(left, path, value, scope) { (path, inner) throws(JqEnd) in
                try self.paths(right, path, inner, scope, out)
            }
        case .comma(let left, let right):
            try paths(left, path, value, scope, out)
            try paths(right, path, value, scope, out)
        case .condition(let condition, let then, let otherwise):
            try run(condition, value, scope) { (result) throws(JqEnd) in
                if JqValue.isTrue(result) { return try self.paths(then, path, value, scope, out) }
                if let otherwise { return try self.paths(otherwise, path, value, scope, out) }
                try out(path, value)
            }
        case .attempt(let body, _):
            var isOutside = false
            do throws(JqEnd) {
                try paths(body, path, value, scope) { (path, inner) throws(JqEnd) in
                    isOutside = true
                    try out(path, inner)
                    isOutside = false
                }
            } catch {
                guard case .fault = error, !isOutside else { throw error }
            }
        case .otherwise(let left, let right):
            var hasFound = false
            do throws(JqEnd) {
                try paths(left, path, value, scope) { (path, inner) throws(JqEnd) in
                    if JqValue.isTrue(inner) {
                        hasFound = true
                        try out(path, inner)
                    }
                }
            } catch {
                guard case .fault = error, !hasFound else { throw error }
            }
            if !hasFound { try paths(right, path, value, scope, out) }
        case .define(let definition, let body):
            try paths(body, path, value, Scope(.function(definition), scope), out)
        case .call("empty", _): break
        case .call("select", let arguments) where arguments.count == 1:
            try run(arguments[0], value, scope) { (result) throws(JqEnd) in
                if JqValue.isTrue(result) { try out(path, value) }
            }
        case .call("recurse", let arguments) where arguments.isEmpty: try recurse(path, value, out)
        case .call("first", let arguments) where arguments.isEmpty: try out(path + [0], try member(value, 0))
        case .call("last", let arguments) where arguments.isEmpty: try out(path + [-1], try member(value, -1))
        case .call("first", let arguments):
            var found: ([JSONValue], JSONValue)?
            do throws(JqEnd) {
                try paths(arguments[0], path, value, scope) { (path, inner) throws(JqEnd) in
                    found = (path, inner)
                    throw .enough
                }
            } catch { guard case .enough = error else { throw error } }
            if let found { try out(found.0, found.1) }
        case .call("getpath", let arguments) where arguments.count == 1:
            try run(arguments[0], value, scope) { (given) throws(JqEnd) in
                guard case .array(let keys) = given else { throw .sentence("a path is an array") }
                try out(path + keys, try self.get(value, keys[...]))
            }
        case .call("map", let arguments) where arguments.count == 1:
            try paths(.pipe(.each(.identity), arguments[0]), path, value, scope, out)
        case .call(let name, let arguments):
            var place: Scope? = scope
            while let current = place {
                switch current.entry {
                case .closure(let other, let closure) where other == name && arguments.isEmpty:
                    return try paths(closure.filter, path, value, closure.scope, out)
                case .function(let definition)
                where definition.name == name && definition.parameters.count == arguments.count:
                    var inner = current
                    for (parameter, argument) in zip(definition.parameters, arguments) {
                        inner = Scope(.closure(parameter, Closure(filter: argument, scope: scope)), inner)
                    }
                    return try paths(definition.body, path, value, inner, out)
                default: place = current.outer
                }
            }
            throw .sentence("\(name) points at no place in the value")
        default: throw .sentence("this filter points at no place in the value")
        }
    }

    private func recurse(_ path: [JSONValue], _ value: JSONValue, _ out: PathOut) throws(JqEnd) {
        try out(path, value)
        switch value {
        case .array(let values):
            for (index, inner) in values.enumerated() { try recurse(path + [.integer(Int64(index))], inner, out) }
        case .object(let object): for (key, inner) in object.members { try recurse(path + [.string(key)], inner, out) }
        default: break
        }
    }

    func get(_ value: JSONValue, _ path: ArraySlice<JSONValue>) throws(JqEnd) -> JSONValue {
        guard let key = path.first else { return value }
        if case .null = value { return .null }
        return try get(try member(value, key), path.dropFirst())
    }

    func set(_ value: JSONValue, _ path: ArraySlice<JSONValue>, _ new: JSONValue) throws(JqEnd) -> JSONValue {
        try change(value, path) { (_) throws(JqEnd) in new }
    }

    func change(
        _ value: JSONValue, _ path: ArraySlice<JSONValue>, _ body: (JSONValue) throws(JqEnd) -> JSONValue
    ) throws(JqEnd) -> JSONValue {
        guard let key = path.first else { return try body(value) }
        let inner = try member(value, key)
        let new = try change(inner, path.dropFirst(), body)
        switch (value, key) {
        case (.null, .string(let name)): return .object([name: new])
        case (.object(var object), .string(let name)):
            object[name] = new
            return .object(object)
        case (.null, .integer), (.null, .double), (.array, .integer), (.array, .double):
            var values: [JSONValue] = []
            if case .array(let old) = value { values = old }
            var index = Int(max(-1e15, min(1e15, JqValue.double(key) ?? 0)))
            if index < 0 { index += values.count }
            guard index >= 0 else { throw .sentence("there is no place before the first of an array") }
            guard index < 10_000_000 else { throw .sentence("an array has no place \(index)") }
            while values.count <= index { values.append(.null) }
            values[index] = new
            return .array(values)
        case (.array(let values), .object(let bounds)):
            guard case .array(let middle) = new else { throw .sentence("a slice is replaced by an array") }
            let range = JqRun.range(values.count, bounds["start"] ?? .null, bounds["end"] ?? .null)
            return .array(Array(values[..<range.lowerBound]) + middle + values[range.upperBound...])
        default: throw .sentence("\(JqValue.kind(value)) cannot be changed at \(JqValue.text(key))")
        }
    }

    func remove(_ value: JSONValue, _ path: ArraySlice<JSONValue>) throws(JqEnd) -> JSONValue {
        guard let key = path.first else { return .null }
        if case .null = value { return .null }
        if path.count > 1 {
            let inner = try member(value, key)
            if case .null = inner { return value }
            return try change(value, [key]) { (inner) throws(JqEnd) in try self.remove(inner, path.dropFirst()) }
        }
        switch (value, key) {
        case (.object(var object), .string(let name)):
            object[name] = nil
            return .object(object)
        case (.array(var values), .integer(let number)):
            let index = Int(number) < 0 ? Int(number) + values.count : Int(number)
            if values.indices.contains(index) { values.remove(at: index) }
            return .array(values)
        case (.array(var values), .object(let bounds)):
            values.removeSubrange(JqRun.range(values.count, bounds["start"] ?? .null, bounds["end"] ?? .null))
            return .array(values)
        default: throw .sentence("\(JqValue.kind(value)) has no place \(JqValue.text(key)) to delete")
        }
    }

    func allPaths(_ filter: JqFilter, _ input: JSONValue, _ scope: Scope) throws(JqEnd) -> [[JSONValue]] {
        var all: [[JSONValue]] = []
        try paths(filter, [], input, scope) { (path, _) throws(JqEnd) in all.append(path) }
        return all
    }

    func assign(
        _ sign: String, _ place: JqFilter, _ right: JqFilter, _ input: JSONValue, _ scope: Scope, _ out: Out
    ) throws(JqEnd) {
        if sign == "|=" {
            var result = input
            var deleted: [[JSONValue]] = []
            for path in try allPaths(place, input, scope) {
                let old = try get(result, path[...])
                var new: JSONValue?
                do throws(JqEnd) {
                    try run(right, old, scope) { (value) throws(JqEnd) in
                        new = value
                        throw .enough
                    }
                } catch { guard case .enough = error else { throw error } }
                if let new { result = try set(result, path[...], new) } else { deleted.append(path) }
            }
            for path in deleted.reversed() { result = try remove(result, path[...]) }
            return try out(result)
        }
        let places = try allPaths(place, input, scope)
        try run(right, input, scope) { (value) throws(JqEnd) in
            var result = input
            for path in places {
                result = try self.change(result, path[...]) { (old) throws(JqEnd) in
                    switch sign {
                    case "=": value
                    case "//=": JqValue.isTrue(old) ? old : value
                    default: try JqValue.calculate(String(sign.dropLast()), old, value)
                    }
                }
            }
            try out(result)
        }
    }
}
