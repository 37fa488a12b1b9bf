/// One entry of a tar archive: its header, read and written (ustar, pax and GNU's long names).
struct TarEntry {
    enum Kind: UInt8 {
        case file = 48
        case hardLink = 49
        case link = 50
        case folder = 53
        case other = 0
    }

    static let block = 512

    var name: String
    var kind: Kind
    var bytes = 0
    var rights: UInt16 = 0o644
    var modified = 0
    var target = ""

    private static func text(_ header: [UInt8], _ start: Int, _ count: Int) -> String {
        String(decoding: header[start..<start + count].prefix { $0 != 0 }, as: UTF8.self)
    }

    private static func number(_ header: [UInt8], _ start: Int, _ count: Int) -> Int? {
        if header[start] & 0x80 != 0 {
            // Beyond eight octal digits: a binary number.
            var value = Int(header[start] & 0x3F)
            for byte in header[start + 1..<start + count] {
                let (product, isOver) = value.multipliedReportingOverflow(by: 256)
                if isOver { return nil }
                value = product | Int(byte)
            }
            return value
        }
        let digits = header[start..<start + count].filter { $0 != 32 && $0 != 0 }
        return digits.isEmpty ? 0 : Int(Array(digits).text, radix: 8)
    }

    /// nil for a block of zeros, which ends an archive.
    static func read(_ header: [UInt8]) throws(Flow) -> (entry: TarEntry, letter: UInt8)? {
        if header.allSatisfy({ $0 == 0 }) { return nil }
        var sum = 0
        for (index, byte) in header.enumerated() { sum += (148..<156).contains(index) ? 32 : Int(byte) }
        guard let wanted = number(header, 148, 8), wanted == sum, let bytes = number(header, 124, 12), bytes >= 0 else {
            throw .failed("this is not a tar archive, or it is damaged")
        }
        var name = text(header, 0, 100)
        let prefix = text(header, 345, 155)
        if header[257..<262].elementsEqual("ustar".utf8), !prefix.isEmpty { name = prefix + "/" + name }
        let letter = header[156]
        let kind: Kind =
            letter == 0 || letter == 55 ? (name.hasSuffix("/") ? .folder : .file) : Kind(rawValue: letter) ?? .other
        return (
            TarEntry(
                name: name, kind: kind, bytes: bytes,
                rights: UInt16(truncatingIfNeeded: (number(header, 100, 8) ?? 0o644) & 0o777),
                modified: number(header, 136, 12) ?? 0, target: text(header, 157, 100)), letter
        )
    }

    /// The blocks before the entry's bytes.
    func header() -> [UInt8] {
        var out: [UInt8] = []
        for (letter, text) in [(UInt8(76), name), (75, target)] where text.utf8.count > 100 {
            // GNU's way: an entry of its own holds the long name.
            let bytes = Array(text.utf8) + [0]
            out += TarEntry.fixed(
                name: "././@LongLink", letter: letter, bytes: bytes.count, rights: 0, modified: 0, target: "")
            out += bytes + [UInt8](repeating: 0, count: TarEntry.padding(bytes.count))
        }
        return out
            + TarEntry.fixed(
                name: name, letter: kind.rawValue, bytes: kind == .file ? bytes : 0, rights: rights,
                modified: modified, target: target)
    }

    static func padding(_ count: Int) -> Int { (block - count % block) % block }

    private static func fixed(
        name: String, letter: UInt8, bytes: Int, rights: UInt16, modified: Int, target: String
    ) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: block)
        func put(_ text: [UInt8], _ start: Int, _ most: Int) {
            for (index, byte) in text.prefix(most).enumerated() { header[start + index] = byte }
        }
        func octal(_ value: Int, _ digits: Int) -> [UInt8] {
            let text = String(max(0, value), radix: 8)
            return Array((String(repeating: "0", count: max(0, digits - text.count)) + text).utf8)
        }
        put(Array(name.utf8), 0, 100)
        put(octal(Int(rights), 7), 100, 8)
        put(octal(1000, 7), 108, 8)
        put(octal(1000, 7), 116, 8)
        if bytes < 1 << 33 {
            put(octal(bytes, 11), 124, 12)
        } else {
            header[124] = 0x80
            for index in 0..<8 { header[135 - index] = UInt8(truncatingIfNeeded: bytes >> (8 * index)) }
        }
        put(octal(modified, 11), 136, 12)
        header[156] = letter
        put(Array(target.utf8), 157, 100)
        put(Array("ustar".utf8) + [0, 48, 48], 257, 8)
        put(Array("user".utf8), 265, 32)
        put(Array("user".utf8), 297, 32)
        for index in 148..<156 { header[index] = 32 }
        put(octal(header.reduce(0) { $0 + Int($1) }, 6) + [0, 32], 148, 8)
        return header
    }
}
