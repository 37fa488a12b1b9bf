internal import AlcoveCore
internal import Synchronization

/// What was learned of one server: which parameters it does not know, and how many bytes of it are a token.
final class RemoteManners: Sendable {
    private struct State {
        var omitted: Set<String> = []
        /// Tokens a byte; at first rather too many than too few.
        var tokensPerByte = 1.0 / 3
    }

    private let state = Mutex(State())

    var omitted: Set<String> { state.withLock { $0.omitted } }

    /// Learns from a refusal which parameter the server does not want.
    ///
    /// - Returns: false when it names none that was sent and can be left out.
    func learn(status: Int, words: String, sent: JSONValue) -> Bool {
        guard status == 400 || status == 422 else { return false }
        let named = RemoteBody.optional.filter { sent[$0] != nil && RemoteManners.names($0, in: words) }
        guard let name = named.max(by: { $0.utf8.count < $1.utf8.count }) else { return false }
        return state.withLock { $0.omitted.insert(name).inserted }
    }

    /// As a word of its own: a refusal of `top_p` is none of `top_psi`.
    private static func names(_ name: String, in words: String) -> Bool {
        words.split { !($0.isLetter || $0.isNumber || $0 == "_") }.contains { $0 == name }
    }

    func estimate(bytes: Int) -> Int { state.withLock { max(1, Int((Double(bytes) * $0.tokensPerByte).rounded(.up))) } }

    func learn(tokens: Int, ofBytes bytes: Int) {
        guard tokens > 0, bytes > 64 else { return }
        let measured = min(max(Double(tokens) / Double(bytes), 0.05), 2)
        state.withLock { $0.tokensPerByte = measured }
    }
}
