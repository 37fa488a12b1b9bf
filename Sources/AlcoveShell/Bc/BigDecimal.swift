/// A decimal number of any length: a whole number and how many of its digits are decimals.
struct BigDecimal {
    private static let base: UInt64 = 1_000_000_000
    /// Digits beyond which nothing is calculated.
    static let mostDigits = 200_000

    var isNegative = false
    /// Nine digits a word, the lowest first; empty for zero.
    private(set) var words: [UInt32] = []
    var scale = 0

    init(_ value: Int) {
        isNegative = value < 0
        var rest = value.magnitude
        while rest > 0 {
            words.append(UInt32(UInt64(rest) % BigDecimal.base))
            rest /= UInt(BigDecimal.base)
        }
    }

    private init(words: [UInt32], isNegative: Bool, scale: Int) {
        self.words = words
        while self.words.last == 0 { self.words.removeLast() }
        self.isNegative = isNegative && !self.words.isEmpty
        self.scale = scale
    }

    /// Digits with perhaps a point among them, in a base up to 16.
    init(_ text: [UInt8], base: Int) {
        func digit(_ byte: UInt8) -> Int { byte.isDigit ? Int(byte) - 48 : min(base - 1, Int(byte) - 55) }
        let point = text.firstIndex(of: 46)
        let whole = text[..<(point ?? text.count)]
        let fraction = point.map { text[($0 + 1)...] } ?? []
        if base == 10, text.allSatisfy({ $0.isDigit || $0 == 46 }) {
            let digits = Array(whole) + fraction
            var words: [UInt32] = []
            var end = digits.count
            while end > 0 {
                let start = max(0, end - 9)
                words.append(digits[start..<end].reduce(UInt32(0)) { $0 * 10 + UInt32($1 - 48) })
                end = start
            }
            self.init(words: words, isNegative: false, scale: fraction.count)
            return
        }
        var value = BigDecimal(0)
        // A single digit counts as itself even beyond the base.
        for byte in whole {
            let number = text.count == 1 ? (byte.isDigit ? Int(byte) - 48 : Int(byte) - 55) : digit(byte)
            value = value.times(BigDecimal(base), scale: 0).plus(BigDecimal(number))
        }
        var unit = BigDecimal(1)
        var part = BigDecimal(0)
        for byte in fraction {
            unit = unit.times(BigDecimal(base), scale: 0)
            part = part.times(BigDecimal(base), scale: 0).plus(BigDecimal(digit(byte)))
        }
        if !fraction.isEmpty, let quotient = part.divided(by: unit, scale: fraction.count) {
            value = value.plus(quotient)
        }
        self = value
    }

    var isZero: Bool { words.isEmpty }

    /// Decimal digits of the whole number behind it.
    var digitCount: Int {
        guard let last = words.last else { return 0 }
        return (words.count - 1) * 9 + "\(last)".count
    }

    var negated: BigDecimal { BigDecimal(words: words, isNegative: !isNegative, scale: scale) }

    var int: Int? {
        let whole = scaled(to: 0)
        guard whole.words.count <= 2 else { return nil }
        let value = whole.words.reversed().reduce(0) { $0 * 1_000_000_000 + Int($1) }
        return isNegative ? -value : value
    }

    // MARK: Whole numbers

    private static func compare(_ a: [UInt32], _ b: [UInt32]) -> Int {
        if a.count != b.count { return a.count < b.count ? -1 : 1 }
        for index in a.indices.reversed() where a[index] != b[index] { return a[index] < b[index] ? -1 : 1 }
        return 0
    }

    private static func add(_ a: [UInt32], _ b: [UInt32]) -> [UInt32] {
        var out: [UInt32] = []
        var carry: UInt64 = 0
        for index in 0..<max(a.count, b.count) {
            let sum = carry + (index < a.count ? UInt64(a[index]) : 0) + (index < b.count ? UInt64(b[index]) : 0)
            out.append(UInt32(sum % base))
            carry = sum / base
        }
        if carry > 0 { out.append(UInt32(carry)) }
        return out
    }

    /// The first is not less than the second.
    private static func subtract(_ a: [UInt32], _ b: [UInt32]) -> [UInt32] {
        var out: [UInt32] = []
        var borrow: Int64 = 0
        for index in a.indices {
            var value = Int64(a[index]) - borrow - (index < b.count ? Int64(b[index]) : 0)
            borrow = value < 0 ? 1 : 0
            if value < 0 { value += Int64(base) }
            out.append(UInt32(value))
        }
        while out.last == 0 { out.removeLast() }
        return out
    }

    private static func multiply(_ a: [UInt32], _ b: [UInt32]) -> [UInt32] {
        if a.isEmpty || b.isEmpty { return [] }
        var out = [UInt64](repeating: 0, count: a.count + b.count)
        for i in a.indices {
            var carry: UInt64 = 0
            for j in b.indices {
                let value = out[i + j] + UInt64(a[i]) * UInt64(b[j]) + carry
                out[i + j] = value % base
                carry = value / base
            }
            out[i + b.count] += carry
        }
        var words = out.map { UInt32($0) }
        while words.last == 0 { words.removeLast() }
        return words
    }

