internal import AlcoveCore
internal import AlcoveDownloads

/// What a server says of its models.
enum RemoteModelList {
    struct Entry: Sendable, Equatable {
        var id: String
        /// Each kind of server has a name of its own for it; OpenAI's has none.
        var contextLength: Int?
    }

    private static let longest = 4 << 20

    /// - Throws: `RemoteError`. A server without such a list has none.
    static func get(
        _ endpoint: RemoteEndpoint, _ client: any HTTPFetch, stop: StopSignal
    ) throws(RemoteError) -> [Entry] {
        var request = try endpoint.request("/models")
        request.stallTimeout = 30
        let receiver = WholeResponse(limit: longest)
        do {
            try client.get(request, gate: endpoint.gate, stop: stop, receiver: receiver)
        } catch {
            switch error {
            case .refusedAddress(let address): throw .plainInPublic(host: endpoint.host, address: address)
            case .untrusted(let reason): throw .untrusted(host: endpoint.host, reason: reason)
            case .unreachable(let reason), .interrupted(let reason):
                throw .unreachable(host: endpoint.host, reason: reason)
            case .stopped: throw .unreachable(host: endpoint.host, reason: "it was stopped")
            }
        }
        guard receiver.status != 404 else { return [] }
        guard (200..<300).contains(receiver.status) else {
            let words = QuotedWords(key: endpoint.key).words(in: receiver.body)
            throw .refused(host: endpoint.host, status: receiver.status, words: words)
        }
        guard receiver.body.count < longest, let value = try? JSONValue(parsing: receiver.body) else {
            throw .unreadable(host: endpoint.host, reason: "its list of models is no JSON")
        }
        return entries(value)
    }

    static func entries(_ value: JSONValue) -> [Entry] {
        (value["data"]?.array ?? value["models"]?.array ?? []).compactMap { item in
            guard let id = item["id"]?.string ?? item["name"]?.string, !id.isEmpty, id.utf8.count <= 512 else {
                return nil
            }
            let places = [
                item["max_model_len"], item["context_length"], item["context_window"], item["meta"]?["n_ctx"],
                item["meta"]?["n_ctx_train"],
            ]
            let length = places.lazy.compactMap { $0?.int }.first { (256...16_777_216).contains($0) }
            return Entry(id: id, contextLength: length)
        }
    }
}

/// Keeps a short response whole.
private final class WholeResponse: FetchReceiver {
    private let limit: Int
    private(set) var status = 0
    private(set) var body: [UInt8] = []

    init(limit: Int) { self.limit = limit }

    func take(_ head: ResponseHead) -> Bool {
        status = head.status
        return true
    }

    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        body += bytes.prefix(limit - body.count)
        return body.count < limit
    }
}
