internal import AlcoveCore

/// Standard input and output as the commands use them: bytes, unbuffered, never a crash on a closed pipe.
enum Terminal {
    static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
    static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }
    static var inputIsTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    static func write(_ text: String) { write(Array(text.utf8), to: STDOUT_FILENO) }

    static func line(_ text: String = "") { write(text + "\n") }

    /// For people, beside the answer: it never goes into a pipe.
    static func notice(_ text: String) { write(Array((text + "\n").utf8), to: STDERR_FILENO) }

    static func noticePart(_ text: String) { write(Array(text.utf8), to: STDERR_FILENO) }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    private static func systemWrite(_ descriptor: Int32, _ base: UnsafeRawPointer?, _ count: Int) -> Int {
        #if canImport(Darwin)
        Darwin.write(descriptor, base, count)
        #else
        Glibc.write(descriptor, base, count)
        #endif
    }

    /// One line of the terminal, without its end, in lower case; empty when there is none. Does not block the shared pool.
    static func readAnswer() async -> String {
        await withCheckedContinuation { continuation in
            let isStarted = startThread(name: "alcove.answer") {
                var lines = InputLines()
                let text = lines.next().map { String(decoding: $0, as: UTF8.self) } ?? ""
                continuation.resume(returning: text.lowercased().filter { !$0.isWhitespace })
            }
            if !isStarted { continuation.resume(returning: "") }
        }
    }

    /// All of standard input; nil when it is longer than `limit` bytes.
    static func readAll(limit: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
            if bytes.count > limit { return nil }
        }
    }
}

/// Lines of standard input as bytes, without their ends.
struct InputLines: Sequence, IteratorProtocol {
    private var buffer: [UInt8] = []
    private var start = 0
    private var ended = false

    mutating func next() -> [UInt8]? {
        while true {
            if let end = buffer[start...].firstIndex(of: 0x0A) {
                defer { start = end + 1 }
                return Array(buffer[start..<end])
            }
            if ended {
                guard start < buffer.count else { return nil }
                defer { start = buffer.count }
                return Array(buffer[start...])
            }
            buffer.removeFirst(start)
            start = 0
            fill()
        }
    }

    private mutating func fill() {
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        let count = read(STDIN_FILENO, &piece, piece.count)
        if count < 0, errno == EINTR { return }
        if count <= 0 { ended = true } else { buffer += piece[..<count] }
    }
}
