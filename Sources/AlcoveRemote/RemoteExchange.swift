internal import AlcoveCore
internal import AlcoveDownloads

/// One POST whose answer is read while it comes. Lives on the thread that sends it.
final class RemoteExchange: FetchReceiver {
    /// How it ended, as far as asking once more is concerned.
    enum Outcome: Sendable {
        case answered(RemoteAnswer)
        case stopped(RemoteAnswer?)
        /// Nothing of an answer came; it may come the next time, after so many seconds if the server said so.
        case again(RemoteError, after: Int?)
        /// The server does not take this request; `words` are all it said.
        case refused(RemoteError, status: Int, words: String)
        case failed(RemoteError)
    }

    private let endpoint: RemoteEndpoint
    private let emit: (GenerationEvent) -> Void
    private var head: ResponseHead?
    private var answer: RemoteAnswer?
    private var refusal: [UInt8] = []
    private var fault: RemoteAnswer.Fault?

    private static let longestRefusal = 64 << 10

    init(_ endpoint: RemoteEndpoint, emit: @escaping (GenerationEvent) -> Void) {
        self.endpoint = endpoint
        self.emit = emit
    }

    func run(_ post: any HTTPPost, path: String, body: [UInt8], stop: StopSignal) -> Outcome {
        do {
            let request = try endpoint.request(path)
            do {
                try post.post(request, body: body, gate: endpoint.gate, stop: stop, receiver: self)
            } catch {
                return outcome(of: error)
            }
            return outcome()
        } catch {
            return .failed(error)
        }
    }

    func take(_ head: ResponseHead) -> Bool {
        self.head = head
        guard (200..<300).contains(head.status) else { return !(300..<400).contains(head.status) }
        let kind = head["content-type"]?.lowercased() ?? ""
        answer = RemoteAnswer(isStream: !kind.hasPrefix("application/json"))
        return true
    }

    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard answer != nil else {
            refusal += bytes.prefix(RemoteExchange.longestRefusal - refusal.count)
            return refusal.count < RemoteExchange.longestRefusal
        }
        do throws(RemoteAnswer.Fault) {
            for event in try answer!.take(bytes) { emit(event) }  // asked for above
            return !(answer?.isOver ?? true)
        } catch {
            fault = error
            return false
        }
    }

    private func outcome(of error: FetchError) -> Outcome {
        let hasBegun = answer?.hasBegun ?? false
        switch error {
        case .stopped: return .stopped(answer)
        case .unreachable(let reason): return .again(.unreachable(host: endpoint.host, reason: reason), after: nil)
        case .refusedAddress(let address): return .failed(.plainInPublic(host: endpoint.host, address: address))
        case .untrusted(let reason): return .failed(.untrusted(host: endpoint.host, reason: reason))
        case .interrupted(let reason):
            // A server that closes the connection after the last word has answered.
            if let answer, answer.isComplete { return .answered(answer) }
            let error = RemoteError.cut(host: endpoint.host, reason: reason)
            return hasBegun ? .failed(error) : .again(error, after: nil)
        }
    }

    private func outcome() -> Outcome {
        let words = QuotedWords(key: endpoint.key)
        switch fault {
        case .unreadable(let reason)?: return .failed(.unreadable(host: endpoint.host, reason: reason))
        case .said(let said)?:
            return .failed(.failed(host: endpoint.host, words: said.flatMap { words.make($0) }))
        case nil: break
        }
        if let answer { return .answered(answer) }
        let status = head?.status ?? 0
        let error = RemoteError.refused(host: endpoint.host, status: status, words: words.words(in: refusal))
        if [408, 429, 500, 502, 503, 504].contains(status) {
            return .again(error, after: head?["retry-after"].flatMap { Int($0) })
        }
        return .refused(error, status: status, words: String(decoding: refusal, as: UTF8.self))
    }
}
