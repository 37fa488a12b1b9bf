internal import AlcoveCore
internal import AlcoveEngine
internal import AlcoveSandbox

/// Workers on other machines of one's own network, for `--rpc` and `alcove worker`.
enum WorkerOptions {
    static let rpc = Command.Option(
        name: "--rpc", short: nil, value: "HOST:PORT,...",
        help:
            "Workers (`alcove worker`) of your own network that compute the model's layers. What is said then goes through them."
    )
    static let timeout = Command.Option(
        name: "--rpc-timeout", short: nil, value: "SECONDS",
        help: "How long a worker may compute one piece (512 tokens at most) before it is given up. Default: 600.")
    static let usualPort: UInt16 = 50_052
    /// As many as the library takes.
    static let most = 16

    static func warning(_ names: String) -> String {
        "The workers \(names) compute the model: what is said leaves this device, unencrypted, for them."
    }

    static func read(_ invocation: Invocation) throws -> [WorkerAddress] {
        let seconds = try invocation.int("--rpc-timeout", in: 1...86_400)
        guard let text = invocation.text("--rpc") else {
            if seconds != nil {
                throw UsageError("--rpc-timeout is for workers.", hint: "Write --rpc HOST:PORT with it.")
            }
            return []
        }
        if let seconds { WorkerAddress.setTimeout(seconds: seconds) }
        if invocation.text("--engine") == "openai" {
            throw UsageError(
                "--rpc and --engine openai are two ways to compute elsewhere.", hint: "Leave one of them out.")
        }
        if invocation.text("--draft") != nil {
            throw UsageError("--draft does not go with --rpc.", hint: "Leave one of them out.")
        }
        let found = try text.split(separator: ",", omittingEmptySubsequences: false).map { word in
            try address(String(word), option: "--rpc")
        }
        if found.count > most { throw UsageError("--rpc takes at most \(most) workers, not \(found.count).") }
        if Set(found.map { "\($0.address):\($0.port)" }).count < found.count {
            throw UsageError("--rpc names one worker twice.", hint: "Start a second worker on another port.")
        }
        return found
    }

    /// `HOST:PORT` or `HOST`, looked up; only this machine and its own network will do.
    static func address(_ text: String, option: String, takesAnyPort: Bool = false) throws -> WorkerAddress {
        var host = text, port = usualPort
        if let colon = text.lastIndex(of: ":") {
            host = String(text[..<colon])
            guard let number = UInt16(text[text.index(after: colon)...]), number > 0 || takesAnyPort else {
                throw UsageError(
                    "\(option): \"\(text)\" has no port between 1 and 65535.",
                    hint: "Write HOST:PORT, such as 192.168.1.20:50052.")
            }
            port = number
        }
        if host.isEmpty || host.contains(":") {
            throw UsageError(
                "\(option): \"\(text)\" is no address a worker can have.",
                hint: "Write the IPv4 address or the name of a machine, such as 192.168.1.20:50052.")
        }
        let name = "\(host):\(port)"
        guard let bytes = lookUp(host) else {
            throw InputError(
                code: "worker_unknown", message: "\(option): there is no machine called \(host) with an IPv4 address.",
                hint: "Check the name, or write its address.")
        }
        // A worker trusts whoever reaches it, and is told everything in plain sight.
        if NetworkAddress.isPublic(bytes) || bytes == [0, 0, 0, 0] {
            throw InputError(
                code: "worker_not_private",
                message: "\(option): \(host) is no address of this machine or of its own network.",
                hint: "A worker has no password and no encryption: name an address such as 127.0.0.1 or 192.168.1.20.")
        }
        return WorkerAddress(name: name, address: bytes.map(String.init).joined(separator: "."), port: port)
    }

    private static func lookUp(_ host: String) -> [UInt8]? {
        var hints = addrinfo(), list: UnsafeMutablePointer<addrinfo>?
        hints.ai_family = AF_INET
        #if canImport(Darwin)
        hints.ai_socktype = SOCK_STREAM
        #else
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #endif
        guard getaddrinfo(host, nil, &hints, &list) == 0, let list else { return nil }
        defer { freeaddrinfo(list) }
        guard let found = list.pointee.ai_addr else { return nil }
        return found.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { pointer in
            withUnsafeBytes(of: pointer.pointee.sin_addr) { Array($0) }
        }
    }
}
