internal import AlcoveCore
internal import AlcoveSandbox

/// A file of the workspace, read and written at one place that everybody shares who has it open.
///
/// Unchecked: the gate guards the place, which the system keeps with the descriptor.
final class FileStream: ByteSource, ByteSink, @unchecked Sendable {
    private let file: ConfinedFile
    private let control: RunControl
    private let gate = Gate()

    init(_ file: ConfinedFile, _ control: RunControl) {
        self.file = file
        self.control = control
    }

    func read(_ most: Int, isLine: Bool) throws(Flow) -> [UInt8] {
        try control.check()
        var code: Int32 = 0
        let wanted = isLine ? min(most, 4096) : min(most, 1 << 18)
        let piece = gate.locked {
            var piece = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
                let got = AlcoveCore.read(file.descriptor, buffer.baseAddress, wanted)
                if got < 0 { code = errno }
                count = max(0, got)
            }
            if isLine, let line = piece.firstIndex(of: 10), line + 1 < piece.count {
                lseek(file.descriptor, off_t(line + 1 - piece.count), SEEK_CUR)
                piece.removeSubrange((line + 1)...)
            }
            return piece
        }
        if code == EINTR { return try read(most, isLine: isLine) }
        if code != 0 { throw .failed("\(file.path): \(Platform.describe(errno: code))") }
        return piece
    }

    func unread(_ bytes: [UInt8]) {
        gate.locked { _ = lseek(file.descriptor, off_t(-bytes.count), SEEK_CUR) }
    }

    func write(_ bytes: [UInt8]) throws(Flow) {
        try control.check()
        guard !bytes.isEmpty else { return }
        let fault = gate.locked { () -> ConfinementError? in
            var place = AlcoveCore.stat()
            if fstat(file.descriptor, &place) == 0,
                UInt64(max(0, place.st_size)) + UInt64(bytes.count) > control.limits.fileBytes
            {
                return .tooLarge(path: file.path, limit: Int(clamping: control.limits.fileBytes))
            }
            do throws(ConfinementError) { try file.write(bytes) } catch { return error }
            return nil
        }
        if let fault { throw .failed(fault.message) }
    }
}

/// A descriptor of this process: the terminal or the pipe that `alcove sh` was started with.
///
/// Unchecked: the gate guards what was read and not yet taken. The descriptor is not closed here.
final class HostStream: ByteSource, ByteSink, @unchecked Sendable {
    private let descriptor: Int32
    private let control: RunControl
    private var ahead: [UInt8] = []
    private let gate = Gate()

    init(_ descriptor: Int32, _ control: RunControl) {
        self.descriptor = descriptor
        self.control = control
    }

    func read(_ most: Int, isLine: Bool) throws(Flow) -> [UInt8] {
        var result: [UInt8]?
        while result == nil {
            try control.check()
            if RunControl.isCurrentStopped { throw .stopped }
            result = gate.locked {
                if ahead.isEmpty {
                    // In slices, so that a stop is seen while nothing comes.
                    var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                    let ready = poll(&wait, 1, 10)
                    if ready == 0 || (ready < 0 && errno == EINTR) { return nil }
                    ahead = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
                        count = max(0, AlcoveCore.read(descriptor, buffer.baseAddress, 1 << 16))
                    }
                    if ahead.isEmpty { return [] }
                }
                var end = min(ahead.count, most)
                if isLine, let line = ahead[..<end].firstIndex(of: 10) { end = line + 1 }
                defer { ahead.removeFirst(end) }
                return Array(ahead[..<end])
            }
        }
        return result ?? []
    }

    func unread(_ bytes: [UInt8]) { gate.locked { ahead = bytes + ahead } }

    func write(_ bytes: [UInt8]) throws(Flow) {
        var done = 0
        while done < bytes.count {
            try control.check()
            let count = bytes.withUnsafeBytes {
                AlcoveCore.write(descriptor, $0.baseAddress! + done, min($0.count - done, 1 << 16))
            }
            if count < 0 {
                if errno == EINTR { continue }
                if errno == EPIPE { throw .unread }
                throw .failed(Platform.describe(errno: errno))
            }
            done += count
        }
    }
}
