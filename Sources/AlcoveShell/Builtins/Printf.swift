internal import AlcoveCore

/// `printf`, with the escapes and conversions of POSIX.
enum Printf {
    static func run(_ shell: Shell, _ words: [[UInt8]]) throws(Flow) -> Int32 {
        var rest = words.dropFirst()
        var variable: [UInt8]?
        if rest.count > 1, rest.first == Array("-v".utf8) {
            rest.removeFirst()
            variable = rest.removeFirst()
        }
        if rest.first == [45, 45] { rest.removeFirst() }
        guard let format = rest.popFirst() else {
            try shell.complain("a format belongs after it")
            return 2
        }
        var formatter = Formatter(arguments: Array(rest), shell: shell)
        if variable != nil { formatter.keepsAll = true }
        repeat {
            try shell.control.check()
            let before = formatter.used
            let goesOn = try formatter.pass(format)
            if !goesOn || formatter.used == before { break }
            if formatter.out.count > 1 << 16 { try formatter.flush() }
        } while formatter.used < rest.count
        if let variable {
            if let bracket = variable.firstIndex(of: 91), variable.last == 93 {
                let name = Array(variable[..<bracket]).text
                let key = try shell.key([.literal(Array(variable[(bracket + 1)...].dropLast()))], of: shell.meant(name))
                try shell.set(name, key: key, formatter.out)
            } else {
                guard variable.isName else { throw .failed("\(shown(variable)) is no name of a variable") }
                try shell.set(variable.text, formatter.out)
            }
            return formatter.status
        }
        try formatter.flush()
        return formatter.status
    }

    /// The text with its escapes read, and whether `\c` cut it. An octal number may begin with a further zero.
    static func unescaped(_ text: [UInt8]) -> ([UInt8], isCut: Bool) {
        var out: [UInt8] = []
        var place = 0
        while place < text.count {
            guard text[place] == 92, place + 1 < text.count else {
                out.append(text[place])
                place += 1
                continue
            }
            if text[place + 1] == 99 { return (out, true) }
            let (bytes, next) = escape(text, place, mostDigits: text[place + 1] == 48 ? 4 : 3)
            out += bytes
            place = next
        }
        return (out, false)
    }

    /// What the backslash at a place means, and where the text goes on.
    fileprivate static func escape(_ text: [UInt8], _ place: Int, mostDigits: Int) -> ([UInt8], Int) {
        guard place + 1 < text.count else { return ([92], place + 1) }
        let letter = text[place + 1]
        let simple: [UInt8: UInt8] = [97: 7, 98: 8, 102: 12, 110: 10, 114: 13, 116: 9, 118: 11, 92: 92, 34: 34, 39: 39]
        if let byte = simple[letter] { return ([byte], place + 2) }
        if (48...55).contains(letter) {
            var value = 0
            var end = place + 1
            while end < text.count, end - place - 1 < mostDigits, (48...55).contains(text[end]) {
                value = value * 8 + Int(text[end]) - 48
                end += 1
            }
            return ([UInt8(truncatingIfNeeded: value)], end)
        }
        return ([92, letter], place + 2)
    }

    /// As `%q` writes it: fit to be read again.
    static func quoted(_ text: [UInt8]) -> [UInt8] {
        if text.isEmpty { return [39, 39] }
        if text.contains(where: { $0 < 32 || $0 == 127 }) {
            var out: [UInt8] = [36, 39]
            let names: [UInt8: String] = [
                7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 27: "\\E",
            ]
            for byte in text {
                if let name = names[byte] {
                    out += Array(name.utf8)
                } else if byte < 32 || byte == 127 {
                    let digits = String(byte, radix: 8)
                    out += Array(("\\" + String(repeating: "0", count: 3 - digits.count) + digits).utf8)
                } else {
                    if byte == 39 || byte == 92 { out.append(92) }
                    out.append(byte)
                }
            }
            return out + [39]
        }
        var out: [UInt8] = []
        for (index, byte) in text.enumerated() {
            if " !\"#$&'()*,;<>?[\\]^`{|}".utf8.contains(byte) && !(byte == 35 && index > 0)
                || (byte == 126 && index == 0)
            {
                out.append(92)
            }
            out.append(byte)
        }
        return out
    }

    private struct Formatter {
        let arguments: [[UInt8]]
        let shell: Shell
        var used = 0
        var out: [UInt8] = []
        var status: Int32 = 0
        var keepsAll = false

        init(arguments: [[UInt8]], shell: Shell) {
            self.arguments = arguments
            self.shell = shell
        }

        mutating func flush() throws(Flow) {
            if keepsAll { return }
            if !out.isEmpty { try shell.write(out) }
            out = []
        }

        private mutating func next() -> [UInt8]? {
            guard used < arguments.count else { return nil }
            used += 1
            return arguments[used - 1]
        }

        /// Once through the format; false when `\c` ends all output.
        mutating func pass(_ format: [UInt8]) throws(Flow) -> Bool {
            var place = 0
            while place < format.count {
                let byte = format[place]
                if byte == 92 {
                    if place + 1 < format.count, format[place + 1] == 99 { return false }
                    let (bytes, end) = Printf.escape(format, place, mostDigits: 3)
                    out += bytes
                    place = end
                } else if byte != 37 {
                    out.append(byte)
                    place += 1
                } else if place + 1 < format.count, format[place + 1] == 37 {
                    out.append(37)
                    place += 2
                } else if try !convert(format, &place) {
                    return false
                }
            }
            return true
        }

