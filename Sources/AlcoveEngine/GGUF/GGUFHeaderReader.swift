/// Reads a header front to back, and refuses by name what cannot be.
///
/// The rules are those of llama.cpp's `gguf.cpp` (commit 0c1e57098), and some more where it is lenient and its later
/// stages are not. Two kinds of fault are kept apart: a number no file could mean is damage (`gguf_bad_...`); a number
/// that only needs more bytes than there are is a file cut short (`gguf_truncated`).
struct GGUFHeaderReader {
    /// Models have about 50 keys and, the largest, two thousand tensors.
    static let mostKeys: UInt64 = 16_384
    static let mostTensors: UInt64 = 16_384
    /// The largest vocabularies have 262,144 tokens and about twice as many merges.
    static let mostStrings: UInt64 = 4_194_304
    /// The GGUF specification's limit.
    static let longestKey: UInt64 = 65_535
    /// llama.cpp's limit.
    static let longestString: UInt64 = 1 << 30
    /// `GGML_MAX_NAME` less its final zero.
    static let longestTensorName: UInt64 = 63
    /// llama.cpp holds all of a header in memory, some of it eightfold; the largest we know is 25 MB.
    static let largestHeader: UInt64 = 256 << 20
    /// Longest text that is kept; a chat template has some 10 KB.
    static let longestText: UInt64 = 1 << 20
    /// All texts and short arrays together.
    static let keptBytes: UInt64 = 8 << 20

    let path: String
    let source: GGUFSource
    private var kept: UInt64 = 0
    /// Whether types that can be repacked count as known.
    var readsRepackable = false

    init(path: String) throws(GGUFError) {
        self.path = path
        source = try GGUFSource(path: path)
    }

    mutating func read() throws(GGUFError) -> GGUFHeader {
        if GGUFForeignFile.isUnfinishedDownload(name: source.name) {
            throw GGUFError(.unfinishedDownload, "\(source.name) is a download that has not finished.")
        }
        let head = source.head(64)
        guard head.starts(with: Array("GGUF".utf8)) else {
            throw withSplitHint(GGUFForeignFile.refusal(name: source.name, size: source.size, head: head))
        }
        do throws(GGUFError) {
            return try readAfterMagic()
        } catch {
            throw withSplitHint(error)
        }
    }

    private mutating func readAfterMagic() throws(GGUFError) -> GGUFHeader {
        source.seek(to: 4)
        let version = try readVersion()
        let tensorCount = try readCount("tensors", most: Self.mostTensors)
        let keyCount = try readCount("keys", most: Self.mostKeys)
        // The shortest key: its length, one letter, its type and a byte. The shortest tensor likewise.
        try expectRoom(keyCount &* 14 &+ tensorCount &* 33, for: "\(keyCount) keys and \(tensorCount) tensors")

        var entries: [GGUFEntry] = []
        var index: [String: Int] = [:]
        for number in 0..<keyCount {
            let entry = try readEntry(number: number)
            if index.updateValue(entries.count, forKey: entry.key) != nil {
                throw fault(.duplicateKey, "the key \"\(entry.key)\" is there twice, the second time as key \(number)")
            }
            entries.append(entry)
        }
        let alignment = try readAlignment(index["general.alignment"].map { entries[$0] })
        let tensorsOffset = source.position
        let (tensors, dataOffset) = try readTensors(tensorCount, alignment: alignment)
        return GGUFHeader(
            path: path, fileBytes: source.size, version: version, entries: entries, index: index, tensors: tensors,
            alignment: alignment, dataOffset: dataOffset, tensorsOffset: tensorsOffset)
    }

    private func readVersion() throws(GGUFError) -> UInt32 {
        let version = try integer(UInt32.self, "its version")
        if version == 2 || version == 3 { return version }
        // llama.cpp tells it the same way: a small number read backwards has its low half empty.
        if version != 0, version & 0xFFFF == 0 {
            throw fault(
                .bigEndian, "it was written for a big-endian machine (version \(version.byteSwapped) backwards)")
        }
        throw fault(.unsupportedVersion, "it has GGUF version \(version), and only 2 and 3 can be read")
    }

    private func readCount(_ what: String, most: UInt64) throws(GGUFError) -> UInt64 {
        let count = try integer(UInt64.self, "its number of \(what)")
        guard count <= most else {
            throw fault(.badCount, "it says that it has \(count) \(what), and at most \(most) are plausible")
        }
        return count
    }

    private func readAlignment(_ entry: GGUFEntry?) throws(GGUFError) -> UInt64 {
        guard let entry else { return 32 }
        guard entry.type == .uint32, case .unsigned(let alignment) = entry.value else {
            throw fault(.badAlignment, "\"general.alignment\" has type \(entry.type) and must have type uint32")
        }
        guard alignment.nonzeroBitCount == 1 else {
            throw fault(.badAlignment, "\"general.alignment\" is \(alignment) and must be a power of two")
        }
        return alignment
    }
}

