internal import AlcoveCore

/// Pictures and sounds of earlier messages that go first when a conversation does not fit: their words stay.
enum PictureTrimming {
    /// Messages that have some and are not what is asked now, the oldest first.
    static func places(in messages: [Message]) -> [Int] {
        let task = messages.lastIndex { $0.role == .user && !$0.isFromHost }
        return messages.indices.filter { $0 != task && !messages[$0].media.isEmpty }
    }

    /// The messages with those of some of them gone, and told to be.
    static func without(_ gone: ArraySlice<Int>, _ messages: [Message]) -> [Message] {
        var messages = messages
        for index in gone {
            let notes = messages[index].media.map { medium in
                "[\(medium.name.isEmpty ? (medium.isSound ? "A sound" : "A picture") : medium.name) is no longer shown.]"
            }
            messages[index].media = []
            messages[index].content = (notes + [messages[index].content ?? ""]).joined(separator: "\n")
        }
        return messages
    }

    /// The fewest, the oldest first, without which the conversation fits.
    ///
    /// - Returns: how many messages were taken some of, and all messages then; nil for them when it does not fit without all.
    static func fewest(
        _ places: [Int], of generation: GenerationRequest, _ model: any LanguageModel, limit: Int
    ) async throws -> (count: Int, messages: [Message]?) {
        func fits(_ count: Int) async throws -> Bool {
            var smaller = generation
            smaller.messages = without(places.prefix(count), generation.messages)
            return try await model.promptTokens(of: smaller) <= limit
        }
        guard try await fits(places.count) else { return (places.count, nil) }
        var low = 1, high = places.count
        while low < high {
            let middle = (low + high) / 2
            if try await fits(middle) { high = middle } else { low = middle + 1 }
        }
        return (low, without(places.prefix(low), generation.messages))
    }
}
