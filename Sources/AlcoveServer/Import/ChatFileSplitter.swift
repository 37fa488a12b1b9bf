internal import AlcoveCore

/// Where a file of chats stops being one.
struct BrokenChatFile: UserFacingError, Equatable {
    let offset: Int
    let reason: String

    var code: String { "bad_json" }
    var place: ErrorPlace { .request }
    var message: String { "The file of chats cannot be read at byte \(offset): \(reason)." }
    var hint: String? { "What stands behind this place was not taken in; export the chats again." }
}

/// Cuts a file of chats into the bytes of one chat after another while it comes in, so that however long it is, one chat is
/// in memory.
///
/// Such a file is a list of chats, an object with a list "conversations", or one chat. Only where a value ends is looked for
/// here; what is inside one is the JSON parser's to judge.
struct ChatFileSplitter {
    enum Found: Equatable {
        /// The bytes of a value, and where it begins in the file.
        case chat([UInt8], at: Int)
        case tooLong(at: Int)
    }

    private enum Place {
        case start
        /// In a text, a number or a word: no chats, and perhaps no JSON.
        case scalar
        /// In an object, before its "conversations"; all of it may be one chat.
        case members
        /// Between the values of the list.
        case items(needsComma: Bool)
        case item
        /// Behind the list.
        case rest
    }

    /// Most bytes of one chat.
    let limit: Int

    private var place = Place.start
    private var offset = 0
    private var buffer: [UInt8] = []
    private var isTooLong = false
    private var itemStart = 0
    /// What opened and has not been closed, the list and the object around it not counted.
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    /// Whether the list stands in an object that must be closed too.
    private var isInObject = false
    private var key: [UInt8] = []
    private var isKey = false
    private var isAtValue = false
    private var isClosed = false

    init(limit: Int) { self.limit = limit }

    /// Reads on, and tells the values that are whole now.
    ///
    /// - Throws: where no file of chats goes on like this; the values before that place were told.
    mutating func append(_ bytes: [UInt8], _ found: (Found) -> Void) throws(BrokenChatFile) {
        for byte in bytes {
            if let value = try take(byte) { found(value) }
            offset += 1
        }
    }

    /// The end of the file.
    mutating func finish() throws(BrokenChatFile) -> Found? {
        switch place {
        case .members where isClosed:
            return isTooLong ? .tooLong(at: itemStart) : .chat(buffer, at: itemStart)
        case .rest where isClosed: return nil
        case .start: throw broken("there is nothing in it")
        case .scalar: return isTooLong ? .tooLong(at: itemStart) : .chat(buffer, at: itemStart)
        case .item: throw broken("it ends inside the chat that begins at byte \(itemStart)")
        default: throw broken("it ends early")
        }
    }

    private func broken(_ reason: String) -> BrokenChatFile { BrokenChatFile(offset: offset, reason: reason) }

    private mutating func take(_ byte: UInt8) throws(BrokenChatFile) -> Found? {
        switch place {
        case .start: begin(byte)
        case .scalar: keep(byte)
        case .members: try member(byte)
        case .items(let needsComma): return try between(byte, needsComma: needsComma)
        case .item: return item(byte)
        case .rest: try behind(byte)
        }
        return nil
    }

    private mutating func begin(_ byte: UInt8) {
        if byte.isSpace || [0xEF, 0xBB, 0xBF].contains(byte) && offset < 3 { return }
        itemStart = offset
        switch byte {
        case UInt8(ascii: "["): place = .items(needsComma: false)
        case UInt8(ascii: "{"):
            place = .members
            isKey = true
            keep(byte)
        default:
            place = .scalar
            keep(byte)
        }
    }

    /// A byte of an object that is one chat, unless a member "conversations" turns up.
    private mutating func member(_ byte: UInt8) throws(BrokenChatFile) {
        if isClosed {
            if !byte.isSpace { throw broken("there is more after its end") }
            return
        }
        if depth == 0, !isInString, isAtValue, !byte.isSpace {
            isAtValue = false
            if byte == UInt8(ascii: "["), key == Array("conversations".utf8) {
                place = .items(needsComma: false)
                isInObject = true
                buffer = []
                isTooLong = false
                return
            }
        }
        keep(byte)
        if isInString {
            if string(byte) == nil, isKey, depth == 0 { key.append(byte) }
            return
        }
        switch byte {
        case UInt8(ascii: "\""):
            isInString = true
            if isKey, depth == 0 { key = [] }
        case UInt8(ascii: ":") where depth == 0: (isKey, isAtValue) = (false, true)
        case UInt8(ascii: ",") where depth == 0: isKey = true
        default: try nest(byte)
        }
    }

    private mutating func nest(_ byte: UInt8) throws(BrokenChatFile) {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            if depth > 0 {
                depth -= 1
            } else if byte == UInt8(ascii: "}") {
                isClosed = true
            } else {
                throw broken("nothing is open that this closes")
            }
        default: break
        }
    }

    private mutating func between(_ byte: UInt8, needsComma: Bool) throws(BrokenChatFile) -> Found? {
        if byte.isSpace { return nil }
        switch byte {
        case UInt8(ascii: ","):
            guard needsComma else { throw broken("a chat should be here") }
            place = .items(needsComma: false)
        case UInt8(ascii: "]"):
            place = .rest
            isClosed = !isInObject
        default:
            guard !needsComma else { throw broken("a comma or ] should be here") }
            place = .item
            itemStart = offset
            (buffer, isTooLong, depth) = ([], false, 0)
            return item(byte)
        }
        return nil
    }

    private mutating func item(_ byte: UInt8) -> Found? {
        if isInString {
            keep(byte)
            return string(byte) == true && depth == 0 ? end() : nil
        }
        switch byte {
        case UInt8(ascii: "\""):
            keep(byte)
            isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            keep(byte)
            depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            // Behind a bare word or number the bracket is the list's.
            if depth == 0 { return endBefore(byte) }
            keep(byte)
            depth -= 1
            if depth == 0 { return end() }
        case UInt8(ascii: ",") where depth == 0: return endBefore(byte)
        default: keep(byte)
        }
        return nil
    }

    private mutating func end() -> Found {
        defer { buffer = [] }
        place = .items(needsComma: true)
        return isTooLong ? .tooLong(at: itemStart) : .chat(buffer, at: itemStart)
    }

    private mutating func endBefore(_ byte: UInt8) -> Found {
        let found = end()
        if byte == UInt8(ascii: ",") {
            place = .items(needsComma: false)
        } else {
            place = .rest
            isClosed = !isInObject
        }
        return found
    }

    private mutating func behind(_ byte: UInt8) throws(BrokenChatFile) {
        if isInString {
            _ = string(byte)
        } else if isClosed {
            if !byte.isSpace { throw broken("there is more after its end") }
        } else if byte == UInt8(ascii: "\"") {
            isInString = true
        } else {
            try nest(byte)
        }
    }

    /// A byte inside a text: true when it ends it, false when it is part of an escape, nil when it is itself.
    private mutating func string(_ byte: UInt8) -> Bool? {
        if isEscaped {
            isEscaped = false
            return false
        }
        if byte == UInt8(ascii: "\\") {
            isEscaped = true
            return false
        }
        if byte == UInt8(ascii: "\"") {
            isInString = false
            return true
        }
        return nil
    }

    private mutating func keep(_ byte: UInt8) {
        if isTooLong { return }
        buffer.append(byte)
        if buffer.count > limit { (buffer, isTooLong) = ([], true) }
    }
}

extension UInt8 {
    fileprivate var isSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
