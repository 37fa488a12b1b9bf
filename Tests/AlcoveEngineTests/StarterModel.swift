import AlcoveCore
import AlcoveEngine

/// The starter model, as the bootstrap puts it: the tests of the engine run on the real thing.
enum StarterModel {
    static var folder: String {
        let file = #filePath
        return file.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" } + "/.deps/models"
    }

    static var path: String { folder + "/SmolLM2-135M-Instruct.Q8_0.gguf" }

    /// One engine for all tests that only ask.
    static let engine = Task { try await load() }

    static func load(contextLength: Int = 4096) async throws -> LlamaEngine {
        var options = LlamaEngine.Options()
        options.contextLength = contextLength
        // Tests share the cores: a second thread that waits for its turn would slow all of them down.
        options.threads = 1
        return try await LlamaEngine.load(path: path, options: options)
    }
}

/// An answer collected to its end.
struct Answer {
    var text = ""
    var pieces: [String] = []
    var progress: [Int] = []
    var reason: FinishReason?
    var usage = Usage()
    var reasoning = ""
    var calls: [ToolCall] = []
    var broken: [BrokenToolCall] = []
    var parts: [ToolCallPart] = []
    var notices: [String] = []
    var chances: [TokenChance] = []

    static func collect(_ events: AsyncThrowingStream<GenerationEvent, any Error>) async throws -> Answer {
        var answer = Answer()
        for try await event in events { answer.take(event) }
        return answer
    }

    mutating func take(_ event: GenerationEvent) {
        switch event {
        case .text(let piece):
            text += piece
            pieces.append(piece)
        case .promptProgress(let done, _): progress.append(done)
        case .finished(let reason, let usage):
            self.reason = reason
            self.usage = usage
        case .reasoning(let piece): reasoning += piece
        case .chance(let chance): chances.append(chance)
        case .notice(let sentence): notices.append(sentence)
        case .toolCallPart(let part): parts.append(part)
        case .toolCall(let call): calls.append(call)
        case .brokenToolCall(let call): broken.append(call)
        }
    }
}

extension GenerationRequest {
    static func question(_ text: String, maxTokens: Int? = 48) -> GenerationRequest {
        GenerationRequest(messages: [Message(role: .user, content: text)], sampling: .greedy, maxTokens: maxTokens)
    }
}
