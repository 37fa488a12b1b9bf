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

    private static func request(_ choice: ToolChoice, _ text: String = "What is the weather in Paris?") -> GenerationRequest {
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
}
