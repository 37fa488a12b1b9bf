/// The lines of several inputs as one, with one line read ahead so that the last is known.
final class SedLines {
    private let call: UtilityCall
    private var pending: [[UInt8]]
    private var reader: LineReader?
    private var ahead: (line: [UInt8], hadEnd: Bool, name: [UInt8])?
    private var nextName: [UInt8] = [45]

    /// Whether the line given last had a new line.
    private(set) var hadEnd = true
    private(set) var name: [UInt8] = [45]
    /// False when an input could not be opened.
    private(set) var isWhole = true
    /// Output is passed on line by line when the input comes from a pipe.
    private(set) var isInteractive = false

    init(_ call: UtilityCall, _ operands: [[UInt8]]) {
        self.call = call
        pending = operands.isEmpty ? [[45]] : operands
        isInteractive = false
    }

    func next() throws(Flow) -> [UInt8]? {
        if ahead == nil { try fill() }
        guard let found = ahead else { return nil }
        ahead = nil
        hadEnd = found.hadEnd
        name = found.name
        return found.line
    }

    /// Whether no line is left. A fault while looking is found again by `next`.
    func isAtEnd() -> Bool {
        if ahead == nil { try? fill() }
        return ahead == nil
    }

    private func fill() throws(Flow) {
        while true {
            if let line = try reader?.next() {
                ahead = (line, reader?.hadEnd ?? true, nextName)
                return
            }
            reader = nil
            guard !pending.isEmpty else { return }
            nextName = pending.removeFirst()
            do throws(Flow) {
                if nextName == [45] {
                    reader = LineReader(try call.input())
                } else if let source = try call.shell.open(nextName, for: .reading).source {
                    reader = LineReader(source)
                }
            } catch {
                guard case .failed(let what) = error else { throw error }
                try call.complain(what)
                isWhole = false
            }
        }
    }
}
