internal import AlcoveCore

/// A zip archive in memory: what its directory lists, and how one is written.
struct ZipArchive {
    struct Entry {
        var name: String
        var method: Int
        var checksum: UInt32
        var packed: Int
        var bytes: Int
        /// Where its own header begins.
        var place: Int
        var modified: Int
        var isFolder: Bool { name.hasSuffix("/") }
    }

    let data: [UInt8]
    let entries: [Entry]

    private static func number(_ data: [UInt8], _ place: Int, _ count: Int) -> Int {
        (0..<count).reduce(0) { $0 | Int(data[place + $1]) << (8 * $1) }
    }

    init(_ data: [UInt8]) throws(Flow) {
        self.data = data
        let damaged = Flow.failed("this is not a zip archive, or it is damaged")
        // The directory's end is looked for from the back: a comment may follow it.
        var end = data.count - 22
        while end >= 0, ZipArchive.number(data, end, 4) != 0x0605_4B50 {
            end -= 1
            if data.count - end > 70_000 { break }
        }
        guard end >= 0, ZipArchive.number(data, end, 4) == 0x0605_4B50 else { throw damaged }
        let count = ZipArchive.number(data, end + 10, 2)
        var place = ZipArchive.number(data, end + 16, 4)
        if place == 0xFFFF_FFFF { throw .failed("this archive is of the 64-bit kind, which is not read here") }
        var all: [Entry] = []
        for _ in 0..<count {
            guard place >= 0, place + 46 <= end, ZipArchive.number(data, place, 4) == 0x0201_4B50 else { throw damaged }
            let nameBytes = ZipArchive.number(data, place + 28, 2)
            let rest = ZipArchive.number(data, place + 30, 2) + ZipArchive.number(data, place + 32, 2)
            guard place + 46 + nameBytes + rest <= data.count else { throw damaged }
            let flags = ZipArchive.number(data, place + 8, 2)
            let name = data[place + 46..<place + 46 + nameBytes].map { $0 }.text
            if flags & 1 != 0 { throw .failed("\(name) is encrypted, which is not read here") }
            all.append(
                Entry(
                    name: name, method: ZipArchive.number(data, place + 10, 2),
                    checksum: UInt32(ZipArchive.number(data, place + 16, 4)),
                    packed: ZipArchive.number(data, place + 20, 4),
                    bytes: ZipArchive.number(data, place + 24, 4), place: ZipArchive.number(data, place + 42, 4),
                    modified: ZipArchive.seconds(
                        ZipArchive.number(data, place + 12, 2), ZipArchive.number(data, place + 14, 2))))
            place += 46 + nameBytes + rest
        }
        entries = all
    }

    private static func seconds(_ time: Int, _ date: Int) -> Int {
        var parts = Clock.parts(0, isUTC: true)
        parts.tm_year = Int32(date >> 9 & 127) + 80
        parts.tm_mon = Int32(date >> 5 & 15) - 1
        parts.tm_mday = Int32(date & 31)
        parts.tm_hour = Int32(time >> 11 & 31)
        parts.tm_min = Int32(time >> 5 & 63)
        parts.tm_sec = Int32(time & 31) * 2
        return Clock.seconds(parts, isUTC: true)
    }

    /// The bytes of an entry, unpacked and checked.
    func contents(_ entry: Entry, _ control: RunControl) throws(Flow) -> [UInt8] {
        guard entry.place + 30 <= data.count, ZipArchive.number(data, entry.place, 4) == 0x0403_4B50 else {
            throw .failed("\(entry.name): the archive is damaged")
        }
        let start =
            entry.place + 30 + ZipArchive.number(data, entry.place + 26, 2)
            + ZipArchive.number(data, entry.place + 28, 2)
        guard start + entry.packed <= data.count else { throw .failed("\(entry.name): the archive ends too early") }
        let packed = Array(data[start..<start + entry.packed])
        var out: [UInt8] = []
        switch entry.method {
        case 0: out = packed
        case 8:
            guard entry.bytes <= Shell.longestValue else {
                throw .failed("\(entry.name) would have more than \(Shell.longestValue) bytes")
            }
            try Deflate(.raw).take(packed) { (piece) throws(Flow) in
                out += piece
                // A bomb says less than it holds.
                if out.count > entry.bytes { throw .failed("\(entry.name) is larger than the archive says") }
                try control.check()
            }
        default: throw .failed("\(entry.name) is packed in a way that is not read here")
        }
        guard out.count == entry.bytes, Deflate.checksum(out) == entry.checksum else {
            throw .failed("\(entry.name): the sum does not match; the archive is damaged")
        }
        return out
    }

    // MARK: Writing

    static func bytes(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// The local header and the bytes of a new entry, and its line in the directory.
    static func made(
        _ name: String, _ contents: [UInt8], modified: Int, rights: UInt16, at place: Int, packs: Bool
    ) throws(Flow) -> (local: [UInt8], central: [UInt8]) {
        var packed: [UInt8] = []
        if packs, !contents.isEmpty {
            try Deflate(.raw, level: 6).take(contents, isLast: true) { (piece) throws(Flow) in packed += piece }
        }
        let isPacked = packs && !contents.isEmpty && packed.count < contents.count
        let body = isPacked ? packed : contents
        let parts = Clock.parts(modified, isUTC: true)
        let time = Int(parts.tm_hour) << 11 | Int(parts.tm_min) << 5 | Int(parts.tm_sec) / 2
        let date = max(0, Int(parts.tm_year) - 80) << 9 | (Int(parts.tm_mon) + 1) << 5 | Int(parts.tm_mday)
        let nameBytes = Array(name.utf8)
        // The name is UTF-8: bit 11.
        let shared =
            bytes(20, 2) + bytes(0x800, 2) + bytes(isPacked ? 8 : 0, 2) + bytes(time, 2) + bytes(date, 2)
            + bytes(Int(Deflate.checksum(contents)), 4) + bytes(body.count, 4) + bytes(contents.count, 4)
            + bytes(nameBytes.count, 2)
        let kind = name.hasSuffix("/") ? 0o040000 : 0o100000
        let central =
            bytes(0x0201_4B50, 4) + bytes(0x031E, 2) + shared + bytes(0, 2) + bytes(0, 2) + bytes(0, 2) + bytes(0, 2)
            + bytes((kind | Int(rights)) << 16 | (name.hasSuffix("/") ? 0x10 : 0), 4) + bytes(place, 4) + nameBytes
        return (bytes(0x0403_4B50, 4) + shared + bytes(0, 2) + nameBytes + body, central)
    }

    static func end(_ count: Int, directory: Int, at place: Int) -> [UInt8] {
        bytes(0x0605_4B50, 4) + bytes(0, 4) + bytes(count, 2) + bytes(count, 2) + bytes(directory, 4) + bytes(place, 4)
            + bytes(0, 2)
    }
}
