internal import AlcoveCore
internal import AlcoveDownloads

/// The host that has a root folder now, as other commands reach it.
struct RunningHost {
    private let url: String
    private let token: String

    /// Nil when none runs.
    init?(_ folders: Folders) {
        guard let bytes = try? SmallFile.read(folders.connectionFile), let connection = try? JSONValue(parsing: bytes),
            let url = connection["url"]?.string, let token = connection["token"]?.string,
            let process = connection["pid"]?.int, kill(pid_t(truncatingIfNeeded: process), 0) == 0
        else { return nil }
        (self.url, self.token) = (url, token)
    }

    /// The address of its page, with the key.
    var page: String { "\(url)/?token=\(token)" }

    /// Sends a request and reads the JSON of its answer.
    ///
    /// - Parameter method: GET without a body, else what is named.
    /// - Throws: `InputError` with the host's own code and sentence when it refuses.
    func send(_ method: String, _ path: String, _ body: JSONValue? = nil) throws -> JSONValue {
        var request = FetchRequest(address: try WebAddress(url + path))
        request.headers = [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json")]
        request.method = method
        request.deadline = 60
        let answer = WholeAnswer(), gate = AddressGate(hosts: [request.address.host]), stop = StopSignal()
        do {
            if let body {
                try CurlFetch().post(request, body: body.bytes(), gate: gate, stop: stop, receiver: answer)
            } else {
                try CurlFetch().get(request, gate: gate, stop: stop, receiver: answer)
            }
        } catch {
            throw InputError(
                code: "host_lost", message: "The Alcove that runs at \(url) does not answer.",
                hint: "End it and start it again.", place: .busy)
        }
        guard let json = try? JSONValue(parsing: answer.bytes) else {
            throw InputError(code: "host_unreadable", message: "What runs at \(url) does not answer as Alcove does.")
        }
        guard (200..<300).contains(answer.status) else {
            throw InputError(
                code: json["code"]?.string ?? "refused", message: json["error"]?.string ?? "It was refused.",
                hint: json["hint"]?.string)
        }
        return json
    }
}

private final class WholeAnswer: FetchReceiver {
    private(set) var status = 0
    private(set) var bytes: [UInt8] = []
    private static let limit = 16 << 20

    func take(_ head: ResponseHead) -> Bool {
        status = head.status
        return true
    }

    func take(_ piece: UnsafeRawBufferPointer) -> Bool {
        bytes += piece.prefix(WholeAnswer.limit - bytes.count)
        return bytes.count < WholeAnswer.limit
    }
}
