internal import AlcoveCore
internal import Dispatch

/// Makes sure that the host can really be reached, and mends it when it cannot.
///
/// A system that suspends a program may take its sockets without a sign, so the only proof is a connection of one's own.
package actor LoopbackKeeper {
    package enum Outcome: Sendable, Hashable {
        case alive
        /// On the same port as before: open pages only have to try again.
        case restarted
        /// Somebody else has the old port now.
        case moved(port: UInt16)
        case failed(message: String)
    }

    /// Longest the own host may take to answer a question.
    static let patience = 3.0

    private let server: HTTPServer
    private let log: Log
    private var underWay: Task<Outcome, Never>?

    package init(_ server: HTTPServer, log: Log) {
        self.server = server
        self.log = log
    }

    /// Looks, and mends. Who asks while it is being mended waits for the same outcome.
    package func check() async -> Outcome {
        if let underWay { return await underWay.value }
        let task = Task { await look() }
        underWay = task
        defer { underWay = nil }
        return await task.value
    }

    private func look() async -> Outcome {
        guard let port = server.port else { return .failed(message: "The host is not listening at all.") }
        switch await LoopbackProbe.run(port: port) {
        case .answers: return .alive
        case .refused: break
        case .silent: if await LoopbackProbe.run(port: port) == .answers { return .alive }
        }
        log("the host cannot be reached on port \(port); it is started anew")
        // Requests of the old listener are dead with it: nobody is waited for long.
        await server.stop(grace: .milliseconds(500))
        do throws(ListenError) {
            try server.start(port: port)
            log("the host listens on port \(port) again")
            return .restarted
        } catch {
            log("port \(port) is gone: \(error.sentence)")
        }
        do throws(ListenError) {
            let new = try server.start(port: 0)
            log("the host has moved to port \(new)")
            return .moved(port: new)
        } catch {
            log("no port can be had: \(error.sentence)")
            return .failed(message: error.sentence)
        }
    }
}

/// One question to the own host, over a fresh connection.
enum LoopbackProbe {
    enum Answer {
        case answers
        /// Nobody listens there.
        case refused
        /// Somebody may, but says nothing that makes sense.
        case silent
    }

    static func run(port: UInt16) async -> Answer {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: ask(port)) }
        }
    }

    private static func ask(_ port: UInt16) -> Answer {
        #if canImport(Darwin)
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        guard descriptor >= 0 else { return .silent }
        defer { close(descriptor) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var limit = timeval(tv_sec: Int(LoopbackKeeper.patience), tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { return errno == ECONNREFUSED ? .refused : .silent }
        let question = "GET /health HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n"
        guard
            question.utf8.withContiguousStorageIfAvailable({ send(descriptor, $0.baseAddress, $0.count, 0) }) ?? -1 > 0
        else { return .silent }
        let wanted = Array("HTTP/1.1 200".utf8)
        var answer: [UInt8] = []
        while answer.count < wanted.count {
            var piece = [UInt8](repeating: 0, count: 64)
            let count = recv(descriptor, &piece, piece.count, 0)
            guard count > 0 else { return .silent }
            answer += piece[..<count]
        }
        return answer.starts(with: wanted) ? .answers : .silent
    }
}
