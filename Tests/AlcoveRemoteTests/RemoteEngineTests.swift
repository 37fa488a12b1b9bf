import AlcoveCore
import AlcoveDownloads
import Testing

@testable import AlcoveRemote

struct RemoteEngineTests {
    private static let key = "sk-very-secret-0123456789"
    private static let hello = [
        #"data: {"choices":[{"delta":{"content":"Hello"},"finish_reason":"stop"}]}"#,
        #"data: {"choices":[],"usage":{"prompt_tokens":300,"completion_tokens":1}}"#, "data: [DONE]", "",
    ].joined(separator: "\n\n")

    private static func answer(_ steps: ScriptedServer.Step...) -> ScriptedServer.Answer {
        ScriptedServer.Answer(steps: steps)
    }

    private static func refusal(
        _ status: Int, _ body: String, _ fields: [(name: String, value: String)] = []
    ) -> ScriptedServer.Answer {
        ScriptedServer.Answer(status: status, fields: fields, steps: [.bytes(body)])
    }

    private static func engine(_ server: ScriptedServer, clock: CountingClock = CountingClock()) async throws
        -> RemoteEngine
    {
        let endpoint = try RemoteEndpoint("https://models.example/v1", key: key)
        return try await RemoteEngine.connect(
            RemoteEngine.Options(endpoint: endpoint), client: server, clock: clock)
    }

    private static func request(_ text: String = "Hi") -> GenerationRequest {
        GenerationRequest(messages: [Message(role: .user, content: text)], sampling: .greedy)
    }

    private static func events(_ engine: RemoteEngine, _ request: GenerationRequest) async throws -> [GenerationEvent] {
        var events: [GenerationEvent] = []
        for try await event in engine.generate(request) { events.append(event) }
        return events
    }

