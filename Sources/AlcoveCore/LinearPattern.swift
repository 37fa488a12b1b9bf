/// A regular expression that takes time proportional to the text, whatever it says.
///
/// Meant for patterns that come from outside, such as JSON Schema's `pattern`: the C library's regcomp(3) can be made to
/// use memory without end, and engines that try one way after another can be made to use time without end. This one
/// keeps the set of all states at once (Thompson's construction).
///
/// It knows the common part of ECMAScript's: literals, `.`, classes, `\d \w \s` and their opposites, `\b`, groups,
/// alternatives, `* + ? {n,m}` (lazy or not is the same for "does it match"), `^` and `$`. Look-around, back references
/// and `\p` are refused.
public struct LinearPattern: Sendable {
    /// Why a pattern cannot be used.
    public struct Unsupported: UserFacingError, Equatable {
        public let reason: String
        public var code: String { "unsupported_pattern" }
        public var place: ErrorPlace { .request }
        public var message: String { "The pattern cannot be used: \(reason)." }
    }

    static let lengthLimit = 2000
    static let stateLimit = 5000

    private indirect enum Node {
        case empty
        case set(ScalarSet)
        case assertion(Assertion)
        case sequence([Node])
        case choice([Node])
        case times(Node, least: Int, most: Int?)
    }

    private enum Assertion: Sendable { case start, end, boundary, noBoundary }

    private struct ScalarSet: Sendable {
        var ranges: [ClosedRange<UInt32>] = []
        var isInverted = false

        func contains(_ scalar: UInt32) -> Bool { ranges.contains { $0.contains(scalar) } != isInverted }
    }

    private enum State: Sendable {
        case set(ScalarSet)
        case assertion(Assertion)
        case split([Int])
        case match
    }

    /// State 0 is the match; others lead to the next one in `next`.
    private var states: [State] = [.match]
    private var next: [Int] = [0]
    private var start = 0
    private var work = 0

    /// Steps a match may take for each character of the text.
    public var cost: Int { states.count }

    public init(_ pattern: String) throws(Unsupported) {
        var reader = Reader(scalars: pattern.unicodeScalars.map(\.value))
        guard reader.scalars.count <= LinearPattern.lengthLimit else {
            throw Unsupported(reason: "it is longer than \(LinearPattern.lengthLimit) characters")
        }
        start = try build(try reader.whole(), to: 0)
    }

    // MARK: building

    private mutating func add(_ state: State, _ next: Int) throws(Unsupported) -> Int {
        guard states.count < LinearPattern.stateLimit else {
            throw Unsupported(reason: "it has more than \(LinearPattern.stateLimit) states")
        }
        states.append(state)
        self.next.append(next)
        return states.count - 1
    }

    /// Builds what comes before the state `end`.
    private mutating func build(_ node: Node, to end: Int) throws(Unsupported) -> Int {
        // Counts of nothing, such as (){1000}, add no states.
        work += 1
        guard work <= 10 * LinearPattern.stateLimit else { throw Unsupported(reason: "it repeats too much") }
        switch node {
        case .empty: return end
        case .set(let set): return try add(.set(set), end)
        case .assertion(let assertion): return try add(.assertion(assertion), end)
        case .sequence(let parts):
            var end = end
            for part in parts.reversed() { end = try build(part, to: end) }
            return end
        case .choice(let parts):
            var starts: [Int] = []
            for part in parts { starts.append(try build(part, to: end)) }
            return try add(.split(starts), 0)
        case .times(let part, let least, let most):
            var end = end
            if let most {
                let final = end
                for _ in least..<max(least, most) { end = try add(.split([try build(part, to: end), final]), 0) }
            } else {
                let loop = try add(.split([]), 0)
                states[loop] = .split([try build(part, to: loop), end])
                end = loop
            }
            for _ in 0..<least { end = try build(part, to: end) }
            return end
        }
    }

    // MARK: matching

