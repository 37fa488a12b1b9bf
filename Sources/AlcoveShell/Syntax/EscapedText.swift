/// The escapes of `$'...'`, which are those of C.
enum EscapedText {
    /// What a backslash at a place and the letter after it mean, and where the text goes on.
    static func read(_ text: [UInt8], _ place: Int, _ letter: UInt8) -> ([UInt8], Int) {
        let simple: [UInt8: UInt8] = [
            97: 7, 98: 8, 101: 27, 69: 27, 102: 12, 110: 10, 114: 13, 116: 9, 118: 11, 92: 92, 39: 39, 34: 34, 63: 63,
        ]
        if let byte = simple[letter] { return ([byte], place + 2) }
        switch letter {
        case 48...55:
            let (value, end) = number(text, place + 1, most: 3, radix: 8)
            return ([UInt8(truncatingIfNeeded: value)], end)
        case 120:
            let (value, end) = number(text, place + 2, most: 2, radix: 16)
            return end == place + 2 ? ([92, 120], end) : ([UInt8(truncatingIfNeeded: value)], end)
        case 117, 85:
            let (value, end) = number(text, place + 2, most: letter == 117 ? 4 : 8, radix: 16)
            guard end > place + 2, let scalar = Unicode.Scalar(value) else { return ([92, letter], place + 2) }
            return (Array(String(Character(scalar)).utf8), end)
        case 99:
            guard place + 2 < text.count else { return ([92, 99], place + 2) }
            return ([text[place + 2] & 0x1F], place + 3)
        default: return ([92, letter], place + 2)
        }
    }

    private static func number(_ text: [UInt8], _ start: Int, most: Int, radix: UInt32) -> (UInt32, Int) {
        var value: UInt32 = 0
        var place = start
        while place < text.count, place - start < most {
            let byte = text[place]
            let digit: UInt32
            switch byte {
            case 48...57: digit = UInt32(byte) - 48
            case 97...102: digit = UInt32(byte) - 87
            case 65...70: digit = UInt32(byte) - 55
            default: return (value, place)
            }
            guard digit < radix else { return (value, place) }
            value = value &* radix &+ digit
            place += 1
        }
        return (value, place)
    }
}
