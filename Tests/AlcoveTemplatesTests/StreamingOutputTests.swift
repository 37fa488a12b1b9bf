internal import AlcoveCore
internal import AlcoveTemplates
internal import Testing

/// Answers in the formats of the templates that ship with the library, fed whole and in every kind of pieces.
struct StreamingOutputTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let template: String
        let answer: String
        var reasoning = ""
        var content = ""
        let calls: [[String]]
        var testDescription: String { template }
    }

    static let tools = [
        ToolDeclaration(name: "a", description: "A.", parameters: object(["q": ["type": "string"]])),
        ToolDeclaration(name: "b", description: "B.", parameters: object([:])),
        ToolDeclaration(
            name: "write_file", description: "Writes.",
            parameters: object(["path": ["type": "string"], "content": ["type": "string"]])),
        ToolDeclaration(
            name: "add", description: "Adds.", parameters: object(["x": ["type": "integer"], "y": ["type": "integer"]])),
    ]

    private static func object(_ properties: JSONObject) -> JSONValue {
        ["type": "object", "properties": .object(properties), "required": .array(properties.keys.map { .string($0) })]
    }

    private static let q = #"{"q": "x } ] \" </tool"}"#
    private static let qCompact = #"{"q":"x } ] \" </tool"}"#

    /// Field report 10.
    static let case10 =
        #"Sure.<tool_call>{"name":"a","arguments":{"q":"x } ] \" </tool"}}</tool_call>"#
        + #"<tool_call>{"name":"b","arguments":{}}</tool_call>"#

    /// Field report 11: a file with fences and a closing marker in it.
    static let file = "# Title\n\n```sh\necho \"</tool_call>\"\n```\n\nText with ``` and <tool_call> in it.\n"
    static var case11: String {
        let arguments: JSONValue = ["path": "a.md", "content": .string(file)]
        return "<tool_call>\n{\"name\": \"write_file\", \"arguments\": \(arguments.text())}\n</tool_call>"
    }

    static let cases: [Case] = [
        Case(
            template: "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use", answer: case10, content: "Sure.",
            calls: [["a", qCompact], ["b", "{}"]]),
        Case(
            template: "Qwen-Qwen3-0.6B",
            answer:
                "<think>\nI think.\n</think>\n\nSure.\n<tool_call>\n{\"name\": \"a\", \"arguments\": \(q)}\n</tool_call>\n"
                + "<tool_call>\n{\"name\": \"b\", \"arguments\": {}}\n</tool_call>",
            reasoning: "I think.\n", content: "Sure.\n", calls: [["a", q], ["b", "{}"]]),
        Case(
            template: "Qwen3.5-4B",
            answer: "I think.\n</think>\n\nSure.\n<tool_call>\n<function=add>\n<parameter=x>\n1\n</parameter>\n"
                + "<parameter=y>\n-2\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=a>\n<parameter=q>\n"
                + "x </tool_call> y\n</parameter>\n</function>\n</tool_call>",
            reasoning: "I think.\n", content: "Sure.\n",
            calls: [["add", #"{"x":1,"y":-2}"#], ["a", #"{"q":"x </tool_call> y"}"#]]),
        Case(
            template: "google-gemma-4-31B-it",
            answer: "<|channel>thought\nI think.<channel|>Sure.<|tool_call>call:a{q:<|\"|>x } y<|\"|>}<tool_call|>"
                + "<|tool_call>call:add{x:1,y:2}<tool_call|>",
            reasoning: "I think.", content: "Sure.", calls: [["a", #"{"q":"x } y"}"#], ["add", #"{"x":1,"y":2}"#]]),
        Case(
            template: "meta-llama-Llama-3.1-8B-Instruct", answer: "{\"name\": \"a\", \"parameters\": \(q)}",
            calls: [["a", q]]),
        Case(
            template: "meta-llama-Llama-3.3-70B-Instruct", answer: "{\"name\": \"b\", \"parameters\": {}}",
            calls: [["b", "{}"]]),
        Case(
            template: "mistralai-Mistral-Nemo-Instruct-2407",
            answer: "Sure.[TOOL_CALLS][{\"name\": \"a\", \"arguments\": \(q), \"id\": \"123456789\"}, "
                + "{\"name\": \"b\", \"arguments\": {}, \"id\": \"abcdefghi\"}]",
            content: "Sure.", calls: [["a", q, "123456789"], ["b", "{}", "abcdefghi"]]),
        Case(
            template: "mistralai-Ministral-3-14B-Reasoning-2512",
            answer: "[THINK]I think.[/THINK]Sure.[TOOL_CALLS]a[ARGS]\(q)[TOOL_CALLS]b[ARGS]{}",
            reasoning: "I think.", content: "Sure.", calls: [["a", q], ["b", "{}"]]),
        Case(
            template: "deepseek-ai-DeepSeek-V3.1",
            answer: "I think.</think>Sure.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>a<｜tool▁sep｜>\(q)<｜tool▁call▁end｜>"
                + "<｜tool▁call▁begin｜>b<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            reasoning: "I think.", content: "Sure.", calls: [["a", q], ["b", "{}"]]),
        Case(
            template: "deepseek-ai-DeepSeek-V3.2",
            answer: "I think.</think>Sure.\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"a\">\n"
                + "<｜DSML｜parameter name=\"q\" string=\"true\">x > y</｜DSML｜parameter>\n</｜DSML｜invoke>\n"
                + "<｜DSML｜invoke name=\"b\">\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
            reasoning: "I think.", content: "Sure.", calls: [["a", #"{"q":"x > y"}"#], ["b", "{}"]]),
        Case(
            template: "meetkai-functionary-medium-v3.1",
            answer: "Sure.<function=a>\(q)</function><function=b>{}</function>",
            content: "Sure.", calls: [["a", q], ["b", "{}"]]),
        Case(
            template: "meetkai-functionary-medium-v3.2", answer: "all\nSure.>>>a\n\(q)>>>b\n{}", content: "Sure.",
            calls: [["a", q], ["b", "{}"]]),
        Case(
            template: "openai-gpt-oss-120b",
            answer:
                "<|channel|>analysis<|message|>I think.<|end|><|start|>assistant<|channel|>commentary<|message|>Sure."
                + "<|end|><|start|>assistant<|channel|>commentary to=functions.a <|constrain|>json<|message|>\(q)",
            reasoning: "I think.", content: "Sure.", calls: [["a", q]]),
        Case(
            template: "CohereForAI-c4ai-command-r7b-12-2024-tool_use",
            answer: "<|START_THINKING|>I think.<|END_THINKING|><|START_ACTION|>[\n    {\"tool_call_id\": \"0\", "
                + "\"tool_name\": \"a\", \"parameters\": \(q)},\n    {\"tool_call_id\": \"1\", \"tool_name\": \"b\", "
                + "\"parameters\": {}}\n]<|END_ACTION|>",
            reasoning: "I think.", calls: [["a", q, "0"], ["b", "{}", "1"]]),
        Case(
            template: "CohereForAI-c4ai-command-r-plus-tool_use",
            answer:
                "Action:\n```json\n[\n    {\n        \"tool_name\": \"a\",\n        \"parameters\": \(q)\n    }\n]```",
            calls: [["a", q]]),
        Case(
            template: "Kimi-K2-Instruct",
            answer: "Sure.<|tool_calls_section_begin|><|tool_call_begin|>functions.a:0<|tool_call_argument_begin|>\(q)"
                + "<|tool_call_end|><|tool_call_begin|>functions.b:1<|tool_call_argument_begin|>{}<|tool_call_end|>"
                + "<|tool_calls_section_end|>",
            content: "Sure.", calls: [["a", q, "functions.a:0"], ["b", "{}", "functions.b:1"]]),
        Case(
            template: "GLM-4.6",
            answer: "<think>I think.</think>\nSure.\n<tool_call>a\n<arg_key>q</arg_key>\n<arg_value>x < y</arg_value>\n"
                + "</tool_call>",
            reasoning: "I think.", content: "Sure.\n", calls: [["a", #"{"q":"x < y"}"#]]),
        Case(
            template: "MiniMax-M2",
            answer:
                "I think.\n</think>\n\nSure.\n<minimax:tool_call>\n<invoke name=\"a\">\n<parameter name=\"q\">x</parameter>\n"
                + "</invoke>\n</minimax:tool_call>",
            reasoning: "I think.\n", content: "Sure.\n", calls: [["a", #"{"q":"x"}"#]]),
        Case(
            template: "microsoft-Phi-3.5-mini-instruct", answer: case10, content: "Sure.",
            calls: [["a", qCompact], ["b", "{}"]]),
        Case(
            template: "fireworks-ai-llama-3-firefunction-v2",
            answer: " functools[{\"name\": \"a\", \"arguments\": \(q)}]", calls: [["a", q]]),
    ]

    @Test(arguments: cases) func everySplitSaysTheSame(_ c: Case) throws {
        let prepared = try Self.prepare(c.template)
        let expected = Told(
            content: c.content, reasoning: c.reasoning,
            calls: c.calls.map { ToolCall(id: $0.count > 2 ? $0[2] : "", name: $0[0], arguments: $0[1]) })

        let characters = Array(c.answer)
        try #require(try Told.reading([c.answer], prepared) == expected)
        for cut in 1..<characters.count {
            let pieces = [String(characters[..<cut]), String(characters[cut...])]
            try #require(try Told.reading(pieces, prepared) == expected, "cut at \(cut)")
        }
        var generator = SeededGenerator(state: 42)
        let isNamedInAReport = c.template.hasPrefix("NousResearch")
        for round in 0..<(isNamedInAReport || Self.isLong ? 1000 : 20) {
            var pieces: [String] = []
            var rest = characters[...]
            while !rest.isEmpty {
                let count = min(rest.count, Int.random(in: 1...4, using: &generator))
                pieces.append(String(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            try #require(try Told.reading(pieces, prepared) == expected, "round \(round): \(pieces)")
        }
    }

    /// Arguments come in pieces: a client sees a file grow while it is written. One format tells a call only behind it.
    @Test(arguments: cases) func argumentsAreToldBeforeTheyAreWhole(_ c: Case) throws {
        let prepared = try Self.prepare(c.template)
        let output = try StreamingOutput(
            parser: prepared.prompt.parser, markers: prepared.prompt.callMarkers, pace: .eager)

        var parts = 0, isWhole = false
        for character in c.answer {
            for event in output.append(String(character)) {
                if case .toolCallPart(let part) = event, part.index == 0 { parts += 1 }
                if case .toolCall = event { isWhole = true }
            }
            if isWhole { break }
        }

        let isToldLate = c.template == "meetkai-functionary-medium-v3.2"
        let fewest = c.calls[0][1] == "{}" ? 2 : 4
        #expect(isToldLate ? parts == 0 : parts >= fewest, "\(c.template) tells its call in \(parts) pieces")
    }

    private static var isLong: Bool { getenv("ALCOVE_LONG_TESTS") != nil }

    @Test(arguments: ["NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use", "Qwen-Qwen3-0.6B"])
    func aFileWithFencesIsByteEqual(_ template: String) throws {
        let prepared = try Self.prepare(template)
        let characters = Array(Self.case11)

        for cut in 1..<characters.count {
            let told = try Told.reading([String(characters[..<cut]), String(characters[cut...])], prepared)

            #expect(told.content.isEmpty)
            let arguments = try JSONValue(parsing: try #require(told.calls.first).arguments)
            #expect(arguments["content"]?.string == Self.file)
        }
    }

    struct BrokenCase: Sendable, CustomTestStringConvertible {
        let name: String
        let answer: String
        var content = ""
        var calls: [String] = []
        var broken: [String] = []
        var testDescription: String { name }
    }

    static let brokenCases = [
        BrokenCase(
            name: "cut in the arguments", answer: #"Hi <tool_call>{"name":"a","arguments":{"q":"abc"#, content: "Hi ",
            broken: [#"a {"q":"abc"#]),
        BrokenCase(
            name: "cut behind the arguments", answer: #"<tool_call>{"name":"a","arguments":{"q":"abc"}"#,
            calls: [#"a {"q":"abc"}"#]),
        BrokenCase(
            name: "cut before the name", answer: #"Hi <tool_call>{"na"#, content: "Hi ", broken: [#"<tool_call>{"na"#]),
        BrokenCase(
            name: "a second one cut",
            answer: #"<tool_call>{"name":"b","arguments":{}}</tool_call><tool_call>{"name":"a","#,
            calls: ["b {}"], broken: ["a {"]),
        BrokenCase(
            name: "an unknown tool", answer: #"Hi <tool_call>{"name":"zzz","arguments":{"k":1}}</tool_call>"#,
            content: "Hi ",
            calls: [#"zzz {"k":1}"#]),
        BrokenCase(
            name: "no JSON", answer: "Hi <tool_call>please call a</tool_call>", content: "Hi ",
            broken: ["<tool_call>please call a</tool_call>"]),
        BrokenCase(
            name: "arguments that are no object", answer: #"Hi <tool_call>{"name":"a","arguments":[1]}</tool_call>"#,
            content: "Hi ", broken: ["a [1]"]),
        BrokenCase(
            name: "glued without a marker",
            answer:
                #"<tool_call>{"name":"a","arguments":{"q":"x"}}</tool_call>{"name":"b","arguments":{}}</tool_call>"#,
            calls: [#"a {"q":"x"}"#, "b {}"]),
        BrokenCase(
            name: "text behind", answer: #"Hi <tool_call>{"name":"b","arguments":{}}</tool_call> And more, with <b>."#,
            content: "Hi  And more, with <b>.", calls: ["b {}"]),
        BrokenCase(
            name: "a call behind text behind a call",
            answer:
                #"<tool_call>{"name":"b","arguments":{}}</tool_call>So.<tool_call>{"name":"b","arguments":{}}</tool_call>"#,
            content: "So.", calls: ["b {}", "b {}"]),
        BrokenCase(name: "half a marker", answer: "Hi <tool_c", content: "Hi ", broken: ["<tool_c"]),
        BrokenCase(name: "what a marker begins with", answer: "1 <", content: "1 <"),
        BrokenCase(name: "no call at all", answer: "Use a < b and {x}. ", content: "Use a < b and {x}. "),
    ]

    @Test(arguments: brokenCases) func whatIsBrokenIsKept(_ c: BrokenCase) throws {
        let prepared = try Self.prepare("NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use")

        for pieces in [[c.answer], c.answer.map { String($0) }] {
            let told = try Told.reading(pieces, prepared)

            #expect(told.content == c.content)
            #expect(told.calls.map { "\($0.name) \($0.arguments)" } == c.calls)
            #expect(told.broken.map(\.text) == c.broken)
        }
    }

    @Test func idsAreMadeAndUnique() throws {
        let prepared = try Self.prepare("NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use")
        let output = try StreamingOutput(parser: prepared.prompt.parser, markers: prepared.prompt.callMarkers)

        let events = output.append(Self.case10) + output.finish()

        let ids = events.compactMap { if case .toolCall(let call) = $0 { call.id } else { nil } }
        #expect(Set(ids).count == 2)
        #expect(ids.allSatisfy { $0.utf8.count == 9 && $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } })
    }

    static func prepare(_ template: String) throws -> PreparedPrompt {
        let template = try ChatTemplate(source: ShippedTemplates.source(template), bos: "", eos: "")
        return try template.prepare(
            Conversation(messages: [Message(role: .user, content: "Hello")], tools: tools, thinking: true))
    }
}

/// What was told of an answer, with the promises of telling checked on the way.
struct Told: Equatable, CustomStringConvertible {
    var content = ""
    var reasoning = ""
    var calls: [ToolCall] = []
    var broken: [BrokenToolCall] = []

    var description: String { "\(content.debugDescription) \(reasoning.debugDescription) \(calls) \(broken)" }

    static let markers = [
        "<tool", "</tool", "[TOOL", "[ARGS", "<|", "<｜", "<func", "</func", "<arg", ">>>", "</think", "functools[",
    ]

    static func reading(_ pieces: [String], _ prepared: PreparedPrompt) throws -> Told {
        let output = try StreamingOutput(
            parser: prepared.prompt.parser, markers: prepared.prompt.callMarkers, pace: .eager, makesIDs: false)
        var told = Told()
        var parts: [Int: ToolCallPart] = [:]
        var events: [GenerationEvent] = []
        for piece in pieces { events += output.append(piece) }
        events += output.finish()
        for event in events {
            switch event {
            case .text(let text): told.content += text
            case .reasoning(let text): told.reasoning += text
            case .toolCallPart(let part):
                if parts[part.index] == nil {
                    #expect(part.name != nil)
                    parts[part.index] = part
                } else {
                    #expect(part.name == nil)
                    parts[part.index]?.arguments += part.arguments
                }
            case .toolCall(let call): told.calls.append(call)
            case .brokenToolCall(let call): told.broken.append(call)
            case .promptProgress, .chance, .notice, .finished: Issue.record("not an event of an answer")
            }
        }
        if told.broken.isEmpty {
            for (index, part) in parts where index < told.calls.count {
                #expect(told.calls[index].name == part.name)
                #expect(told.calls[index].arguments == part.arguments)
            }
        }
        return told
    }
}

/// The same numbers each time.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 29)
    }
}
