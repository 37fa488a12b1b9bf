#if os(Linux)
import AlcoveCore
import Testing

/// Sockets outside the sandbox that notice whoever comes.
final class Listeners: Sendable {
    let tcpPort: UInt16
    let udpPort: UInt16
    let abstract: String
    private let tcp: Int32
    private let udp: Int32
    private let local: Int32

    init?(abstract: String) {
        self.abstract = abstract
        let tcp = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
        let udp = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        let local = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        // IPv6's any address takes IPv4 too.
        var six = sockaddr_in6()
        six.sin6_family = sa_family_t(AF_INET6)
        var four = sockaddr_in()
        four.sin_family = sa_family_t(AF_INET)
        four.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        guard Listeners.bind(tcp, &six), Listeners.bind(udp, &four), Listeners.bind(local, abstract: abstract),
            listen(tcp, 16) == 0, listen(local, 16) == 0
        else { return nil }
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        withUnsafeMutableBytes(of: &six) {
            _ = getsockname(tcp, $0.assumingMemoryBound(to: sockaddr.self).baseAddress!, &length)
        }
        length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutableBytes(of: &four) {
            _ = getsockname(udp, $0.assumingMemoryBound(to: sockaddr.self).baseAddress!, &length)
        }
        self.tcp = tcp
        self.udp = udp
        self.local = local
        tcpPort = UInt16(bigEndian: six.sin6_port)
        udpPort = UInt16(bigEndian: four.sin_port)
    }

    deinit { for descriptor in [tcp, udp, local] { close(descriptor) } }

    var wereReached: Bool {
        var polled = [tcp, udp, local].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        return poll(&polled, 3, 0) > 0
    }

    func connect() {
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(client) }
        var four = sockaddr_in()
        four.sin_family = sa_family_t(AF_INET)
        four.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        four.sin_port = tcpPort.bigEndian
        withUnsafeBytes(of: &four) {
            _ = AlcoveCore.connect(
                client, $0.assumingMemoryBound(to: sockaddr.self).baseAddress!, socklen_t($0.count))
        }
    }

    private static func bind<Address>(_ socket: Int32, _ address: inout Address) -> Bool {
        withUnsafeBytes(of: &address) {
            AlcoveCore.bind(socket, $0.assumingMemoryBound(to: sockaddr.self).baseAddress!, socklen_t($0.count)) == 0
        }
    }

    private static func bind(_ socket: Int32, abstract: String) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 2)
        let family = sa_family_t(AF_UNIX)
        withUnsafeBytes(of: family) { bytes = Array($0) }
        bytes += [0] + Array(abstract.utf8)
        return bytes.withUnsafeBytes {
            AlcoveCore.bind(socket, $0.assumingMemoryBound(to: sockaddr.self).baseAddress!, socklen_t($0.count)) == 0
        }
    }
}
#endif
