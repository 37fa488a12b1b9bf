internal import AlcoveCore

/// MD5 (RFC 1321), SHA-1 and SHA-512 (FIPS 180-4): for sums people compare, not for anything secret.
struct Digest {
    enum Kind {
        case md5, sha1, sha224, sha256, sha384, sha512
    }

    static func hex(_ bytes: [UInt8], _ kind: Kind) -> String {
        let digest: [UInt8] =
            switch kind {
            case .md5: md5(bytes)
            case .sha1: sha1(bytes)
            case .sha224, .sha256: SHA256.digest(bytes)
            case .sha384: sha512(bytes, sha384Start, 48)
            case .sha512: sha512(bytes, sha512Start, 64)
            }
        let digits = Array("0123456789abcdef".utf8)
        return digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }.text
    }

    private static func padded(_ bytes: [UInt8], block: Int, lengthBytes: Int, bigEndian: Bool) -> [UInt8] {
        var out = bytes
        out.append(0x80)
        while out.count % block != block - lengthBytes { out.append(0) }
        let bits = UInt64(bytes.count) * 8
        var length = (0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * $0)) }
        if bigEndian { length = [UInt8](repeating: 0, count: lengthBytes - 8) + length.reversed() }
        return out + length
    }

    private static func md5(_ bytes: [UInt8]) -> [UInt8] {
        let shifts: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]
        let table = (0..<64).map { UInt32(truncatingIfNeeded: Int64(abs(sin(Double($0 + 1))) * 4_294_967_296)) }
        var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476]
        let text = padded(bytes, block: 64, lengthBytes: 8, bigEndian: false)
        for start in stride(from: 0, to: text.count, by: 64) {
            let words = (0..<16).map { index in
                (0..<4).reduce(UInt32(0)) { $0 | UInt32(text[start + index * 4 + $1]) << UInt32(8 * $1) }
            }
            var (a, b, c, d) = (state[0], state[1], state[2], state[3])
            for round in 0..<64 {
                let mixed: UInt32
                let word: Int
                switch round / 16 {
                case 0: (mixed, word) = ((b & c) | (~b & d), round)
                case 1: (mixed, word) = ((d & b) | (~d & c), (5 * round + 1) % 16)
                case 2: (mixed, word) = (b ^ c ^ d, (3 * round + 5) % 16)
                default: (mixed, word) = (c ^ (b | ~d), 7 * round % 16)
                }
                let sum = a &+ mixed &+ table[round] &+ words[word]
                let shift = shifts[round / 16 * 4 + round % 4]
                (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
            }
            state[0] = state[0] &+ a
            state[1] = state[1] &+ b
            state[2] = state[2] &+ c
            state[3] = state[3] &+ d
        }
        return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(8 * $0)) } }
    }

    private static func sha1(_ bytes: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
        let text = padded(bytes, block: 64, lengthBytes: 8, bigEndian: true)
        for start in stride(from: 0, to: text.count, by: 64) {
            var words = (0..<16).map { index in
                (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(text[start + index * 4 + $1]) }
            }
            for index in 16..<80 {
                let word = words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]
                words.append(word << 1 | word >> 31)
            }
            var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
            for round in 0..<80 {
                let mixed: UInt32
                let constant: UInt32
                switch round / 20 {
                case 0: (mixed, constant) = ((b & c) | (~b & d), 0x5a82_7999)
                case 1: (mixed, constant) = (b ^ c ^ d, 0x6ed9_eba1)
                case 2: (mixed, constant) = ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc)
                default: (mixed, constant) = (b ^ c ^ d, 0xca62_c1d6)
                }
                let next = (a << 5 | a >> 27) &+ mixed &+ e &+ constant &+ words[round]
                (a, b, c, d, e) = (next, a, b << 30 | b >> 2, c, d)
            }
            for (index, word) in [a, b, c, d, e].enumerated() { state[index] = state[index] &+ word }
        }
        return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) } }
    }

    private static let sha512Start: [UInt64] = [
        0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1,
        0x510e_527f_ade6_82d1, 0x9b05_688c_2b3e_6c1f, 0x1f83_d9ab_fb41_bd6b, 0x5be0_cd19_137e_2179,
    ]
    private static let sha384Start: [UInt64] = [
        0xcbbb_9d5d_c105_9ed8, 0x629a_292a_367c_d507, 0x9159_015a_3070_dd17, 0x152f_ecd8_f70e_5939,
        0x6733_2667_ffc0_0b31, 0x8eb4_4a87_6858_1511, 0xdb0c_2e0d_64f9_8fa7, 0x47b5_481d_befa_4fa4,
    ]

    /// The first 64 bits of the fractions of the cube roots of the first eighty primes, computed exactly.
    private static let sha512Table: [UInt64] = {
        var primes: [UInt64] = []
        var candidate: UInt64 = 2
        while primes.count < 80 {
            if !primes.contains(where: { candidate % $0 == 0 }) { primes.append(candidate) }
            candidate += 1
        }
        return primes.map { prime in
            // The whole part is below 8; the root of prime * 2^192 is found bit by bit.
            var root: [UInt64] = [0, 0]
            for bit in (0..<67).reversed() {
                var trial = root
                trial[bit / 64] |= 1 << UInt64(bit % 64)
                if cubeIsAtMost(trial, prime) { root = trial }
            }
            return root[0]
        }
    }()

    /// Whether the cube of a number of 67 bits is at most `prime` shifted up by 192.
    private static func cubeIsAtMost(_ number: [UInt64], _ prime: UInt64) -> Bool {
        func times(_ a: [UInt64], _ b: [UInt64]) -> [UInt64] {
            var out = [UInt64](repeating: 0, count: a.count + b.count)
            for i in a.indices {
                var carry: UInt64 = 0
                for j in b.indices {
                    let (high, low) = a[i].multipliedFullWidth(by: b[j])
                    let (one, overOne) = out[i + j].addingReportingOverflow(low)
                    let (two, overTwo) = one.addingReportingOverflow(carry)
                    out[i + j] = two
                    carry = high &+ (overOne ? 1 : 0) &+ (overTwo ? 1 : 0)
                }
                out[i + b.count] = out[i + b.count] &+ carry
            }
            return out
        }
        let cube = times(times(number, number), number)
        let limit: [UInt64] = [0, 0, 0, prime, 0, 0]
        for index in cube.indices.reversed() where cube[index] != limit[index] { return cube[index] < limit[index] }
        return true
    }

    private static func sha512(_ bytes: [UInt8], _ start: [UInt64], _ count: Int) -> [UInt8] {
        func turned(_ word: UInt64, _ by: UInt64) -> UInt64 { word >> by | word << (64 - by) }
        var state = start
        let text = padded(bytes, block: 128, lengthBytes: 16, bigEndian: true)
        for start in stride(from: 0, to: text.count, by: 128) {
            var words = (0..<16).map { index in
                (0..<8).reduce(UInt64(0)) { $0 << 8 | UInt64(text[start + index * 8 + $1]) }
            }
            for index in 16..<80 {
                let (x, y) = (words[index - 15], words[index - 2])
                let first = turned(x, 1) ^ turned(x, 8) ^ (x >> 7)
                let second = turned(y, 19) ^ turned(y, 61) ^ (y >> 6)
                words.append(words[index - 16] &+ first &+ words[index - 7] &+ second)
            }
            var v = state
            for round in 0..<80 {
                let sumE = turned(v[4], 14) ^ turned(v[4], 18) ^ turned(v[4], 41)
                let choice = (v[4] & v[5]) ^ (~v[4] & v[6])
                let one = v[7] &+ sumE &+ choice &+ sha512Table[round] &+ words[round]
                let sumA = turned(v[0], 28) ^ turned(v[0], 34) ^ turned(v[0], 39)
                let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2])
                v = [one &+ sumA &+ majority, v[0], v[1], v[2], v[3] &+ one, v[4], v[5], v[6]]
            }
            for index in 0..<8 { state[index] = state[index] &+ v[index] }
        }
        let all = state.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) } }
        return Array(all.prefix(count))
    }
}

