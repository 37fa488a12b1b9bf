internal import AlcoveCore
internal import Synchronization

/// Standard input and output as the commands use them: bytes, unbuffered, never a crash on a closed pipe.
enum Terminal {
    /// Whatever of standard input, output and error is closed becomes /dev/null. Otherwise the next file or pipe that is
    /// opened takes its number, and what is meant for the terminal goes there. To be called before anything is opened.
    static func openWhatIsClosed() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            _ = open("/dev/null", O_RDWR)  // the lowest free number, which is this one
        }
    }

    private static let outputFault = Atomic<Int32>(0)

    /// Why standard output can no longer be written; nil as long as it can.
    static var outputErrno: Int32? {
        let code = outputFault.load(ordering: .relaxed)
        return code == 0 ? nil : code
    }

    /// The same, but for a reader that has left: it has what it wanted.
    static var lostOutput: Int32? { outputErrno == EPIPE ? nil : outputErrno }

    static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
    static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }
    static var inputIsTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// As it is for a program or a file; harmless for a terminal.
    static func write(_ text: String) {
        write(Array((outputIsTerminal ? harmless(text) : text).utf8), to: STDOUT_FILENO)
    }

    /// The text with control characters other than tab and line feed replaced: words of a model, of a file or of its
    /// template could otherwise move the cursor, retitle the window, or paint over what was said before.
    static func harmless(_ text: String) -> String {
        let isHarmful: (Unicode.Scalar) -> Bool = { scalar in
            switch scalar.value {
            case 0x09, 0x0A: false
            case 0..<0x20, 0x7F...0x9F: true
            default: false
            }
        }
        guard text.unicodeScalars.contains(where: isHarmful) else { return text }
        var out = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { out.append(isHarmful(scalar) ? "\u{FFFD}" : scalar) }
        return String(out)
    }

    static func line(_ text: String = "") { write(text + "\n") }

    /// For people, beside the answer: it never goes into a pipe.
    static func notice(_ text: String) { write(Array((harmless(text) + "\n").utf8), to: STDERR_FILENO) }

    static func noticePart(_ text: String) { write(Array(text.utf8), to: STDERR_FILENO) }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                if descriptor == STDOUT_FILENO { outputFault.store(count < 0 ? errno : EIO, ordering: .relaxed) }
                return
            }
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
