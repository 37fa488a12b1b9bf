internal import AlcoveCore

/// Reads multipart/form-data (RFC 7578, RFC 2046 section 5.1) from bytes as they come, wherever they are cut.
///
/// A pure function of the bytes. Holds at most one part's header, or as much of a part's bytes as may still turn out to be
/// a boundary: a part of any size goes through in the pieces it came in.
package struct MultipartParser: Sendable {
    package struct Limits: Sendable {
        package var headerBytes = 16_384
        package var parts = 1_000

        package init() {}
    }

    package enum Event: Sendable, Equatable {
        case part(MultipartPart)
        /// More bytes of the part; never empty.
        case bytes([UInt8])
        case partEnd
        /// The closing boundary; what follows it is ignored.
        case end
    }

    private enum State {
        case preamble, header, bytes, epilogue
    }

    /// Most blanks behind a boundary before it is taken for a part's own bytes.
    private static let padding = 64

    private let delimiter: [UInt8]
    private let limits: Limits
    private var state = State.preamble
    /// The first boundary may stand at the very beginning, as if an empty line were before it.
    private var buffer: [UInt8] = [0x0D, 0x0A]
    private var start = 0
    /// Where the search goes on: what is before it holds no boundary.
    private var searched = 0
    private var parts = 0
    private var pending: [Event] = []

    /// - Parameter contentType: The whole field, with its boundary.
    package init(contentType: String, limits: Limits = Limits()) throws(MultipartError) {
        guard let field = HeaderParameters(contentType), field.value.equalsIgnoringCase("multipart/form-data"),
            let boundary = field.plain("boundary")
        else { throw .noBoundary }
        guard (1...200).contains(boundary.utf8.count), boundary.utf8.last != 0x20,
            boundary.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { throw .badBoundary }
        delimiter = Array("\r\n--".utf8) + Array(boundary.utf8)
        self.limits = limits
    }

    package mutating func feed(_ bytes: some Collection<UInt8>) {
        if state == .epilogue { return }
        if start > 0 {
            buffer.removeFirst(start)
            searched -= start
            start = 0
        }
        buffer += bytes
    }

    /// What comes next; nil when more bytes are needed for it.
    package mutating func next() throws(MultipartError) -> Event? {
        while pending.isEmpty {
            let goesOn =
                switch state {
                case .preamble: readPreamble()
                case .header: try readHeader()
                case .bytes: try readBytes()
                case .epilogue: false
                }
            if !goesOn { break }
        }
        return pending.isEmpty ? nil : pending.removeFirst()
    }

    /// The body is over.
    ///
    /// - Throws: `.incomplete` when its closing boundary is missing.
    package func finish() throws(MultipartError) {
        guard state == .epilogue else { throw .incomplete }
    }

    // MARK: Reading. Each answers whether there is more to do with the bytes that are here.

    private enum Boundary {
        case none
        /// At this place, or not: the bytes that tell are not here yet.
        case unclear(at: Int)
        case next(at: Int, after: Int)
        case last(at: Int)
    }

    /// Finds the first boundary from `searched` on.
    private mutating func findBoundary() -> Boundary {
        while true {
            guard let place = find(delimiter, from: searched) else {
                searched = max(searched, buffer.count - delimiter.count + 1)
                return .none
            }
            var index = place + delimiter.count
            if index < buffer.count, buffer[index] == UInt8(ascii: "-") {
                if index + 1 == buffer.count { return .unclear(at: place) }
                if buffer[index + 1] == UInt8(ascii: "-") { return .last(at: place) }
            } else {
                let limit = index + MultipartParser.padding
                while index < buffer.count, index < limit, buffer[index] == 0x20 || buffer[index] == 0x09 { index += 1 }
                if index == buffer.count { return .unclear(at: place) }
                if buffer[index] == 0x0D {
                    if index + 1 == buffer.count { return .unclear(at: place) }
                    if buffer[index + 1] == 0x0A { return .next(at: place, after: index + 2) }
                }
            }
            // A line that only begins like the boundary is the part's own.
            searched = place + delimiter.count
        }
    }

    /// Byte for byte through the C library: a debug build walks an array of Swift slowly.
    private func find(_ needle: [UInt8], from index: Int) -> Int? {
        buffer.withUnsafeBytes { whole in
            guard let base = whole.baseAddress else { return nil }
            var index = index
            while index + needle.count <= whole.count,
                let found = memchr(base + index, Int32(needle[0]), whole.count - needle.count + 1 - index)
            {
                index = UnsafeRawPointer(found) - base
                if memcmp(found, needle, needle.count) == 0 { return index }
                index += 1
            }
            return nil
        }
    }

    private mutating func readPreamble() -> Bool {
        switch findBoundary() {
        case .none:
            start = searched
            return false
        case .unclear(let place):
            start = place
            return false
        case .next(_, let after): beginHeader(at: after)
        case .last: finishForm()
        }
        return true
    }

    private mutating func beginHeader(at index: Int) {
        (start, searched, state) = (index, index, .header)
    }

    private mutating func finishForm() {
        (buffer, start, searched, state) = ([], 0, 0, .epilogue)
        pending.append(.end)
    }

    private mutating func readHeader() throws(MultipartError) -> Bool {
        let number = parts + 1
        let isEmpty = buffer.count - start >= 2 && buffer[start] == 0x0D && buffer[start + 1] == 0x0A
        let end = isEmpty ? start : find([0x0D, 0x0A, 0x0D, 0x0A], from: searched)
        // Without its end, three bytes of the end may be here already.
        guard (end ?? buffer.count - 3) - start <= limits.headerBytes else {
            throw .headerTooLarge(part: number, limit: limits.headerBytes)
        }
        guard let end else {
            searched = max(start, buffer.count - 3)
            return false
        }
        guard parts < limits.parts else { throw .tooManyParts(limit: limits.parts) }
        let part = try MultipartPart(header: buffer[start..<end], number: number)
        parts += 1
        // The empty line's own end may begin the next boundary: a part without a single byte.
        start = isEmpty ? end : end + 2
        searched = start
        pending.append(.part(part))
        state = .bytes
        isAtFirstByte = true
        return true
    }

    /// The empty line before the part's bytes is still in the buffer.
    private var isAtFirstByte = false

    private mutating func readBytes() throws(MultipartError) -> Bool {
        let boundary = findBoundary()
        let known: Int
        switch boundary {
        case .none: known = max(start, searched)
        case .unclear(let place), .next(let place, _), .last(let place): known = place
        }
        if isAtFirstByte {
            // A boundary right here has taken the empty line for its own.
            if known > start {
                start += 2
                isAtFirstByte = false
            } else if case .unclear = boundary {
                return false
            } else if case .none = boundary {
                return false
            }
        }
        isAtFirstByte = false
        if known > start { pending.append(.bytes(Array(buffer[start..<known]))) }
        start = max(start, known)
        switch boundary {
        case .none, .unclear: return !pending.isEmpty
        case .next(_, let after):
            pending.append(.partEnd)
            beginHeader(at: after)
        case .last:
            pending.append(.partEnd)
            finishForm()
        }
        return true
    }
}
