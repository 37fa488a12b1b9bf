import AlcoveCore
import Synchronization

/// Why no listener could be had.
package enum ListenError: UserFacingError, Equatable {
    case portBusy(port: UInt16)
    case portForbidden(port: UInt16)
    case failed(port: UInt16, reason: String)

    package var code: String {
        switch self {
        case .portBusy: "port_busy"
        case .portForbidden: "port_forbidden"
        case .failed: "listen_failed"
        }
    }

    package var message: String {
        switch self {
        case .portBusy(let port): "Port \(port) of 127.0.0.1 is already in use by another program."
        case .portForbidden(let port): "Port \(port) of 127.0.0.1 may not be used by this user."
        case .failed(let port, let reason): "Port \(port) of 127.0.0.1 cannot be listened on: \(reason)."
        }
    }

    package var hint: String? {
        switch self {
        case .portBusy(let port) where port < .max:
            "Stop that program, or choose another port: --port \(max(port, 1023) + 1), or --port 0 for a free one."
        case .portBusy: "Stop that program, or choose --port 0 for a free one."
        case .portForbidden: "Choose a port above 1023, or --port 0 for a free one."
        case .failed: "Choose --port 0 for a free one."
        }
    }
}

/// A socket that listens on 127.0.0.1 and nowhere else.
final class ListeningSocket: Sendable {
    enum Accepted {
        case connection(Socket)
        case failed(reason: String)
        case stopped
    }

    let port: UInt16
    private let descriptor: Int32
    /// Read end, write end: closing a listener does not wake `accept` on every system, a byte in a pipe does.
    private let wake: (read: Int32, write: Int32)
    private let isReleased = Mutex(false)

    /// - Parameter port: 0 takes a free one.
    init(port: UInt16) throws(ListenError) {
        #if canImport(Darwin)
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #endif
        guard descriptor >= 0 else { throw .failed(port: port, reason: Platform.describe(errno: errno)) }
        do throws(ListenError) {
            self.port = try ListeningSocket.open(descriptor, port: port)
            var ends: [Int32] = [0, 0]
            guard pipe(&ends) == 0 else { throw .failed(port: port, reason: Platform.describe(errno: errno)) }
            wake = (ends[0], ends[1])
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        for each in [descriptor, wake.read, wake.write] { _ = fcntl(each, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    deinit { release() }

    /// Gives the port back, once. For the thread that accepts, after `next` has told it to stop: nobody else uses the
    /// descriptors then.
    func release() {
        let isFirst = isReleased.withLock { released in
            defer { released = true }
            return !released
        }
        if isFirst { for each in [descriptor, wake.read, wake.write] { close(each) } }
    }

    private static func open(_ descriptor: Int32, port: UInt16) throws(ListenError) -> UInt16 {
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer -> Int32 in
                if bind(descriptor, pointer, length) != 0 { return errno }
                if listen(descriptor, 1024) != 0 { return errno }
                return getsockname(descriptor, pointer, &length) == 0 ? 0 : errno
            }
        }
        switch result {
        case 0: return UInt16(bigEndian: address.sin_port)
        case EADDRINUSE: throw .portBusy(port: port)
        case EACCES, EPERM: throw .portForbidden(port: port)
        default: throw .failed(port: port, reason: Platform.describe(errno: result))
        }
    }

    /// Waits for the next client.
    func next() -> Accepted {
        while true {
            var entries = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wake.read, events: Int16(POLLIN), revents: 0),
            ]
            if poll(&entries, 2, -1) < 0 && errno != EINTR {
                return .failed(reason: Platform.describe(errno: errno))
            }
            if entries[1].revents != 0 { return .stopped }
            if entries[0].revents & Int16(POLLNVAL) != 0 { return .failed(reason: "the listener was closed") }
            let client = accept(descriptor, nil, nil)
            if client >= 0 {
                _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                _ = fcntl(client, F_SETFL, fcntl(client, F_GETFL) & ~O_NONBLOCK)  // inherited on Darwin
                return .connection(Socket(client))
            }
            switch errno {
            case EAGAIN, EWOULDBLOCK, EINTR, ECONNABORTED: continue
            default: return .failed(reason: Platform.describe(errno: errno))
            }
        }
    }

    func stop() {
        var byte: UInt8 = 1
        _ = write(wake.write, &byte, 1)
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
    }
}
