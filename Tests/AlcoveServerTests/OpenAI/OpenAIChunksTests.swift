import AlcoveCore
import Testing

@testable import AlcoveServer

/// What programs of OpenAI's API see of an answer, byte by byte.
struct OpenAIChunksTests {
    private static let head = OpenAIHead(id: "chatcmpl-1", model: "m.gguf", created: 7)
    private static let start =
        #"{"id":"chatcmpl-1","object":"chat.completion.chunk","created":7,"model":"m.gguf","system_fingerprint":null,"#

    private static var usage: Usage {
        var usage = Usage()
        (usage.promptTokens, usage.reusedTokens, usage.completionTokens) = (10, 4, 3)
        return usage
    }

    private func lines(_ events: [GenerationEvent], includesUsage: Bool = false) throws -> [String] {
        var projection = OpenAIChunks(head: Self.head, includesUsage: includesUsage)
        return try events.flatMap { try projection.chunks($0).map { $0.text() } }.map {
            $0.hasPrefix(Self.start) ? String($0.dropFirst(Self.start.count)) : "another beginning: \($0)"
        }
    }

    private func choice(_ delta: String, finish: String = "null", logprobs: String = "null") -> String {
        #""choices":[{"index":0,"delta":\#(delta),"logprobs":\#(logprobs),"finish_reason":\#(finish)}]}"#
    }

    private func chance(_ text: String, _ logprob: Double, _ others: [(String, Double)] = []) -> TokenChance {
        TokenChance(
            chosen: TokenChance.Candidate(bytes: Array(text.utf8), logprob: logprob),
            likeliest: others.map { TokenChance.Candidate(bytes: Array($0.0.utf8), logprob: $0.1) })
    }

