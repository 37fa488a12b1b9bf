import AlcoveAgent
import AlcoveCore
import AlcoveStorage
import Testing

@testable import AlcoveServer

/// The routes over a socket, with a model that says what it is told.
@Suite(.serialized) struct OpenAIRoutesTests {
    private static let question = #"{"model":"default","messages":[{"role":"user","content":"hi"}]"#

    /// A host with this model; nil is a host that is still loading it.
    private func withHost<Value: Sendable>(
        _ model: ScriptedModel?, _ body: @escaping @Sendable (UInt16, HostServices) throws -> Value
    ) async throws -> Value {
        let database = try await Database.inMemory()
        let never = StopSignal()
        let life = ModelHost { _, _ in
            if let model { return LoadedModel(model: model) }
            await withCheckedContinuation { continuation in never.whenSet { continuation.resume() } }
            throw CancellationError()
        }
        let host = HostServices(
            database: database, model: life,
            files: HostServices.ModelFiles(list: { [] }, path: { $0 }), root: "/nonexistent")
        let loading = Task { try await life.load("/models/some.gguf") }
        if model != nil {
            try await loading.value
        } else {
            while true { if case .loading = await life.state { break } else { await Task.yield() } }
        }
        let site = Site(access: AccessControl(token: "secret"), router: host.router())
        let result = try await withServer(site) { port in try body(port, host) }
        never.set()
        _ = await loading.result
        await database.close()
        return result
    }

    private static func head(
        _ line: String, port: UInt16, length: Int = 0, token: String = "secret", fields: String = ""
    ) -> String {
        "\(line) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(token)\r\n"
            + (length > 0 ? "Content-Type: application/json\r\nContent-Length: \(length)\r\n" : "") + fields + "\r\n"
    }

    private static func post(_ client: TestClient, _ path: String, _ body: String, port: UInt16) {
        client.send(head("POST \(path)", port: port, length: body.utf8.count) + body)
    }

