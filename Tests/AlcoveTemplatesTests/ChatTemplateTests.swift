internal import AlcoveCore
internal import AlcoveTemplates
internal import Testing

/// Field reports 1 to 4: what broke chat templates elsewhere.
struct ChatTemplateTests {
    @Test func tojsonWritesAsPythonDoes() throws {
        let value: JSONValue = ["b": 1, "a": "a/b — <é>", "l": [1, 2]]

        #expect(
            try Jinja.render(template: "{{ d | tojson }}", context: ["d": value])
                == #"{"b": 1, "a": "a/b — <é>", "l": [1, 2]}"#)
    }

    struct Number: Sendable, CustomTestStringConvertible {
        let json: String
        let expected: String
        var testDescription: String { json }
    }

    static let numbers = [
        Number(json: "1.0", expected: "1.0"), Number(json: "48.856614", expected: "48.856614"),
        Number(json: "1e21", expected: "1e+21"), Number(json: "0.00001", expected: "1e-05"),
        Number(json: "0.0001", expected: "0.0001"), Number(json: "1e15", expected: "1000000000000000.0"),
        Number(json: "-3", expected: "-3"), Number(json: "-0.5", expected: "-0.5"),
        Number(json: "1e16", expected: "1e+16"),
        Number(json: "9007199254740993", expected: "9007199254740993"), Number(json: "0.1", expected: "0.1"),
    ]

    @Test(arguments: numbers) func numbersPrintAsPythonDoes(_ n: Number) throws {
        let context: JSONValue = try ["n": JSONValue(parsing: Array(n.json.utf8))]

        let text = try Jinja.render(template: "{{ n }} {{ n|tojson }} {{ n|string }}", context: context)

        #expect(text == "\(n.expected) \(n.expected) \(n.expected)")
    }

    @Test func listsAndObjectsPrintAsPythonDoes() throws {
        let context: JSONValue = ["d": ["a": [1, 2.5, nil, true, "it's", "say \"x\"", "a\n\\"], "e": [:]]]

        #expect(
            try Jinja.render(template: "{{ d }}", context: context)
                == #"{'a': [1, 2.5, None, True, "it's", 'say "x"', 'a\n\\'], 'e': {}}"#)
    }

    // MARK: Arguments as text

