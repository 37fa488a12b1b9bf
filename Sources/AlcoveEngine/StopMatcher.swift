/// Finds the first of several stop strings in text that comes in pieces, holding back what may be the beginning of one.
package struct StopMatcher: Sendable {
    private let stops: [[UInt8]]
    private var held: [UInt8] = []

    package init(stops: [String]) {
        self.stops = stops.map { Array($0.utf8) }.filter { !$0.isEmpty }
    }

    package var isEmpty: Bool { stops.isEmpty }

    /// What may be shown now, and whether a stop string was found behind it.
    package mutating func append(_ text: String) -> (text: String, stopped: Bool) {
        guard !stops.isEmpty else { return (text, false) }
        held.append(contentsOf: text.utf8)
        for start in held.indices {
            for stop in stops where held[start...].starts(with: stop) {
                let text = String(decoding: held[..<start], as: UTF8.self)
                held.removeAll()
                return (text, true)
            }
            // From here on a stop string may be beginning: wait for the rest of it.
            if stops.contains(where: { $0.starts(with: held[start...]) }) {
                defer { held.removeFirst(start) }
                return (String(decoding: held[..<start], as: UTF8.self), false)
            }
        }
        defer { held.removeAll(keepingCapacity: true) }
        return (String(decoding: held, as: UTF8.self), false)
    }

    /// What was held back and did not become a stop string.
    package mutating func finish() -> String {
        defer { held.removeAll() }
        return String(decoding: held, as: UTF8.self)
    }
}
