internal import AlcoveCore

/// Utilities that show bytes as numbers.
extension Utilities {
    private static func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

    private static func visible(_ byte: UInt8) -> UInt8 { (32...126).contains(byte) ? byte : 46 }

    private static func input(_ call: UtilityCall, _ operands: [[UInt8]]) throws(Flow) -> [UInt8] {
        var bytes: [UInt8] = []
        let isWhole = try call.eachInput(operands) { (_, source) throws(Flow) in bytes += try call.all(source) }
        if !isWhole, bytes.isEmpty { throw .failed("there is nothing to show") }
        return bytes
    }

    @Sendable static func octalDump(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("vbcxdoiX", valued: "AtNjw")
        var bytes = try input(call, options.operands)
        if let skip = options.values["j"].flatMap(Sizes.bytes) { bytes.removeFirst(min(skip, bytes.count)) }
        if let most = options.values["N"].flatMap(Sizes.bytes) { bytes = Array(bytes.prefix(most)) }
        let skipped = options.values["j"].flatMap(Sizes.bytes) ?? 0
        let address = options.values["A"]?.first ?? 111
        var formats: [(letter: Character, size: Int)] = []
        for (letter, value) in options.all where letter == "t" {
            var text = value.text[...]
            while let kind = text.first {
                text.removeFirst()
                let digits = text.prefix { $0.isNumber }
                text.removeFirst(digits.count)
                let named = text.first.flatMap { ["C": 1, "S": 2, "I": 4, "L": 8][$0] }
                if named != nil { text.removeFirst() }
                formats.append((kind, kind == "c" || kind == "a" ? 1 : named ?? Int(digits) ?? 4))
                if text.first == "z" { text.removeFirst() }
            }
        }
        if options.has("c") { formats.append(("c", 1)) }
        if options.has("b") { formats.append(("o", 1)) }
        if options.has("x") { formats.append(("x", 2)) }
        if options.has("d") { formats.append(("u", 2)) }
        if options.has("i") { formats.append(("d", 4)) }
        if options.has("o") || formats.isEmpty { formats.append(("o", 2)) }
        let width = try call.number(options.values["w"]) ?? 16
        guard width > 0, formats.allSatisfy({ [1, 2, 4, 8].contains($0.size) && "acduox".contains($0.letter) }) else {
            throw .failed("a type is one of a c d o u x, with a size of 1, 2, 4 or 8")
        }
        func addressText(_ place: Int) -> String {
            let radix = address == 120 ? 16 : address == 100 ? 10 : 8
            let digits = String(place, radix: radix)
            return String(repeating: "0", count: max(0, (address == 120 ? 6 : 7) - digits.count)) + digits
        }
        var writer = BlockWriter(call)
        // Columns are as wide as the widest of the types asks for, a byte.
        func cell(_ format: (letter: Character, size: Int)) -> Int {
            switch format.letter {
            case "c", "a": 4
            case "x": format.size * 2 + 1
            case "o": [1: 4, 2: 7, 4: 12, 8: 23][format.size] ?? 4
            case "u": [1: 4, 2: 6, 4: 11, 8: 21][format.size] ?? 4
            default: [1: 5, 2: 7, 4: 12, 8: 21][format.size] ?? 5
            }
        }
        let perByte = formats.map { Double(cell($0)) / Double($0.size) }.max() ?? 4
        var last: [UInt8]?
        var isRepeating = false
        var place = 0
        while place < bytes.count {
            let row = Array(bytes[place..<min(bytes.count, place + width)])
            if !options.has("v"), row == last, row.count == width {
                if !isRepeating { try writer.line([42]) }
                isRepeating = true
                place += width
                continue
            }
            isRepeating = false
            last = row
            for (index, format) in formats.enumerated() {
                var text = address == 110 ? "" : index == 0 ? addressText(place + skipped) : "       "
                if address == 120, index > 0 { text = "      " }
                for start in stride(from: 0, to: row.count, by: format.size) {
                    var value: UInt64 = 0
                    for offset in (0..<format.size).reversed() {
                        value = value << 8 | UInt64(start + offset < row.count ? row[start + offset] : 0)
                    }
                    let piece = shown(value, format)
                    let room = Int(perByte * Double(format.size))
                    text += String(repeating: " ", count: max(0, room - piece.count)) + piece
                }
                try writer.line(Array(text.utf8))
            }
            place += width
        }
        if address != 110 { try writer.line(Array(addressText(bytes.count + skipped).utf8)) }
        try writer.flush()
        return 0
    }

