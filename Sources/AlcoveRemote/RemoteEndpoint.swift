internal import AlcoveCore
internal import AlcoveDownloads

/// Where a server of OpenAI's API is, and how to speak to it.
package struct RemoteEndpoint: Sendable {
    /// Up to `/v1`, without a slash at the end.
    private let base: String
    /// For sentences: name and port, without the path.
    package let host: String
    let gate: AddressGate
    /// Never shown, never logged.
    let key: String?

    /// - Parameter text: An address up to `/v1`; without any path `/v1` is meant.
    /// - Throws: `RemoteError` when it cannot be read, or is plain http to the open internet.
    package init(_ text: String, key: String? = nil) throws(RemoteError) {
        let address: WebAddress
        do {
            address = try WebAddress(text)
        } catch {
            throw .badEndpoint(
                text.contains("@") ? "given" : String(text.prefix(200)),
                reason: "it is no whole address of http or https")
        }
        guard address.credentials == nil else {
            throw .badEndpoint(
                address.shown, reason: "it holds a name or a key, which belongs into a file (--key-file)")
        }
        guard !address.target.contains("?") else { throw .badEndpoint(address.shown, reason: "it has a query") }
        var path = address.target[...]
        while path.hasSuffix("/") { path = path.dropLast() }
        if path.hasSuffix("/chat/completions") { path = path.dropLast("/chat/completions".count) }
        base = address.origin + (path.isEmpty ? "/v1" : path)
        host = String(address.origin.dropFirst(address.scheme.rawValue.count + 3))
        // Whoever types an https address means it, wherever it lies; plain http may not leave the surroundings.
        gate = address.scheme == .https ? AddressGate(hosts: [address.host]) : .surroundings(host: address.host)
        self.key = key
    }

    /// The address itself, as the model's place.
    package var shown: String { base }

    func request(_ path: String) throws(RemoteError) -> FetchRequest {
        let address: WebAddress
        do {
            address = try WebAddress(base + path)
        } catch {
            throw .badEndpoint(base, reason: "it cannot be put together with \(path)")
        }
        var request = FetchRequest(address: address)
        request.headers = [("Accept", "text/event-stream, application/json"), ("Content-Type", "application/json")]
        if let key { request.headers.append(("Authorization", "Bearer \(key)")) }
        // A long prompt is read for minutes before the first byte comes, and tokens are few bytes a second.
        request.slowest = 1
        request.stallTimeout = 600
        return request
    }

    /// A key as a file holds it.
    ///
    /// - Throws: `RemoteError.badKeyFile`, which names the file and never what is in it.
    package static func key(in bytes: [UInt8], of path: String) throws(RemoteError) -> String {
        guard bytes.count <= 16 << 10 else { throw .badKeyFile(path: path, reason: "the file is longer than 16 KiB") }
        var rest = bytes[...]
        func isSpace(_ byte: UInt8?) -> Bool { byte.map { $0 == 0x20 || (0x09...0x0D).contains($0) } ?? false }
        while isSpace(rest.first) { rest = rest.dropFirst() }
        while isSpace(rest.last) { rest = rest.dropLast() }
        guard !rest.isEmpty else { throw .badKeyFile(path: path, reason: "the file is empty") }
        guard rest.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .badKeyFile(path: path, reason: "it should be one word of plain letters, digits and signs")
        }
        return String(decoding: rest, as: UTF8.self)
    }
}