// MARK: Keys and values

extension GGUFHeaderReader {
    private mutating func readEntry(number: UInt64) throws(GGUFError) -> GGUFEntry {
        let key = try readKey(number: number)
        let type = try readType(of: key)
        if type == .array { return GGUFEntry(key: key, type: type, value: .array(try readArray(key: key))) }
        return GGUFEntry(key: key, type: type, value: try readScalar(type, of: key, keepingTo: Self.longestText))
    }

    private mutating func readKey(number: UInt64) throws(GGUFError) -> String {
        let start = source.position
        let length = try integer(UInt64.self, "the length of key \(number)")
        guard length > 0 else { throw fault(.badKey, "key \(number) at byte \(start) has no name") }
        guard length <= Self.longestKey else {
            throw fault(
                .badLength,
                "the name of key \(number) at byte \(start) is \(length) bytes long, and a name has at most "
                    + "\(Self.longestKey)")
        }
        let name = try bytes(length, "the name of key \(number)")
        guard name.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw fault(.badKey, "the name of key \(number) at byte \(start) is not plain ASCII")
        }
        // What a key costs beside its letters. Names alone could otherwise be told by the gigabyte.
        kept += length + 128
        guard kept <= 2 * Self.keptBytes else {
            throw fault(.headerTooLarge, "the names of its keys take more than \(2 * Self.keptBytes) bytes")
        }
        return String(decoding: name, as: UTF8.self)
    }

    private func readType(of key: String) throws(GGUFError) -> GGUFValueType {
        let start = source.position
        let number = try integer(UInt32.self, "the type of \"\(GGUFName.shown(key))\"")
        guard let type = GGUFValueType(rawValue: number) else {
            throw fault(
                .badValueType,
                "\"\(GGUFName.shown(key))\" has value type \(number) at byte \(start), and there are only "
                    + "types 0 to 12")
        }
        return type
    }

    private mutating func readScalar(
        _ type: GGUFValueType, of key: String, keepingTo longest: UInt64
    ) throws(GGUFError) -> GGUFValue {
        func what() -> String { "the value of \"\(GGUFName.shown(key))\"" }
        switch type {
        case .uint8: return .unsigned(UInt64(try integer(UInt8.self, what())))
        case .uint16: return .unsigned(UInt64(try integer(UInt16.self, what())))
        case .uint32: return .unsigned(UInt64(try integer(UInt32.self, what())))
        case .uint64: return .unsigned(try integer(UInt64.self, what()))
        case .int8: return .signed(Int64(try integer(Int8.self, what())))
        case .int16: return .signed(Int64(try integer(Int16.self, what())))
        case .int32: return .signed(Int64(try integer(Int32.self, what())))
        case .int64: return .signed(try integer(Int64.self, what()))
        case .float32: return .float(Float(bitPattern: try integer(UInt32.self, what())))
        case .float64: return .double(Double(bitPattern: try integer(UInt64.self, what())))
        case .bool:
            let byte = try integer(UInt8.self, what())
            guard byte <= 1 else { throw badBool(byte, key: key, at: source.position - 1) }
            return .bool(byte == 1)
        case .string: return .string(try readText(of: key, keepingTo: longest))
        case .array: throw nestedArray(key)
        }
    }

    private mutating func readText(of key: String, keepingTo longest: UInt64) throws(GGUFError) -> GGUFText {
        let length = try readStringLength(of: key)
        let offset = source.position
        guard length <= longest, kept + length <= Self.keptBytes else {
            try skip(length, "the value of \"\(GGUFName.shown(key))\"")
            return GGUFText(offset: offset, byteCount: length, text: nil)
        }
        kept += length
        let text = try bytes(length, "the value of \"\(GGUFName.shown(key))\"")
        return GGUFText(offset: offset, byteCount: length, text: String(decoding: text, as: UTF8.self))
    }

    private func readStringLength(of key: String) throws(GGUFError) -> UInt64 {
        let start = source.position
        let length = try integer(UInt64.self, "the length of a string of \"\(GGUFName.shown(key))\"")
        guard length <= Self.longestString else {
            throw fault(
                .badLength,
                "a string of \"\(GGUFName.shown(key))\" at byte \(start) is \(length) bytes long, and at most "
                    + "\(Self.longestString) are plausible")
        }
        return length
    }

    private mutating func readArray(key: String) throws(GGUFError) -> GGUFArray {
        let type = try readType(of: key)
        if type == .array { throw nestedArray(key) }
        let count = try integer(UInt64.self, "the number of elements of \"\(GGUFName.shown(key))\"")
        let offset = source.position
        // llama.cpp takes 2^30 elements at most. A string costs it, and us, time one by one.
        let most = type == .string ? Self.mostStrings : 1 << 30
        guard count <= most else {
            throw fault(
                .badCount,
                "\"\(GGUFName.shown(key))\" says that it has \(count) elements, and at most \(most) are plausible")
        }
        try expectRoom(count * (type.width ?? 8), for: "the \(count) elements of \"\(GGUFName.shown(key))\"")

        let isShort = count <= (type == .string ? 64 : 1024)
        guard isShort, kept + count * 32 <= Self.keptBytes else {
            try walk(type, count, key: key)
            return GGUFArray(elementType: type, count: count, offset: offset, elements: nil)
        }
        kept += count * 32
        var elements: [GGUFValue] = []
        elements.reserveCapacity(Int(count))
        for _ in 0..<count { elements.append(try readScalar(type, of: key, keepingTo: Self.longestText)) }
        return GGUFArray(elementType: type, count: count, offset: offset, elements: elements)
    }

    /// Goes over an array that is not kept, checking what can be wrong in it.
    private func walk(_ type: GGUFValueType, _ count: UInt64, key: String) throws(GGUFError) {
        if let width = type.width, type != .bool {
            return try skip(count * width, "the elements of \"\(GGUFName.shown(key))\"")
        }
        if type == .bool {
            let end = source.position + count
            if let bad = source.firstByte(above: 1, in: count) { throw badBool(bad, key: key, at: source.position) }
            guard source.position == end else { throw cutShort("the elements of \"\(GGUFName.shown(key))\"") }
            return try checkHeaderSize()
        }
        for _ in 0..<count {
            try skip(try readStringLength(of: key), "a string of \"\(GGUFName.shown(key))\"")
        }
    }

    private func nestedArray(_ key: String) -> GGUFError {
        fault(.nestedArray, "\"\(GGUFName.shown(key))\" is an array of arrays, which GGUF readers do not know")
    }

    private func badBool(_ byte: UInt8, key: String, at offset: UInt64) -> GGUFError {
        fault(
            .badBool, "\"\(GGUFName.shown(key))\" has \(byte) for a yes or no at byte \(offset), and must have 0 or 1")
    }
}

