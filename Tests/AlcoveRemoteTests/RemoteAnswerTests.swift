import AlcoveCore
import Testing

@testable import AlcoveRemote

struct RemoteAnswerTests {
    private static func read(
        _ bytes: [UInt8], piece: Int, isStream: Bool = true, limits: RemoteAnswer.Limits = .init()
    ) throws -> (events: [GenerationEvent], reason: FinishReason?, answer: RemoteAnswer) {
        var answer = RemoteAnswer(isStream: isStream, limits: limits)
        var events: [GenerationEvent] = []
        for start in stride(from: 0, to: bytes.count, by: piece) {
            events += try bytes[start..<min(start + piece, bytes.count)].withUnsafeBytes { try answer.take($0) }
        }
        let end = try answer.finish()
        return (events + (end?.events ?? []), end?.reason, answer)
    }

    private static func stream(_ lines: [String]) -> [UInt8] {
        Array(lines.map { "data: \($0)\n\n" }.joined().utf8)
    }

    private static let whole = stream([
        #"{"choices":[{"delta":{"role":"assistant","content":""}}]}"#,
        #"{"choices":[{"delta":{"reasoning_content":"Hm."}}]}"#,
        #"{"choices":[{"delta":{"content":"Grüße, 世"}}],"usage":null}"#,
        #"{"choices":[{"delta":{"content":"界 👋"}}]}"#,
        #"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
        #"{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":4}}}"#,
        "[DONE]",
    ])

    @Test func everySplitReadsTheSame() throws {
        for piece in [1, 2, 3, 5, 7, 64, 100_000] {
            let (events, reason, answer) = try Self.read(Self.whole, piece: piece)

            #expect(events == [.reasoning("Hm."), .text("Grüße, 世"), .text("界 👋")])
            #expect(reason == .stop)
            #expect(answer.isCounted && answer.usage.promptTokens == 12 && answer.usage.completionTokens == 7)
            #expect(answer.usage.reusedTokens == 4)
        }
    }

