internal import AlcoveCore

/// One file to be brought from one address.
package struct DownloadRequest: Sendable {
    package var address: WebAddress
    /// Where it goes. While it is not complete it is called `path` + `.part`.
    package var path: String
    /// What it must be; nil takes the server's word.
    package var expectedBytes: UInt64?
    /// In lower-case hexadecimal; nil checks nothing.
    package var expectedSHA256: String?
    /// The `Authorization` field for the origin of `address`, and for no other.
    package var authorization: String?
    package var gate: AddressGate
    package var retries = RetrySchedule()

    package init(address: WebAddress, path: String, gate: AddressGate = AddressGate()) {
        self.address = address
        self.path = path
        self.gate = gate
        if let credentials = address.credentials { authorization = "Basic " + Base64.text(Array(credentials.utf8)) }
    }

    /// What people call it.
    var name: String { path.split(separator: "/").last.map(String.init) ?? path }
}

/// How far a download is.
package struct DownloadProgress: Sendable, Hashable {
    package enum Phase: String, Sendable {
        /// Before it is tried again.
        case waiting
        case downloading, verifying
    }

    package var phase: Phase
    /// Bytes of the file that are there, or that were checked.
    package var received: UInt64
    /// Nil as long as nobody has said it.
    package var total: UInt64?

    /// Why it waits, in the middle of a sentence.
    package var reason: String?

    package init(phase: Phase, received: UInt64, total: UInt64?, reason: String? = nil) {
        self.reason = reason
        self.phase = phase
        self.received = received
        self.total = total
    }
}

/// How often, and after which waits, a download is tried again.
package struct RetrySchedule: Sendable, Hashable {
    /// Attempts in a row that bring next to nothing.
    package var attempts = 8
    /// Seconds before the second attempt; doubled for each one more.
    package var firstDelay = 0.5
    package var longestDelay = 30.0

    package init() {}

    package init(attempts: Int, firstDelay: Double = 0.5, longestDelay: Double = 30) {
        self.attempts = attempts
        self.firstDelay = firstDelay
        self.longestDelay = longestDelay
    }

    /// Seconds to wait after so many fruitless attempts.
    ///
    /// - Parameter asked: what the server's `Retry-After` says; honoured up to the longest delay.
    package func delay(after fruitless: Int, asked: Int? = nil) -> Double {
        let own = firstDelay * Double(1 << min(max(fruitless - 1, 0), 20))
        return min(longestDelay, max(own, Double(asked ?? 0)))
    }

    /// Whether an attempt brought enough not to be counted: a share of the file, or a megabyte.
    static func isFruitful(_ gained: UInt64, of total: UInt64?) -> Bool {
        gained >= 1 << 20 || (total.map { $0 > 0 && gained >= max(1, $0 / 100) } ?? false)
    }
}
