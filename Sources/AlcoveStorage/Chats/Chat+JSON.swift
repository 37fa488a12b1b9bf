package import AlcoveCore

// A member of the kind we expect becomes a field; any other stays among the extras under its own key and comes out again
// as it came. So a transcript of an older or newer program, or of another one, survives being opened and saved.

extension MessageDraft {
    /// Reads any JSON; nothing in it is refused and nothing is lost.
    package init(json: JSONValue) {
        guard var rest = json.object else {
            var extras = JSONObject()
            extras["value"] = json
            self.init(MessageBody(role: nil, content: nil, extras: extras))
            return
        }
        let id = rest.take("id") { $0.string.flatMap { MessageID($0) } }
        let createdAt = rest.take("createdAt") { $0.string.flatMap { Timestamp(iso8601: $0) } }
        let role = rest.take("role") { $0.string }
        let content = rest.take("content") { $0.string }
        let thinking = rest.take("thinking") { $0.string }
        self.init(
            id: id, createdAt: createdAt,
            MessageBody(role: role, content: content, thinking: thinking, extras: rest))
    }
}

extension StoredMessage {
    package var json: JSONValue {
        var object = JSONObject()
        object["id"] = .string(id.text)
        if let role = body.role { object["role"] = .string(role) }
        if let content = body.content { object["content"] = .string(content) }
        if let thinking = body.thinking { object["thinking"] = .string(thinking) }
        object["createdAt"] = .string(createdAt.iso8601)
        for (key, value) in body.extras.members { object[key] = value }
        return .object(object)
    }
}

extension ChatSummary {
    package var json: JSONValue {
        [
            "id": .string(id.text), "title": .string(title), "createdAt": .string(createdAt.iso8601),
            "updatedAt": .string(updatedAt.iso8601), "modelId": JSONValue(modelID),
            "messageCount": JSONValue(messageCount),
        ]
    }
}

extension ChatTranscript {
    /// The whole chat, as the page reads it and as it is exported.
    package var json: JSONValue {
        var object: JSONObject = [
            "id": .string(chat.id.text), "title": .string(chat.title), "createdAt": .string(chat.createdAt.iso8601),
            "updatedAt": .string(chat.updatedAt.iso8601), "modelId": JSONValue(chat.modelID),
            "think": chat.think.map { .bool($0) } ?? .null, "skills": .array(chat.skills.map { .string($0) }),
            "skillsExplicit": .bool(chat.skillsExplicit),
        ]
        for (key, value) in chat.extras.members { object[key] = value }
        object["messages"] = .array(messages.map(\.json))
        return .object(object)
    }
}

/// A chat as a file holds it: of our own export, or of an older program. Anything may be missing.
package struct ChatDocument: Sendable, Hashable {
    package var id: ChatID?
    package var title: String?
    package var createdAt: Timestamp?
    package var updatedAt: Timestamp?
    package var modelID: String?
    package var think: Bool?
    package var skills: [String]
    package var skillsExplicit: Bool
    package var messages: [MessageDraft]
    package var extras: JSONObject

    /// Reads a file; bytes that are not UTF-8 become U+FFFD instead of losing the chat.
    ///
    /// - Throws: `JSONError` when it is no JSON, `InputError` when it is no object.
    package init(parsing bytes: [UInt8]) throws {
        let repaired = String(
            decoding: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...], as: UTF8.self)
        try self.init(json: JSONValue(parsing: repaired))
    }

    package init(json: JSONValue) throws(InputError) {
        guard var rest = json.object else {
            throw InputError(code: "bad_chat", message: "A saved chat must be a JSON object.")
        }
        id = rest.take("id") { $0.string.flatMap { ChatID($0) } }
        title = rest.take("title") { $0.string }
        createdAt = rest.take("createdAt") { $0.string.flatMap { Timestamp(iso8601: $0) } }
        updatedAt = rest.take("updatedAt") { $0.string.flatMap { Timestamp(iso8601: $0) } }
        modelID = rest.take("modelId", droppingNull: true) { $0.string }
        think = rest.take("think", droppingNull: true) { $0.bool }
        skills = rest.take("skills") { value in value.array.flatMap { Chat.names($0) } } ?? []
        skillsExplicit = rest.take("skillsExplicit") { $0.bool } ?? false
        messages = rest.take("messages") { $0.array?.map { MessageDraft(json: $0) } } ?? []
        extras = rest
    }
}

extension Chat {
    /// The texts of an array of nothing but texts.
    static func names(_ items: [JSONValue]) -> [String]? {
        let names = items.compactMap(\.string)
        return names.count == items.count ? names : nil
    }
}

extension JSONObject {
    /// Takes a member out if it can be read as what it should be; else it stays.
    fileprivate mutating func take<Value>(
        _ key: String, droppingNull: Bool = false, as read: (JSONValue) -> Value?
    ) -> Value? {
        guard let member = self[key] else { return nil }
        let value = read(member)
        if value != nil || droppingNull && member.isNull { self[key] = nil }
        return value
    }
}