    /// True when the pattern matches anywhere in the text.
    public func matches(_ text: String) -> Bool {
        let scalars = text.unicodeScalars.map(\.value)
        var current: [Int] = [], following: [Int] = []
        var seen = [Int](repeating: -1, count: states.count)
        var stack: [Int] = []
        for position in 0...scalars.count {
            var matched = false
            // Everything that can be reached without a letter; a match may begin at every position.
            var reached: [Int] = []
            stack.append(contentsOf: current)
            stack.append(start)
            while let state = stack.popLast() {
                if seen[state] == position { continue }
                seen[state] = position
                switch states[state] {
                case .match: matched = true
                case .set: reached.append(state)
                case .split(let targets): stack.append(contentsOf: targets)
                case .assertion(let assertion):
                    if LinearPattern.holds(assertion, scalars, position) { stack.append(next[state]) }
                }
            }
            if matched { return true }
            guard position < scalars.count else { break }
            following.removeAll(keepingCapacity: true)
            for state in reached {
                if case .set(let set) = states[state], set.contains(scalars[position]) { following.append(next[state]) }
            }
            swap(&current, &following)
        }
        return false
    }

    private static func holds(_ assertion: Assertion, _ text: [UInt32], _ position: Int) -> Bool {
        let isWordBefore = position > 0 && Reader.word.contains(text[position - 1])
        let isWordAfter = position < text.count && Reader.word.contains(text[position])
        switch assertion {
        case .start: return position == 0
        case .end: return position == text.count
        case .boundary: return isWordBefore != isWordAfter
        case .noBoundary: return isWordBefore == isWordAfter
        }
    }

    // MARK: reading

    private struct Reader {
        let scalars: [UInt32]
        var position = 0
        var depth = 0