    @Test func everyCutBeforeTheEndIsNoticed() throws {
        let end = Self.whole.count - Self.stream(["[DONE]"]).count
        let told = try #require(
            String(decoding: Self.whole, as: UTF8.self).firstRange(of: #""finish_reason":"stop"}]}"#))
        let complete = String(decoding: Self.whole, as: UTF8.self)[..<told.upperBound].utf8.count + 2
        for length in 0..<end {
            let (_, reason, answer) = try Self.read(Array(Self.whole[..<length]), piece: 1_000)
            #expect((reason != nil) == (length >= complete), "\(length)")
            #expect(answer.isComplete == (length >= complete))
        }
    }

    @Test func anAnswerInOnePieceIsReadToo() throws {
        let body = #"""
            {"choices":[{"message":{"role":"assistant","content":"Yes.","tool_calls":[
              {"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},
              {"id":"b","type":"function","function":{"name":"g","arguments":{"y":2}}}]},
              "finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}
            """#
        let (events, reason, _) = try Self.read(Array(body.utf8), piece: 10, isStream: false)

        #expect(events.first == .text("Yes."))
        #expect(
            events.suffix(2) == [
                .toolCall(ToolCall(id: "a", name: "f", arguments: #"{"x":1}"#)),
                .toolCall(ToolCall(id: "b", name: "g", arguments: #"{"y":2}"#)),
            ])
        #expect(reason == .toolCalls)
    }

    struct Pieces: Sendable, CustomTestStringConvertible {
        let name: String
        let lines: [String]
        let expected: [ToolCall]
        var testDescription: String { name }
    }

    static let pieces = [
        Pieces(
            name: "as OpenAI sends them",
            lines: [
                #"[{"index":0,"id":"c1","type":"function","function":{"name":"read","arguments":""}}]"#,
                #"[{"index":0,"function":{"arguments":"{\"pa"}}]"#,
                #"[{"index":0,"function":{"arguments":"th\":1}"}}]"#,
            ], expected: [ToolCall(id: "c1", name: "read", arguments: #"{"path":1}"#)]),
        Pieces(
            name: "two calls by turns",
            lines: [
                #"[{"index":1,"id":"b","function":{"name":"g","arguments":"{"}}]"#,
                #"[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]"#,
                #"[{"index":1,"function":{"arguments":"}"}},{"index":0,"function":{"arguments":"}"}}]"#,
            ],
            expected: [
                ToolCall(id: "b", name: "g", arguments: "{}"), ToolCall(id: "a", name: "f", arguments: "{}"),
            ]),
        Pieces(
            name: "no numbers, ids once",
            lines: [
                #"[{"id":"a","function":{"name":"f","arguments":"{\"x\":"}}]"#, #"[{"function":{"arguments":"1}"}}]"#,
                #"[{"id":"b","function":{"name":"f","arguments":"{}"}}]"#,
            ],
            expected: [
                ToolCall(id: "a", name: "f", arguments: #"{"x":1}"#), ToolCall(id: "b", name: "f", arguments: "{}"),
            ]),
        Pieces(
            name: "the name each time, no ids",
            lines: [
                #"[{"index":0,"function":{"name":"f","arguments":"{"}}]"#,
                #"[{"index":0,"function":{"name":"f","arguments":"}"}}]"#,
            ], expected: [ToolCall(id: "call_0", name: "f", arguments: "{}")]),
        Pieces(
            name: "a name in pieces, no arguments",
            lines: [
                #"[{"index":0,"id":"a","function":{"name":"read_"}}]"#, #"[{"index":0,"function":{"name":"file"}}]"#,
            ],
            expected: [ToolCall(id: "a", name: "read_file", arguments: "{}")]),
        Pieces(
            name: "one id twice",
            lines: [
                #"[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"a","function":{"name":"g","arguments":"{}"}}]"#
            ],
            expected: [
                ToolCall(id: "a", name: "f", arguments: "{}"), ToolCall(id: "a_1", name: "g", arguments: "{}"),
            ]),
    ]

    @Test(arguments: pieces) func callsInOddPiecesArePutTogether(_ c: Pieces) throws {
        let lines = c.lines.map { #"{"choices":[{"delta":{"tool_calls":\#($0)}}]}"# }
        let bytes = Self.stream(lines + [#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#])
        let (events, reason, _) = try Self.read(bytes, piece: 3)

        let calls = events.compactMap { if case .toolCall(let call) = $0 { call } else { nil } }
        #expect(calls == c.expected)
        #expect(reason == .toolCalls)
    }

    @Test func callsThatCannotBeReadAreTold() throws {
        let bytes = Self.stream([
            #"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}"#,
            #"{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"name":"f","arguments":"{\"x\":"}}]}}]}"#,
            #"{"choices":[{"delta":{"tool_calls":[{"index":2,"function":{"name":"g","arguments":"[1]"}}, 7]},"finish_reason":"stop"}]}"#,
        ])
        let (events, _, _) = try Self.read(bytes, piece: 1_000)

        let reasons = events.compactMap { if case .brokenToolCall(let call) = $0 { call.reason } else { nil } }
        #expect(
            reasons == ["It names no tool.", "Its arguments are no JSON.", "Its arguments are no JSON object."])
    }

    struct Hostile: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        let fault: RemoteAnswer.Fault
        var testDescription: String { name }
    }

    static let hostile = [
        Hostile(
            name: "a line without end", bytes: Array(repeating: 0x61, count: 5_000),
            fault: .unreadable("a line of it has no end")),
        Hostile(
            name: "a data line without end", bytes: Array("data: ".utf8) + Array(repeating: 0x7B, count: 5_000),
            fault: .unreadable("a line of it has no end")),
        Hostile(
            name: "broken JSON", bytes: stream([#"{"choices":["#]),
            fault: .unreadable("it holds something that is no JSON object")),
        Hostile(
            name: "no object", bytes: stream(["[1]"]), fault: .unreadable("it holds something that is no JSON object")),
        Hostile(
            name: "deep nesting", bytes: stream([String(repeating: "[", count: 900)]),
            fault: .unreadable("it holds something that is no JSON object")),
        Hostile(
            name: "an error in the stream", bytes: stream([#"{"error":{"message":"out of memory"}}"#]),
            fault: .said("out of memory")),
        Hostile(name: "an error without words", bytes: stream([#"{"error":{}}"#]), fault: .said(nil)),
        Hostile(
            name: "too many calls",
            bytes: stream(
                (0..<5).map {
                    #"{"choices":[{"delta":{"tool_calls":[{"index":\#($0),"function":{"name":"f"}}]}}]}"#
                }), fault: .unreadable("it calls more than 3 tools")),
        Hostile(
            name: "an answer without end",
            bytes: Array(
                repeatElement(stream([#"{"choices":[{"delta":{"content":"again and again"}}]}"#]), count: 30_000)
                    .joined()),
            fault: .unreadable("it is longer than 1 MiB")),
    ]

    @Test(arguments: hostile) func hostileServersAreLeft(_ c: Hostile) {
        var limits = RemoteAnswer.Limits()
        (limits.answer, limits.line, limits.calls) = (1 << 20, 1_000, 3)
        let error = #expect(throws: RemoteAnswer.Fault.self) {
            _ = try Self.read(c.bytes, piece: 100, limits: limits)
        }
        #expect(error == c.fault)
    }

    @Test func bytesThatAreNoTextBecomeReplacements() throws {
        let bytes = Array(#"data: {"choices":[{"delta":{"content":"a"#.utf8) + [0xFF, 0xC3]
        let (events, _, _) = try Self.read(bytes + Array("b\"}}]}\n\ndata: [DONE]\n\n".utf8), piece: 1)

        #expect(events == [.text("a\u{FFFD}\u{FFFD}b")])
    }

    @Test func chancesAndFiltersAreTold() throws {
        let bytes = Self.stream([
            #"{"choices":[{"delta":{"content":"A"},"logprobs":{"content":[{"token":"A","logprob":-0.5,"bytes":[65],"top_logprobs":[{"token":"B","logprob":-1.5}]}]}}]}"#,
            #"{"choices":[{"delta":{},"finish_reason":"content_filter"}]}"#,
        ])
        let (events, reason, _) = try Self.read(bytes, piece: 9)

        let chosen = TokenChance.Candidate(bytes: [65], logprob: -0.5)
        let other = TokenChance.Candidate(bytes: [66], logprob: -1.5)
        #expect(
            events == [
                .chance(TokenChance(chosen: chosen, likeliest: [other])), .text("A"),
                .notice("The server's own filter ended the answer."),
            ])
        #expect(reason == .stop)
    }

    @Test func chancesOfRawTextAreListsSideBySide() throws {
        let bytes = Self.stream([
            #"{"choices":[{"text":" Paris","logprobs":{"tokens":[" Paris",7,"!"],"token_logprobs":[-0.25,-1,2],"#
                + #""top_logprobs":[{" Rome":-3,"a":"no"," Paris":-0.25}]}}]}"#,
            #"{"choices":[{"text":"","logprobs":{"tokens":"none"},"finish_reason":"stop"}]}"#, "[DONE]",
        ])
        let (events, _, _) = try Self.read(bytes, piece: 9)

        func candidate(_ text: String, _ logprob: Double) -> TokenChance.Candidate {
            TokenChance.Candidate(bytes: Array(text.utf8), logprob: logprob)
        }
        #expect(
            events == [
                .chance(
                    TokenChance(
                        chosen: candidate(" Paris", -0.25),
                        likeliest: [candidate(" Paris", -0.25), candidate(" Rome", -3)])),
                .text(" Paris"),
            ])
    }
}