    @Test func aStreamEndsWithDone() async throws {
        let model = ScriptedModel(answers: [[.text("Hel"), .text("lo")]])

        let text = try await withHost(model) { port, _ in
            let client = try TestClient(port: port)
            Self.post(client, "/v1/chat/completions", Self.question + #","stream":true}"#, port: port)
            return try client.response()
        }

        #expect(text.status == 200 && text.headers["content-type"] == "text/event-stream")
        let frames = text.text.split(separator: "\n\n").map(String.init)
        #expect(frames.last == "data: [DONE]" && frames.allSatisfy { $0.hasPrefix("data: ") })
        #expect(frames.count == 5)
        #expect(model.requests.count == 1 && model.requests[0].tools.isEmpty)
    }

    /// A person closes the program that asked: nobody is left to read, and the engine must not go on.
    @Test func aClientThatLeavesStopsTheModel() async throws {
        let never = StopSignal()
        for isStream in [true, false] {
            let model = ScriptedModel(answers: [[.text("Hel"), .wait(never), .text("lo")]])
            let stopped = try await withHost(model) { port, host in
                let client = try TestClient(port: port)
                Self.post(client, "/v1/chat/completions", Self.question + #","stream":\#(isStream)}"#, port: port)
                if isStream {
                    _ = try client.read(through: "Hel")
                } else {
                    #expect(eventually { !model.requests.isEmpty })
                }
                let wasRunning = host.answers.runningCount
                client.socket.shutdownBoth()
                return wasRunning == 1 && eventually { host.answers.runningCount == 0 }
            }
            #expect(stopped)
            #expect(model.requests[0].stopSignal.isSet)
        }
    }

    @Test func aModelThatFailsLaterEndsItsStreamWithAnError() async throws {
        let fault = InputError(code: "decode_failed", message: "It stopped computing.", place: .host)
        let model = ScriptedModel(answers: [[.text("Hel"), .fail(fault)]])

        let text = try await withHost(model) { port, _ in
            let client = try TestClient(port: port)
            Self.post(client, "/v1/chat/completions", Self.question + #","stream":true}"#, port: port)
            return try client.response().text
        }

        #expect(
            text.hasSuffix(
                #"data: {"error":{"message":"It stopped computing.","type":"server_error","param":null,"#
                    + "\"code\":\"decode_failed\"}}\n\n"))
        #expect(!text.contains("[DONE]"))
    }

    @Test func aModelThatRefusesKeepsItsStatus() async throws {
        let fault = InputError(code: "prompt_too_long", message: "The chat needs 9 tokens and the model holds 5.")
        for isStream in [true, false] {
            let answer = try await withHost(ScriptedModel(answers: [[.fail(fault)]])) { port, _ in
                let client = try TestClient(port: port)
                Self.post(client, "/v1/chat/completions", Self.question + #","stream":\#(isStream)}"#, port: port)
                return try client.response()
            }
            #expect(answer.status == 400)
            #expect(
                answer.text
                    == #"{"error":{"message":"The chat needs 9 tokens and the model holds 5.","#
                    + #""type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#)
        }
    }

    @Test func everyRefusalBelowV1HasOpenAIsForm() async throws {
        let answers = try await withHost(ScriptedModel(answers: [[.text("x")]])) { port, _ in
            func ask(_ text: String) throws -> String {
                let client = try TestClient(port: port)
                client.send(text)
                let answer = try client.response()
                let error = answer.json?["error"]
                return "\(answer.status) \(error?["code"]?.string ?? "?") \(error?["type"]?.string ?? answer.text)"
            }
            func body(_ text: String, type: String = "application/json") -> String {
                "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer secret\r\n"
                    + "Content-Type: \(type)\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"
            }
            return try [
                Self.head("GET /v1/models", port: port, token: "wrong"), Self.head("GET /v1/nothing", port: port),
                Self.head("GET /v1", port: port), Self.head("DELETE /v1/models", port: port),
                Self.head("GET /v1/models/other", port: port), body("{"), body("[]"), body("{}"),
                body("{}", type: "text/plain"),
                "POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer secret\r\n"
                    + "Content-Type: application/json\r\nContent-Length: 999999999\r\n\r\n",
                Self.head("GET /v1/models", port: port, fields: "Origin: https://evil.example\r\n"),
                Self.head("GET /v1/models", port: port, fields: "Sec-Fetch-Site: cross-site\r\n"),
                Self.head("OPTIONS /v1/chat/completions", port: port, fields: "Origin: http://127.0.0.1:1\r\n"),
                "GET /v1/models HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer secret\r\n\r\n",
                // Ours stay as they are.
                Self.head("GET /api/nothing", port: port),
            ].map(ask)
        }

        let invalid = "invalid_request_error", forbidden = "permission_error"
        #expect(
            answers == [
                "401 invalid_api_key \(invalid)", "404 not_found \(invalid)", "404 not_found \(invalid)",
                "405 method_not_allowed \(invalid)", "404 model_not_found \(invalid)", "400 bad_json \(invalid)",
                "400 bad_body \(invalid)", "400 missing_required_parameter \(invalid)",
                "415 unsupported_media_type \(invalid)", "413 body_too_large \(invalid)",
                "403 foreign_origin \(forbidden)", "403 foreign_origin \(forbidden)", "403 foreign_origin \(forbidden)",
                "403 foreign_host \(forbidden)",
                #"404 ? {"error":"There is nothing at this address.","code":"not_found"}"#,
            ])
    }

    /// A page of another site may not even learn that it may not: nothing answers it with CORS fields.
    @Test func noAnswerInvitesForeignPages() async throws {
        let fields = try await withHost(ScriptedModel(answers: [[.text("x")]])) { port, _ in
            try ["GET /v1/models", "OPTIONS /v1/models"].map { line in
                let client = try TestClient(port: port)
                client.send(Self.head(line, port: port))
                return try client.response().headers.fields.map { $0.name.lowercased() }
            }
        }
        #expect(fields.joined().allSatisfy { !$0.hasPrefix("access-control-") })
    }

    @Test func aModelThatIsLoadingIsWorthWaitingFor() async throws {
        let (answer, list) = try await withHost(nil) { port, _ in
            let client = try TestClient(port: port)
            Self.post(client, "/v1/chat/completions", Self.question + "}", port: port)
            let answer = try client.response()
            client.send(Self.head("GET /v1/models", port: port))
            return (answer, try client.response().text)
        }

        #expect(answer.status == 503 && answer.headers["retry-after"] == "1")
        #expect(answer.json?["error"]?["code"] == "model_loading")
        #expect(list == #"{"object":"list","data":[]}"#)
    }

    @Test func aModelWithoutVectorsSaysWhatToLoad() async throws {
        let answer = try await withHost(ScriptedModel(answers: [[]])) { port, _ in
            let client = try TestClient(port: port)
            Self.post(client, "/v1/embeddings", #"{"model":"default","input":"a"}"#, port: port)
            return try client.response()
        }
        #expect(answer.status == 400 && answer.json?["error"]?["code"] == "model_cannot_embed")
    }
}
