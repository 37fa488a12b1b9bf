import AlcoveCore

/// One connected TCP socket, blocking, closed with the last reference.
final class Socket: Sendable {
    enum Received {
        case bytes(Int)
        case end
        case timeout
    }

    let descriptor: Int32

    /// Takes the descriptor over.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Sets what every connection has: no delay for small frames, no SIGPIPE, a limit on a blocked send.
    func prepare(sendTimeout: Duration) {
        setOption(Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1))
        #if canImport(Darwin)
        setOption(SOL_SOCKET, SO_NOSIGPIPE, Int32(1))
        #endif
        setOption(SOL_SOCKET, SO_SNDTIMEO, sendTimeout.timeval)
    }

    /// Waits for bytes up to the limit and reads what is there.
    func receive(into buffer: UnsafeMutableRawBufferPointer, timeout: Duration) -> Received {
        // Mostly the bytes are there already; asking first saves a system call a request.
        var flags = Int32(MSG_DONTWAIT)
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, flags)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK:
                if !waitToRead(timeout) { return .timeout }
                flags = 0
            default: return .end
            }
        }
    }

    private func waitToRead(_ timeout: Duration) -> Bool {
        let deadline = Platform.monotonicNanoseconds + timeout.nanoseconds
        while true {
            let now = Platform.monotonicNanoseconds
            if now >= deadline { return false }
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&entry, 1, Int32(clamping: (deadline - now + 999_999) / 1_000_000))
            if ready > 0 { return true }
            if ready < 0 && errno != EINTR { return true }  // let recv tell what is wrong
        }
    }

    /// Sends all of it; false when the peer is gone or takes longer than the send timeout for 64 KiB.
    func transmit(_ bytes: UnsafeRawBufferPointer, timeout: Duration) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            var piece = UnsafeRawBufferPointer(rebasing: rest.prefix(65_536))
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(piece.count))
            var deadline: UInt64?
            while !piece.isEmpty {
                let count = sendSome(piece)
                if count < 0 {
                    if errno == EINTR { continue }
                    return false
                }
                piece = UnsafeRawBufferPointer(rebasing: piece.dropFirst(count))
                if piece.isEmpty { break }
                let now = Platform.monotonicNanoseconds
                let limit = deadline ?? now + timeout.nanoseconds
                if now > limit { return false }
                deadline = limit
            }
        }
        return true
    }

    private func sendSome(_ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Darwin)
        send(descriptor, bytes.baseAddress, bytes.count, 0)
        #else
        send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        #endif
    }

    func transmit(_ bytes: [UInt8], timeout: Duration) -> Bool {
        bytes.withUnsafeBytes { transmit($0, timeout: timeout) }
    }

    /// Whether the peer has closed its side. Bytes it sent before are left where they are.
    var peerHasClosed: Bool {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
    }

    func shutdownReading() { _ = shutdown(descriptor, Int32(SHUT_RD)) }
    func shutdownWriting() { _ = shutdown(descriptor, Int32(SHUT_WR)) }
    func shutdownBoth() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

    private func setOption<Value>(_ level: Int32, _ name: Int32, _ value: Value) {
        withUnsafePointer(to: value) {
            _ = setsockopt(descriptor, level, name, $0, socklen_t(MemoryLayout<Value>.size))
        }
    }
}

extension Duration {
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        return UInt64(max(0, seconds)) * 1_000_000_000 + UInt64(max(0, attoseconds) / 1_000_000_000)
    }

    fileprivate var timeval: timeval {
        let (seconds, attoseconds) = components
        var value = AlcoveCore.timeval()
        value.tv_sec = .init(seconds)
        value.tv_usec = .init(attoseconds / 1_000_000_000_000)
        return value
    }
}
