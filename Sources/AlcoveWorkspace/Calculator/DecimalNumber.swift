internal import AlcoveCore

/// A decimal number of at most 34 digits: kept exactly, or told to be no longer exact.
struct DecimalNumber: Sendable, Hashable {
    /// The number is `digits` divided by ten to the power of `scale`.
    private(set) var digits: Int128
    private(set) var scale: Int

    /// Most digits; the highest is far below Int128's limit, so that sums of two cannot overflow.
    private static let highest: Int128 = {
        var value: Int128 = 1
        for _ in 0..<34 { value *= 10 }
        return value
    }()
    private static let most = 34

    static let zero = DecimalNumber(whole: 0)

    init(whole: Int) {
        digits = Int128(whole)
        scale = 0
    }

    /// Nil when it needs more digits than there are.
    private init?(_ digits: Int128, scale: Int) {
        var digits = digits, scale = scale
        while scale > 0, digits % 10 == 0 {
            digits /= 10
            scale -= 1
        }
        while scale < 0 {
            let (product, overflow) = digits.multipliedReportingOverflow(by: 10)
            if overflow { return nil }
            digits = product
            scale += 1
        }
        guard digits.magnitude < UInt128(DecimalNumber.highest), scale <= DecimalNumber.most else { return nil }
        self.digits = digits
        self.scale = scale
    }

    /// Reads digits with at most one point and perhaps an exponent; nil when it has too many.
    init?(text: some StringProtocol) {
        var value: Int128 = 0, scale = 0, hasPoint = false
        var bytes = Array(text.utf8)[...]
        var exponent = 0
        if let mark = bytes.firstIndex(where: { $0 == 0x65 || $0 == 0x45 }) {
            guard let number = Int(String(decoding: bytes[(mark + 1)...], as: UTF8.self)), abs(number) <= 60 else {
                return nil
            }
            exponent = number
            bytes = bytes[..<mark]
        }
        for byte in bytes {
            if byte == 0x2E {
                hasPoint = true
                continue
            }
            guard value < DecimalNumber.highest else { return nil }
            value = value * 10 + Int128(byte - 0x30)
            if hasPoint { scale += 1 }
        }
        self.init(value, scale: scale - exponent)
    }

    var isZero: Bool { digits == 0 }
    var isNegative: Bool { digits < 0 }
    /// The number as an Int; nil when it has a fraction or is too large.
    var whole: Int? { scale == 0 ? Int(exactly: digits) : nil }
    var double: Double { Double(text) ?? .nan }

    var text: String {
        if scale == 0 { return String(digits) }
        var figures = String(digits.magnitude)
        if figures.count <= scale { figures = String(repeating: "0", count: scale - figures.count + 1) + figures }
        let cut = figures.index(figures.endIndex, offsetBy: -scale)
        return (digits < 0 ? "-" : "") + figures[..<cut] + "." + figures[cut...]
    }

    var negated: DecimalNumber {
        var copy = self
        copy.digits = -digits
        return copy
    }

    static func + (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber? {
        guard let (a, b, scale) = aligned(left, right) else { return nil }
        return DecimalNumber(a + b, scale: scale)
    }

    static func * (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber? {
        let (product, overflow) = left.digits.multipliedReportingOverflow(by: right.digits)
        return overflow ? nil : DecimalNumber(product, scale: left.scale + right.scale)
    }

    /// Nil when the fraction does not end within the digits there are.
    static func / (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber? {
        guard right.digits != 0, var (a, b, _) = aligned(left, right) else { return nil }
        var scale = 0
        while a % b != 0 {
            let (next, overflow) = a.multipliedReportingOverflow(by: 10)
            if overflow || scale >= most { return nil }
            a = next
            scale += 1
        }
        b = a / b
        return DecimalNumber(b, scale: scale)
    }

    /// What is left of a division with a whole quotient; it has the sign of the left number.
    static func % (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber? {
        guard right.digits != 0, let (a, b, scale) = aligned(left, right) else { return nil }
        return DecimalNumber(a % b, scale: scale)
    }

    func power(_ exponent: Int) -> DecimalNumber? {
        var result = DecimalNumber(whole: 1)
        for _ in 0..<exponent {
            guard let next = result * self else { return nil }
            if next == result { return next }
            result = next
        }
        return result
    }

    static func < (left: DecimalNumber, right: DecimalNumber) -> Bool? {
        aligned(left, right).map { $0.0 < $0.1 }
    }

    /// Rounded to a whole number: down, up, or to the nearest with halves away from zero.
    func rounded(_ rule: FloatingPointRoundingRule) -> DecimalNumber {
        if scale == 0 { return self }
        var unit: Int128 = 1
        for _ in 0..<scale { unit *= 10 }
        var whole = digits / unit
        let rest = digits % unit
        switch rule {
        case .down: if rest < 0 { whole -= 1 }
        case .up: if rest > 0 { whole += 1 }
        default: if rest.magnitude * 2 >= unit.magnitude { whole += digits < 0 ? -1 : 1 }
        }
        return DecimalNumber(whole, scale: 0) ?? self
    }

    private static func aligned(_ left: DecimalNumber, _ right: DecimalNumber) -> (Int128, Int128, Int)? {
        var a = left.digits, b = right.digits
        let scale = max(left.scale, right.scale)
        for _ in left.scale..<scale {
            let (product, overflow) = a.multipliedReportingOverflow(by: 10)
            if overflow { return nil }
            a = product
        }
        for _ in right.scale..<scale {
            let (product, overflow) = b.multipliedReportingOverflow(by: 10)
            if overflow { return nil }
            b = product
        }
        return a.magnitude < UInt128(highest) * 10 && b.magnitude < UInt128(highest) * 10 ? (a, b, scale) : nil
    }
}