    @Test func anAnswerIsToldAsOpenAIWritesIt() throws {
        let told = try lines([
            .promptProgress(done: 0, total: 10), .reasoning("Hm."), .text("Hel"), .text("lo"),
            .finished(.stop, Self.usage),
        ])

        #expect(
            told == [
                choice(#"{"role":"assistant","content":""}"#), choice(#"{"reasoning_content":"Hm."}"#),
                choice(#"{"content":"Hel"}"#), choice(#"{"content":"lo"}"#), choice("{}", finish: #""stop""#),
            ])
    }

    @Test func theUsageComesLastWithoutAChoice() throws {
        let told = try lines([.text("a"), .finished(.length, Self.usage)], includesUsage: true)

        #expect(
            told.last
                == #""choices":[],"usage":{"prompt_tokens":10,"completion_tokens":3,"total_tokens":13,"#
                + #""prompt_tokens_details":{"cached_tokens":4}}}"#)
        #expect(told.dropLast().allSatisfy { $0.hasSuffix(#","usage":null}"#) })
        #expect(told.dropLast().last?.contains(#""finish_reason":"length""#) == true)
    }

    @Test func callsAreToldWhileTheyAreWritten() throws {
        let told = try lines([
            .toolCallPart(ToolCallPart(index: 0, id: "one", name: "a", arguments: "")),
            .toolCallPart(ToolCallPart(index: 0, name: nil, arguments: #"{"x""#)),
            .toolCallPart(ToolCallPart(index: 0, name: nil, arguments: ":1")),
            .toolCall(ToolCall(id: "one", name: "a", arguments: #"{"x":1}"#)),
            .toolCall(ToolCall(id: "two", name: "b", arguments: "{}")), .finished(.toolCalls, Self.usage),
        ])

        #expect(
            told == [
                choice(#"{"role":"assistant","content":""}"#),
                choice(
                    #"{"tool_calls":[{"index":0,"id":"one","type":"function","#
                        + #""function":{"name":"a","arguments":""}}]}"#),
                choice(#"{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\""}}]}"#),
                choice(#"{"tool_calls":[{"index":0,"function":{"arguments":":1"}}]}"#),
                choice(#"{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}"#),
                choice(
                    #"{"tool_calls":[{"index":1,"id":"two","type":"function","#
                        + #""function":{"name":"b","arguments":"{}"}}]}"#),
                choice("{}", finish: #""tool_calls""#),
            ])
    }

    @Test func anIDThatTheFormatGivesTwiceOrLateIsMade() throws {
        var projection = OpenAIChunks(head: Self.head, includesUsage: false)
        let events: [GenerationEvent] = [
            .toolCallPart(ToolCallPart(index: 0, id: "0", name: "a", arguments: "{}")),
            .toolCall(ToolCall(id: "0", name: "a", arguments: "{}")),
            .toolCallPart(ToolCallPart(index: 1, id: "0", name: "a", arguments: "{}")),
            .toolCall(ToolCall(id: "x", name: "a", arguments: "{}")),
            .toolCallPart(ToolCallPart(index: 2, name: "a", arguments: "{}")),
            .toolCall(ToolCall(id: "late", name: "a", arguments: "{}")),
        ]
        let ids = try events.flatMap { try projection.chunks($0) }.compactMap {
            $0["choices"]?.array?[0]["delta"]?["tool_calls"]?.array?[0]["id"]?.string
        }

        #expect(ids.count == 3 && Set(ids).count == 3)
        #expect(ids.first == "0" && !ids.contains("late"))
    }

    /// What was told cannot be taken back: the client sees arguments that are no JSON, and the reason.
    @Test func aCallThatBreaksWhileItIsToldStaysUnfinished() throws {
        let part = GenerationEvent.toolCallPart(ToolCallPart(index: 0, name: "a", arguments: #"{"x"#))
        let broken = GenerationEvent.brokenToolCall(BrokenToolCall(text: #"a {"x": oops"#, reason: "It is no JSON."))
        let told = try lines([part, broken, .finished(.stop, Self.usage)])

        #expect(told[3] == choice(#"{"tool_calls":[{"index":0,"function":{"arguments":"\": oops"}}]}"#))
        #expect(told[4].hasSuffix(#""finish_reason":"stop"}],"notices":["It is no JSON."]}"#))

        let cut = try lines([part, .finished(.length, Self.usage)])
        #expect(cut.last?.contains(#""finish_reason":"length""#) == true)
    }

    /// Arguments that a client could act on although the call is broken end the stream with an error.
    @Test(arguments: ["", " ", "{}", "[1]"]) func aBrokenCallThatLooksWholeIsAnError(_ arguments: String) throws {
        let events: [GenerationEvent] = [
            .toolCallPart(ToolCallPart(index: 0, name: "a", arguments: arguments)),
            .brokenToolCall(BrokenToolCall(text: "<call>a", reason: "It is none.")),
        ]
        var chunks = OpenAIChunks(head: Self.head, includesUsage: false)
        for event in events { _ = try chunks.chunks(event) }

        let thrown = #expect(throws: OpenAIError.self) { try chunks.chunks(.finished(.stop, Self.usage)) }

        #expect(thrown?.code == "tool_call_broken")
        var cut = OpenAIChunks(head: Self.head, includesUsage: false)
        for event in events { _ = try cut.chunks(event) }
        #expect(try cut.chunks(.finished(.length, Self.usage)).count == 1)
    }

    @Test func aCallThatReadsOtherwiseAtItsEndIsAnError() throws {
        for call in [
            ToolCall(id: "1", name: "b", arguments: #"{"x":1}"#), ToolCall(id: "1", name: "a", arguments: #"{ "x":1}"#),
        ] {
            var chunks = OpenAIChunks(head: Self.head, includesUsage: false)
            _ = try chunks.chunks(.toolCallPart(ToolCallPart(index: 0, name: "a", arguments: #"{"x"#)))
            let thrown = #expect(throws: OpenAIError.self) { try chunks.chunks(.toolCall(call)) }
            #expect(thrown?.code == "tool_call_changed")
        }
    }

    @Test func aCallThatCannotBeReadIsContent() throws {
        let events: [GenerationEvent] = [
            .brokenToolCall(BrokenToolCall(text: "<tool_call>{", reason: "It ends.")), .finished(.stop, Self.usage),
        ]
        var whole = OpenAICompletion(head: Self.head)
        events.forEach { whole.take($0) }

        #expect(try lines(events)[1] == choice(#"{"content":"<tool_call>{"}"#))
        #expect(try whole.json()["choices"]?.array?[0]["message"]?["content"] == "<tool_call>{")
    }

    /// Bytes of half a character wait with their chances; what becomes reasoning, a call or a stop text tells none.
    @Test func chancesGoWithTheTextTheyBecome() throws {
        let events: [GenerationEvent] = [
            .chance(chance("Hm", -1)), .reasoning("Hm"), .chance(chance("a", -0.5, [("a", -0.5), ("b", -2)])),
            .chance(chance("b", -0.25)), .text("ab"), .chance(chance("STOP", -3)), .finished(.stop, Self.usage),
        ]
        var whole = OpenAICompletion(head: Self.head)
        events.forEach { whole.take($0) }
        let first =
            #"{"token":"a","logprob":-0.5,"bytes":[97],"top_logprobs":[{"token":"a","logprob":-0.5,"bytes":[97]},"#
            + #"{"token":"b","logprob":-2.0,"bytes":[98]}]}"#
        let expected =
            #"{"content":[\#(first),{"token":"b","logprob":-0.25,"bytes":[98],"top_logprobs":[]}],"refusal":null}"#

        #expect(try lines(events)[2] == choice(#"{"content":"ab"}"#, logprobs: expected))
        #expect(try whole.json()["choices"]?.array?[0]["logprobs"]?.text() == expected)
    }

    @Test func aTokenThatCannotComeHasANumberToo() {
        let told = OpenAIParts.chances([chance("a", -0.0, [("b", -.infinity), ("c", .nan)])])
        let others = told["content"]?.array?[0]["top_logprobs"]?.array ?? []

        #expect(others.map { $0["logprob"]?.double } == [-9999, -9999])
    }

    @Test func aWholeCompletionHasOpenAIsOrder() throws {
        var whole = OpenAICompletion(head: Self.head)
        whole.take(.text("Hi"))
        whole.take(.notice("Something was left out."))
        whole.take(.finished(.stop, Self.usage))

        #expect(
            try whole.json().text()
                == #"{"id":"chatcmpl-1","object":"chat.completion","created":7,"model":"m.gguf","#
                + #""system_fingerprint":null,"choices":[{"index":0,"message":{"role":"assistant","content":"Hi","#
                + #""refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"#
                + #""completion_tokens":3,"total_tokens":13,"prompt_tokens_details":{"cached_tokens":4}},"#
                + #""notices":["Something was left out."]}"#)
    }

    @Test func anAnswerThatWasStoppedOrFailedIsAnError() {
        for (reason, status) in [(FinishReason.cancelled, 503), (.error, 500)] {
            var chunks = OpenAIChunks(head: Self.head, includesUsage: false)
            let thrown = #expect(throws: OpenAIError.self) { try chunks.chunks(.finished(reason, Usage())) }
            #expect(thrown?.httpStatus == status)
        }
        let never = OpenAICompletion(head: Self.head)
        #expect(throws: OpenAIError.self) { try never.json() }
    }

    @Test func everyEndIsOneOfThreeWords() throws {
        let words: [(FinishReason, JSONValue)] = [
            (.stop, "stop"), (.toolCalls, "tool_calls"), (.length, "length"), (.repetition, "length"),
            (.thinkingBudget, "length"),
        ]
        for (reason, word) in words { #expect(try OpenAIParts.finishReason(reason) == word) }
    }

    @Test func rawCompletionsCountTheirOffsetsAcrossChunks() throws {
        let head = OpenAIHead(id: "cmpl-1", model: "m.gguf", created: 7)
        var chunks = OpenAITextChunks(head: head, includesUsage: false)
        let events: [GenerationEvent] = [
            .chance(chance("né", -1, [("né", -1), ("né", -4)])), .text("né"), .chance(chance("x", -2)), .text("x"),
            .finished(.length, Self.usage),
        ]
        let told = try events.flatMap { try chunks.chunks($0) }
        let whole = try chunks.json()

        #expect(
            told.map { $0["choices"]?.array?[0]["logprobs"]?["text_offset"]?.text() ?? "none" } == [
                "[0]", "[2]", "none",
            ])
        #expect(
            told[0].text()
                == #"{"id":"cmpl-1","object":"text_completion","created":7,"model":"m.gguf","system_fingerprint":null,"#
                + #""choices":[{"text":"né","index":0,"logprobs":{"tokens":["né"],"token_logprobs":[-1.0],"#
                + #""top_logprobs":[{"né":-1.0}],"text_offset":[0]},"finish_reason":null}]}"#)
        #expect(whole["choices"]?.array?[0]["text"] == "néx")
        #expect(whole["choices"]?.array?[0]["logprobs"]?["text_offset"]?.text() == "[0,2]")
        #expect(whole["choices"]?.array?[0]["finish_reason"] == "length")
    }
}
