/// One server-sent event.
public struct ServerSentEvent: Sendable, Hashable {
    /// `message` unless the stream named another.
    public var type: String
    /// The data lines, joined by line feeds.
    public var data: String
    /// The last id the stream has named, also when this event did not.
    public var id: String

    public init(type: String, data: String, id: String) {
        self.type = type
        self.data = data
        self.id = id
    }
}

/// Reads server-sent events out of bytes (WHATWG HTML, 9.2.6): a pure function, whatever the pieces they come in.
///
/// Lines may end in CR, LF or CR LF, also when the two come apart. An event whose blank line never comes is discarded.
/// Text is decoded once its event is complete, so no character is ever cut; bytes that are not UTF-8 become U+FFFD.
public struct SSEParser: Sendable {
    /// The reconnection time the stream has asked for.
    public private(set) var retryMilliseconds: Int?
    /// The id to send as `Last-Event-ID` after a reconnection.
    public private(set) var lastEventID = ""

    /// A line or an event longer than this is dropped as a whole, so that a hostile stream cannot fill the memory.
    private let maximumBytes: Int

    /// The piece of a line whose end has not come.
    private var partial: [UInt8] = []
    private var data: [UInt8] = []
    private var hasData = false
    private var type = ""
    private var id = ""
    /// A CR ended the last line: a LF that comes first now belongs to it.
    private var skipsLineFeed = false
    private var isAtStart = true
    private var dropsLine = false
    private var dropsEvent = false

    /// - Parameter maximumBytes: of one event.
    public init(maximumBytes: Int = 64 * 1_048_576) { self.maximumBytes = maximumBytes }

    /// The events that these bytes complete.
    public mutating func feed(_ bytes: [UInt8]) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        feed(bytes) { events.append($0) }
        return events
    }

    /// Calls `body` for each event that these bytes complete, in order.
    public mutating func feed(_ bytes: [UInt8], _ body: (ServerSentEvent) -> Void) {
        bytes.withUnsafeBytes { feed($0, body) }
    }

    public mutating func feed(_ bytes: UnsafeRawBufferPointer, _ body: (ServerSentEvent) -> Void) {
        var position = 0
        if skipsLineFeed, let first = bytes.first {
            if first == 0x0A { position = 1 }
            skipsLineFeed = false
        }
        // One search for a CR serves all lines up to it: most streams have none.
        var nextCarriageReturn = SSEParser.find(0x0D, in: bytes, from: position)
        while position < bytes.count {
            let end: Int
            if let lineFeed = SSEParser.find(0x0A, in: bytes, from: position, to: nextCarriageReturn) {
                end = lineFeed
            } else if nextCarriageReturn < bytes.count {
                end = nextCarriageReturn
            } else {
                break
            }
            finishLine(UnsafeRawBufferPointer(rebasing: bytes[position..<end]), body)
            position = end + 1
            if end == nextCarriageReturn {
                if position == bytes.count {
                    skipsLineFeed = true
                } else if bytes[position] == 0x0A {
                    position += 1
                }
                nextCarriageReturn = SSEParser.find(0x0D, in: bytes, from: position)
            }
        }
        keep(bytes[position...])
    }

    /// The place of a byte, or the end.
    private static func find(_ byte: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        find(byte, in: bytes, from: start, to: bytes.count) ?? bytes.count
    }

    private static func find(_ byte: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int, to end: Int) -> Int? {
        guard start < end, let base = bytes.baseAddress else { return nil }
        return memchr(base + start, Int32(byte), end - start).map { UnsafeRawPointer($0) - base }
    }

    private mutating func keep(_ rest: Slice<UnsafeRawBufferPointer>) {
        if dropsLine { return }
        partial += rest
        if partial.count > maximumBytes {
            partial = []
            (dropsLine, dropsEvent) = (true, true)
        }
    }

    private mutating func finishLine(_ line: UnsafeRawBufferPointer, _ body: (ServerSentEvent) -> Void) {
        if dropsLine {
            dropsLine = false
        } else if partial.isEmpty {
            read(line, body)
        } else {
            var whole: [UInt8] = []
            swap(&whole, &partial)
            whole += line
            whole.withUnsafeBytes { read($0, body) }
            whole.removeAll(keepingCapacity: whole.capacity <= 65_536)
            swap(&whole, &partial)
        }
    }

    private mutating func read(_ line: UnsafeRawBufferPointer, _ body: (ServerSentEvent) -> Void) {
        var line = line
        if isAtStart {
            isAtStart = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line = UnsafeRawBufferPointer(rebasing: line[3...]) }
        }
        if line.isEmpty { return dispatch(body) }
        guard let base = line.baseAddress else { return }
        // Nearly every line is "data: ...".
        if line.count >= 5, memcmp(base, "data:", 5) == 0 {
            return addData(value(line, after: 4))
        }
        let colon = SSEParser.find(UInt8(ascii: ":"), in: line, from: 0)
        if colon == 0 { return }
        let value = value(line, after: colon)
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "data": addData(value)
        case "event": type = String(decoding: value, as: UTF8.self)
        case "id": if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        case "retry":
            if !value.isEmpty, value.allSatisfy({ (0x30...0x39).contains($0) }) {
                retryMilliseconds = Int(String(decoding: value, as: UTF8.self)) ?? retryMilliseconds
            }
        default: break
        }
    }

    private func value(_ line: UnsafeRawBufferPointer, after colon: Int) -> UnsafeRawBufferPointer {
        var start = min(colon + 1, line.count)
        if start < line.count, line[start] == 0x20 { start += 1 }
        return UnsafeRawBufferPointer(rebasing: line[start...])
    }

    private mutating func addData(_ value: UnsafeRawBufferPointer) {
        if data.count + value.count > maximumBytes { dropsEvent = true }
        if dropsEvent { return }
        if hasData { data.append(0x0A) }
        hasData = true
        data += value
    }

    private mutating func dispatch(_ body: (ServerSentEvent) -> Void) {
        lastEventID = id
        if hasData && !dropsEvent {
            body(
                ServerSentEvent(
                    type: type.isEmpty ? "message" : type, data: String(decoding: data, as: UTF8.self), id: lastEventID)
            )
        }
        data.removeAll(keepingCapacity: data.capacity <= 65_536)
        (hasData, dropsEvent, type) = (false, false, "")
    }
}
