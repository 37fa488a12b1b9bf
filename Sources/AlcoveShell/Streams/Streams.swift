/// What leaves a command before its end.
enum Flow: Error {
    /// `break` and `continue`: out of so many loops, the last of which goes on or not.
    case leaveLoops(Int)
    case nextRound(Int)
    case returning(Int32)
    case exiting(Int32)
    /// Nobody reads any more: what SIGPIPE is to a process.
    case unread
    /// The whole run ends: stopped, out of time.
    case stopped
    /// A command cannot go on; the sentence is for its standard error.
    case failed(String)
}

/// Bytes that come, shared by everybody who has it open.
protocol ByteSource: AnyObject, Sendable {
    /// Waits for bytes. Empty at the end.
    ///
    /// - Parameter isLine: Nothing past the first new line is taken, so that the next reader finds it.
    func read(_ most: Int, isLine: Bool) throws(Flow) -> [UInt8]

    /// Gives back bytes that were read last and not used, for the next reader.
    func unread(_ bytes: [UInt8])
}

/// Where bytes go.
protocol ByteSink: AnyObject, Sendable {
    func write(_ bytes: [UInt8]) throws(Flow)
}

/// What a descriptor of the shell means.
struct OpenFile: Sendable {
    var source: (any ByteSource)?
    var sink: (any ByteSink)?
    var isTerminal = false
}

/// The empty input, and the output nobody reads.
final class NullStream: ByteSource, ByteSink {
    func read(_ most: Int, isLine: Bool) -> [UInt8] { [] }
    func unread(_ bytes: [UInt8]) {}
    func write(_ bytes: [UInt8]) {}
}

/// Endless bytes of one value.
final class ZeroStream: ByteSource, ByteSink {
    func read(_ most: Int, isLine: Bool) -> [UInt8] { [UInt8](repeating: 0, count: min(most, 1 << 16)) }
    func unread(_ bytes: [UInt8]) {}
    func write(_ bytes: [UInt8]) {}
}

/// Bytes that are there already: a here-document, the input of a run.
///
/// Unchecked: the gate guards the place.
final class StoredInput: ByteSource, @unchecked Sendable {
    private let bytes: [UInt8]
    private var place = 0
    private let gate = Gate()

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func read(_ most: Int, isLine: Bool) -> [UInt8] {
        gate.locked {
            var end = min(bytes.count, place + most)
            if isLine, let line = bytes[place..<end].firstIndex(of: 10) { end = line + 1 }
            defer { place = end }
            return Array(bytes[place..<end])
        }
    }

    func unread(_ bytes: [UInt8]) { gate.locked { place = max(0, place - bytes.count) } }
}

/// Collects what is written, up to a limit, for a command substitution.
///
/// Unchecked: the gate guards the bytes.
final class CollectedOutput: ByteSink, @unchecked Sendable {
    private var bytes: [UInt8] = []
    private let limit: Int
    private let gate = Gate()

    init(limit: Int) { self.limit = limit }

    func write(_ new: [UInt8]) throws(Flow) {
        let fits = gate.locked {
            guard bytes.count + new.count <= limit else { return false }
            bytes += new
            return true
        }
        if !fits { throw .failed("the output of $(...) is longer than \(limit) bytes") }
    }

    func take() -> [UInt8] {
        gate.locked {
            defer { bytes = [] }
            return bytes
        }
    }
}

/// Gives what is written to whoever runs the script.
final class PassedOutput: ByteSink {
    private let pass: @Sendable ([UInt8]) -> Void
    init(_ pass: @escaping @Sendable ([UInt8]) -> Void) { self.pass = pass }
    func write(_ bytes: [UInt8]) { if !bytes.isEmpty { pass(bytes) } }
}
