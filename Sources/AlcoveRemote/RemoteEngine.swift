package import AlcoveCore
package import AlcoveDownloads

/// A model on a server of OpenAI's API, behind the same door as one on this device: what is asked leaves the device.
package final class RemoteEngine: LanguageModel {
    package struct Options: Sendable {
        package var endpoint: RemoteEndpoint
        /// The server's name of the model; nil is the first one it names.
        package var model: String?
        /// Most tokens of a chat; nil is what the server says, or `usualContext`.
        package var contextLength: Int?

        package init(endpoint: RemoteEndpoint, model: String? = nil, contextLength: Int? = nil) {
            self.endpoint = endpoint
            self.model = model
            self.contextLength = contextLength
        }
    }

    /// Where neither a person nor the server says how much the model holds.
    package static let usualContext = 8_192
    /// How often a server is asked that gives no answer at all.
    private static let attempts = 3
    private static let longestPause = 20

    package let description: ModelDescription
    /// Things to tell the person, as sentences.
    package let notices: [String]
    private let endpoint: RemoteEndpoint
    private let post: any HTTPPost
    private let clock: any Clock<Duration>
    private let manners = RemoteManners()

    /// Asks the server for its models, and so whether it is there.
    ///
    /// - Throws: `RemoteError`.
    package static func connect(
        _ options: Options, client: any HTTPFetch & HTTPPost = CurlFetch(),
        clock: any Clock<Duration> = ContinuousClock(), stop: StopSignal = StopSignal()
    ) async throws -> RemoteEngine {
        let found = try await onThread { try RemoteModelList.get(options.endpoint, client, stop: stop) }
        let chosen = options.model.map { name in found.first { $0.id == name } ?? RemoteModelList.Entry(id: name) }
        guard let entry = chosen ?? found.first else { throw RemoteError.noModel(host: options.endpoint.host) }
        return RemoteEngine(options, entry, client, clock)
    }

    private init(
        _ options: Options, _ entry: RemoteModelList.Entry, _ post: any HTTPPost, _ clock: any Clock<Duration>
    ) {
        endpoint = options.endpoint
        self.post = post
        self.clock = clock
        let context = options.contextLength ?? entry.contextLength ?? RemoteEngine.usualContext
        description = ModelDescription(
            id: entry.id, name: "\(entry.id) at \(endpoint.host)", architecture: "remote", contextLength: context,
            trainedContextLength: entry.contextLength ?? context, parameterCount: 0, fileBytes: 0)
        var notices = [RemoteEngine.warning(host: endpoint.host)]
        if options.contextLength == nil, entry.contextLength == nil {
            notices.append(
                "The server does not say how much its model holds; \(context) tokens are assumed (--context says otherwise)."
            )
        }
        self.notices = notices
    }

    /// What a person must know before the first word.
    package static func warning(host: String) -> String {
        "Answers come from \(host), not from this device: what you write, the files you give and what tools find is sent there."
    }

    /// An estimate: bytes, at the rate that the server's own counts have shown.
    package func promptTokens(of request: GenerationRequest) async throws -> Int {
        manners.estimate(bytes: RemoteEngine.promptBytes(request))
    }

    package func generate(_ request: GenerationRequest) -> AsyncThrowingStream<GenerationEvent, any Error> {
        let stop = request.stopSignal
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: GenerationEvent.self)
        continuation.onTermination = { if case .cancelled = $0 { stop.set() } }
        Task {
            do {
                try await run(request, to: continuation)
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        return stream
    }

    private typealias Output = AsyncThrowingStream<GenerationEvent, any Error>.Continuation

    private func run(_ request: GenerationRequest, to output: Output) async throws {
        let began = Platform.monotonicNanoseconds
        let timing = RemoteTiming()
        var attempt = 1
        while true {
            let body = RemoteBody(model: description.id, request: request, omitted: manners.omitted)
            let json = body.json
            switch try await ask(body.path, json.bytes(), stop: request.stopSignal, timing, output) {
            case .answered(let answer): return try finish(answer, request, began, timing, output)
            case .stopped(let answer):
                let usage = usage(of: answer, request, began, timing)
                output.yield(.finished(.cancelled, usage))
                return
            case .failed(let error): throw error
            case .refused(let error, let status, let words):
                // Once for each parameter: what was learned is not sent again.
                guard manners.learn(status: status, words: words, sent: json) else { throw error }
            case .again(let error, let seconds):
                guard attempt < RemoteEngine.attempts else { throw error }
                let pause = min(max(seconds ?? attempt, 0), RemoteEngine.longestPause)
                await rest(.seconds(pause), stop: request.stopSignal)
                attempt += 1
            }
            if request.stopSignal.isSet {
                output.yield(.finished(.cancelled, Usage()))
                return
            }
        }
    }

    private func ask(
        _ path: String, _ body: [UInt8], stop: StopSignal, _ timing: RemoteTiming, _ output: Output
    ) async throws -> RemoteExchange.Outcome {
        let endpoint = endpoint, post = post
        return try await RemoteEngine.onThread {
            RemoteExchange(endpoint) { event in
                timing.noteFirst()
                output.yield(event)
            }.run(post, path: path, body: body, stop: stop)
        }
    }

    private func finish(
        _ answer: RemoteAnswer, _ request: GenerationRequest, _ began: UInt64, _ timing: RemoteTiming, _ output: Output
    ) throws {
        var answer = answer
        let end: (events: [GenerationEvent], reason: FinishReason)?
        do throws(RemoteAnswer.Fault) {
            end = try answer.finish()
        } catch {
            switch error {
            case .unreadable(let reason): throw RemoteError.unreadable(host: endpoint.host, reason: reason)
            case .said(let words):
                let quoted = words.flatMap { QuotedWords(key: endpoint.key).make($0) }
                throw RemoteError.failed(host: endpoint.host, words: quoted)
            }
        }
        guard let end else {
            throw RemoteError.cut(host: endpoint.host, reason: "it ended before the server said that it was complete")
        }
        for event in end.events {
            timing.noteFirst()
            output.yield(event)
        }
        if answer.isCounted {
            manners.learn(tokens: answer.usage.promptTokens, ofBytes: RemoteEngine.promptBytes(request))
        }
        output.yield(.finished(end.reason, usage(of: answer, request, began, timing)))
    }

    private func usage(
        of answer: RemoteAnswer?, _ request: GenerationRequest, _ began: UInt64, _ timing: RemoteTiming
    ) -> Usage {
        var usage = answer?.usage ?? Usage()
        if answer?.isCounted != true {
            usage.promptTokens = manners.estimate(bytes: RemoteEngine.promptBytes(request))
            usage.completionTokens = answer?.pieces ?? 0
            usage.isEstimated = true
        }
        let now = Platform.monotonicNanoseconds, first = timing.first ?? now
        usage.promptSeconds = Double(first - began) / 1e9
        usage.generationSeconds = Double(now - first) / 1e9
        return usage
    }

    /// Waits, but not for somebody who has left.
    private func rest(_ pause: Duration, stop: StopSignal) async {
        let clock = clock
        let sleep = Task { try? await clock.sleep(for: pause) }
        stop.whenSet { sleep.cancel() }
        await sleep.value
    }

    private static func promptBytes(_ request: GenerationRequest) -> Int {
        if let prompt = request.rawPrompt { return prompt.utf8.count }
        let messages = request.messages.reduce(0) { sum, message in
            sum + 12 + (message.content?.utf8.count ?? 0)
                + message.toolCalls.reduce(0) { $0 + $1.name.utf8.count + $1.arguments.utf8.count + 24 }
        }
        return request.tools.reduce(messages) {
            $0 + $1.name.utf8.count + $1.description.utf8.count + $1.parameters.bytes().count + 48
        }
    }

    /// Runs what blocks on a thread of its own.
    private static func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            let isStarted = startThread(name: "alcove.remote", stackBytes: 1 << 20) {
                continuation.resume(with: Result { try body() })
            }
            if !isStarted {
                continuation.resume(
                    throwing: InputError(code: "no_thread", message: "The system gives no thread.", place: .host))
            }
        }
    }
}
