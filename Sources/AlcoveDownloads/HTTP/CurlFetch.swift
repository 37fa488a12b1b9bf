#if canImport(CCurl)
package import AlcoveCore
internal import CCurl
internal import Synchronization

/// GETs and POSTs through libcurl.
///
/// Each has handles of its own, which stay on the calling thread: nothing of one host, no connection and no name that was
/// resolved, is there for the next. Proxies of the environment are not used, because through one the address that is
/// connected to is not the host's.
package struct CurlFetch: HTTPFetch, HTTPPost {
    private static let library: Bool = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    package init() {}

    package func get(
        _ request: FetchRequest, gate: AddressGate, stop: StopSignal, receiver: any FetchReceiver
    ) throws(FetchError) {
        try send(request, body: nil, gate: gate, stop: stop, receiver: receiver)
    }

    package func post(
        _ request: FetchRequest, body: [UInt8], gate: AddressGate, stop: StopSignal, receiver: any FetchReceiver
    ) throws(FetchError) {
        try send(request, body: body, gate: gate, stop: stop, receiver: receiver)
    }

    /// - Parameter body: nil is a GET.
    private func send(
        _ request: FetchRequest, body: [UInt8]?, gate: AddressGate, stop: StopSignal, receiver: any FetchReceiver
    ) throws(FetchError) {
        guard CurlFetch.library, let easy = curl_easy_init(), let multi = curl_multi_init() else {
            throw .interrupted("libcurl could not be started")
        }
        let response = CurlResponse(request: request, gate: gate, receiver: receiver)
        var callbacks = alcove_curl_callbacks(
            header: { CurlResponse.of($2).takeHeader(UnsafeRawBufferPointer(start: $0, count: $1)) },
            body: { CurlResponse.of($2).takeBody(UnsafeRawBufferPointer(start: $0, count: $1)) },
            gate: { CurlResponse.of($2).mayConnect(UnsafeRawBufferPointer(start: $0, count: $1)) ? 1 : 0 },
            context: Unmanaged.passUnretained(response).toOpaque())
        var headers: UnsafeMutablePointer<curl_slist>?
        for (name, value) in request.headers { headers = curl_slist_append(headers, "\(name): \(value)") }
        // Without asking whether a long body is welcome: many servers never answer that.
        if body != nil { headers = curl_slist_append(headers, "Expect:") }
        let wake = CurlWake(multi)
        stop.whenSet { wake.ring() }
        defer {
            wake.end()
            curl_multi_remove_handle(multi, easy)
            curl_easy_cleanup(easy)
            curl_multi_cleanup(multi)
            curl_slist_free_all(headers)
        }

        CurlFetch.prepare(easy, request, headers: headers)
        if let body { CurlFetch.setBody(easy, body) }
        let result = withUnsafeMutablePointer(to: &callbacks) { callbacks in
            alcove_curl_set_callbacks(easy, callbacks)
            return withExtendedLifetime(response) { CurlFetch.perform(multi, easy, stop: stop) }
        }
        if stop.isSet { throw .stopped }
        if response.isEnded { return }
        if let error = CurlFetch.error(result, response) { throw error }
        guard response.hasHead else { throw .interrupted("it sent nothing") }
    }

    private static func prepare(
        _ easy: UnsafeMutableRawPointer, _ request: FetchRequest, headers: UnsafeMutablePointer<curl_slist>?
    ) {
        alcove_curl_set_text(easy, CURLOPT_URL, request.address.text)
        alcove_curl_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        alcove_curl_set_text(easy, CURLOPT_PROXY, "")
        alcove_curl_set_text(easy, CURLOPT_USERAGENT, "alcove")
        if let method = request.method { alcove_curl_set_text(easy, CURLOPT_CUSTOMREQUEST, method) }
        // Where a network has its own authority, people name it as for other programs.
        if let authorities = getenv("SSL_CERT_FILE") { alcove_curl_set_text(easy, CURLOPT_CAINFO, authorities) }
        alcove_curl_set_list(easy, CURLOPT_HTTPHEADER, headers)
        let numbers: [(CURLoption, Int)] = [
            (CURLOPT_FOLLOWLOCATION, 0), (CURLOPT_NOSIGNAL, 1), (CURLOPT_PATH_AS_IS, 1),
            (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)), (CURLOPT_DISALLOW_USERNAME_IN_URL, 1),
            (CURLOPT_CONNECTTIMEOUT, request.connectTimeout), (CURLOPT_LOW_SPEED_LIMIT, request.slowest),
            (CURLOPT_LOW_SPEED_TIME, request.stallTimeout), (CURLOPT_TIMEOUT, request.deadline),
            (CURLOPT_BUFFERSIZE, 256 << 10), (CURLOPT_TCP_KEEPALIVE, 1),
            // A stop does not wait for a name that is being resolved; the resolving thread ends by itself.
            (CURLOPT_QUICK_EXIT, 1),
        ]
        for (option, value) in numbers { alcove_curl_set_number(easy, option, value) }
    }

    private static func setBody(_ easy: UnsafeMutableRawPointer, _ body: [UInt8]) {
        alcove_curl_set_number(easy, CURLOPT_POST, 1)
        // The size first: it says how much of the pointer is copied.
        alcove_curl_set_number(easy, CURLOPT_POSTFIELDSIZE, body.count)
        (body + [0]).withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                _ = alcove_curl_set_text(easy, CURLOPT_COPYPOSTFIELDS, $0.baseAddress)
            }
        }
    }

    private static func perform(
        _ multi: UnsafeMutableRawPointer, _ easy: UnsafeMutableRawPointer, stop: StopSignal
    ) -> CURLcode {
        guard curl_multi_add_handle(multi, easy) == CURLM_OK else { return CURLE_FAILED_INIT }
        while !stop.isSet {
            var running: Int32 = 0
            guard curl_multi_perform(multi, &running) == CURLM_OK else { return CURLE_FAILED_INIT }
            let result = alcove_curl_result(multi)
            if result >= 0 { return CURLcode(UInt32(result)) }
            guard curl_multi_poll(multi, nil, 0, 1_000, nil) == CURLM_OK else { return CURLE_FAILED_INIT }
        }
        return CURLE_ABORTED_BY_CALLBACK
    }

    private static func error(_ code: CURLcode, _ response: CurlResponse) -> FetchError? {
        let words = String(cString: curl_easy_strerror(code)).lowercased()
        if let fault = response.fault { return .interrupted(fault) }
        switch code {
        case CURLE_OK: return nil
        case CURLE_COULDNT_CONNECT:
            if let address = response.refusedAddress { return .refusedAddress(address) }
            return .unreachable("nobody answers there")
        case CURLE_COULDNT_RESOLVE_HOST: return .unreachable("the name is not known, or this device is offline")
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR:
            return .untrusted(words)
        case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR:
            return .interrupted("the connection was closed early")
        case CURLE_OPERATION_TIMEDOUT:
            return response.hasHead ? .interrupted("no more data came") : .unreachable("it does not answer in time")
        default: return .interrupted(words)
        }
    }
}

