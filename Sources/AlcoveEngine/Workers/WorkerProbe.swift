internal import AlcoveCore
internal import llama

/// Asks a worker who it is before the library connects: the library waits for an answer as long as it takes.
package enum WorkerProbe {
    /// - Parameter seconds: Until when it must have answered.
    /// - Returns: bytes that its first processor has free.
    /// - Throws: `WorkerError`, with the name of the address.
    package static func ask(_ worker: WorkerAddress, seconds: Double = 3) throws(WorkerError) -> UInt64 {
        let end = Platform.monotonicNanoseconds + UInt64(seconds * 1e9)
        let connection = try Connection(worker, end: end)
        // The greeting: 24 bytes of abilities, none of which we have.
        let greeting = try connection.ask(14, [UInt8](repeating: 0, count: 24), answer: 28)
        guard greeting[0] == UInt8(RPC_PROTO_MAJOR_VERSION), greeting[1] <= UInt8(RPC_PROTO_MINOR_VERSION) else {
            throw .version(
                name: worker.name, theirs: "\(greeting[0]).\(greeting[1])",
                ours: "\(RPC_PROTO_MAJOR_VERSION).\(RPC_PROTO_MINOR_VERSION)")
        }
        let memory = try connection.ask(11, [0, 0, 0, 0], answer: 16)
        return memory.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// One connection, closed with it.
    private final class Connection {
        let descriptor: Int32
        let worker: WorkerAddress
        let end: UInt64

        init(_ worker: WorkerAddress, end: UInt64) throws(WorkerError) {
            func failed(_ code: Int32) -> WorkerError {
                .unreachable(name: worker.name, reason: Platform.describe(errno: code))
            }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = worker.port.bigEndian
            guard inet_pton(AF_INET, worker.address, &address.sin_addr) == 1 else { throw failed(EINVAL) }
            #if canImport(Darwin)
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
            #else
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            #endif
            guard descriptor >= 0 else { throw failed(errno) }
            self.descriptor = descriptor
            self.worker = worker
            self.end = end
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
            let begun = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            if begun == 0 { return }
            guard errno == EINPROGRESS else { throw failed(errno) }
            guard isReady(POLLOUT) else { throw failed(ETIMEDOUT) }
            var code: Int32 = 0, size = socklen_t(MemoryLayout<Int32>.size)
            getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size)
            guard code == 0 else { throw failed(code) }
        }

        deinit { close(descriptor) }

        /// A command and its answer of a known length, all numbers from the least byte up.
        func ask(_ command: UInt8, _ request: [UInt8], answer count: Int) throws(WorkerError) -> [UInt8] {
            let message = [command] + WorkerProbe.bytes(UInt64(request.count)) + request
            var sent = 0
            while sent < message.count {
                guard isReady(POLLOUT) else { throw .silent(name: worker.name) }
                let written = message[sent...].withUnsafeBytes {
                    send(descriptor, $0.baseAddress, $0.count, Connection.quietly)
                }
                if written < 0, errno == EINTR || errno == EAGAIN { continue }
                guard written > 0 else { throw .foreign(name: worker.name) }
                sent += written
            }
            let size = try read(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
            guard size == UInt64(count) else { throw .foreign(name: worker.name) }
            return try read(count)
        }

        private func read(_ count: Int) throws(WorkerError) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: count), done = 0
            while done < count {
                guard isReady(POLLIN) else { throw .silent(name: worker.name) }
                let got = bytes[done...].withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
                if got < 0, errno == EINTR || errno == EAGAIN { continue }
                guard got > 0 else { throw .foreign(name: worker.name) }
                done += got
            }
            return bytes
        }

        private func isReady(_ what: Int32) -> Bool {
            while true {
                let now = Platform.monotonicNanoseconds
                guard now < end else { return false }
                var state = pollfd(fd: descriptor, events: Int16(what), revents: 0)
                let found = poll(&state, 1, Int32((end - now) / 1_000_000) + 1)
                if found < 0, errno == EINTR { continue }
                return found > 0
            }
        }

        #if canImport(Darwin)
        private static let quietly: Int32 = 0
        #else
        private static let quietly = Int32(MSG_NOSIGNAL)
        #endif
    }

    private static func bytes(_ value: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
