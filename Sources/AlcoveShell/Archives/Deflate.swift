internal import AlcoveCore
internal import CZlib

/// Packs and unpacks with zlib, piece by piece.
final class Deflate {
    enum Form: Int32 {
        case gzip = 31
        /// Without any wrapping, as within a zip archive.
        case raw = -15
    }

    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private let packs: Bool
    private(set) var hasEnded = false
    /// Bytes of the last piece that came after the end.
    private(set) var unused = 0

    /// - Parameter level: nil to unpack, else 1 to 9.
    init(_ form: Form, level: Int32? = nil) throws(Flow) {
        stream.initialize(to: z_stream())
        packs = level != nil
        let size = Int32(MemoryLayout<z_stream>.size)
        let code =
            level.map {
                deflateInit2_(stream, $0, Z_DEFLATED, form.rawValue, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
            }
            ?? inflateInit2_(stream, form.rawValue, ZLIB_VERSION, size)
        guard code == Z_OK else {
            stream.deallocate()
            throw .failed("packing cannot be begun (zlib says \(code))")
        }
    }

    deinit {
        if packs { deflateEnd(stream) } else { inflateEnd(stream) }
        stream.deallocate()
    }

    /// - Parameter isLast: No more will come.
    func take(_ bytes: [UInt8], isLast: Bool = false, _ body: ([UInt8]) throws(Flow) -> Void) throws(Flow) {
        var input = bytes
        var fault: Flow?
        input.withUnsafeMutableBufferPointer { buffer in
            stream.pointee.next_in = buffer.baseAddress
            stream.pointee.avail_in = UInt32(buffer.count)
            while !hasEnded || packs {
                var code: Int32 = Z_OK
                let piece = [UInt8](unsafeUninitializedCapacity: 1 << 16) { out, count in
                    stream.pointee.next_out = out.baseAddress
                    stream.pointee.avail_out = 1 << 16
                    code = packs ? deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH) : inflate(stream, Z_NO_FLUSH)
                    count = 1 << 16 - Int(stream.pointee.avail_out)
                }
                if !piece.isEmpty {
                    do throws(Flow) { try body(piece) } catch {
                        fault = error
                        return
                    }
                }
                if code == Z_STREAM_END {
                    hasEnded = true
                    break
                }
                if code == Z_BUF_ERROR { break }
                guard code == Z_OK else {
                    fault = .failed(
                        "the packed data is damaged" + (stream.pointee.msg.map { ": " + String(cString: $0) } ?? ""))
                    return
                }
                if stream.pointee.avail_in == 0, stream.pointee.avail_out > 0, !(packs && isLast) { break }
            }
            unused = Int(stream.pointee.avail_in)
        }
        if let fault { throw fault }
    }

    static func checksum(_ bytes: [UInt8], from start: UInt32 = 0) -> UInt32 {
        UInt32(truncatingIfNeeded: crc32(UInt(start), bytes, UInt32(bytes.count)))
    }
}

/// What is unpacked while it is read: one or several gzip members after one another.
///
/// Stays on its thread.
final class GunzipSource: ByteSource, @unchecked Sendable {
    private let source: any ByteSource
    private var inflater: Deflate?
    private var ready: [UInt8] = []
    private var ahead: [UInt8]
    private var hasEnded = false

    init(_ source: any ByteSource, ahead: [UInt8] = []) {
        self.source = source
        self.ahead = ahead
    }

    func unread(_ bytes: [UInt8]) { ready = bytes + ready }

    func read(_ most: Int, isLine: Bool) throws(Flow) -> [UInt8] {
        while ready.isEmpty, !hasEnded {
            var piece = ahead
            ahead = []
            if piece.isEmpty { piece = try source.read(1 << 16, isLine: false) }
            if piece.isEmpty {
                if inflater != nil { throw .failed("the packed data ends too early") }
                hasEnded = true
                break
            }
            while !piece.isEmpty {
                let current: Deflate
                if let open = inflater { current = open } else { current = try Deflate(.gzip) }
                inflater = current
                var out: [UInt8] = []
                try current.take(piece) { (bytes) throws(Flow) in out += bytes }
                ready += out
                piece = Array(piece.suffix(current.unused))
                guard current.hasEnded else { break }
                inflater = nil
                // Zeros may fill up the last block of a tape.
                if piece.allSatisfy({ $0 == 0 }) { piece = [] }
            }
        }
        var end = min(most, ready.count)
        if isLine, let line = ready[..<end].firstIndex(of: 10) { end = line + 1 }
        defer { ready.removeFirst(end) }
        return Array(ready[..<end])
    }
}
