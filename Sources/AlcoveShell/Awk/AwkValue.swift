internal import AlcoveCore

/// A value of awk: a number, a text, or a text from outside that counts as a number when it looks like one.
enum AwkValue {
    case number(Double)
    case string([UInt8])
    case input([UInt8])
    case unset
}

/// How awk reads and writes numbers.
enum AwkNumber {
    /// The number at the start of a text, 0 when there is none: decimal only, as POSIX asks.
    static func prefix(_ text: [UInt8]) -> Double { parse(text).value }

    /// The number a whole text is, blanks around it aside.
    static func whole(_ text: [UInt8]) -> Double? {
        let (value, end) = parse(text)
        guard end > 0 else { return nil }
        return text[end...].allSatisfy { $0.isBlank || $0 == 10 || $0 == 13 } ? value : nil
    }

    /// The end is 0 when there are no digits.
    private static func parse(_ text: [UInt8]) -> (value: Double, end: Int) {
        var place = 0
        while place < text.count, text[place].isBlank || text[place] == 10 || text[place] == 13 { place += 1 }
        let start = place
        if place < text.count, text[place] == 43 || text[place] == 45 { place += 1 }
        let digits = place
        var whole: Int64 = 0
        while place < text.count, text[place].isDigit {
            if place - digits < 18 { whole = whole * 10 + Int64(text[place]) - 48 }
            place += 1
        }
        var hasDigits = place > digits
        let isShort = place - digits <= 18
        var isInteger = true
        if place < text.count, text[place] == 46 {
            var end = place + 1
            while end < text.count, text[end].isDigit { end += 1 }
            if hasDigits || end > place + 1 {
                isInteger = false
                hasDigits = true
                place = end
            }
        }
        guard hasDigits else { return (0, 0) }
        if place < text.count, text[place] | 32 == 101 {
            var end = place + 1
            if end < text.count, text[end] == 43 || text[end] == 45 { end += 1 }
            if end < text.count, text[end].isDigit {
                while end < text.count, text[end].isDigit { end += 1 }
                isInteger = false
                place = end
            }
        }
        if isInteger, isShort { return (Double(text[start] == 45 ? -whole : whole), place) }
        let digitsText = text[start..<place].map { CChar(bitPattern: $0) } + [0]
        return (strtod(digitsText, nil), place)
    }

    static func text(_ number: Double, _ format: [UInt8]) -> [UInt8] {
        if number == number.rounded(.towardZero), abs(number) < 1e16 { return Array("\(Int64(number))".utf8) }
        if number.isNaN { return Array((number.sign == .minus ? "-nan" : "nan").utf8) }
        if number.isInfinite { return Array((number < 0 ? "-inf" : "inf").utf8) }
        if number == number.rounded(.towardZero) { return printed("%.0f", number) }
        return printed(format.text, number)
    }

    static func printed(_ format: String, _ value: any CVarArg) -> [UInt8] {
        var buffer = [CChar](repeating: 0, count: 512)
        var count = withVaList([value]) { vsnprintf(&buffer, buffer.count, format, $0) }
        if Int(count) >= buffer.count {
            buffer = [CChar](repeating: 0, count: Int(count) + 1)
            count = withVaList([value]) { vsnprintf(&buffer, buffer.count, format, $0) }
        }
        return buffer.prefix(max(0, Int(count))).map { UInt8(bitPattern: $0) }
    }
}

/// An array of awk, its elements in the order in which they were made.
final class AwkArray {
    private var places: [[UInt8]: Int] = [:]
    private var entries: [(key: [UInt8], value: AwkValue)?] = []

    var count: Int { places.count }
    var keys: [[UInt8]] { entries.compactMap { $0?.key } }

    func has(_ key: [UInt8]) -> Bool { places[key] != nil }

    /// Makes the element when it is not there, as awk does.
    subscript(key: [UInt8]) -> AwkValue {
        get {
            if let place = places[key] { return entries[place]?.value ?? .unset }
            self[key] = .unset
            return .unset
        }
        set {
            if let place = places[key] {
                entries[place]?.value = newValue
            } else {
                places[key] = entries.count
                entries.append((key, newValue))
            }
        }
    }

    func remove(_ key: [UInt8]) {
        guard let place = places.removeValue(forKey: key) else { return }
        entries[place] = nil
        guard entries.count > 64, places.count < entries.count / 2 else { return }
        entries.removeAll { $0 == nil }
        for (index, entry) in entries.enumerated() { if let entry { places[entry.key] = index } }
    }

    func removeAll() {
        places = [:]
        entries = []
    }
}

/// A variable of awk; what it is may become known only when a function uses it.
final class AwkCell {
    var value = AwkValue.unset
    var array: AwkArray?
    /// Of a parameter: the variable it was given, which becomes an array with it.
    var origin: AwkCell?

    /// The array this is, or becomes; nil when it holds a value.
    func asArray() -> AwkArray? {
        if let array { return array }
        guard case .unset = value else { return nil }
        let made = origin?.asArray() ?? AwkArray()
        array = made
        return made
    }
}
