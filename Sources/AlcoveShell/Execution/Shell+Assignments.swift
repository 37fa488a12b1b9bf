internal import AlcoveCore

extension Shell {
    /// Makes an assignment as it was written.
    func assign(_ assignment: SimpleCommand.Assignment) throws(Flow) {
        let name = meant(assignment.name)
        switch assignment.value {
        case .list(let elements): try assign(elements, to: name, appends: assignment.appends)
        case .word(let word):
            var value = try text(word, isAssignment: true)
            let key = try assignment.key.map { (parts) throws(Flow) in try self.key(parts, of: name) }
            if assignment.appends {
                let old = key.map { state.variables[name]?.array?[$0] ?? [] } ?? state.variables[name]?.scalar ?? []
                value =
                    state.variables[name]?.isNumber == true
                    ? Array("\(try calculate(old) &+ calculate(value))".utf8) : old + value
            }
            try set(name, key: key, value)
        }
    }

    private func assign(
        _ elements: [SimpleCommand.Assignment.Element], to name: String, appends: Bool
    ) throws(Flow) {
        if state.variables[name]?.isReadOnly == true { throw try fatal("\(name): is read only") }
        let isNamed = state.variables[name]?.array?.isNamed ?? false
        // Everything is expanded before the array is touched: what is put in may come from it.
        var new: [(key: [UInt8]?, value: [UInt8])] = []
        for element in elements {
            if let parts = element.key {
                let key = try key(parts, of: name, isNamed: isNamed)
                new.append((key, try text(element.word, isAssignment: true)))
                continue
            }
            if isNamed { throw try fatal("\(name): an element of an array by names is written [name]=value") }
            for value in try fields([element.word]) { new.append((nil, value)) }
        }
        var array = ShellArray(isNamed: isNamed)
        if appends, let old = state.variables[name] {
            if let existing = old.array {
                array = existing
            } else if let value = old.value {
                array[ShellArray.first] = value
            }
        }
        // One owner, so that it grows in place.
        state.variables[name]?.array = nil
        var next = array.next
        for (key, value) in new {
            array[key ?? Array("\(next)".utf8)] = value
            if !isNamed { next = key.map { (Int($0.text) ?? 0) + 1 } ?? next + 1 }
        }
        if array.count > 1_000_000 { throw try fatal("\(name): an array may have 1000000 elements") }
        state.variables[name, default: .init()].array = array
        state.variables[name]?.value = nil
        if state.options.has("a") { state.variables[name]?.isExported = true }
    }

    /// The key that stands between brackets: a name, or a number that is calculated.
    func key(_ parts: [WordPart], of name: String, isNamed: Bool? = nil) throws(Flow) -> [UInt8] {
        let variable = state.variables[name]
        if isNamed ?? variable?.array?.isNamed ?? false { return try text(parts) }
        var number = try calculate(text(parts))
        if number < 0, let array = variable?.array { number += Int64(array.next) }
        guard number >= 0, number < ShellArray.mostIndex else {
            throw try fatal("\(name): \(number) is no place in an array")
        }
        return Array("\(number)".utf8)
    }

    /// `declare`, `local`, `export` and `readonly`: what their words say, written as such or come from expansions.
    func eachDeclared(
        _ words: [[UInt8]], from start: Int, _ body: (String, SimpleCommand.Assignment?) throws(Flow) -> Void
    ) throws(Flow) {
        let written = declared
        for (index, word) in words.enumerated().dropFirst(start) {
            if let assignment = written[index] {
                try body(assignment.name, assignment)
                continue
            }
            let sign = word.firstIndex(of: 61)
            var name = Array(word[..<(sign ?? word.count)])
            let appends = sign != nil && name.last == 43
            if appends { name.removeLast() }
            guard name.isName else { throw try fatal("\(words[0].text): \(shown(word)) is no name of a variable") }
            let assignment = sign.map { sign in
                let value = Word(parts: [.quoted(Array(word[(sign + 1)...]))], line: line)
                return SimpleCommand.Assignment(name: name.text, appends: appends, value: .word(value))
            }
            try body(name.text, assignment)
        }
    }
}
