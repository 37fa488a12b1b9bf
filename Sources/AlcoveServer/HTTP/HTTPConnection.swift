import AlcoveCore
import Dispatch

/// A connection's life, on its own thread: read a request, have it answered, send the answer, again.
struct HTTPConnection {
    let socket: Socket
    let handle: ConnectionHandle
    let limits: HTTPServerLimits
    let application: any HTTPApplication
    let watcher: PeerWatcher
    let errors: ErrorResponses
    let port: UInt16

    private var parser: HTTPRequestParser
    private var bodyIsDone = true
    private var owesContinue = false
    /// The framing is lost or the peer is: nothing more can be read as a request.
    private var isBroken = false
    private var bodyBytes = 0
    private var bodyWait: UInt64 = 0

    init(
        handle: ConnectionHandle, limits: HTTPServerLimits, application: any HTTPApplication, watcher: PeerWatcher,
        errors: ErrorResponses, port: UInt16
    ) {
        socket = handle.socket
        self.handle = handle
        self.limits = limits
        self.application = application
        self.watcher = watcher
        self.errors = errors
        self.port = port
        parser = HTTPRequestParser(limits: limits.parser)
    }

    mutating func run() {
        socket.prepare(sendTimeout: limits.write)
        var goesOn = true
        while goesOn { goesOn = serveOne() }
        if isBroken || !bodyIsDone { linger() }
        socket.shutdownBoth()
    }

    /// - Returns: whether the connection stays open.
    private mutating func serveOne() -> Bool {
        handle.becomeIdle()
        if handle.isStopping { return false }
        let head: HTTPRequestHead
        do throws(HTTPError) {
            guard let next = try readHead() else { return false }
            head = next
        } catch {
            isBroken = true
            return send(errors.response(for: error, to: "-"), to: nil)
        }
        bodyIsDone = !head.hasBody
        (owesContinue, bodyBytes, bodyWait) = (head.expectsContinue, 0, 0)
        if bodyIsDone { _ = try? parser.next() }  // the end, which cannot fail and needs no bytes
        let goesOn = answer(head)
        return goesOn && finishBody()
    }

    private mutating func answer(_ head: HTTPRequestHead) -> Bool {
        let exchange = HTTPExchange()
        handle.becomeBusy(nil)
        do throws(HTTPError) {
            let request = HTTPRequest(
                method: head.method, target: try HTTPTarget(parsing: head.target), headers: head.headers,
                body: HTTPRequestBody(exchange: exchange, length: head.bodyLength), serverPort: port)
            if let response = application.immediateResponse(to: request) { return send(response, to: head) }
            return converse(exchange, request, head)
        } catch {
            return send(errors.response(for: error, to: "-"), to: head)
        }
    }
}

// MARK: Reading

extension HTTPConnection {
    /// The next request's head, or nil when the client has left or had nothing to say for too long.
    private mutating func readHead() throws(HTTPError) -> HTTPRequestHead? {
        var deadline: UInt64?
        while true {
            if case .head(let head)? = try parser.next() { return head }
            var timeout = limits.idle
            if !parser.isBetweenRequests || deadline != nil {
                let now = Platform.monotonicNanoseconds
                let limit = deadline ?? now + limits.header.nanoseconds
                deadline = limit
                if now >= limit { throw .tooSlow }
                timeout = .nanoseconds(limit - now)
            }
            switch receive(16_384, timeout: timeout) {
            case .bytes: continue
            case .end: return nil
            case .timeout:
                if deadline == nil { return nil }
                throw .tooSlow
            }
        }
    }

    private mutating func receive(_ count: Int, timeout: Duration) -> Socket.Received {
        withUnsafeTemporaryAllocation(byteCount: count, alignment: 8) { buffer in
            let received = socket.receive(into: buffer, timeout: timeout)
            if case .bytes(let count) = received { parser.feed(UnsafeRawBufferPointer(buffer)[..<count]) }
            return received
        }
    }

