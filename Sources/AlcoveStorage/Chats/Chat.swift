package import AlcoveCore

/// A saved chat without its messages.
package struct Chat: Sendable, Hashable {
    package let id: ChatID
    /// What the person called it, or else the title made from its messages.
    package var title: String
    package var createdAt: Timestamp
    /// Last change of its messages.
    package var updatedAt: Timestamp
    package var modelID: String?
    package var think: Bool?
    package var skills: [String]
    /// Whether the person chose the skills, rather than left them to the default.
    package var skillsExplicit: Bool
    /// Members without a field of their own, as they came.
    package var extras: JSONObject
}

/// A line of the list of chats.
package struct ChatSummary: Sendable, Hashable {
    package let id: ChatID
    package let title: String
    package let createdAt: Timestamp
    package let updatedAt: Timestamp
    package let modelID: String?
    package let messageCount: Int
}

/// A chat and all its messages, in order.
package struct ChatTranscript: Sendable, Hashable {
    package var chat: Chat
    package var messages: [StoredMessage]
}

/// What a person chose for a turn, as the page sends it.
package struct ChatChoices: Sendable, Hashable {
    /// Nil leaves the chat's model as it is.
    package var modelID: String?
    /// Nil leaves the chat's switch as it is.
    package var think: Bool?
    /// Nil means no choice was made: earlier ones are forgotten.
    package var skills: [String]?

    package init(modelID: String? = nil, think: Bool? = nil, skills: [String]? = nil) {
        self.modelID = modelID
        self.think = think
        self.skills = skills
    }
}

/// Names a message within its chat. Ours are 32 hexadecimal digits; those of other programs stay as they are.
package struct MessageID: Sendable, Hashable, CustomStringConvertible {
    package let text: String

    /// A new one.
    package init() { text = hexText(Platform.randomBytes(16)) }

    /// One that came from outside; nil when it is empty or longer than 128 bytes.
    package init?(_ text: String) {
        guard (1...128).contains(text.utf8.count) else { return nil }
        self.text = text
    }

    init(unchecked text: String) { self.text = text }

    package var description: String { text }
}

/// What a message says, without its place in a chat.
package struct MessageBody: Sendable, Hashable {
    /// As it came: usually `user` or `assistant`; nil when an old transcript has none.
    package var role: String?
    package var content: String?
    package var thinking: String?
    /// Every other member, as it came: attachments, artifacts, statistics, and what we do not know.
    package var extras: JSONObject

    package init(role: String?, content: String?, thinking: String? = nil, extras: JSONObject = JSONObject()) {
        self.role = role
        self.content = content
        self.thinking = thinking
        self.extras = extras
    }
}

/// A message as it is kept.
package struct StoredMessage: Sendable, Hashable {
    package let id: MessageID
    package let createdAt: Timestamp
    package let body: MessageBody
}

/// A message as it is handed in.
package struct MessageDraft: Sendable, Hashable {
    /// Nil for one that is new, or whose sender keeps no ids.
    package var id: MessageID?
    /// Nil means now.
    package var createdAt: Timestamp?
    package var body: MessageBody

    package init(id: MessageID? = nil, createdAt: Timestamp? = nil, _ body: MessageBody) {
        self.id = id
        self.createdAt = createdAt
        self.body = body
    }

    package init(role: Role, content: String?, thinking: String? = nil, extras: JSONObject = JSONObject()) {
        self.init(MessageBody(role: role.rawValue, content: content, thinking: thinking, extras: extras))
    }
}