extension Utilities {
    @Sendable static func md5(_ call: UtilityCall) throws(Flow) -> Int32 { try sums(call, .md5) }
    @Sendable static func sha1(_ call: UtilityCall) throws(Flow) -> Int32 { try sums(call, .sha1) }
    @Sendable static func sha256(_ call: UtilityCall) throws(Flow) -> Int32 { try sums(call, .sha256) }
    @Sendable static func sha384(_ call: UtilityCall) throws(Flow) -> Int32 { try sums(call, .sha384) }
    @Sendable static func sha512(_ call: UtilityCall) throws(Flow) -> Int32 { try sums(call, .sha512) }

    private static func sums(_ call: UtilityCall, _ kind: Digest.Kind) throws(Flow) -> Int32 {
        let options = try call.options(
            "bctz", longNames: ["--check": "c", "--quiet": "q", "--status": "s", "--binary": "b", "--text": "t"])
        if options.has("c") { return try checkSums(call, options, kind) }
        let isWhole = try call.eachInput(options.operands) { (name, source) throws(Flow) in
            try call.write(Array("\(Digest.hex(try call.all(source), kind))  ".utf8) + name + [10])
        }
        return isWhole ? 0 : 1
    }

    private static func checkSums(
        _ call: UtilityCall, _ options: UtilityCall.Options, _ kind: Digest.Kind
    ) throws(Flow) -> Int32 {
        var status: Int32 = 0
        _ = try call.eachInput(options.operands) { (_, source) throws(Flow) in
            var lines = LineReader(source)
            while let line = try lines.next() {
                guard let blank = line.firstIndex(of: 32), blank + 2 <= line.count else { continue }
                let name = Array(line[(blank + 2)...])
                let isRight: Bool
                if let bytes = try? call.shell.contents(of: name) {
                    isRight = Digest.hex(bytes, kind) == Array(line[..<blank]).text.lowercased()
                } else {
                    isRight = false
                }
                if !isRight { status = 1 }
                if !options.has("s"), !(isRight && options.has("q")) {
                    try call.write(name + Array(isRight ? ": OK\n".utf8 : ": FAILED\n".utf8))
                }
            }
        }
        return status
    }

