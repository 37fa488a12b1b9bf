import AlcoveCore
import AlcoveEngine
import Testing

/// The real model, held to a grammar, calls tools and answers from what they give.
struct ToolCallTests {
    static let weather = ToolDeclaration(
        name: "get_weather", description: "Tells the weather in a city.",
        parameters: [
            "type": "object",
            "properties": [
                "city": ["type": "string", "enum": ["Paris", "London", "Rome"]],
                "unit": ["type": "string", "enum": ["celsius", "fahrenheit"]],
            ],
            "required": ["city", "unit"],
        ])
    static let add = ToolDeclaration(
        name: "add", description: "Adds two numbers.",
        parameters: [
            "type": "object", "properties": ["x": ["type": "integer"], "y": ["type": "integer"]],
            "required": ["x", "y"],
        ])

    private static func request(_ choice: ToolChoice, _ text: String = "What is the weather in Paris?")
        -> GenerationRequest
    {
        GenerationRequest(
            messages: [Message(role: .user, content: text)], tools: [weather, add], toolChoice: choice,
            parallelToolCalls: false, sampling: .greedy, maxTokens: 128)
    }

    @Test func aRequiredCallIsWellFormedAndItsResultIsAnswered() async throws {
        let engine = try await StarterModel.engine.value
        let request = Self.request(.required)

        let asked = try await Answer.collect(engine.generate(request))

        #expect(asked.reason == .toolCalls)
        let call = try #require(asked.calls.first)
        #expect(asked.calls.count == 1)
        #expect(asked.broken.isEmpty)
        #expect(asked.text.isEmpty)
        #expect(["get_weather", "add"].contains(call.name))
        let arguments = try #require(try JSONValue(parsing: call.arguments).object)
        if call.name == "get_weather" {
            #expect(["Paris", "London", "Rome"].contains(arguments["city"]?.string))
            #expect(["celsius", "fahrenheit"].contains(arguments["unit"]?.string))
        }
        #expect(asked.parts.first?.name == call.name)

        var second = request
        second.toolChoice = .none
        second.messages.append(Message(role: .assistant, content: nil, toolCalls: [call]))
        second.messages.append(
            Message(
                role: .tool, content: "In Paris it is sunny and 23 degrees.", toolCallID: call.id, toolName: call.name))
        let answered = try await Answer.collect(engine.generate(second))

        #expect(answered.text.contains("23") || answered.text.contains("sunny"), "\(answered)")
        #expect(!answered.text.contains("<tool_"), "\(answered.text)")
    }

    @Test func aNamedCallIsOfThatTool() async throws {
        let engine = try await StarterModel.engine.value

        let answer = try await Answer.collect(engine.generate(Self.request(.named("add"))))

        let call = try #require(answer.calls.first)
        #expect(call.name == "add")
        let arguments = try JSONValue(parsing: call.arguments)
        #expect(arguments["x"]?.int != nil && arguments["y"]?.int != nil)
    }

    @Test func theChoiceDoesNotChangeThePrompt() async throws {
        let engine = try await StarterModel.engine.value

        var tokens: Set<Int> = []
        for choice in [ToolChoice.auto, .required, .none, .named("add")] {
            var request = Self.request(choice)
            request.maxTokens = 1
            tokens.insert(try await Answer.collect(engine.generate(request)).usage.promptTokens)
        }

        #expect(tokens.count == 1)
    }

    @Test func anAnswerFollowsItsSchema() async throws {
        let engine = try await StarterModel.engine.value
        var request = GenerationRequest.question("Describe Paris.", maxTokens: 128)
        request.responseSchema = [
            "type": "object",
            "properties": ["country": ["enum": ["France", "Italy"]], "size": ["enum": ["small", "large"]]],
            "required": ["country", "size"], "additionalProperties": false,
        ]

        let answer = try await Answer.collect(engine.generate(request))

        let value = try JSONValue(parsing: answer.text)
        #expect(value["country"]?.string != nil && value["size"]?.string != nil)
        #expect(answer.reason == .stop)
    }

    /// The starter model likes to begin with a fence, and its closing one was told as part of the answer.
    @Test func anAnswerToASchemaIsJSONFromEndToEnd() async throws {
        let engine = try await StarterModel.engine.value
        var request = GenerationRequest.question(
            "What is the capital of France? Answer in one word.", maxTokens: 128)
        request.responseSchema = [
            "type": "object",
            "properties": ["city": ["type": "string", "maxLength": 20], "n": ["type": "integer"]],
            "required": ["city", "n"], "additionalProperties": false,
        ]

        let answer = try await Answer.collect(engine.generate(request))

        #expect(try JSONValue(parsing: answer.text)["city"]?.string != nil)
        #expect(!answer.text.contains("`"))
    }

