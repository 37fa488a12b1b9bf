import AlcoveCore
import Testing

@testable import AlcoveServer

/// A listener that the system took, as it does from a program that was suspended.
@Suite(.serialized) struct LoopbackKeeperTests {
    private struct Application: HTTPApplication {
        func respond(to request: HTTPRequest) async throws -> HTTPResponse { .json(["ok": true]) }
    }

    /// Ends the listening socket of a port behind its owner's back.
    private func take(_ port: UInt16) {
        for descriptor in Int32(3)..<1_024 {
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isFound = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
            }
            var listens: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            guard isFound == 0, UInt16(bigEndian: address.sin_port) == port,
                getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0, listens != 0
            else { continue }
            shutdown(descriptor, Int32(SHUT_RDWR))
        }
    }

    @Test func aHostThatAnswersIsLeftAlone() async throws {
        let server = HTTPServer(Application())
        let port = try server.start()
        #expect(await LoopbackKeeper(server, log: .silent).check() == .alive)
        #expect(server.port == port)
        await server.stop()
    }

    @Test func aLostListenerComesBackOnTheSamePort() async throws {
        let server = HTTPServer(Application())
        let port = try server.start()
        let keeper = LoopbackKeeper(server, log: .silent)
        for _ in 0..<3 {
            take(port)
            async let first = keeper.check(), second = keeper.check()
            #expect(await [first, second] == [.restarted, .restarted])
            #expect(await LoopbackProbe.run(port: port) == .answers)
        }
        #expect(await keeper.check() == .alive)
        await server.stop()
    }

    @Test func aHostThatWasStoppedOnPurposeIsNotStarted() async throws {
        let server = HTTPServer(Application())
        try server.start()
        await server.stop()
        guard case .failed = await LoopbackKeeper(server, log: .silent).check() else {
            return #expect(Bool(false), "it was started")
        }
        #expect(server.port == nil)
    }

    @Test func somebodyElsesAnswerIsNoAnswer() async throws {
        let other = HTTPServer(Application())
        let port = try other.start()
        await other.stop()
        #expect(await LoopbackProbe.run(port: port) == .refused)
    }
}