    /// The next piece of the body, or nil at its end.
    ///
    /// Only time spent waiting for the client counts against it: a grace, then a least rate.
    private mutating func readBody() throws(HTTPError) -> [UInt8]? {
        if bodyIsDone { return nil }
        if isBroken { throw .clientLeft }
        do throws(HTTPError) {
            while true {
                switch try parser.next() {
                case .body(let bytes)?:
                    owesContinue = false
                    bodyBytes += bytes.count
                    return bytes
                case .end?:
                    bodyIsDone = true
                    return nil
                case .head?: preconditionFailure("a head comes after the end of the request before it")
                case nil: try waitForBody()
                }
            }
        } catch {
            isBroken = true
            throw error
        }
    }

    private mutating func waitForBody() throws(HTTPError) {
        if owesContinue {
            owesContinue = false
            _ = socket.transmit(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), timeout: limits.write)
        }
        let allowed = limits.bodyGrace.nanoseconds + UInt64(bodyBytes / limits.bodyBytesPerSecond) * 1_000_000_000
        if bodyWait >= allowed { throw .tooSlow }
        let start = Platform.monotonicNanoseconds
        let received = receive(65_536, timeout: .nanoseconds(allowed - bodyWait))
        bodyWait += Platform.monotonicNanoseconds - start
        switch received {
        case .bytes: return
        case .end: throw .clientLeft
        case .timeout: throw .tooSlow
        }
    }

    /// Whether what is left of the body is worth reading in order to keep the connection.
    private var canKeepAlive: Bool {
        if isBroken || handle.isStopping { return false }
        if bodyIsDone { return true }
        return !owesContinue && (parser.remainingBody ?? .max) <= 65_536
    }

    private mutating func finishBody() -> Bool {
        do throws(HTTPError) {
            while try readBody() != nil {}
            return true
        } catch {
            return false
        }
    }

    /// Lets the peer read the last answer: closing with bytes unread would reset the connection under it.
    private func linger() {
        socket.shutdownWriting()
        let deadline = Platform.monotonicNanoseconds + limits.linger.nanoseconds
        withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) { buffer in
            while true {
                let now = Platform.monotonicNanoseconds
                guard now < deadline, case .bytes = socket.receive(into: buffer, timeout: .nanoseconds(deadline - now))
                else { return }
            }
        }
    }
}

// MARK: Answering

extension HTTPConnection {
    /// Runs the handler in a task and does its reading and sending.
    private mutating func converse(_ exchange: HTTPExchange, _ request: HTTPRequest, _ head: HTTPRequestHead) -> Bool {
        handle.becomeBusy(exchange)
        let application = application
        let task = Task { await exchange.run(application, request) }
        var watchKey: Int?
        defer {
            exchange.close()
            task.cancel()
            if let watchKey { watcher.unwatch(watchKey) }
        }

        var stream: OpenStream?
        var hasLeft = false
        // Most answers come at once; only a connection that waits is worth watching.
        let watchTime = DispatchTime.now() + .milliseconds(50)
        var idleTime = DispatchTime.distantFuture
        while true {
            let event = exchange.nextEvent(until: watchKey == nil ? min(watchTime, idleTime) : idleTime)
            switch event {
            case .bodyWanted:
                do throws(HTTPError) {
                    exchange.deliverBody(.success(try readBody()))
                } catch {
                    exchange.deliverBody(.failure(error))
                }
            case .output(let response, let bytes, let end):
                if let response {
                    guard case .stream(let body) = response.body, head.method != "HEAD" else {
                        return send(response, to: head)
                    }
                    stream = OpenStream(
                        body: body, isChunked: head.minorVersion == 1,
                        keepsAlive: head.keepsAlive && head.minorVersion == 1 && canKeepAlive, response: response)
                }
                guard var open = stream else {
                    // The only output without a head is a failure before there was one.
                    guard case .failed(let error)? = end else { return false }
                    return send(errors.response(for: error, to: request.path), to: head)
                }
                let isSent = send(bytes, end: end, on: &open, path: request.path)
                if !isSent { return false }
                if end != nil { return open.keepsAlive }
                stream = open
                if handle.isStopping { exchange.noteStopping() }
                if let idle = open.body.idle { idleTime = .now() + .nanoseconds(Int(idle.interval.nanoseconds)) }
            case .peerLeft:
                exchange.close()
                task.cancel()
                // The body may have been sent and the handler be done in a moment; a stream has nobody to go to.
                if stream != nil { return false }
                (isBroken, hasLeft) = (true, true)
                idleTime = .now() + .nanoseconds(Int(limits.abandon.nanoseconds))
            case .stopping:
                guard let open = stream else { continue }
                var last = open
                _ = send(open.body.farewell, end: .finished, on: &last, path: request.path)
                return false
            case .timeout:
                if hasLeft { return false }
                if var open = stream, let idle = open.body.idle, DispatchTime.now() >= idleTime {
                    if !send(idle.bytes, end: nil, on: &open, path: request.path) { return false }
                    idleTime = .now() + .nanoseconds(Int(idle.interval.nanoseconds))
                }
                if watchKey == nil, DispatchTime.now() >= watchTime {
                    watchKey = watcher.watch(socket) { exchange.notePeerLeft() }
                }
            }
        }
    }