        static let digit = ScalarSet(ranges: [0x30...0x39])
        static let word = ScalarSet(ranges: [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
        static let space = ScalarSet(ranges: [
            0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029, 0x202F...0x202F,
            0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
        ])

        init(scalars: [UInt32]) { self.scalars = scalars }

        private var next: Unicode.Scalar? { position < scalars.count ? Unicode.Scalar(scalars[position]) : nil }

        private func fault(_ reason: String) -> Unsupported {
            Unsupported(reason: "at character \(position + 1) \(reason)")
        }

        mutating func whole() throws(Unsupported) -> Node {
            let node = try choice()
            if position < scalars.count { throw fault("a ) closes nothing") }
            return node
        }

        private mutating func choice() throws(Unsupported) -> Node {
            depth += 1
            defer { depth -= 1 }
            if depth > 50 { throw fault("groups are nested deeper than 50") }
            var parts = [try sequence()]
            while next == "|" {
                position += 1
                parts.append(try sequence())
            }
            return parts.count == 1 ? parts[0] : .choice(parts)
        }

        private mutating func sequence() throws(Unsupported) -> Node {
            var parts: [Node] = []
            while let letter = next, letter != "|", letter != ")" { parts.append(try repeated(try atom())) }
            return .sequence(parts)
        }

        private mutating func repeated(_ node: Node) throws(Unsupported) -> Node {
            var least = 1
            var most: Int? = 1
            switch next {
            case "*": (least, most) = (0, nil)
            case "+": (least, most) = (1, nil)
            case "?": (least, most) = (0, 1)
            case "{":
                guard let counts = counts() else { return node }
                (least, most) = counts
                guard least <= 1000, most ?? 0 <= 1000, most ?? least >= least else {
                    throw fault("a count is too large")
                }
                position -= 1
            default: return node
            }
            position += 1
            if next == "?" { position += 1 }
            if let letter = next, "*+?".unicodeScalars.contains(letter) { throw fault("nothing is there to repeat") }
            return .times(node, least: least, most: most)
        }

        /// {n}, {n,} or {n,m}; nil, and nothing read, when it is none and so only a brace.
        private mutating func counts() -> (Int, Int?)? {
            let back = position
            position += 1
            let least = number()
            var most = least
            if next == "," {
                position += 1
                most = number()
            }
            guard let least, next == "}" else {
                position = back
                return nil
            }
            position += 1
            return (least, most)
        }

        private mutating func number() -> Int? {
            var value: Int?
            while let letter = next, ("0"..."9").contains(letter) {
                value = min(1_000_000, (value ?? 0) * 10 + Int(letter.value - 0x30))
                position += 1
            }
            return value
        }

        private mutating func atom() throws(Unsupported) -> Node {
            guard let letter = next else { return .empty }
            switch letter {
            case "(": return try group()
            case "[": return .set(try set())
            case "\\": return try escape()
            case "*", "+", "?": throw fault("nothing is there to repeat")
            default: position += 1
            }
            switch letter {
            case "^": return .assertion(.start)
            case "$": return .assertion(.end)
            case ".": return .set(ScalarSet(ranges: [0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029], isInverted: true))
            default: return .set(ScalarSet(ranges: [letter.value...letter.value]))
            }
        }

        private mutating func group() throws(Unsupported) -> Node {
            position += 1
            if next == "?" {
                position += 1
                if next == ":" {
                    position += 1
                } else if next == "<", position + 1 < scalars.count, scalars[position + 1] != 0x3D,
                    scalars[position + 1] != 0x21
                {
                    while let letter = next, letter != ">" { position += 1 }
                    guard next == ">" else { throw fault("a group's name does not end") }
                    position += 1
                } else {
                    throw fault("it looks ahead or behind, which is not supported")
                }
            }
            let node = try choice()
            guard next == ")" else { throw fault("a group does not end") }
            position += 1
            return node
        }

        private mutating func escape() throws(Unsupported) -> Node {
            if position + 1 < scalars.count {
                switch Unicode.Scalar(scalars[position + 1]) {
                case "b":
                    position += 2
                    return .assertion(.boundary)
                case "B":
                    position += 2
                    return .assertion(.noBoundary)
                case .some("1"..."9"), "k": throw fault("it refers back, which is not supported")
                default: break
                }
            }
            return .set(try escapedSet())
        }

        private mutating func escapedSet() throws(Unsupported) -> ScalarSet {
            position += 1
            guard let letter = next else { throw fault("a \\ stands at the end") }
            position += 1
            func one(_ value: UInt32) -> ScalarSet { ScalarSet(ranges: [value...value]) }
            func not(_ set: ScalarSet) -> ScalarSet { ScalarSet(ranges: set.ranges, isInverted: true) }
            switch letter {
            case "d": return Reader.digit
            case "D": return not(Reader.digit)
            case "w": return Reader.word
            case "W": return not(Reader.word)
            case "s": return Reader.space
            case "S": return not(Reader.space)
            case "n": return one(0x0A)
            case "r": return one(0x0D)
            case "t": return one(0x09)
            case "f": return one(0x0C)
            case "v": return one(0x0B)
            case "0": return one(0)
            case "x": return one(try hex(2))
            case "u": return one(try hex(4))
            case "a"..."z", "A"..."Z", "1"..."9":
                position -= 1
                throw fault("\\\(letter) is not supported")
            default: return one(letter.value)
            }
        }

        private mutating func hex(_ count: Int) throws(Unsupported) -> UInt32 {
            var value: UInt32 = 0
            for _ in 0..<count {
                guard let letter = next, letter.isASCII, let digit = UInt8(letter.value).hexDigit else {
                    throw fault("a hexadecimal digit should be here")
                }
                value = value << 4 | UInt32(digit)
                position += 1
            }
            return value
        }

        private mutating func set() throws(Unsupported) -> ScalarSet {
            position += 1
            var set = ScalarSet()
            if next == "^" {
                set.isInverted = true
                position += 1
            }
            while let letter = next, letter != "]" {
                let first = try member(letter)
                guard next == "-", position + 1 < scalars.count, scalars[position + 1] != 0x5D else {
                    try add(first, to: &set)
                    continue
                }
                position += 1
                guard let end = next else { break }
                let last = try member(end)
                guard let low = Reader.single(first), let high = Reader.single(last), low <= high else {
                    throw fault("a range of letters runs backwards")
                }
                set.ranges.append(low...high)
            }
            guard next == "]" else { throw fault("a [ does not end") }
            position += 1
            return set
        }

        private func add(_ other: ScalarSet, to set: inout ScalarSet) throws(Unsupported) {
            guard other.isInverted else {
                set.ranges += other.ranges
                return
            }
            var low: UInt32 = 0
            for range in other.ranges {
                if range.lowerBound > low { set.ranges.append(low...range.lowerBound - 1) }
                low = range.upperBound + 1
            }
            set.ranges.append(low...0x10FFFF)
        }

        private mutating func member(_ letter: Unicode.Scalar) throws(Unsupported) -> ScalarSet {
            if letter == "\\" {
                if position + 1 < scalars.count, scalars[position + 1] == 0x62 {
                    position += 2
                    return ScalarSet(ranges: [8...8])
                }
                return try escapedSet()
            }
            position += 1
            return ScalarSet(ranges: [letter.value...letter.value])
        }

        private static func single(_ set: ScalarSet) -> UInt32? {
            guard set.ranges.count == 1, !set.isInverted, set.ranges[0].count == 1 else { return nil }
            return set.ranges[0].lowerBound
        }
    }
}