/// Wakes a transfer's thread from any other, as long as the transfer lives.
private final class CurlWake: Sendable {
    private let multi: Mutex<UInt>

    init(_ multi: UnsafeMutableRawPointer) { self.multi = Mutex(UInt(bitPattern: multi)) }

    func ring() {
        multi.withLock { bits in
            if let multi = UnsafeMutableRawPointer(bitPattern: bits) { _ = curl_multi_wakeup(multi) }
        }
    }

    func end() { multi.withLock { $0 = 0 } }
}

/// What libcurl's callbacks reach: collects the head, passes the body on.
private final class CurlResponse {
    private let request: FetchRequest
    private let gate: AddressGate
    private let receiver: any FetchReceiver
    private var status = 0
    private var fields: [(name: String, value: String)] = []
    private var headBytes = 0
    private(set) var hasHead = false
    /// The receiver wanted no more.
    private(set) var isEnded = false
    private(set) var refusedAddress: String?
    private(set) var fault: String?

    init(request: FetchRequest, gate: AddressGate, receiver: any FetchReceiver) {
        self.request = request
        self.gate = gate
        self.receiver = receiver
    }

    static func of(_ context: UnsafeMutableRawPointer?) -> CurlResponse {
        Unmanaged.fromOpaque(context!).takeUnretainedValue()  // set together with the callbacks
    }

    func mayConnect(_ address: UnsafeRawBufferPointer) -> Bool {
        let bytes = Array(address)
        if gate.allows(host: request.address.host, address: bytes) { return true }
        refusedAddress = AddressGate.text(bytes)
        return false
    }

    func takeHeader(_ bytes: UnsafeRawBufferPointer) -> Int {
        // What follows the body (trailers) says nothing we use.
        if hasHead { return bytes.count }
        headBytes += bytes.count
        guard headBytes <= 64 << 10 else {
            fault = "its header is longer than 64 KiB"
            return 0
        }
        var line = String(decoding: bytes, as: UTF8.self)[...]
        while let last = line.last, last.isNewline || last == " " || last == "\t" { line = line.dropLast() }
        if line.hasPrefix("HTTP/") {
            let words = line.split(separator: " ", maxSplits: 2)
            status = words.count > 1 ? Int(words[1]) ?? 0 : 0
            fields = []
        } else if line.isEmpty {
            if (100...199).contains(status) { return bytes.count }
            hasHead = true
            if !receiver.take(ResponseHead(status: status, fields: fields)) {
                isEnded = true
                return 0
            }
        } else if let colon = line.firstIndex(of: ":") {
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            fields.append((String(line[..<colon]), String(value)))
        }
        return bytes.count
    }

    func takeBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        if receiver.take(bytes) { return bytes.count }
        isEnded = true
        return 0
    }
}
#endif