    @Test func anAnswerComesWithTheServersCounts() async throws {
        let server = ScriptedServer([Self.answer(.bytes(Self.hello))])
        let engine = try await Self.engine(server)
        let events = try await Self.events(engine, Self.request())

        #expect(engine.description.id == "m" && engine.description.contextLength == 4096)
        #expect(engine.notices.first?.contains("models.example") ?? false)
        #expect(events.first == .text("Hello"))
        guard case .finished(.stop, let usage)? = events.last else { return #expect(Bool(false)) }
        #expect(usage.promptTokens == 300 && !usage.isEstimated)
        let asked = try #require(server.asked.first)
        #expect(asked.url == "https://models.example/v1/chat/completions")
        #expect(asked.headers["Authorization"] == "Bearer \(Self.key)")
        #expect(asked.body["temperature"]?.double == 0 && asked.body["stream"]?.bool == true)
    }

    @Test func whatTheServerDoesNotCountIsMarkedAsAnEstimate() async throws {
        let server = ScriptedServer([Self.answer(.bytes("data: {\"choices\":[{\"text\":\"a\"}]}\n\ndata: [DONE]\n\n"))])
        let events = try await Self.events(try await Self.engine(server), Self.request())

        guard case .finished(_, let usage)? = events.last else { return #expect(Bool(false)) }
        #expect(usage.isEstimated && usage.promptTokens > 0 && usage.completionTokens == 1)
    }

    @Test func estimatesLearnFromTheServersCounts() async throws {
        let server = ScriptedServer([Self.answer(.bytes(Self.hello))])
        let engine = try await Self.engine(server)
        let request = Self.request(String(repeating: "word ", count: 400))
        let before = try await engine.promptTokens(of: request)
        _ = try await Self.events(engine, request)

        #expect(before > 600)
        #expect(try await engine.promptTokens(of: request) == 300)
    }

    @Test func toolsChoicesAndCallsGoOutInOpenAIsForm() async throws {
        let server = ScriptedServer([Self.answer(.bytes(Self.hello))])
        var request = Self.request()
        request.messages = [
            Message(role: .developer, content: "Be brief."), Message(role: .user, content: "Read it."),
            Message(
                role: .assistant, content: nil, reasoning: "secret thought",
                toolCalls: [ToolCall(id: "c", name: "read", arguments: #"{"p":1}"#)]),
            Message(role: .tool, content: "text", toolCallID: "c", toolName: "read"),
        ]
        request.tools = [ToolDeclaration(name: "read", description: "Reads.", parameters: ["type": "object"])]
        request.toolChoice = .named("read")
        request.parallelToolCalls = false
        request.stop = ["END"]
        request.maxTokens = 9
        request.sampling.seed = 5
        _ = try await Self.events(try await Self.engine(server), request)

        let body = try #require(server.asked.first?.body)
        #expect(
            body["messages"] == [
                ["role": "system", "content": "Be brief."], ["role": "user", "content": "Read it."],
                [
                    "role": "assistant", "content": .null,
                    "tool_calls": [
                        ["id": "c", "type": "function", "function": ["name": "read", "arguments": #"{"p":1}"#]]
                    ],
                ],
                ["role": "tool", "content": "text", "tool_call_id": "c"],
            ])
        #expect(body["tool_choice"] == ["type": "function", "function": ["name": "read"]])
        #expect(body["tools"]?.array?.count == 1 && body["parallel_tool_calls"]?.bool == false)
        #expect(body["stop"] == ["END"] && body["max_tokens"]?.int == 9 && body["seed"]?.int == 5)
    }

    @Test func whatNobodyChoseIsLeftToTheServer() async throws {
        let server = ScriptedServer([Self.answer(.bytes(Self.hello))])
        var request = Self.request()
        request.sampling = SamplingOptions()
        _ = try await Self.events(try await Self.engine(server), request)

        let body = try #require(server.asked.first?.body)
        for name in ["temperature", "top_p", "top_k", "min_p", "seed", "max_tokens", "tools"] {
            #expect(body[name] == nil, "\(name)")
        }
    }

    @Test func aParameterTheServerDoesNotKnowIsLeftOutFromThenOn() async throws {
        let server = ScriptedServer([
            Self.refusal(400, #"{"error":{"message":"Unknown parameter: \"chat_template_kwargs\"."}}"#),
            Self.refusal(400, #"{"error":{"message":"Use 'max_completion_tokens' in place of max_tokens"}}"#),
            Self.answer(.bytes(Self.hello)),
        ])
        let engine = try await Self.engine(server)
        var request = Self.request()
        request.maxTokens = 7
        _ = try await Self.events(engine, request)
        _ = try await Self.events(engine, request)

        #expect(server.asked.count == 4)
        #expect(server.asked[0].body["chat_template_kwargs"] != nil)
        for asked in server.asked.dropFirst(2) {
            #expect(asked.body["chat_template_kwargs"] == nil && asked.body["max_tokens"] == nil)
            #expect(asked.body["max_completion_tokens"]?.int == 7)
        }
    }

    @Test func aRefusalOfTheConversationItselfIsToldAtOnce() async throws {
        let words =
            #"{"error":{"message":"The prompt\nis \"too\" long \#(String(repeating: "x", count: 900)) \#(Self.key)"}}"#
        let server = ScriptedServer([Self.refusal(400, words)])
        let engine = try await Self.engine(server)
        let error = await #expect(throws: RemoteError.self) { _ = try await Self.events(engine, Self.request()) }

        #expect(server.asked.count == 1)
        #expect(error?.code == "remote_refused")
        let sentence = try #require(error?.sentence)
        #expect(
            sentence.hasPrefix(
                "The server models.example refused with status 400; it says: \"The prompt is 'too' long x"))
        #expect(sentence.utf8.count < 450)
    }

    @Test(arguments: [401, 403, 404, 302]) func theKeyIsNeverInWhatIsSaid(_ status: Int) async throws {
        let server = ScriptedServer([Self.refusal(status, #"{"error":{"message":"Wrong key \#(Self.key)!"}}"#)])
        let engine = try await Self.engine(server)
        let error = await #expect(throws: RemoteError.self) { _ = try await Self.events(engine, Self.request()) }

        #expect(server.asked.count == 1)
        #expect(!"\(error.map { "\($0) \($0.sentence) \($0.json.text())" } ?? "")".contains("very-secret"))
    }

    @Test func onlyWhatHasNotBegunIsTriedAgain() async throws {
        let clock = CountingClock()
        let server = ScriptedServer([
            ScriptedServer.Answer(failure: .unreachable("nobody answers there")),
            Self.refusal(503, "busy", [("Retry-After", "7")]), Self.answer(.bytes(Self.hello)),
        ])
        let events = try await Self.events(try await Self.engine(server, clock: clock), Self.request())

        #expect(events.first == .text("Hello"))
        #expect(clock.sleeps == [.seconds(1), .seconds(7)])
        #expect(server.asked.count == 3)
    }

    @Test func aServerThatStaysAwayIsAskedThreeTimes() async throws {
        let server = ScriptedServer([Self.refusal(429, #"{"error":"slow down"}"#, [("Retry-After", "9999")])])
        let clock = CountingClock()
        let engine = try await Self.engine(server, clock: clock)
        let error = await #expect(throws: RemoteError.self) { _ = try await Self.events(engine, Self.request()) }

        #expect(error?.sentence.contains("too much to do for this key (status 429); it says: \"slow down\".") ?? false)
        #expect(server.asked.count == 3)
        #expect(clock.sleeps == [.seconds(20), .seconds(20)])
    }

    @Test func anAnswerThatBreaksOffIsNotBegunAnew() async throws {
        let begun = "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n"
        for steps: [ScriptedServer.Step] in [
            [.bytes(begun), .fail(.interrupted("the connection was closed early"))], [.bytes(begun)],
        ] {
            let server = ScriptedServer([ScriptedServer.Answer(steps: steps)])
            let engine = try await Self.engine(server)
            var text = ""
            let error = await #expect(throws: RemoteError.self) {
                for try await event in engine.generate(Self.request()) {
                    if case .text(let piece) = event { text += piece }
                }
            }
            #expect(text == "Hel" && error?.code == "remote_cut" && server.asked.count == 1)
        }
    }

    @Test func aStopEndsTheRequestAndKeepsWhatCame() async throws {
        let waiting = StopSignal()
        let server = ScriptedServer([
            Self.answer(.bytes("data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n"), .waitForStop(waiting))
        ])
        let engine = try await Self.engine(server)
        let request = Self.request()
        waiting.whenSet { request.stopSignal.set() }
        let events = try await Self.events(engine, request)

        #expect(events.first == .text("Hel"))
        guard case .finished(.cancelled, let usage)? = events.last else { return #expect(Bool(false)) }
        #expect(usage.isEstimated && usage.completionTokens == 1)
    }

    @Test func endpointsAreReadOrRefused() throws {
        let good = [
            "http://127.0.0.1:8080": "http://127.0.0.1:8080/v1/models",
            "https://x.example/api/v1/": "https://x.example/api/v1/models",
            "https://x.example/v1/chat/completions": "https://x.example/v1/models",
            "http://[::1]:8/v2": "http://[::1]:8/v2/models",
        ]
        for (text, expected) in good { #expect(try RemoteEndpoint(text).request("/models").address.text == expected) }
        for text in [
            "x.example", "ftp://x.example", "https://me:\(Self.key)@x.example/v1", "https://x.example/v1?k=\(Self.key)",
        ] {
            let error = #expect(throws: RemoteError.self) { _ = try RemoteEndpoint(text) }
            #expect(error?.code == "remote_bad_endpoint" && !(error?.sentence.contains("secret") ?? true))
        }
    }

    @Test func plainHTTPStaysInTheSurroundings() throws {
        let plain = try RemoteEndpoint("http://gpu.local/v1").gate,
            secure = try RemoteEndpoint("https://gpu.local").gate

        #expect(plain.allows(host: "gpu.local", address: [10, 0, 0, 2]))
        #expect(!plain.allows(host: "gpu.local", address: [93, 184, 216, 34]))
        #expect(secure.allows(host: "gpu.local", address: [10, 0, 0, 2]))
        #expect(secure.allows(host: "gpu.local", address: [93, 184, 216, 34]))
    }

    @Test func keysAreOneWordOfAFile() throws {
        #expect(try RemoteEndpoint.key(in: Array(" abc-1 \r\n".utf8), of: "k") == "abc-1")
        for text in ["", "\n", "a b", "a\nX-Other: b", "ü"] {
            #expect(throws: RemoteError.self) { _ = try RemoteEndpoint.key(in: Array(text.utf8), of: "k") }
        }
    }

    @Test func aServerWithoutModelsIsRefusedUnlessOneIsNamed() async throws {
        let endpoint = try RemoteEndpoint("https://models.example")
        let none = ScriptedServer(modelsAnswer: Self.refusal(404, "no"))
        let error = await #expect(throws: RemoteError.self) {
            _ = try await RemoteEngine.connect(RemoteEngine.Options(endpoint: endpoint), client: none)
        }
        #expect(error == .noModel(host: "models.example"))
        let named = try await RemoteEngine.connect(
            RemoteEngine.Options(endpoint: endpoint, model: "big"), client: none)
        #expect(named.description.id == "big" && named.description.contextLength == RemoteEngine.usualContext)
        #expect(named.notices.count == 2)
    }
}
