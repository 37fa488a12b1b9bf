typealias Bytes = [UInt8]

extension UInt8 {
    var isDigit: Bool { self &- 48 < 10 }
    var startsName: Bool { (self | 32) &- 97 < 26 || self == 95 }
    var isInName: Bool { startsName || isDigit }
    var isBlank: Bool { self == 32 || self == 9 }
    /// Ends a word that is not quoted.
    var endsWord: Bool {
        switch self {
        case 32, 9, 10, 38, 40, 41, 59, 60, 62, 124: true  // blank, newline & ( ) ; < > |
        default: false
        }
    }
}

extension Array<UInt8> {
    /// For sentences: never as a key or a path.
    var text: String { String(decoding: self, as: UTF8.self) }

    var isName: Bool { first?.startsName == true && allSatisfy { $0.isInName } }
}

/// As text of a script: short, on one line.
func shown(_ bytes: some Sequence<UInt8>) -> String {
    let text = String(decoding: Array(bytes.prefix(200)), as: UTF8.self)
    var out = ""
    for scalar in text.unicodeScalars.prefix(60) {
        switch scalar {
        case "\n": out += "\\n"
        case "\t": out += "\\t"
        default:
            if scalar.value < 32 || scalar.value == 127 || scalar.properties.generalCategory == .format {
                out += "\\x" + String(scalar.value, radix: 16)
            } else {
                out.unicodeScalars.append(scalar)
            }
        }
    }
    return text.unicodeScalars.count > 60 ? out + "..." : out
}
