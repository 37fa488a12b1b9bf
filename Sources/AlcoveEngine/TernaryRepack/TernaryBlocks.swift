/// Blocks of PrismML's ternary types as blocks of Q2_0, which ggml reads: the same numbers, bit for bit.
///
/// All three keep numbers of -1, 0 and 1 (Q2_0 and PQ2_0 also 2) times a half-precision scale. Layouts, as several readers of
/// these files describe them alike:
///
/// - PQ2_0 (142): 128 numbers in 34 bytes. The scale, then four numbers a byte, the lowest bits first, each plus one.
/// - PTQ1_0 (143): 128 numbers in 28 bytes. 24 bytes of five base-3 digits, 2 bytes of four, the scale last. A byte is the
///   digits as a fraction of 256, rounded up. The first 16 bytes hold the numbers 0 to 79: byte m has m, m+16 ... m+64, the
///   most significant digit first; the next 8 hold 80 to 119 in steps of 8, the last 2 hold 120 to 127 in steps of 2.
/// - Q2_0 (42): 64 numbers in 18 bytes, otherwise as PQ2_0. So one of their blocks is two of these.
enum TernaryBlocks {
    static let elements = 128
    /// Bytes of the two Q2_0 blocks that stand for one block.
    static let outputBytes = 36

    /// Digit n of a byte that holds base-3 digits, at 256 n and the byte.
    private static let digits: [UInt8] = [1, 3, 9, 27, 81].flatMap { power in
        (0..<256).map { UInt8(((($0 * power) & 255) * 3) >> 8) }
    }

    /// For each number of a PTQ1_0 block its byte, and where the digits of its place begin in `digits`.
    private static let places: [(byte: Int, table: Int)] = {
        var places: [(byte: Int, table: Int)] = []
        for (first, bytes, digits) in [(0, 16, 5), (16, 8, 5), (24, 2, 4)] {
            for place in 0..<digits {
                for byte in 0..<bytes { places.append((first + byte, 256 * place)) }
            }
        }
        return places
    }()

    /// Turns blocks of PTQ1_0 into twice as many of Q2_0.
    static func repackPTQ1(_ blocks: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) {
        places.withUnsafeBufferPointer { places in
            digits.withUnsafeBufferPointer { digits in
                for block in 0..<blocks.count / 28 {
                    let input = UnsafeRawBufferPointer(rebasing: blocks[block * 28..<block * 28 + 28])
                    let target = UnsafeMutableRawBufferPointer(rebasing: output[block * 36..<block * 36 + 36])
                    setScales(of: target, input[26], input[27])
                    for quad in 0..<32 {
                        var packed: UInt8 = 0
                        for lane in 0..<4 {
                            let place = places[quad * 4 + lane]
                            packed |= digits[place.table + Int(input[place.byte])] << UInt8(lane * 2)
                        }
                        target[quad < 16 ? 2 + quad : 4 + quad] = packed
                    }
                }
            }
        }
    }

    /// Turns blocks of PQ2_0 into twice as many of Q2_0.
    static func repackPQ2(_ blocks: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) {
        for block in 0..<blocks.count / 34 {
            let input = UnsafeRawBufferPointer(rebasing: blocks[block * 34..<block * 34 + 34])
            let target = UnsafeMutableRawBufferPointer(rebasing: output[block * 36..<block * 36 + 36])
            setScales(of: target, input[0], input[1])
            for index in 0..<32 { target[index < 16 ? 2 + index : 4 + index] = input[2 + index] }
        }
    }

    private static func setScales(of target: UnsafeMutableRawBufferPointer, _ low: UInt8, _ high: UInt8) {
        for start in [0, 18] {
            target[start] = low
            target[start + 1] = high
        }
    }

    // MARK: Reading back, by another way than the writing: for the check of what was written

    /// Whether Q2_0 blocks hold what blocks of the type with this number do.
    static func holdTheSame(_ type: UInt32, _ blocks: UnsafeRawBufferPointer, _ repacked: UnsafeRawBufferPointer)
        -> Bool
    {
        let size = type == 143 ? 28 : 34
        for block in 0..<blocks.count / size {
            let input = UnsafeRawBufferPointer(rebasing: blocks[block * size..<(block + 1) * size])
            let scale = type == 143 ? 26 : 0
            for half in 0..<2 {
                let start = block * 36 + half * 18
                guard repacked[start] == input[scale], repacked[start + 1] == input[scale + 1] else { return false }
                for number in 0..<64 {
                    let stored = (repacked[start + 2 + number / 4] >> UInt8(number % 4 * 2)) & 3
                    guard stored == code(type, input, half * 64 + number) else { return false }
                }
            }
        }
        return true
    }

    /// A number of a block plus one.
    private static func code(_ type: UInt32, _ block: UnsafeRawBufferPointer, _ number: Int) -> UInt8 {
        guard type == 143 else { return (block[2 + number / 4] >> UInt8(number % 4 * 2)) & 3 }
        let (byte, place, count) =
            number < 80
            ? (number % 16, number / 16, 5)
            : number < 120 ? (16 + (number - 80) % 8, (number - 80) / 8, 5) : (24 + number % 2, (number - 120) / 2, 4)
        // The byte is a fraction; its first digits as a whole number, and then the one that is asked for.
        var whole = Int(block[byte]) * (count == 5 ? 243 : 81) / 256
        for _ in place..<count - 1 { whole /= 3 }
        return UInt8(whole % 3)
    }
}
