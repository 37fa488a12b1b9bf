internal import AlcoveCore
internal import AlcoveDownloads

/// The requests of one read: one server, one account, one bound for time and one for bytes.
final class CalendarExchange {
    private let origin: String
    private let host: String
    private let gate: AddressGate
    private let account: CalendarAccount?
    private let client: any HTTPPost
    private let stop: StopSignal
    private let patience: Int
    private let end: UInt64
    private var bytesLeft = CalendarServer.byteLimit

    struct Answer {
        /// Where it came from, after redirects.
        var address: WebAddress
        var resources: [DAVResource]
    }

    init(
        _ address: WebAddress, account: CalendarAccount?, client: any HTTPPost, patience: Int, stop: StopSignal
    ) {
        origin = address.origin
        host = CalendarServer.host(address)
        // Whoever types an https address means it, wherever it lies; plain http may not leave the surroundings.
        gate = address.scheme == .https ? AddressGate(hosts: [address.host]) : .surroundings(host: address.host)
        self.account = account
        self.client = client
        self.stop = stop
        self.patience = patience
        end = Platform.monotonicNanoseconds + UInt64(patience) * 1_000_000_000
    }

    /// Where a server says something is. Another server is never asked: it would get the password.
    func resolve(_ href: String, from address: WebAddress) throws(CalendarServerError) -> WebAddress {
        let place: WebAddress
        do {
            place = try address.resolving(href)
        } catch {
            throw .unreadable(host: host, reason: "it names an address that cannot be read")
        }
        guard place.origin == origin else { throw .elsewhere(host: host, to: place.origin) }
        return place
    }

    /// Sends one request and reads its multistatus. Follows redirects that stay with the server.
    func send(
        _ method: String, _ address: WebAddress, depth: Int, body: String
    ) throws(CalendarServerError) -> Answer {
        var address = address
        for _ in 0...CalendarExchange.redirectLimit {
            let receiver = try once(method, address, depth, body)
            switch receiver.status {
            case 207: return Answer(address: address, resources: try receiver.resources(of: host))
            case 301, 302, 307, 308:
                guard let location = receiver.location else {
                    throw .unreadable(host: host, reason: "it leads elsewhere and does not say where")
                }
                address = try resolve(location, from: address)
            case 401: throw .unauthorised(host: host, hasAccount: account != nil)
            case let status: throw .refused(host: host, status: status)
            }
        }
        throw .unreadable(host: host, reason: "it leads from place to place without an end")
    }

    private static let redirectLimit = 5

    private func once(
        _ method: String, _ address: WebAddress, _ depth: Int, _ body: String
    ) throws(CalendarServerError) -> CalendarReceiver {
        let now = Platform.monotonicNanoseconds
        guard now < end else { throw .slow(host: host, seconds: patience) }
        var request = FetchRequest(address: address)
        request.method = method
        request.headers = [("Content-Type", "application/xml; charset=utf-8"), ("Depth", "\(depth)")]
        if let account { request.headers.append(("Authorization", account.authorization)) }
        request.deadline = Int((end - now) / 1_000_000_000) + 1
        request.connectTimeout = min(request.connectTimeout, request.deadline)
        let receiver = CalendarReceiver(limit: bytesLeft)
        do {
            try client.post(request, body: Array(body.utf8), gate: gate, stop: stop, receiver: receiver)
        } catch {
            if error != .stopped, Platform.monotonicNanoseconds >= end { throw .slow(host: host, seconds: patience) }
            switch error {
            case .stopped: throw .stopped
            case .refusedAddress(let address): throw .plainInPublic(host: host, address: address)
            case .untrusted(let reason): throw .untrusted(host: host, reason: reason)
            case .unreachable(let reason), .interrupted(let reason): throw .unreachable(host: host, reason: reason)
            }
        }
        guard !receiver.isTooLong else { throw .tooLarge(host: host) }
        bytesLeft -= receiver.count
        return receiver
    }
}

/// Reads one answer while it comes; of anything but a multistatus only the head.
final class CalendarReceiver: FetchReceiver {
    private let limit: Int
    private let reader = DAVReader()
    private(set) var status = 0
    private(set) var location: String?
    private(set) var count = 0
    private(set) var isTooLong = false
    private var isGivenUp = false

    init(limit: Int) { self.limit = limit }

    func take(_ head: ResponseHead) -> Bool {
        status = head.status
        location = head["location"]
        return status == 207
    }

    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        count += bytes.count
        isTooLong = count > limit
        if isTooLong { return false }
        isGivenUp = !reader.take(bytes)
        return !isGivenUp
    }

    func resources(of host: String) throws(CalendarServerError) -> [DAVResource] {
        if !isGivenUp { reader.end() }
        if let fault = reader.fault { throw .unreadable(host: host, reason: fault) }
        return reader.resources
    }
}
