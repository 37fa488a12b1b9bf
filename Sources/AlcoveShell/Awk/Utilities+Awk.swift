extension Utilities {
    @Sendable static func awk(_ call: UtilityCall) throws(Flow) -> Int32 {
        var rest = call.words.dropFirst()
        var source: [UInt8] = []
        var hasSource = false
        var separator: [UInt8]?
        var assignments: [[UInt8]] = []
        while let word = rest.first, word.count > 1, word[0] == 45 {
            rest.removeFirst()
            if word == [45, 45] { break }
            let letter = word[1]
            if ["--posix", "--traditional", "--lint", "--re-interval", "--version"].contains(word.text) { continue }
            guard [70, 102, 118, 101].contains(letter) else {
                throw .failed(
                    "there is no option \(shown(word)). It has: -F SEPARATOR -v NAME=VALUE -f FILE -e PROGRAM")
            }
            guard let value = word.count > 2 ? Array(word[2...]) : rest.popFirst() else {
                throw .failed("the option -\([letter].text) needs a value")
            }
            switch letter {
            case 70: separator = value == [116] ? [9] : value
            case 118: assignments.append(value)
            default:
                source += (hasSource ? [10] : []) + (letter == 102 ? try call.shell.contents(of: value) : value)
                hasSource = true
            }
        }
        if !hasSource {
            guard let program = rest.popFirst() else {
                throw .failed("a program belongs after it, as in awk '{ print $1 }' FILE")
            }
            source = program
        }
        let run = AwkRun(call, try AwkParser.program(source), operands: Array(rest))
        if let separator { _ = run.assign(Array("FS=".utf8) + separator) }
        for assignment in assignments where !run.assign(assignment) {
            throw .failed("\(shown(assignment)) is not NAME=VALUE")
        }
        do throws(Flow) { return try run.run() } catch {
            guard case .failed(let what) = error else { throw error }
            try call.complain(what)
            return 2
        }
    }
}
