/// A bounded buffer between two stages of a pipeline: the writer waits while it is full, the reader while it is empty.
///
/// Unchecked: the gate guards the rest.
final class Pipe: @unchecked Sendable {
    static let capacity = 1 << 16

    private let gate = Gate()
    private var bytes: [UInt8] = []
    private var start = 0
    private var hasReader = true
    private var hasWriter = true
    private let control: RunControl

    /// Each end is closed with its last reference, as descriptors are.
    static func make(_ control: RunControl) -> (reader: PipeReader, writer: PipeWriter) {
        let pipe = Pipe(control)
        control.add(pipe)
        return (PipeReader(pipe), PipeWriter(pipe))
    }

    private init(_ control: RunControl) { self.control = control }

    /// Whether the run is stopped, or the part of it that this thread works for.
    private var isStopped: Bool { control.isStopped || RunControl.isCurrentStopped }

    /// Lets those who wait look whether the run is stopped.
    func wake() { gate.locked { gate.wake() } }

    fileprivate func read(_ most: Int, isLine: Bool) throws(Flow) -> [UInt8] {
        let result = gate.locked { () -> [UInt8]? in
            while start == bytes.count, hasWriter, !isStopped { gate.wait() }
            if isStopped { return nil }
            var end = min(bytes.count, start + most)
            if isLine, let line = bytes[start..<end].firstIndex(of: 10) { end = line + 1 }
            let piece = Array(bytes[start..<end])
            start = end
            if start == bytes.count {
                bytes.removeAll(keepingCapacity: true)
                start = 0
            }
            gate.wake()
            return piece
        }
        guard let result else { throw .stopped }
        return result
    }

    fileprivate func unread(_ old: [UInt8]) {
        gate.locked {
            bytes.replaceSubrange(..<start, with: old)
            start = 0
        }
    }

    fileprivate func write(_ new: [UInt8]) throws(Flow) {
        var done = 0
        while done < new.count {
            let fault = gate.locked { () -> Flow? in
                while bytes.count - start >= Pipe.capacity, hasReader, !isStopped { gate.wait() }
                if isStopped { return .stopped }
                if !hasReader { return .unread }
                if start > 0 {
                    bytes.removeFirst(start)
                    start = 0
                }
                let count = min(new.count - done, Pipe.capacity - bytes.count)
                bytes += new[done..<done + count]
                done += count
                gate.wake()
                return nil
            }
            if let fault { throw fault }
        }
    }

    fileprivate func closeReader() {
        gate.locked {
            hasReader = false
            bytes = []
            start = 0
            gate.wake()
        }
    }

    fileprivate func closeWriter() {
        gate.locked {
            hasWriter = false
            gate.wake()
        }
    }
}

final class PipeReader: ByteSource {
    private let pipe: Pipe
    fileprivate init(_ pipe: Pipe) { self.pipe = pipe }
    deinit { pipe.closeReader() }
    func read(_ most: Int, isLine: Bool) throws(Flow) -> [UInt8] { try pipe.read(most, isLine: isLine) }
    func unread(_ bytes: [UInt8]) { pipe.unread(bytes) }
}

final class PipeWriter: ByteSink {
    private let pipe: Pipe
    fileprivate init(_ pipe: Pipe) { self.pipe = pipe }
    deinit { pipe.closeWriter() }
    func write(_ bytes: [UInt8]) throws(Flow) { try pipe.write(bytes) }
}
