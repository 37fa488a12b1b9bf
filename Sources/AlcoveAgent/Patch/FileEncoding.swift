/// What a file begins with, and with it how its text is written.
///
/// Text is worked on as UTF-8. Of UTF-16 the halves of broken surrogate pairs become three bytes each (as WTF-8 has it),
/// so that every file of whole units comes back as it was.
enum FileEncoding {
    case plain, utf8WithMark, utf16LittleEndian, utf16BigEndian

    static func decode(_ bytes: [UInt8]) -> (encoding: FileEncoding, text: [UInt8])? {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return (.utf8WithMark, Array(bytes.dropFirst(3))) }
        let isLittle = bytes.starts(with: [0xFF, 0xFE])
        guard isLittle || bytes.starts(with: [0xFE, 0xFF]) else { return (.plain, bytes) }
        guard bytes.count % 2 == 0 else { return nil }
        let units = stride(from: 2, to: bytes.count, by: 2).map { index -> UInt32 in
            let (a, b) = (UInt32(bytes[index]), UInt32(bytes[index + 1]))
            return isLittle ? b << 8 | a : a << 8 | b
        }
        var text: [UInt8] = []
        text.reserveCapacity(units.count)
        var index = 0
        while index < units.count {
            var scalar = units[index]
            index += 1
            if scalar & 0xFC00 == 0xD800, index < units.count, units[index] & 0xFC00 == 0xDC00 {
                scalar = 0x10000 + (scalar & 0x3FF) << 10 + units[index] & 0x3FF
                index += 1
            }
            append(scalar, to: &text)
        }
        return (isLittle ? .utf16LittleEndian : .utf16BigEndian, text)
    }

    private static func append(_ scalar: UInt32, to text: inout [UInt8]) {
        func tail(_ shift: UInt32) -> UInt8 { UInt8(0x80 | (scalar >> shift) & 0x3F) }

        switch scalar {
        case 0..<0x80: text.append(UInt8(scalar))
        case 0..<0x800: text += [UInt8(0xC0 | scalar >> 6), tail(0)]
        case 0..<0x10000: text += [UInt8(0xE0 | scalar >> 12), tail(6), tail(0)]
        default: text += [UInt8(0xF0 | scalar >> 18), tail(12), tail(6), tail(0)]
        }
    }

    /// The file of a text; nil when new lines are not UTF-8 and so have no UTF-16.
    func encode(_ text: [UInt8]) -> [UInt8]? {
        switch self {
        case .plain: return text
        case .utf8WithMark: return [0xEF, 0xBB, 0xBF] + text
        case .utf16LittleEndian, .utf16BigEndian: break
        }
        let isLittle = if case .utf16LittleEndian = self { true } else { false }
        var out: [UInt8] = isLittle ? [0xFF, 0xFE] : [0xFE, 0xFF]
        func put(_ unit: UInt32) {
            let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
            out += isLittle ? [low, high] : [high, low]
        }
        var index = 0
        while index < text.count {
            let lead = text[index]
            let length = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0
            guard length > 0, lead < 0xF5, index + length <= text.count else { return nil }
            var scalar = length == 1 ? UInt32(lead) : UInt32(lead) & (0xFF >> UInt32(length + 1))
            for byte in text[index + 1..<index + length] {
                guard byte & 0xC0 == 0x80 else { return nil }
                scalar = scalar << 6 | UInt32(byte & 0x3F)
            }
            index += length
            guard scalar < 0x110000 else { return nil }
            if scalar < 0x10000 {
                put(scalar)
            } else {
                put(0xD800 | (scalar - 0x10000) >> 10)
                put(0xDC00 | (scalar - 0x10000) & 0x3FF)
            }
        }
        return out
    }
}
