package import AlcoveCore

/// Reads one streamed answer: bytes in any pieces become events. A pure function of the bytes, which are a stranger's.
package struct RemoteAnswer {
    /// Most bytes of a whole answer, of one line, and of one call.
    package struct Limits: Sendable {
        package var answer = 64 << 20
        package var line = 1 << 20
        package var calls = 128

        package init() {}
    }

    /// How it cannot be read; the texts go into the middle of a sentence.
    package enum Fault: Error, Hashable {
        case unreadable(String)
        /// The server's own words, as they came.
        case said(String?)
    }

    private let limits: Limits
    private let isStream: Bool
    private var parser: SSEParser
    private var whole: [UInt8] = []
    private var bytes = 0
    private var bytesSinceEvent = 0
    private var calls = RemoteCalls()
    private var reason: FinishReason?
    private var isDone = false
    /// Whether anything of the answer was understood.
    package private(set) var hasBegun = false
    package private(set) var usage = Usage()
    /// Whether `usage` has the server's own numbers.
    package private(set) var isCounted = false
    /// Pieces that came, where the server counts nothing: about one a token.
    package private(set) var pieces = 0
    private var notices: [String] = []

    /// - Parameter isStream: false for a server that sends the answer in one piece although it was asked for a stream.
    package init(isStream: Bool, limits: Limits = Limits()) {
        self.isStream = isStream
        self.limits = limits
        parser = SSEParser(maximumBytes: limits.line)
    }

    /// Whether the server has said that the answer is complete.
    package var isComplete: Bool { isDone || reason != nil }
    /// Nothing more is to come.
    package var isOver: Bool { isDone }

    package mutating func take(_ piece: UnsafeRawBufferPointer) throws(Fault) -> [GenerationEvent] {
        bytes += piece.count
        guard bytes <= limits.answer else { throw .unreadable("it is longer than \(limits.answer >> 20) MiB") }
        guard isStream else {
            whole += piece
            return []
        }
        bytesSinceEvent += piece.count
        var texts: [String] = []
        parser.feed(piece) { texts.append($0.data) }
        if !texts.isEmpty { bytesSinceEvent = 0 }
        var events: [GenerationEvent] = []
        for text in texts where !isDone { events += try read(text) }
        guard bytesSinceEvent <= 2 * limits.line else { throw .unreadable("a line of it has no end") }
        return events
    }

    /// What was left when the bytes ended, calls among it.
    ///
    /// - Throws: when the answer ended before the server said so.
    package mutating func finish() throws(Fault) -> (events: [GenerationEvent], reason: FinishReason)? {
        var events: [GenerationEvent] = []
        if !isStream {
            events += try read(String(decoding: whole, as: UTF8.self))
            isDone = true
        }
        guard isComplete else { return nil }
        events += notices.map { .notice($0) }
        events += calls.finish()
        let reason = reason ?? .stop
        return (events, calls.hasCalls && reason == .stop ? .toolCalls : reason)
    }

    private mutating func read(_ text: String) throws(Fault) -> [GenerationEvent] {
        if text == "[DONE]" {
            isDone = true
            return []
        }
        guard let value = try? JSONValue(parsing: text), value.object != nil else {
            throw .unreadable("it holds something that is no JSON object")
        }
        if let error = value["error"], !error.isNull { throw .said(RemoteWords.message(in: value)) }
        if let counts = value["usage"], counts.object != nil { take(counts) }
        guard let choice = value["choices"]?.array?.first else { return [] }
        hasBegun = true
        var events: [GenerationEvent] = []
        if let chances = choice["logprobs"]?["content"]?.array {
            events += chances.compactMap(RemoteAnswer.chance)
        } else if let chances = choice["logprobs"] {
            events += RemoteAnswer.chancesOfText(chances)
        }
        let delta = choice["delta"] ?? choice["message"]
        if let text = delta?["reasoning_content"]?.string ?? delta?["reasoning"]?.string, !text.isEmpty {
            pieces += 1
            events.append(.reasoning(text))
        }
        if let text = delta?["content"]?.string ?? delta?["refusal"]?.string ?? choice["text"]?.string, !text.isEmpty {
            pieces += 1
            events.append(.text(text))
        }
        for (place, call) in (delta?["tool_calls"]?.array ?? []).enumerated() {
            pieces += 1
            guard let part = calls.take(call, place: place, isWhole: choice["delta"] == nil) else { continue }
            guard part.index < limits.calls else { throw .unreadable("it calls more than \(limits.calls) tools") }
            events.append(.toolCallPart(part))
        }
        if let word = choice["finish_reason"]?.string { finish(word) }
        return events
    }

    private mutating func finish(_ word: String) {
        switch word {
        case "length", "max_tokens": reason = .length
        case "content_filter":
            reason = .stop
            notices.append("The server's own filter ended the answer.")
        default: reason = .stop
        }
    }

    private mutating func take(_ counts: JSONValue) {
        func number(_ value: JSONValue?) -> Int? { value?.int.flatMap { (0...1 << 40).contains($0) ? $0 : nil } }
        guard let prompt = number(counts["prompt_tokens"]), let answer = number(counts["completion_tokens"]) else {
            return
        }
        usage.promptTokens = prompt
        usage.completionTokens = answer
        usage.reusedTokens = min(number(counts["prompt_tokens_details"]?["cached_tokens"]) ?? 0, prompt)
        isCounted = true
    }

    /// Chances as they are told of raw text: lists side by side.
    private static func chancesOfText(_ value: JSONValue) -> [GenerationEvent] {
        let tokens = value["tokens"]?.array ?? [], logprobs = value["token_logprobs"]?.array ?? []
        let others = value["top_logprobs"]?.array ?? []
        return zip(tokens, logprobs).enumerated().compactMap { index, pair in
            guard let text = pair.0.string, let logprob = pair.1.double, logprob <= 0 else { return nil }
            let members = index < others.count ? others[index].object?.members ?? [] : []
            let likeliest = members.compactMap { member -> TokenChance.Candidate? in
                guard let logprob = member.value.double, logprob <= 0 else { return nil }
                return TokenChance.Candidate(bytes: Array(member.key.utf8), logprob: logprob)
            }
            return .chance(
                TokenChance(
                    chosen: TokenChance.Candidate(bytes: Array(text.utf8), logprob: logprob),
                    likeliest: Array(likeliest.sorted { $0.logprob > $1.logprob }.prefix(20))))
        }
    }

    private static func chance(_ value: JSONValue) -> GenerationEvent? {
        func candidate(_ value: JSONValue) -> TokenChance.Candidate? {
            guard let text = value["token"]?.string, let logprob = value["logprob"]?.double, logprob <= 0 else {
                return nil
            }
            let bytes = value["bytes"]?.array?.compactMap { $0.int.flatMap { UInt8(exactly: $0) } }
            return TokenChance.Candidate(bytes: bytes ?? Array(text.utf8), logprob: logprob)
        }
        guard let chosen = candidate(value) else { return nil }
        let others = (value["top_logprobs"]?.array ?? []).prefix(20).compactMap(candidate)
        return .chance(TokenChance(chosen: chosen, likeliest: others))
    }
}
