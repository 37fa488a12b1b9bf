import AlcoveCore
import Testing

@testable import AlcoveServer

/// What programs may ask, and the words in which the rest is refused.
struct OpenAIOrderTests {
    struct Refusal: Sendable, CustomTestStringConvertible {
        let body: String
        let param: String?
        let code: String
        var testDescription: String { body }

        init(_ members: String, _ param: String?, _ code: String = "invalid_value", isWhole: Bool = false) {
            body = isWhole ? members : #"{"model":"m","messages":[{"role":"user","content":"hi"}],\#(members)}"#
            (self.param, self.code) = (param, code)
        }
    }

    private static let tool = #""tools":[{"type":"function","function":{"name":"f"}}]"#

    static let refusals = [
        Refusal(#"{"messages":[]}"#, "model", "missing_required_parameter", isWhole: true),
        Refusal(#"{"model":"m"}"#, "messages", "missing_required_parameter", isWhole: true),
        Refusal(#"{"model":"m","messages":[]}"#, "messages", "empty_array", isWhole: true),
        Refusal(#""messages":{}"#, "messages"),
        Refusal(#""messages":["hi"]"#, "messages[0]", "invalid_type"),
        Refusal(#""messages":[{"role":"robot","content":"x"}]"#, "messages[0].role"),
        Refusal(#""messages":[{"role":"user"}]"#, "messages[0].content"),
        Refusal(#""messages":[{"role":"user","content":7}]"#, "messages[0].content"),
        Refusal(#""messages":[{"role":"assistant"}]"#, "messages[0].content"),
        Refusal(#""messages":[{"role":"user","content":"x","colour":1}]"#, "messages[0].colour", "unknown_parameter"),
        Refusal(
            #""messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:"}}]}]"#,
            "messages[0].content[0].image_url.url", "invalid_value"),
        Refusal(#""messages":[{"role":"user","content":[{"type":"text"}]}]"#, "messages[0].content[0].text"),
        Refusal(#""messages":[{"role":"tool","content":"x","tool_call_id":"a"}]"#, "messages[0].tool_call_id"),
        Refusal(
            #""messages":[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":{}}}]}]"#,
            "messages[0].tool_calls[0].function.arguments"),
        Refusal(#""n":2"#, "n"), Refusal(#""n":0"#, "n"), Refusal(#""temperature":2.5"#, "temperature"),
        Refusal(#""temperature":"hot""#, "temperature"), Refusal(#""top_p":-1"#, "top_p"),
        Refusal(#""max_tokens":0"#, "max_tokens"), Refusal(#""max_completion_tokens":1.5"#, "max_completion_tokens"),
        Refusal(#""frequency_penalty":3"#, "frequency_penalty"), Refusal(#""seed":"x""#, "seed"),
        Refusal(#""stop":[""]"#, "stop"), Refusal(#""stop":7"#, "stop"), Refusal(#""stop":[7]"#, "stop"),
        Refusal(#""stream":"yes""#, "stream"), Refusal(#""stream_options":{"include_usage":true}"#, "stream_options"),
        Refusal(#""stream":true,"stream_options":{"x":1}"#, "stream_options.x", "unknown_parameter"),
        Refusal(#""top_logprobs":2"#, "top_logprobs"), Refusal(#""logprobs":true,"top_logprobs":21"#, "top_logprobs"),
        Refusal(#""logit_bias":{"5":1}"#, "logit_bias", "unsupported_parameter"),
        Refusal(#""functions":[{}]"#, "functions", "unsupported_parameter"),
        Refusal(#""store":true"#, "store", "unsupported_parameter"),
        Refusal(#""modalities":["audio"]"#, "modalities"), Refusal(#""reasoning_effort":"huge""#, "reasoning_effort"),
        Refusal(#""temprature":1"#, "temprature", "unknown_parameter"),
        Refusal(#""tools":[{"type":"custom"}]"#, "tools[0].type"),
        Refusal(#""tools":[{"type":"function","function":{"name":"a b"}}]"#, "tools[0].function.name"),
        Refusal(
            #""tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"f"}}]"#,
            "tools[1].function.name"),
        Refusal(
            #""tools":[{"type":"function","function":{"name":"f","parameters":[]}}]"#, "tools[0].function.parameters"),
        Refusal(#""tool_choice":"required""#, "tool_choice"),
        Refusal(#"\#(tool),"tool_choice":"maybe""#, "tool_choice"),
        Refusal(#"\#(tool),"tool_choice":{"type":"function","function":{"name":"g"}}"#, "tool_choice"),
        Refusal(#"\#(tool),"response_format":{"type":"json_object"}"#, "response_format"),
        Refusal(#""response_format":{"type":"xml"}"#, "response_format.type"),
        Refusal(#""response_format":{"type":"json_schema"}"#, "response_format.json_schema"),
        Refusal(
            #""response_format":{"type":"json_schema","json_schema":{"name":"x"}}"#,
            "response_format.json_schema.schema"),
    ]

    @Test(arguments: refusals) func refusesByName(_ refusal: Refusal) throws {
        // Of a name that is given twice the last counts, as JSON readers have it.
        let body = try #require(try JSONValue(parsing: Array(refusal.body.utf8)).object)

        let error = #expect(throws: OpenAIError.self) { try OpenAIChatOrder(body) }

        #expect(error?.param == refusal.param)
        #expect(error?.code == refusal.code)
        #expect(error?.message.hasSuffix(".") == true)
    }

    private func request(_ members: String) throws -> GenerationRequest {
        let text = #"{"model":"m",\#(members)}"#
        let body = try #require(try JSONValue(parsing: Array(text.utf8)).object)
        var makers = SamplingOptions()
        makers.temperature = 0.3
        return try OpenAIChatOrder(body).request(for: makers, stopSignal: StopSignal())
    }

    @Test func aConversationIsReadWhole() throws {
        let request = try request(
            #""messages":[{"role":"developer","content":"Be brief."},{"role":"user","name":"Ann","content":"#
                + #"[{"type":"text","text":"a"},{"type":"text","text":"b"}]},{"role":"assistant","content":null,"#
                + #""reasoning_content":"Hm.","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","#
                + #""arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"42"}],"#
                + #""stop":"END","max_tokens":5,"max_completion_tokens":6,"seed":-1,"top_k":3,"#
                + #""parallel_tool_calls":false,\#(Self.tool),"tool_choice":{"type":"function","function":{"name":"f"}},"#
                + #""user":"u","metadata":{"a":"b"},"n":1,"stream":false,"logit_bias":null,"functions":null,"temperature":null,"#
                + #""stream_options":null,"response_format":null,"reasoning_effort":"low""#)

        #expect(request.messages.map(\.role) == [.developer, .user, .assistant, .tool])
        #expect(request.messages.map(\.content) == ["Be brief.", "a\nb", nil, "42"])
        #expect(request.messages[2].toolCalls == [ToolCall(id: "c1", name: "f", arguments: "{}")])
        #expect(request.messages[2].reasoning == "Hm.")
        #expect(request.messages[3].toolName == "f" && request.messages[3].toolCallID == "c1")
        #expect(request.stop == ["END"] && request.maxTokens == 6 && request.thinking)
        #expect(request.toolChoice == .named("f") && !request.parallelToolCalls)
        #expect(request.tools.map(\.name) == ["f"])
        #expect(request.sampling.temperature == 0.3 && request.sampling.topK == 3)
        #expect(request.likeliestTokens == nil && request.rawPrompt == nil)
    }

    @Test func formatsAndChancesReachTheModel() throws {
        let one = #""messages":[{"role":"user","content":"x"}],"#
        let schema = #"{"type":"object"}"#
        let format = #"{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":\#(schema)}}"#

        #expect(try request(one + #""response_format":\#(format)"#).responseSchema == ["type": "object"])
        #expect(try request(one + #""response_format":{"type":"json_object"}"#).responseSchema == ["type": "object"])
        #expect(try request(one + #""response_format":{"type":"text"}"#).responseSchema == nil)
        #expect(try request(one + #""logprobs":true"#).likeliestTokens == 0)
        #expect(try request(one + #""logprobs":true,"top_logprobs":5"#).likeliestTokens == 5)
        #expect(try request(one + #""logprobs":false"#).likeliestTokens == nil)
    }

    @Test func seedsKeepTheirMeaning() {
        #expect(OpenAIBody.seed(42) == 42)
        #expect(OpenAIBody.seed(1 << 32 | 5) != OpenAIBody.seed(5))
        // The library draws a seed of its own for this one.
        #expect(OpenAIBody.seed(Int(UInt32.max)) != .max)
    }

    @Test(arguments: [
        (#"{"model":"m","prompt":["a","b"]}"#, "prompt"), (#"{"model":"m","prompt":[1,2]}"#, "prompt"),
        (#"{"model":"m"}"#, "prompt"), (#"{"model":"m","prompt":"a","echo":true}"#, "echo"),
        (#"{"model":"m","prompt":"a","suffix":"b"}"#, "suffix"),
        (#"{"model":"m","prompt":"a","best_of":2}"#, "best_of"),
        (#"{"model":"m","prompt":"a","logprobs":true}"#, "logprobs"),
        (#"{"model":"m","prompt":"a","messages":[]}"#, "messages"),
    ]) func rawCompletionsRefuseByName(_ text: String, _ param: String) throws {
        let body = try #require(try JSONValue(parsing: Array(text.utf8)).object)
        let error = #expect(throws: OpenAIError.self) { try OpenAITextOrder(body) }
        #expect(error?.param == param)
    }

    @Test func rawPromptsAreNoMessages() throws {
        let body: JSONObject = ["model": "m", "prompt": ["<|im_start|>"], "echo": false, "suffix": "", "best_of": 1]
        let request = try OpenAITextOrder(body).request(for: SamplingOptions(), stopSignal: StopSignal())

        #expect(request.rawPrompt == "<|im_start|>" && request.messages.isEmpty && request.maxTokens == 16)
    }

    @Test func inputsOfEmbeddingsHaveFourForms() throws {
        func inputs(_ text: String) throws -> [EmbeddingInput] {
            try OpenAIEmbeddingOrder(["model": "m", "input": try JSONValue(parsing: Array(text.utf8))]).inputs
        }

        #expect(try inputs(#""a""#) == [.text("a")])
        #expect(try inputs(#"["a",""]"#) == [.text("a"), .text("")])
        #expect(try inputs("[1,2]") == [.tokens([1, 2])])
        #expect(try inputs("[[1,2],[3]]") == [.tokens([1, 2]), .tokens([3])])
        for odd in ["7", "[]", "[true]", "[1,\"a\"]", "[[1.5]]", "{}", "[1e12]"] {
            let error = #expect(throws: OpenAIError.self) { try inputs(odd) }
            #expect(error?.param == "input")
        }
    }

    @Test func vectorsAreToldInBothForms() throws {
        let made = Embeddings(vectors: [[1, -0.1]], tokens: 3)
        let asked: JSONObject = ["model": "m", "input": "a"]
        var packed = asked
        packed["encoding_format"] = "base64"

        #expect(
            try OpenAIEmbeddingOrder(asked).answer(made, model: "m").text()
                == #"{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1.0,-0.1]}],"model":"m","#
                + #""usage":{"prompt_tokens":3,"total_tokens":3}}"#)
        #expect(
            try OpenAIEmbeddingOrder(packed).answer(made, model: "m")["data"]?.array?[0]["embedding"]
                == "AACAP83MzL0=")
        var cut = asked
        cut["dimensions"] = 2
        #expect(throws: OpenAIError.self) { try OpenAIEmbeddingOrder(cut) }
    }
}
