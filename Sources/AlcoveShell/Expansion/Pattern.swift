/// A pattern of the shell: `*`, `?`, `[...]`, and a backslash before what means itself.
///
/// Compiled once, matched without recursion in time bounded by the product of both lengths.
struct Pattern {
    private enum Element {
        case byte(UInt8)
        case any
        case run
        case set(ranges: [(UInt32, UInt32)], isNegated: Bool)
        /// `@(a|b)` and its like: the sign, and the patterns.
        case group(UInt8, [Pattern])
    }

    private let elements: [Element]

    /// The bytes it matches when it has nothing special in it.
    let literal: [UInt8]?

    private var hasGroups = false

    init(_ text: [UInt8]) { self.init(text, depth: 0) }

    private init(_ text: [UInt8], depth: Int) {
        var elements: [Element] = []
        var literal: [UInt8]? = []
        var index = 0
        while index < text.count {
            let byte = text[index]
            if index + 1 < text.count, text[index + 1] == 40, [33, 42, 43, 63, 64].contains(byte), depth < 20,
                let (parts, end) = Pattern.group(text, index + 1)
            {
                elements.append(.group(byte, parts.map { Pattern($0, depth: depth + 1) }))
                literal = nil
                hasGroups = true
                index = end + 1
                continue
            }
            switch byte {
            case 92 where index + 1 < text.count:
                index += 1
                elements.append(.byte(text[index]))
                literal?.append(text[index])
            case 42:
                if case .run? = elements.last {} else { elements.append(.run) }
                literal = nil
            case 63:
                elements.append(.any)
                literal = nil
            case 91:
                if let (set, end) = Pattern.set(text, at: index) {
                    elements.append(set)
                    index = end
                    literal = nil
                } else {
                    elements.append(.byte(byte))
                    literal?.append(byte)
                }
            default:
                elements.append(.byte(byte))
                literal?.append(byte)
            }
            index += 1
        }
        self.elements = elements
        self.literal = literal
    }

    func matches(_ text: some RandomAccessCollection<UInt8>) -> Bool {
        let text = Array(text)
        if let literal { return literal == text }
        if hasGroups {
            var steps = 100_000
            return matches(text, 0, 0, &steps)
        }
        var element = 0
        var place = 0
        var retry: (element: Int, place: Int)?
        while true {
            if element < elements.count {
                if case .run = elements[element] {
                    element += 1
                    retry = (element, place)
                    continue
                }
                if place < text.count, let next = step(elements[element], text, place) {
                    element += 1
                    place = next
                    continue
                }
            } else if place == text.count {
                return true
            }
            guard let from = retry, from.place < text.count else { return false }
            let place2 = from.place + Pattern.length(text, from.place)
            retry = (from.element, place2)
            element = from.element
            place = place2
        }
    }

    /// The texts of a group's patterns and where its parenthesis closes; nil when it is never closed.
    private static func group(_ text: [UInt8], _ open: Int) -> ([[UInt8]], Int)? {
        var parts: [[UInt8]] = [[]]
        var depth = 0
        var index = open
        while index < text.count {
            let byte = text[index]
            if byte == 92, index + 1 < text.count {
                parts[parts.count - 1] += [92, text[index + 1]]
                index += 2
                continue
            }
            if byte == 40 {
                depth += 1
                if depth > 1 { parts[parts.count - 1].append(byte) }
            } else if byte == 41 {
                depth -= 1
                if depth == 0 { return (parts, index) }
                parts[parts.count - 1].append(byte)
            } else if byte == 124, depth == 1 {
                parts.append([])
            } else {
                parts[parts.count - 1].append(byte)
            }
            index += 1
        }
        return nil
    }

    /// With groups, by trying: bounded, since the ways to try may be endless.
    private func matches(_ text: [UInt8], _ element: Int, _ place: Int, _ steps: inout Int) -> Bool {
        steps -= 1
        guard steps > 0 else { return false }
        guard element < elements.count else { return place == text.count }
        switch elements[element] {
        case .run:
            for next in place...text.count where matches(text, element + 1, next, &steps) { return true }
            return false
        case .group(let sign, let parts):
            return matches(group: parts, sign, text, element, place, &steps)
        default:
            guard place < text.count, let next = step(elements[element], text, place) else { return false }
            return matches(text, element + 1, next, &steps)
        }
    }