    @Sendable static func checksum(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("")
        let isWhole = try call.eachInput(options.operands) { (name, source) throws(Flow) in
            var sum: UInt32 = 0
            func add(_ byte: UInt8) {
                sum ^= UInt32(byte) << 24
                for _ in 0..<8 { sum = sum & 0x8000_0000 != 0 ? sum << 1 ^ 0x04C1_1DB7 : sum << 1 }
            }
            var count = 0
            while true {
                let piece = try source.read(1 << 16, isLine: false)
                if piece.isEmpty { break }
                count += piece.count
                for byte in piece { add(byte) }
                try call.control.check()
            }
            var length = count
            while length > 0 {
                add(UInt8(length & 0xFF))
                length >>= 8
            }
            let shownName = options.operands.isEmpty ? [] : [32] + name
            try call.write(Array("\(~sum) \(count)".utf8) + shownName + [10])
        }
        return isWhole ? 0 : 1
    }

    @Sendable static func base64(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("di", valued: "w", longNames: ["--decode": "d", "--wrap=": "w"])
        let width = try call.number(options.values["w"]) ?? 76
        let isWhole = try call.eachInput(options.operands) { (_, source) throws(Flow) in
            let bytes = try call.all(source)
            if options.has("d") {
                var digits = bytes.filter { $0 != 10 && $0 != 13 && $0 != 32 }
                if options.has("i") { digits = digits.filter { $0.isInName || $0 == 43 || $0 == 47 || $0 == 61 } }
                while digits.count % 4 != 0, digits.last != 61 || digits.count % 4 == 3 { digits.append(61) }
                guard let plain = Base64.bytes(digits.text) else { throw .failed("the input is not Base64") }
                return try call.write(plain)
            }
            let text = Array(Base64.text(bytes).utf8)
            var writer = BlockWriter(call)
            if width == 0 {
                try writer.add(text)
            } else {
                for start in stride(from: 0, to: text.count, by: width) {
                    try writer.line(Array(text[start..<min(text.count, start + width)]))
                }
            }
            try writer.flush()
        }
        return isWhole ? 0 : 1
    }
}