        private mutating func convert(_ text: [UInt8], _ place: inout Int) throws(Flow) -> Bool {
            let start = place
            place += 1
            var flags = ""
            while place < text.count, "-+ 0#".utf8.contains(text[place]) {
                flags.unicodeScalars.append(Unicode.Scalar(text[place]))
                place += 1
            }
            var width = number(text, &place)
            var precision: Int?
            if place < text.count, text[place] == 46 {
                place += 1
                precision = number(text, &place) ?? 0
                if let given = precision, given < 0 { precision = nil }
            }
            if let given = width, given < 0 {
                flags += "-"
                width = -given
            }
            guard (width ?? 0) < 1 << 20, (precision ?? 0) < 1 << 20 else {
                throw .failed("a width of more than \(1 << 20) makes no sense")
            }
            guard place < text.count else {
                throw .failed("\(shown(text[start...])): the conversion ends too early")
            }
            while place < text.count, [104, 106, 108, 76, 116, 122].contains(text[place]) { place += 1 }
            guard place < text.count else {
                throw .failed("\(shown(text[start...])): the conversion ends too early")
            }
            let letter = text[place]
            place += 1
            switch letter {
            case 113: pad(Printf.quoted(next() ?? []), width, flags)
            case 40:
                var format: [UInt8] = []
                while place < text.count, text[place] != 41 {
                    format.append(text[place])
                    place += 1
                }
                place += 2
                let given = next()
                let when = given.flatMap { Int($0.text) } ?? -1
                let moment = when < 0 ? time(nil) : when
                pad(
                    Clock.text(
                        moment, format.isEmpty ? Array("%X".utf8) : format, isUTC: false, zone: shell.value("TZ")),
                    width, flags)
            case 115: pad(shortened(next() ?? [], precision), width, flags)
            case 98:
                let (argument, isCut) = Printf.unescaped(next() ?? [])
                pad(shortened(argument, precision), width, flags)
                return !isCut
            case 99: pad(Array((next() ?? []).prefix(1)), width, flags)
            case 100, 105, 111, 117, 120, 88:
                try format(flags, width, precision, "ll", letter, try integer(next()))
            case 97, 65, 101, 69, 102, 70, 103, 71: try format(flags, width, precision, "", letter, try real(next()))
            default: throw .failed("%\([letter].text): there is no such conversion")
            }
            return true
        }

        private mutating func number(_ format: [UInt8], _ place: inout Int) -> Int? {
            if place < format.count, format[place] == 42 {
                place += 1
                return next().flatMap { Int($0.text) } ?? 0
            }
            var value: Int?
            while place < format.count, format[place].isDigit {
                value = min((value ?? 0) * 10 + Int(format[place]) - 48, 1 << 30)
                place += 1
            }
            return value
        }

        private func shortened(_ text: [UInt8], _ precision: Int?) -> [UInt8] {
            precision.map { Array(text.prefix($0)) } ?? text
        }

        private mutating func pad(_ text: [UInt8], _ width: Int?, _ flags: String) {
            let blanks = [UInt8](repeating: 32, count: max(0, (width ?? 0) - text.count))
            out += flags.contains("-") ? text + blanks : blanks + text
        }

        private mutating func format(
            _ flags: String, _ width: Int?, _ precision: Int?, _ size: String, _ letter: UInt8, _ value: any CVarArg
        ) throws(Flow) {
            let text =
                "%" + flags + (width.map { "\($0)" } ?? "") + (precision.map { ".\($0)" } ?? "") + size + [letter].text
            var buffer = [CChar](repeating: 0, count: max(width ?? 0, precision ?? 0) + 400)
            let count = withVaList([value]) { vsnprintf(&buffer, buffer.count, text, $0) }
            out += buffer.prefix(max(0, Int(count))).map { UInt8(bitPattern: $0) }
        }

        private mutating func wrong(_ text: [UInt8]) throws(Flow) {
            status = 1
            try flush()
            try shell.complain("\(shown(text)) is not a number")
        }

        private mutating func integer(_ argument: [UInt8]?) throws(Flow) -> Int64 {
            guard let argument else { return 0 }
            if let quote = argument.first, quote == 34 || quote == 39 {
                return argument.count > 1 ? Int64(argument[1]) : 0
            }
            var rest = argument[...]
            while let byte = rest.first, byte == 32 || (9...13).contains(byte) { rest.removeFirst() }
            var isNegative = false
            if rest.first == 45 || rest.first == 43 { isNegative = rest.removeFirst() == 45 }
            var end = rest.startIndex
            let isHexadecimal = rest.count > 2 && rest[end] == 48 && rest[end + 1] | 32 == 120
            if isHexadecimal { end += 2 }
            let isOctal = !isHexadecimal && rest.first == 48
            while end < rest.endIndex {
                let byte = rest[end]
                let isIn =
                    isHexadecimal
                    ? byte.isDigit || (97...102).contains(byte | 32) : isOctal ? (48...55).contains(byte) : byte.isDigit
                guard isIn else { break }
                end += 1
            }
            let value = Arithmetic.constant(rest[..<end]) ?? 0
            if end < rest.endIndex || rest.isEmpty { try wrong(argument) }
            return isNegative ? 0 &- value : value
        }

        private mutating func real(_ argument: [UInt8]?) throws(Flow) -> Double {
            guard let argument else { return 0 }
            if let quote = argument.first, quote == 34 || quote == 39 {
                return argument.count > 1 ? Double(argument[1]) : 0
            }
            var text = argument.map { CChar(bitPattern: $0) } + [0]
            var used = 0
            let value = text.withUnsafeMutableBufferPointer { buffer in
                var end: UnsafeMutablePointer<CChar>?
                let value = strtod(buffer.baseAddress!, &end)
                used = end.map { $0 - buffer.baseAddress! } ?? 0
                return value
            }
            if used < argument.count || argument.isEmpty { try wrong(argument) }
            return value
        }
    }
}
