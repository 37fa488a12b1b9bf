internal import AlcoveCore

/// SHA-256 of a file as it is read.
package struct FileHash {
    private var hash = SHA256()

    /// Of no bytes at all.
    static let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    package init() {}

    package mutating func update(_ bytes: UnsafeRawBufferPointer) { hash.update(bytes) }

    /// In lower-case hexadecimal.
    package var hex: String {
        hash.finish().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Of an open file; nil when it cannot be read or was stopped.
    static func sha256(of descriptor: Int32, stop: StopSignal) -> String? {
        var hash = FileHash()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        while !stop.isSet {
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count == 0 { return hash.hex }
            guard count > 0 else { return nil }
            hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
        return nil
    }
}