    private func matches(
        group parts: [Pattern], _ sign: UInt8, _ text: [UInt8], _ element: Int, _ place: Int, _ steps: inout Int
    ) -> Bool {
        if sign == 33 {
            for end in place...text.count {
                let piece = text[place..<end]
                if !parts.contains(where: { $0.matches(piece) }), matches(text, element + 1, end, &steps) {
                    return true
                }
            }
            return false
        }
        if sign == 63 || sign == 42, matches(text, element + 1, place, &steps) { return true }
        for end in place...text.count {
            guard steps > 0 else { return false }
            if end == place, sign == 42 || sign == 43 { continue }
            let piece = text[place..<end]
            guard parts.contains(where: { $0.matches(piece) }) else { continue }
            if matches(text, element + 1, end, &steps) { return true }
            if sign == 42 || sign == 43, matches(group: parts, 42, text, element, end, &steps) { return true }
        }
        return sign == 43 && parts.contains { $0.matches([] as [UInt8]) } && matches(text, element + 1, place, &steps)
    }

    /// False when the first thing in it cannot match at a place.
    func mayMatch(at place: Int, in text: [UInt8]) -> Bool {
        guard let first = elements.first else { return false }
        switch first {
        case .run, .group: return true
        default: return place < text.count && step(first, text, place) != nil
        }
    }

    /// Bytes of whatever it matches, where that is always the same number.
    var fixedBytes: Int? {
        for element in elements { if case .byte = element {} else { return nil } }
        return elements.count
    }

    private func step(_ element: Element, _ text: [UInt8], _ place: Int) -> Int? {
        switch element {
        case .byte(let byte): return text[place] == byte ? place + 1 : nil
        case .any: return place + Pattern.length(text, place)
        case .set(let ranges, let isNegated):
            let (scalar, length) = Pattern.scalar(text, place)
            let isIn = ranges.contains { $0.0 <= scalar && scalar <= $0.1 }
            return isIn != isNegated ? place + length : nil
        case .run, .group: return nil
        }
    }

    /// Bytes of the character here; one when it is no UTF-8.
    static func length(_ text: [UInt8], _ place: Int) -> Int {
        let first = text[place]
        if first < 0x80 { return 1 }
        let count = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 1
        guard first <= 0xF4, place + count <= text.count else { return 1 }
        for index in place + 1..<place + count where text[index] & 0xC0 != 0x80 { return 1 }
        return count
    }

    private static func scalar(_ text: [UInt8], _ place: Int) -> (UInt32, Int) {
        let count = length(text, place)
        // Stray bytes are numbers of their own, beyond those of characters.
        if count == 1 { return (text[place] < 0x80 ? UInt32(text[place]) : 0x20_0000 + UInt32(text[place]), 1) }
        var value = UInt32(text[place]) & (0xFF >> UInt32(count + 1))
        for index in place + 1..<place + count { value = value << 6 | UInt32(text[index] & 0x3F) }
        return (value, count)
    }

    static func characters(_ text: [UInt8]) -> Int {
        var count = 0
        var place = 0
        while place < text.count {
            place += length(text, place)
            count += 1
        }
        return count
    }

    static let classes: [String: [(UInt32, UInt32)]] = [
        "alpha": [(65, 90), (97, 122)], "digit": [(48, 57)], "alnum": [(48, 57), (65, 90), (97, 122)],
        "upper": [(65, 90)], "lower": [(97, 122)], "space": [(9, 13), (32, 32)], "blank": [(9, 9), (32, 32)],
        "punct": [(33, 47), (58, 64), (91, 96), (123, 126)], "print": [(32, 126)], "graph": [(33, 126)],
        "cntrl": [(0, 31), (127, 127)], "xdigit": [(48, 57), (65, 70), (97, 102)],
    ]

    /// A bracket expression and where its last byte stands; nil when it is never closed.
    private static func set(_ text: [UInt8], at start: Int) -> (Element, Int)? {
        var index = start + 1
        var isNegated = false
        if index < text.count, text[index] == 33 || text[index] == 94 {
            isNegated = true
            index += 1
        }
        var ranges: [(UInt32, UInt32)] = []
        let first = index
        while index < text.count {
            if text[index] == 93, index > first { return (.set(ranges: ranges, isNegated: isNegated), index) }
            if text[index] == 47 { return nil }
            if text[index] == 91, index + 1 < text.count, text[index + 1] == 58,
                let end = text[(index + 2)...].firstIndex(of: 58), end + 1 < text.count, text[end + 1] == 93
            {
                ranges += classes[text[index + 2..<end].map { $0 }.text] ?? []
                index = end + 2
                continue
            }
            if text[index] == 92, index + 1 < text.count { index += 1 }
            let (low, length) = scalar(text, index)
            index += length
            var high = low
            if index + 1 < text.count, text[index] == 45, text[index + 1] != 93 {
                index += 1
                if text[index] == 92, index + 1 < text.count { index += 1 }
                let (end, length) = scalar(text, index)
                high = end
                index += length
            }
            ranges.append((low, high))
        }
        return nil
    }
}
