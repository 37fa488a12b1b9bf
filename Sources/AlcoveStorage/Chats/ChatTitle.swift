internal import AlcoveCore

/// Makes a chat's title out of its messages (host-behaviour 7.3), without asking a model.
package enum ChatTitle {
    /// Longest title, in characters as people count them.
    static let limit = 60

    /// - Parameter clock: how the date of a chat that says nothing is shown; the default is the local time zone.
    package static func derive(
        from messages: some Sequence<MessageBody>, createdAt: Timestamp,
        clock: (Timestamp) -> String = ChatTitle.localTime
    ) -> String {
        let asked = messages.lazy.filter { $0.role == Role.user.rawValue }
        for message in asked {
            if let line = firstLine(withoutFileBlocks(message.content ?? "")) { return shortened(line) }
        }
        for message in asked {
            if let name = attachmentName(message.extras) { return shortened(name) }
        }
        return "Chat \(clock(createdAt))"
    }

    /// Text without the files that were put before it as `[File: name]` ... `[End of file]`.
    ///
    /// All through the last end mark goes, because a file may hold such marks itself.
    static func withoutFileBlocks(_ text: String) -> Substring {
        let marker = "[End of file]".utf8
        guard text.hasPrefix("[File: ") else { return text[...] }
        // Backwards over bytes: the files may be long, and the last mark is near the end.
        var rest = text.utf8[...]
        while let bracket = rest.lastIndex(of: UInt8(ascii: "]")) {
            let end = text.utf8.index(after: bracket)
            if text.utf8[..<end].suffix(marker.count).elementsEqual(marker) { return text[end...] }
            rest = text.utf8[..<bracket]
        }
        return text[...]
    }

    /// `MMM d, HH:mm` in the time zone of the device.
    package static func localTime(_ moment: Timestamp) -> String {
        var seconds = time_t(moment.milliseconds / 1_000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let minute = parts.tm_min < 10 ? "0\(parts.tm_min)" : "\(parts.tm_min)"
        let hour = parts.tm_hour < 10 ? "0\(parts.tm_hour)" : "\(parts.tm_hour)"
        return "\(months[Int(parts.tm_mon)]) \(parts.tm_mday), \(hour):\(minute)"
    }

    /// A title as it may stand in a list: one line, without what cannot be seen and could turn the words around it about.
    ///
    /// Joiners and the marks of a direction stay, as emoji, Persian and Hebrew need them and they move nothing else.
    package static func cleaned(_ text: some StringProtocol) -> String {
        var kept = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x09...0x0D, 0x85, 0x2028, 0x2029: kept.append(" ")
            case 0x00...0x1F, 0x7F...0x9F, 0x200B, 0x202A...0x202E, 0x2060...0x206F, 0xFEFF, 0xFFF9...0xFFFB: continue
            default: kept.append(scalar)
            }
        }
        return String(kept).trimmed
    }

    /// The first line with something on it that can be seen.
    private static func firstLine(_ text: Substring) -> String? {
        var rest = text
        while let start = rest.firstIndex(where: { !$0.isWhitespace }) {
            let line = rest[start...].prefix { !$0.isNewline }
            // More than a title takes, as some of it may go.
            let seen = cleaned(line.prefix(16 * limit))
            if !seen.isEmpty { return seen }
            rest = rest[line.endIndex...]
        }
        return nil
    }

    private static func shortened(_ text: some StringProtocol) -> String {
        text.count <= limit ? String(text) : text.prefix(limit - 3) + "…"
    }

    private static func attachmentName(_ extras: JSONObject) -> String? {
        let name =
            extras["attachments"]?.array?.first?["fileName"]?.string ?? extras["textFileNames"]?.array?.first?.string
        return name.flatMap { firstLine($0[...]) }
    }
}
