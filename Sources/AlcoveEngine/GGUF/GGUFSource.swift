internal import AlcoveCore

/// Reads one file forwards through a small buffer.
///
/// `pread` and not `mmap`: a file that someone cuts short while it is mapped kills the reader with SIGBUS. Not Sendable
/// on purpose: it has a position.
final class GGUFSource {
    /// The name for sentences: the last part of the path, harmless to print.
    let name: String
    /// Size when the file was opened.
    let size: UInt64
    private(set) var position: UInt64 = 0

    private static let bufferSize = 64 * 1024
    private let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: bufferSize)
    private var bufferStart: UInt64 = 0
    private var buffered = 0

    init(path: String) throws(GGUFError) {
        name = GGUFName.ofFile(path)
        // O_NONBLOCK: opening a pipe that nobody writes to must not hang.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        let openFault = errno
        guard descriptor >= 0 else {
            if openFault == ENOENT { throw GGUFError(.missing, "There is no model file at \(GGUFName.shown(path)).") }
            throw GGUFError(
                .unreadable, "\(GGUFName.shown(path)) cannot be opened: \(Platform.describe(errno: openFault)).")
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size >= 0 else {
            close(descriptor)
            throw GGUFError(.notAFile, "\(GGUFName.shown(path)) is not a file but a folder or a device.")
        }
        size = UInt64(status.st_size)
    }

    deinit { close(descriptor) }

    var remaining: UInt64 { position < size ? size - position : 0 }

    func seek(to offset: UInt64) { position = offset }

    /// Goes over bytes without reading them; false when the file has fewer.
    func skip(_ count: UInt64) -> Bool {
        guard count <= remaining else { return false }
        position += count
        return true
    }

    /// The next number, little-endian; nil when the file ends before it does.
    @inline(__always)
    func integer<T: FixedWidthInteger>(_ type: T.Type) -> T? {
        let width = MemoryLayout<T>.size
        guard let start = window(width) else { return nil }
        position += UInt64(width)
        return buffer.withUnsafeBytes { T(littleEndian: $0.loadUnaligned(fromByteOffset: start, as: T.self)) }
    }

    /// The next bytes; nil when the file ends before they do. The caller has bounded the count.
    func bytes(_ count: Int) -> [UInt8]? {
        guard UInt64(count) <= remaining else { return nil }
        var result = [UInt8]()
        result.reserveCapacity(count)
        while result.count < count {
            guard let start = window(1) else { return nil }
            let piece = min(count - result.count, buffered - start)
            result.append(contentsOf: buffer[start..<start + piece])
            position += UInt64(piece)
        }
        return result
    }

    /// Up to so many bytes from the beginning, without moving.
    func head(_ count: Int) -> [UInt8] {
        let saved = position
        defer { position = saved }
        position = 0
        return bytes(Int(min(UInt64(count), size))) ?? []
    }

    /// Finds the first byte above a limit in a range that should be there, and stops before it; nil when there is none
    /// or the file ended after all, which `position` tells.
    func firstByte(above limit: UInt8, in count: UInt64) -> UInt8? {
        let end = position + count
        while position < end, let start = window(1) {
            let piece = Int(min(end - position, UInt64(buffered - start)))
            let stop = buffer.withUnsafeBytes { raw in
                var index = start
                while index < start + piece, raw[index] <= limit { index += 1 }
                return index
            }
            position += UInt64(stop - start)
            if stop < start + piece { return buffer[stop] }
        }
        return nil
    }

    /// Index in the buffer where the next `count` bytes (at most 8) stand; nil when the file has fewer.
    @inline(__always)
    private func window(_ count: Int) -> Int? {
        if position >= bufferStart, position &- bufferStart <= UInt64(buffered),
            UInt64(buffered) &- (position &- bufferStart) >= UInt64(count)
        {
            return Int(position - bufferStart)
        }
        return fill(atLeast: count)
    }

    private func fill(atLeast count: Int) -> Int? {
        guard UInt64(count) <= remaining else { return nil }
        bufferStart = position
        buffered = 0
        while buffered < count {
            let got = buffer.withUnsafeMutableBytes { raw in
                pread(descriptor, raw.baseAddress! + buffered, raw.count - buffered, off_t(position) + off_t(buffered))
            }
            if got < 0, errno == EINTR { continue }
            // Shorter than it was when opened, or a bad disk: either way these bytes are not to be had.
            guard got > 0 else { return nil }
            buffered += got
        }
        return 0
    }
}

/// Names from files, made safe for a sentence.
enum GGUFName {
    static func ofFile(_ path: String) -> String {
        shown(path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(decoding: $0, as: UTF8.self) } ?? path)
    }

    static func shown(_ text: String) -> String { shown(bytes: Array(text.utf8)) }

    /// The text with everything that could move a cursor, turn its direction or hide replaced by `?`, cut at 200.
    static func shown(bytes: some Collection<UInt8>) -> String {
        let text = String(decoding: bytes.prefix(800), as: UTF8.self)
        var out = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if out.count >= 200 {
                out.append("…")
                break
            }
            out.append(isHarmless(scalar) ? scalar : "?")
        }
        return String(out)
    }

    static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: scalar != "\u{FFFD}"
        }
    }
}