// MARK: Steps

extension GGUFHeaderReader {
    @inline(__always)
    func integer<T: FixedWidthInteger>(_ type: T.Type, _ what: @autoclosure () -> String) throws(GGUFError) -> T {
        guard let value = source.integer(type) else { throw cutShort(what()) }
        return value
    }

    func bytes(_ count: UInt64, _ what: @autoclosure () -> String) throws(GGUFError) -> [UInt8] {
        guard count <= source.remaining, let bytes = source.bytes(Int(count)) else {
            throw cutShort("the \(count) bytes of \(what())")
        }
        return bytes
    }

    @inline(__always)
    func skip(_ count: UInt64, _ what: @autoclosure () -> String) throws(GGUFError) {
        guard source.skip(count) else { throw cutShort("the \(count) bytes of \(what())") }
        try checkHeaderSize()
    }

    @inline(__always)
    func checkHeaderSize() throws(GGUFError) {
        guard source.position <= Self.largestHeader else {
            throw fault(.headerTooLarge, "its header is longer than \(Self.largestHeader) bytes")
        }
    }

    /// Refuses at once what would run over the end later, so that a hostile count costs nothing.
    func expectRoom(_ count: UInt64, for what: @autoclosure () -> String) throws(GGUFError) {
        guard count <= source.remaining else {
            throw GGUFError(
                .truncated,
                "\(source.name) is cut short: it ends at byte \(source.size), and from byte \(source.position) "
                    + "on \(what()) need at least \(count) bytes.")
        }
    }

    func cutShort(_ what: String) -> GGUFError {
        GGUFError(.truncated, "\(source.name) is cut short: it ends at byte \(source.size), inside \(what).")
    }

    func fault(_ reason: GGUFError.Reason, _ text: String, hint: String? = nil) -> GGUFError {
        GGUFError(reason, "\(source.name) cannot be used: \(text).", hint: hint)
    }

    /// A part of a file that was cut with no regard for GGUF looks like damage; its name tells what it is.
    private func withSplitHint(_ error: GGUFError) -> GGUFError {
        guard error.reason == .truncated || error.reason == .badMagic, let split = SplitFileName(source.name) else {
            return error
        }
        return GGUFError(
            error.reason, error.message,
            hint: "By its name it is part \(split.number) of \(split.count): \(split.allParts) belong together.")
    }
}