    @Test func aSchemaThatCannotBeCompiledIsReportedAndTheToolCalled() async throws {
        let engine = try await StarterModel.engine.value
        var request = Self.request(.named("odd"))
        request.tools.append(
            ToolDeclaration(
                name: "odd", description: "Does something.",
                parameters: ["type": "object", "properties": ["a": ["$ref": "https://example.com/schema"]]]))

        let answer = try await Answer.collect(engine.generate(request))

        #expect(answer.notices.count == 1 && answer.notices[0].contains("odd"))
        #expect(answer.calls.first?.name == "odd" || answer.broken.first?.text.hasPrefix("odd") == true)
    }

    @Test func aSchemaBesideToolsIsRefused() async throws {
        let engine = try await StarterModel.engine.value
        var request = Self.request(.auto)
        request.responseSchema = ["type": "object"]

        await #expect(throws: (any Error).self) { try await Answer.collect(engine.generate(request)) }
    }

    struct Hostile: Sendable, CustomTestStringConvertible {
        let name: String
        let schema: JSONValue
        var testDescription: String { name }
    }

    private static func nested(_ depth: Int, _ wrap: (JSONValue) -> JSONValue) -> JSONValue {
        (0..<depth).reduce(["type": "string"]) { inner, _ in wrap(inner) }
    }

    static let hostile = [
        Hostile(name: "deep", schema: nested(100) { ["type": "object", "properties": ["a": $0]] }),
        Hostile(name: "deep within the limit", schema: nested(30) { ["type": "object", "properties": ["a": $0]] }),
        Hostile(name: "deep choices", schema: nested(6) { ["anyOf": [$0, $0]] }),
        Hostile(name: "contains itself", schema: ["$ref": "#"]),
        Hostile(name: "a choice of itself", schema: ["anyOf": [["$ref": "#"]]]),
        Hostile(name: "long text", schema: ["type": "string", "maxLength": 1_000_000_000]),
        Hostile(
            name: "many of many",
            schema: [
                "type": "array", "maxItems": 1000,
                "items": ["type": "array", "maxItems": 1000, "items": ["type": "string"]],
            ]),
        Hostile(name: "repetitions", schema: ["type": "string", "pattern": "^((a{1,1000}){1,1000}){1,1000}$"]),
        Hostile(
            name: "groups",
            schema: [
                "type": "string",
                "pattern": .string(
                    "^" + String(repeating: "(", count: 400) + "a" + String(repeating: ")", count: 400) + "$"),
            ]),
        Hostile(name: "no type", schema: ["type": "nope"]),
        Hostile(name: "from elsewhere", schema: ["$ref": "https://example.com/schema"]),
        Hostile(name: "no number", schema: ["type": "string", "minLength": -5]),
        Hostile(
            name: "doubling references",
            schema: .object(
                [
                    "$ref": "#/$defs/d0",
                    "$defs": .object(
                        (0..<31).reduce(into: JSONObject()) { all, level in
                            let next: JSONValue = ["$ref": .string("#/$defs/d\(level + 1)")]
                            all["d\(level)"] = level < 30 ? ["anyOf": [next, next]] : ["type": "string"]
                        }),
                ])),
    ]

    @Test(.timeLimit(.minutes(5)), arguments: hostile) func aHostileSchemaIsRefusedInTime(_ h: Hostile) async throws {
        let engine = try await StarterModel.engine.value
        var constrained = GenerationRequest.question("Hello", maxTokens: 2)
        constrained.responseSchema = h.schema
        var calling = GenerationRequest.question("Hello", maxTokens: 2)
        calling.tools = [ToolDeclaration(name: "t", description: "T.", parameters: h.schema)]
        calling.toolChoice = .required

        _ = try? await Answer.collect(engine.generate(constrained))
        let answer = try await Answer.collect(engine.generate(calling))

        #expect(answer.usage.completionTokens == 2)
    }

    /// Prints what a grammar costs while it does not hold; figures are in docs/tool-calls.md.
    @Test(.enabled(if: getenv("ALCOVE_BENCH") != nil, "a measurement: set ALCOVE_BENCH"))
    func whatAGrammarCosts() async throws {
        let engine = try await StarterModel.engine.value
        let filler = String(repeating: "You know about the weather, numbers and cities. ", count: 18)
        var plain = GenerationRequest.question("Tell me a long story about a fox.", maxTokens: 300)
        plain.messages.insert(Message(role: .system, content: filler), at: 0)
        var auto = GenerationRequest.question("Tell me a long story about a fox.", maxTokens: 300)
        auto.tools = [Self.weather, Self.add]
        var none = auto
        none.toolChoice = .none

        for _ in 0..<3 {
            for (name, request) in [("no grammar", plain), ("lazy", auto), ("strict", none)] {
                let answer = try await Answer.collect(engine.generate(request))
                print(
                    "\(name): \(answer.usage.tokensPerSecond) tokens/s, \(answer.usage.completionTokens) behind \(answer.usage.promptTokens)"
                )
            }
        }
    }
}
