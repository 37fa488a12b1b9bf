import AlcoveAgent
import AlcoveCore
import Testing

@testable import AlcoveServer

/// What a message takes from the settings where it says nothing itself.
struct ChatOrderTests {
    private static let model = ModelDescription(
        id: "m", name: "M", architecture: "a", contextLength: 4096, trainedContextLength: 4096, parameterCount: 0,
        fileBytes: 0)

    private func request(_ more: JSONObject, _ settings: JSONObject) throws -> (thinks: Bool, most: Int?) {
        var body: JSONObject = ["messages": [["role": "user", "content": "Hi."]]]
        for (key, value) in more.members { body[key] = value }
        let turn = try ChatOrder(body: body).turn(for: Self.model, settings: try HostSettings().changing(settings))
        return (turn.thinking, turn.maxTokens)
    }

    @Test func reasoningIsAsTheSettingsSayUnlessTheMessageSays() throws {
        #expect(try request([:], [:]).thinks == false)
        #expect(try request([:], ["thinkByDefault": true]).thinks)
        #expect(try request(["think": false], ["thinkByDefault": true]).thinks == false)
        #expect(try request(["think": true], [:]).thinks)
    }

    @Test func aMessageMayAskForMoreThanTheReplyLimit() throws {
        #expect(try request([:], ["maxTokens": 256]).most == 256)
        #expect(try request(["maxTokens": 9_000], ["maxTokens": 256]).most == 9_000)
        #expect(try request(["max_tokens": 7], ["maxTokens": 256]).most == 7)
    }

    @Test func listsThatAreNullAreAbsent() throws {
        let message: JSONValue = [
            "role": "user", "content": "Hi.", "imagePaths": .null, "stillImagePaths": .null, "attachments": .null,
            "textFilePaths": .null, "textFileNames": .null, "audioPaths": .null, "videoFilePaths": .null,
        ]
        #expect(try ChatOrder(body: ["messages": [message], "skills": .null]).attachments.isEmpty)
    }
}
