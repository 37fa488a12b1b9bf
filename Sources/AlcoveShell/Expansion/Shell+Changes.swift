internal import AlcoveCore

/// What `${...}` does to values beside trimming: cutting, replacing, changing letters.
extension Shell {
    func changed(
        _ values: [[UInt8]], _ expansion: ParameterExpansion, isQuoted: Bool, isList: Bool = true
    ) throws(Flow) -> [[UInt8]] {
        switch expansion.operation {
        case .value, .length, .whenUnset: return values
        case .trim(let isSuffix, let isLongest, let parts):
            var out: [[UInt8]] = []
            for value in values { out.append(try trimmed(value, parts, isSuffix, isLongest)) }
            return out
        case .part(let from, let count):
            let first = Int(clamping: try calculate(from))
            let length = try count.map { (parts) throws(Flow) in Int(clamping: try calculate(parts)) }
            if isList { return try slice(values, expansion.parameter, first, length) }
            return [try part(values[0], first, length)]
        case .replace(let kind, let parts, let word):
            let pattern = try pattern(parts)
            // An ampersand of the replacement is an ordinary one.
            let with = try text(isQuoted ? word : tilde(word, afterColons: false), isQuoted: isQuoted)
            var out: [[UInt8]] = []
            for value in values { out.append(try replaced(value, kind, pattern, with)) }
            return out
        case .letters(let isUpper, let isAll, let parts):
            let pattern = parts.isEmpty ? nil : try pattern(parts)
            return values.map { Shell.withLetters($0, isUpper: isUpper, isAll: isAll, pattern) }
        case .transform(let letter):
            return try values.map { (value) throws(Flow) in
                try transformed(value, letter, expansion.parameter)
            }
        }
    }

    private func slice(
        _ values: [[UInt8]], _ parameter: ParameterExpansion.Parameter, _ first: Int, _ length: Int?
    ) throws(Flow) -> [[UInt8]] {
        var all = values
        var first = first
        switch parameter {
        case .special:
            // The parameters count from 1, and 0 is the shell's name.
            all.insert(state.name, at: 0)
        case .elements(let name, _):
            if let keys = state.variables[meant(name)]?.array?.keys,
                !(state.variables[meant(name)]?.array?.isNamed ?? true), first >= 0
            {
                first = keys.firstIndex { (Int($0.text) ?? 0) >= first } ?? all.count
            }
        default: break
        }
        if first < 0 { first += all.count }
        guard first >= 0, first < all.count else { return [] }
        if let length, length < 0 { throw try fatal("\(length): a list has no negative length") }
        return Array(all[first..<(length.map { min(all.count, first + min($0, all.count)) } ?? all.count)])
    }

    private func part(_ value: [UInt8], _ first: Int, _ length: Int?) throws(Flow) -> [UInt8] {
        let isPlain = value.allSatisfy { $0 < 0x80 }
        let count = isPlain ? value.count : Pattern.characters(value)
        let start = first < 0 ? first + count : first
        guard start >= 0, start <= count else { return [] }
        var end = count
        if let length { end = length < 0 ? count + length : min(count, start + min(length, count)) }
        guard end >= start else {
            if length ?? 0 < 0 { throw try fatal("\(length ?? 0): the part would end before it begins") }
            return []
        }
        if isPlain { return Array(value[start..<end]) }
        var places = [0]
        var place = 0
        while place < value.count {
            place += Pattern.length(value, place)
            places.append(place)
        }
        return Array(value[places[start]..<places[end]])
    }

    private func replaced(
        _ value: [UInt8], _ kind: ParameterExpansion.Replacement, _ pattern: Pattern, _ with: [UInt8]
    ) throws(Flow) -> [UInt8] {
        if let literal = pattern.literal, literal.isEmpty {
            return kind == .prefix ? with + value : kind == .suffix ? value + with : value
        }
        switch kind {
        case .prefix:
            guard let end = longest(pattern, value, from: 0) else { return value }
            return with + value[end...]
        case .suffix:
            var start = 0
            while start <= value.count {
                if pattern.matches(value[start...]) { return Array(value[..<start]) + with }
                start += start < value.count ? Pattern.length(value, start) : 1
            }
            return value
        case .first, .all:
            var out: [UInt8] = []
            var place = 0
            while place < value.count {
                if place & 0xFF == 0 { try control.check() }
                if let end = longest(pattern, value, from: place), end > place {
                    out += with
                    place = end
                    if kind == .first { break }
                } else {
                    let length = Pattern.length(value, place)
                    out += value[place..<place + length]
                    place += length
                }
                if out.count > Shell.longestValue { throw try fatal("a word may have \(Shell.longestValue) bytes") }
            }
            return out + value[place...]
        }
    }

    /// Where the longest match that begins at a place ends.
    private func longest(_ pattern: Pattern, _ value: [UInt8], from place: Int) -> Int? {
        if let literal = pattern.literal {
            return value[place...].starts(with: literal) ? place + literal.count : nil
        }
        if !pattern.mayMatch(at: place, in: value) { return nil }
        if let size = pattern.fixedBytes {
            let end = place + size
            return end <= value.count && pattern.matches(value[place..<end]) ? end : nil
        }
        var end = value.count
        while end >= place {
            if pattern.matches(value[place..<end]) { return end }
            if control.isStopped { return nil }
            end -= 1
        }
        return nil
    }

    private static func withLetters(_ value: [UInt8], isUpper: Bool, isAll: Bool, _ pattern: Pattern?) -> [UInt8] {
        var out: [UInt8] = []
        var place = 0
        while place < value.count {
            let length = Pattern.length(value, place)
            let character = Array(value[place..<place + length])
            if pattern?.matches(character) ?? true {
                let text = character.text
                out += Array((isUpper ? text.uppercased() : text.lowercased()).utf8)
            } else {
                out += character
            }
            place += length
            if !isAll { return out + value[place...] }
        }
        return out
    }

    private func transformed(
        _ value: [UInt8], _ letter: UInt8, _ parameter: ParameterExpansion.Parameter
    ) throws(Flow) -> [UInt8] {
        switch letter {
        case 81: return Builtins.quoted(value)
        case 85: return Array(value.text.uppercased().utf8)
        case 76: return Array(value.text.lowercased().utf8)
        case 117: return Shell.withLetters(value, isUpper: true, isAll: false, nil)
        case 69:
            var out: [UInt8] = []
            var place = 0
            while place < value.count {
                if value[place] == 92, place + 1 < value.count {
                    let (bytes, end) = EscapedText.read(value, place, value[place + 1])
                    out += bytes
                    place = end
                } else {
                    out.append(value[place])
                    place += 1
                }
            }
            return out
        case 65:
            guard case .variable(let name) = parameter else { return Builtins.quoted(value) }
            return Array("\(name)=".utf8) + Builtins.quoted(value)
        default: return value
        }
    }
}