    static let calling = [
        Message(role: .user, content: "Weather?"),
        Message(
            role: .assistant, content: nil,
            toolCalls: [ToolCall(id: "call_1", name: "weather", arguments: #"{"city":"Paris"}"#)]),
        Message(role: .tool, content: "Sunny.", toolCallID: "call_1", toolName: "weather"),
    ]

    @Test func argumentsAsTextAreIteratedAsAnObject() throws {
        let text = try render(
            "{% for m in messages %}{{ m.content }}{% for tc in m.tool_calls %}{% for k, v in tc.function.arguments|items %}{{ k }}/{{ v }}{% endfor %}{% endfor %};{% endfor %}",
            Self.calling)

        #expect(text == "Weather?;city/Paris;Sunny.;")
    }

    @Test func rawArgumentsArePrintedAsJSONOnce() throws {
        for source in [
            "{{ tc.function.arguments|tojson }}",
            "{{ tc.function.arguments if tc.function.arguments is string else tc.function.arguments|tojson }}",
        ] {
            let text = try render(
                "{% for m in messages %}{% for tc in m.tool_calls %}[\(source)]{% endfor %}{% endfor %}", Self.calling)

            let inside = text.dropFirst().dropLast()
            #expect(try JSONValue(parsing: Array(inside.utf8)) == ["city": "Paris"], "\(source) gave \(text)")
        }
    }

    @Test(arguments: ["", "{", "[1]", "null", "{\"a\":", "\"text\"", "{} {}"]) func brokenArgumentsOfOneCallAreNoFault(
        _ arguments: String
    ) throws {
        var messages = Self.calling
        messages[1].toolCalls[0].arguments = arguments

        let text = try render(
            "{% for m in messages %}{% for tc in m.tool_calls %}{{ tc.function.arguments|tojson }}{% endfor %}{% endfor %}",
            messages)

        #expect(text == "{}")
    }

    // MARK: Null content

    @Test(arguments: [nil, ""]) func anAnswerThatOnlyCallsHasNoContent(_ content: String?) throws {
        var messages = [Message(role: .system, content: "Be brief.")] + Self.calling
        messages[2].content = content
        let source =
            "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content }}{% if m.tool_calls %}{{ m.tool_calls[0].function.name }}{% endif %}<|im_end|>\n{% endfor %}"

        let text = try render(source, messages)

        #expect(text.contains("<|im_start|>assistant\nweather<|im_end|>"))
        #expect(!text.contains("None"))
    }

    @Test(arguments: Role.allCases) func missingContentIsEmptyText(_ role: Role) throws {
        let messages = [
            Message(role: .user, content: "Hi"), Message(role: role, content: nil), Message(role: .user, content: "?"),
        ]

        #expect(try render("{% for m in messages %}[{{ m.content|length }}]{% endfor %}", messages) == "[2][0][1]")
    }

    // MARK: Refusals and faults

    static let strict = """
        {%- for m in messages -%}
        {%- if m.role == 'system' and not loop.first -%}
        {{- raise_exception('System message must be at the beginning') -}}
        {%- endif -%}
        {{- m.role + ': ' + m.content + '\n' -}}
        {%- endfor -%}
        """

    @Test func aLateSystemMessageIsRefusedInTheTemplatesWords() throws {
        let messages = [
            Message(role: .user, content: "Hi"), Message(role: .assistant, content: "Hello"),
            Message(role: .system, content: "Be brief."), Message(role: .user, content: "Bye"),
        ]

        let error = #expect(throws: TemplateError.self) { try render(Self.strict, messages) }

        #expect(error == .refused(words: "System message must be at the beginning"))
        #expect(
            error?.message
                == "The model's chat template refuses this conversation: System message must be at the beginning")
        #expect(error?.place == .request)
        #expect(try render(Self.strict, [messages[0]]) == "user: Hi\n")
    }

    struct Fault: Sendable, CustomTestStringConvertible {
        let name: String
        let source: String
        let line: Int?
        var testDescription: String { name }
    }

    static let faults = [
        Fault(name: "open text", source: "a\nb {{ 'x }}", line: 2),
        Fault(name: "no condition", source: "a\n\n{% if %}x{% endif %}", line: 3),
        Fault(name: "operator", source: "\n\n\n{{ 2 ** 3 }}", line: 4),
        Fault(name: "no such filter", source: "a\n{{ 'x'|nosuch }}", line: 2),
        Fault(name: "no such function", source: "{{ 1 }}\n\n{{ nothing() }}", line: 3),
        Fault(name: "never closed", source: "{% for m in messages %}\n{{ m.content }}", line: 2),
        Fault(name: "division by zero", source: "x\n{{ 4 is divisibleby(0) }}", line: 2),
    ]

    @Test(arguments: faults) func aFaultNamesItsLine(_ f: Fault) {
        let error = #expect(throws: TemplateError.self) { try render(f.source, [Message(role: .user, content: "Hi")]) }

        guard case .fault(let reason, let line) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(line == f.line)
        #expect(!reason.contains("\n") && !reason.contains("std::"))
    }

    @Test func aTemplateLongerThanAMegabyteIsRefused() {
        #expect(throws: TemplateError.self) {
            try ChatTemplate(source: String(repeating: " ", count: ChatTemplate.maximumBytes + 1), bos: "", eos: "")
        }
    }

    @Test func aTemplateNobodyCanReadAnswersOfStillRenders() throws {
        let text = try render("{{ messages|tojson }}", [Message(role: .user, content: "Hi")])

        #expect(text.contains(#""content": "Hi""#))
    }

    @Test func chatMLIsWhatAModelWithoutATemplateGets() throws {
        let text = try render(
            ChatTemplate.chatML,
            [
                Message(role: .system, content: "Be brief."), Message(role: .user, content: "Hi"),
                Message(role: .assistant, content: nil),
            ])

        #expect(
            text
                == "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<|im_end|>\n<|im_start|>assistant\n"
        )
    }

    private func render(_ source: String, _ messages: [Message]) throws -> String {
        try ChatTemplate(source: source, bos: "", eos: "").render(Conversation(messages: messages)).text
    }
}