    /// A streamed response whose head may still be unsent.
    private struct OpenStream {
        let body: HTTPStream
        let isChunked: Bool
        let keepsAlive: Bool
        var response: HTTPResponse?
    }

    private func send(_ bytes: [UInt8], end: HTTPExchange.End?, on stream: inout OpenStream, path: String) -> Bool {
        var bytes = bytes
        var isCut = false
        if case .failed(let error)? = end {
            if !(error is CancellationError) { errors.log("\(path) failed in mid-stream: \(error)") }
            if let failure = stream.body.failure { bytes += failure(error) } else { isCut = true }
        }
        var out: [UInt8] = []
        if let response = stream.response.take() {
            out = ResponseHead.bytes(
                status: response.status, headers: response.headers, length: stream.isChunked ? .chunked : .untilClose,
                minorVersion: stream.isChunked ? 1 : 0, keepsAlive: stream.keepsAlive, isStream: true)
        }
        if stream.isChunked {
            if !bytes.isEmpty {
                out += String(bytes.count, radix: 16).utf8
                out += [0x0D, 0x0A]
                out += bytes
                out += [0x0D, 0x0A]
            }
            if end != nil && !isCut { out += "0\r\n\r\n".utf8 }
        } else {
            out += bytes
        }
        return socket.transmit(out, timeout: limits.write) && !isCut
    }

    /// Sends a whole response.
    ///
    /// - Returns: whether the connection stays open.
    private func send(_ response: HTTPResponse, to head: HTTPRequestHead?) -> Bool {
        let keepsAlive = (head?.keepsAlive ?? false) && canKeepAlive
        let isBodiless = response.status == 204 || response.status == 304
        let length: ResponseHead.Length
        switch response.body {
        case _ where isBodiless: length = .none
        case .bytes(let bytes): length = .bytes(bytes.count)
        case .file(let file): length = .bytes(file.count)
        case .stream: length = .none  // reached for HEAD only
        }
        var out = ResponseHead.bytes(
            status: response.status, headers: response.headers, length: length,
            minorVersion: head?.minorVersion ?? 1, keepsAlive: keepsAlive, isStream: false)
        if isBodiless || head?.method == "HEAD" { return socket.transmit(out, timeout: limits.write) && keepsAlive }
        switch response.body {
        case .bytes(let bytes):
            if bytes.count <= 65_536 {
                out += bytes
                return socket.transmit(out, timeout: limits.write) && keepsAlive
            }
            return socket.transmit(out, timeout: limits.write) && socket.transmit(bytes, timeout: limits.write)
                && keepsAlive
        case .file(let file):
            guard socket.transmit(out, timeout: limits.write) else { return false }
            return file.readPieces { socket.transmit($0, timeout: limits.write) } && keepsAlive
        case .stream: return false
        }
    }
}
