internal import AlcoveCore
internal import AlcoveStorage

/// A chat as a person reads it in a file.
enum ChatMarkdown {
    static func text(_ transcript: ChatTranscript) -> String {
        var parts = ["# " + line(transcript.chat.title)]
        for message in transcript.messages {
            parts.append("## \(speaker(message.body.role)) · \(message.createdAt.iso8601)")
            for attachment in message.body.extras["attachments"]?.array ?? [] {
                if let name = attachment["fileName"]?.string ?? attachment["file"]?.string {
                    parts.append("Attached: \(line(name))")
                }
            }
            if let thinking = message.body.thinking, !thinking.isEmpty {
                let quoted = thinking.split(separator: "\n", omittingEmptySubsequences: false).map { "> " + $0 }
                parts.append("> **Reasoning**\n>\n" + quoted.joined(separator: "\n"))
            }
            for step in message.body.extras["steps"]?.array ?? [] {
                let outcome = step["ok"]?.bool == true ? "done" : "not done"
                parts.append(
                    "- `\(line(step["tool"]?.string ?? "tool"))` \(line(step["detail"]?.string ?? "")) (\(outcome))")
            }
            if let content = message.body.content, !content.isEmpty { parts.append(content) }
            if message.body.extras["interrupted"]?.bool == true {
                parts.append("_Alcove ended while this was being written._")
            }
        }
        return parts.joined(separator: "\n\n") + "\n"
    }

    private static func speaker(_ role: String?) -> String {
        switch role {
        case "user": "You"
        case "assistant": "Alcove"
        default: role.map(line) ?? "Message"
        }
    }

    /// A heading or a name is one line, whatever it holds.
    private static func line(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}
