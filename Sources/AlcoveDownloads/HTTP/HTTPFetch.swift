package import AlcoveCore

/// The seam to whatever speaks HTTP: one GET at a time, no redirects followed, no bytes kept.
///
/// A client must be able to refuse the address that a connection is really made to, after names were resolved: names can
/// resolve to one address when they are checked and to another when they are used.
package protocol HTTPFetch: Sendable {
    /// Sends one GET and hands over what comes. Blocks: call it on a thread of its own.
    ///
    /// Returns when the response is complete or the receiver wanted no more. A stop is noticed at once.
    func get(
        _ request: FetchRequest, gate: AddressGate, stop: StopSignal, receiver: any FetchReceiver
    ) throws(FetchError)
}

/// The seam to whatever sends a POST and hands over the answer while it is written.
package protocol HTTPPost: Sendable {
    /// Sends one POST, or what the request names in its place; otherwise as `HTTPFetch.get`.
    func post(
        _ request: FetchRequest, body: [UInt8], gate: AddressGate, stop: StopSignal, receiver: any FetchReceiver
    ) throws(FetchError)
}

/// Gets a response as it comes, on the thread that called `get` or `post`.
package protocol FetchReceiver: AnyObject {
    /// The final head; none of an interim response. False: nothing of the body is wanted.
    func take(_ head: ResponseHead) -> Bool
    /// The next bytes of the body. False: no more of them.
    func take(_ bytes: UnsafeRawBufferPointer) -> Bool
}

package struct FetchRequest: Sendable {
    package var address: WebAddress
    package var headers: [(name: String, value: String)] = []
    /// Seconds until a connection must stand.
    package var connectTimeout = 20
    /// Seconds in which fewer than `slowest` bytes a second end the transfer.
    package var stallTimeout = 30
    package var slowest = 100
    /// Seconds for all of it; 0 is no limit.
    package var deadline = 0
    /// What is sent in place of GET or POST.
    package var method: String?

    package init(address: WebAddress) { self.address = address }
}

package struct ResponseHead: Sendable, Equatable {
    package var status: Int
    private var fields: [(name: String, value: String)]

    package init(status: Int, fields: [(name: String, value: String)] = []) {
        self.status = status
        self.fields = fields.map { ($0.name.lowercased(), $0.value) }
    }

    /// The first field of that name, whatever its case.
    package subscript(name: String) -> String? {
        let name = name.lowercased()
        return fields.first { $0.name == name }?.value
    }

    package static func == (a: ResponseHead, b: ResponseHead) -> Bool {
        a.status == b.status && a.fields.elementsEqual(b.fields) { $0 == $1 }
    }
}

/// Why a request brought no whole response. The texts go into the middle of a sentence.
package enum FetchError: Error, Equatable {
    case stopped
    /// The name is unknown, or nobody answers there.
    case unreachable(String)
    /// The gate let no address of the host through.
    case refusedAddress(String)
    /// The other side is not who it should be.
    case untrusted(String)
    /// It began and did not end: cut, stalled, or not HTTP.
    case interrupted(String)
}