    private static func divide(_ a: [UInt32], _ b: [UInt32]) -> [UInt32] {
        if compare(a, b) < 0 { return [] }
        if b.count == 1 {
            var out = [UInt32](repeating: 0, count: a.count)
            var rest: UInt64 = 0
            for index in a.indices.reversed() {
                let value = rest * base + UInt64(a[index])
                out[index] = UInt32(value / UInt64(b[0]))
                rest = value % UInt64(b[0])
            }
            while out.last == 0 { out.removeLast() }
            return out
        }
        // Both are made larger, so that the first word of the divisor is at least half of the base (Knuth, 4.3.1 D).
        let factor = UInt32(base / (UInt64(b[b.count - 1]) + 1))
        var u = multiply(a, [factor]) + [0]
        while u.count < a.count + 1 { u.append(0) }
        let v = multiply(b, [factor])
        let count = v.count
        var out = [UInt32](repeating: 0, count: u.count - count)
        for place in (0..<u.count - count).reversed() {
            let top = UInt64(u[place + count]) * base + UInt64(u[place + count - 1])
            var guess = min(top / UInt64(v[count - 1]), base - 1)
            var rest = top - guess * UInt64(v[count - 1])
            while rest < base, guess * UInt64(v[count - 2]) > rest * base + UInt64(u[place + count - 2]) {
                guess -= 1
                rest += UInt64(v[count - 1])
            }
            var borrow: Int64 = 0
            var carry: UInt64 = 0
            for index in 0..<count {
                let product = guess * UInt64(v[index]) + carry
                carry = product / base
                var value = Int64(u[place + index]) - borrow - Int64(product % base)
                borrow = value < 0 ? 1 : 0
                if value < 0 { value += Int64(base) }
                u[place + index] = UInt32(value)
            }
            let last = Int64(u[place + count]) - borrow - Int64(carry)
            if last < 0 {
                // One too many: put one divisor back.
                guess -= 1
                var sum: UInt64 = 0
                for index in 0..<count {
                    sum += UInt64(u[place + index]) + UInt64(v[index])
                    u[place + index] = UInt32(sum % base)
                    sum /= base
                }
                u[place + count] = 0
            } else {
                u[place + count] = UInt32(last)
            }
            out[place] = UInt32(guess)
        }
        while out.last == 0 { out.removeLast() }
        return out
    }

    private static func power(ofTen count: Int) -> [UInt32] {
        [UInt32](repeating: 0, count: count / 9) + [UInt32((0..<count % 9).reduce(1) { value, _ in value * 10 })]
    }

    // MARK: Decimals

    /// The same number with so many decimals; what is beyond them is cut off.
    func scaled(to new: Int) -> BigDecimal {
        if new == scale { return self }
        let power = BigDecimal.power(ofTen: abs(new - scale))
        let words = new > scale ? BigDecimal.multiply(self.words, power) : BigDecimal.divide(self.words, power)
        return BigDecimal(words: words, isNegative: isNegative, scale: new)
    }

    func plus(_ other: BigDecimal) -> BigDecimal {
        let most = max(scale, other.scale)
        let (a, b) = (scaled(to: most), other.scaled(to: most))
        if a.isNegative == b.isNegative {
            return BigDecimal(words: BigDecimal.add(a.words, b.words), isNegative: a.isNegative, scale: most)
        }
        if BigDecimal.compare(a.words, b.words) >= 0 {
            return BigDecimal(words: BigDecimal.subtract(a.words, b.words), isNegative: a.isNegative, scale: most)
        }
        return BigDecimal(words: BigDecimal.subtract(b.words, a.words), isNegative: b.isNegative, scale: most)
    }

    func minus(_ other: BigDecimal) -> BigDecimal { plus(other.negated) }

    func times(_ other: BigDecimal, scale wanted: Int) -> BigDecimal {
        let product = BigDecimal(
            words: BigDecimal.multiply(words, other.words), isNegative: isNegative != other.isNegative,
            scale: scale + other.scale)
        return product.scaled(to: min(scale + other.scale, max(wanted, scale, other.scale)))
    }

    /// nil when the divisor is zero.
    func divided(by other: BigDecimal, scale wanted: Int) -> BigDecimal? {
        if other.isZero { return nil }
        let shift = wanted + other.scale - scale
        let above = shift > 0 ? BigDecimal.multiply(words, BigDecimal.power(ofTen: shift)) : words
        let below = shift < 0 ? BigDecimal.multiply(other.words, BigDecimal.power(ofTen: -shift)) : other.words
        return BigDecimal(
            words: BigDecimal.divide(above, below), isNegative: isNegative != other.isNegative, scale: wanted)
    }

    func remainder(by other: BigDecimal, scale wanted: Int) -> BigDecimal? {
        guard let quotient = divided(by: other, scale: wanted) else { return nil }
        let most = max(wanted + other.scale, scale)
        return minus(quotient.times(other, scale: most)).scaled(to: most)
    }

    func compare(_ other: BigDecimal) -> Int {
        let difference = minus(other)
        return difference.isZero ? 0 : difference.isNegative ? -1 : 1
    }

    func squareRoot(scale wanted: Int) -> BigDecimal? {
        if isNegative { return nil }
        if isZero { return BigDecimal(0) }
        let most = max(wanted, scale)
        let target = scaled(to: 2 * most).words
        // Newton's steps on whole numbers, from above.
        var root = BigDecimal.power(ofTen: ((target.count * 9) + 1) / 2 + 1)
        while true {
            let next = BigDecimal.divide(BigDecimal.add(root, BigDecimal.divide(target, root)), [2])
            if BigDecimal.compare(next, root) >= 0 { break }
            root = next
        }
        return BigDecimal(words: root, isNegative: false, scale: most)
    }

    /// In decimal digits, as bc writes them: no zero before the point.
    var text: String {
        if words.isEmpty { return "0" }
        var digits = "\(words[words.count - 1])"
        for word in words.dropLast().reversed() {
            let text = "\(word)"
            digits += String(repeating: "0", count: 9 - text.count) + text
        }
        if scale > 0 {
            if digits.count <= scale { digits = String(repeating: "0", count: scale - digits.count) + digits }
            let point = digits.index(digits.endIndex, offsetBy: -scale)
            digits = digits[..<point] + "." + digits[point...]
        }
        return (isNegative ? "-" : "") + digits
    }
}
