internal import AlcoveCore
internal import AlcoveTemplates

/// What stands for a picture or a sound while a prompt is rendered: a word that nobody can know, so that nobody's words can
/// be taken for one.
package struct MediaMark: Sendable {
    let bytes: [UInt8]
    /// What the picture or sound comes to in the prompt.
    let tokens: [Token]

    /// Where marks stand in a rendered prompt, in order. A template may leave one out, or show one twice.
    static func found(_ marks: [MediaMark], in bytes: [UInt8]) -> [(range: Range<Int>, tokens: [Token])] {
        guard let first = marks.first?.bytes.first else { return [] }
        var found: [(range: Range<Int>, tokens: [Token])] = []
        var start = 0
        while start < bytes.count {
            guard bytes[start] == first,
                let mark = marks.first(where: { bytes[start...].starts(with: $0.bytes) })
            else {
                start += 1
                continue
            }
            found.append((start..<start + mark.bytes.count, mark.tokens))
            start += mark.bytes.count
        }
        return found
    }
}

/// A conversation whose pictures and sounds have become marks in its words.
struct MarkedConversation {
    var conversation: Conversation
    var marks: [MediaMark] = []
    var chunks: [Token: MediaChunk] = [:]

    /// - Parameter secret: Of this engine; it is in no file and in no answer.
    /// - Throws: `EngineError` for what the model cannot take in.
    init(_ conversation: Conversation, projector: ProjectorHandle?, secret: String) throws(EngineError) {
        self.conversation = conversation
        let media = conversation.messages.flatMap(\.media)
        if media.isEmpty { return }
        guard let projector else { throw media.contains { !$0.isSound } ? .cannotSee : .cannotHear }
        let pictures = media.reduce(0) { $0 + $1.pictureCount }, most = projector.abilities.pictures
        guard pictures <= most || pictures == 0 || most == 0 else {
            throw .tooManyPictures(count: pictures, limit: most)
        }
        for index in conversation.messages.indices {
            var words = ""
            for medium in conversation.messages[index].media {
                let prompt = try projector.prepare(medium)
                let word = "m\(secret)n\(marks.count)e"
                words += word
                marks.append(MediaMark(bytes: Array(word.utf8), tokens: prompt.tokens))
                for chunk in prompt.chunks { chunks[chunk.token] = chunk }
            }
            if words.isEmpty { continue }
            self.conversation.messages[index].content = words + (conversation.messages[index].content ?? "")
            self.conversation.messages[index].media = []
        }
    }
}