    private static func shown(_ value: UInt64, _ format: (letter: Character, size: Int)) -> String {
        let bits = UInt64(format.size * 8)
        switch format.letter {
        case "c":
            let names: [UInt64: String] = [
                0: "\\0", 7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r",
            ]
            if let name = names[value] { return name }
            if (32...126).contains(value) { return [UInt8(value)].text }
            let digits = String(value, radix: 8)
            return String(repeating: "0", count: max(0, 3 - digits.count)) + digits
        case "a":
            let names = [
                "nul", "soh", "stx", "etx", "eot", "enq", "ack", "bel", "bs", "ht", "nl", "vt", "ff", "cr", "so", "si",
                "dle", "dc1", "dc2", "dc3", "dc4", "nak", "syn", "etb", "can", "em", "sub", "esc", "fs", "gs", "rs",
                "us",
                "sp",
            ]
            let low = Int(value & 0x7F)
            return low < names.count ? names[low] : low == 127 ? "del" : [UInt8(low)].text
        case "x":
            let digits = String(value, radix: 16)
            return String(repeating: "0", count: format.size * 2 - digits.count) + digits
        case "o":
            let digits = String(value, radix: 8)
            return String(repeating: "0", count: max(0, (Int(bits) + 2) / 3 - digits.count)) + digits
        case "u": return "\(value)"
        default:
            let signed =
                bits == 64 ? Int64(bitPattern: value) : Int64(bitPattern: value << (64 - bits)) >> Int64(64 - bits)
            return "\(signed)"
        }
    }

    @Sendable static func hexDump(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("Cvx", valued: "nse")
        var bytes = try input(call, options.operands)
        if let skip = options.values["s"].flatMap(Sizes.bytes) { bytes.removeFirst(min(skip, bytes.count)) }
        if let most = options.values["n"].flatMap(Sizes.bytes) { bytes = Array(bytes.prefix(most)) }
        var writer = BlockWriter(call)
        var last: [UInt8]?
        var isRepeating = false
        func address(_ place: Int) -> String {
            let digits = String(place, radix: 16)
            return String(repeating: "0", count: max(0, (options.has("C") ? 8 : 7) - digits.count)) + digits
        }
        for place in stride(from: 0, to: bytes.count, by: 16) {
            let row = Array(bytes[place..<min(bytes.count, place + 16)])
            if !options.has("v"), row == last, row.count == 16 {
                if !isRepeating { try writer.line([42]) }
                isRepeating = true
                continue
            }
            isRepeating = false
            last = row
            var text = address(place)
            if options.has("C") {
                text += "  "
                for index in 0..<16 {
                    text += index < row.count ? hex(row[index]) + " " : "   "
                    if index == 7 { text += " " }
                }
                text += " |" + row.map(visible).text + "|"
            } else {
                for index in stride(from: 0, to: row.count, by: 2) {
                    text += " " + (index + 1 < row.count ? hex(row[index + 1]) : "00") + hex(row[index])
                }
                if row.count < 16 { text += String(repeating: " ", count: 5 * ((16 - row.count) / 2)) }
            }
            try writer.line(Array(text.utf8))
        }
        if !bytes.isEmpty { try writer.line(Array(address(bytes.count).utf8)) }
        try writer.flush()
        return 0
    }

    @Sendable static func xxd(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("prubi", valued: "lscg")
        var bytes = try input(call, Array(options.operands.prefix(1)))
        if options.has("r") { return try fromHex(call, bytes, plain: options.has("p")) }
        if let skip = options.values["s"].flatMap(Sizes.bytes) { bytes.removeFirst(min(skip, bytes.count)) }
        if let most = options.values["l"].flatMap(Sizes.bytes) { bytes = Array(bytes.prefix(most)) }
        var writer = BlockWriter(call)
        let columns = max(1, try call.number(options.values["c"]) ?? (options.has("p") ? 30 : 16))
        let group = max(1, try call.number(options.values["g"]) ?? 2)
        for place in stride(from: 0, to: bytes.count, by: columns) {
            let row = Array(bytes[place..<min(bytes.count, place + columns)])
            let digits = row.map { options.has("u") ? hex($0).uppercased() : hex($0) }
            if options.has("p") {
                try writer.line(Array(digits.joined().utf8))
                continue
            }
            let number = String(place, radix: 16)
            var text = String(repeating: "0", count: max(0, 8 - number.count)) + number + ": "
            for index in 0..<columns {
                text += index < digits.count ? digits[index] : "  "
                if index % group == group - 1 || index == columns - 1 { text += " " }
            }
            try writer.line(Array((text + " " + row.map(visible).text).utf8))
        }
        try writer.flush()
        return 0
    }

    private static func fromHex(_ call: UtilityCall, _ text: [UInt8], plain: Bool) throws(Flow) -> Int32 {
        var out: [UInt8] = []
        for line in text.split(separator: 10) {
            var digits = Array(line)
            if !plain, let colon = digits.firstIndex(of: 58) {
                digits.removeFirst(colon + 1)
                // Two blanks stand before the text beside the numbers.
                if let end = digits.indices.dropFirst().first(where: { digits[$0] == 32 && digits[$0 - 1] == 32 }) {
                    digits = Array(digits[..<end])
                }
            }
            var half: UInt8?
            for byte in digits {
                guard let value = Character(Unicode.Scalar(byte)).hexDigitValue else { continue }
                if let high = half {
                    out.append(high << 4 | UInt8(value))
                    half = nil
                } else {
                    half = UInt8(value)
                }
            }
        }
        try call.write(out)
        return 0
    }
}
