internal import AlcoveCore

/// Makes a conversation fit: whole rounds go, the oldest first, never the instructions, the task or the newest results.
struct Compaction {
    /// Nothing more may go, and it still does not fit.
    struct Overflow: UserFacingError, Equatable {
        let tokens: Int
        let limit: Int
        var code: String { "prompt_too_long" }
        var place: ErrorPlace { .request }
        var message: String { "The chat needs \(tokens) tokens and the model holds \(limit)." }
        var hint: String? { "Begin a new chat, shorten the message, or give the model a larger --context." }
    }

    struct Smaller {
        var messages: [Message]
        /// What went, as the subject of a sentence: "3 earlier messages were".
        var what: String
    }

    let model: any LanguageModel
    let limit: Int

    /// - Parameter requestCount: How many of the messages the request brought; later ones are this run's.
    /// - Returns: nil when nothing that may go would make it fit.
    func compacted(_ generation: GenerationRequest, protecting requestCount: Int) async throws -> Smaller? {
        let groups = Compaction.groups(generation.messages)
        let removable = groups.indices.filter { groups[$0].mayGo }
        guard !removable.isEmpty else { return nil }
        // The smallest number of oldest groups that is enough, found by halving.
        var low = 1, high = removable.count
        guard try await fits(generation, groups, without: removable.prefix(high)) else { return nil }
        while low < high {
            let middle = (low + high) / 2
            if try await fits(generation, groups, without: removable.prefix(middle)) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        let gone = Set(removable.prefix(low))
        let messages = groups.indices.filter { !gone.contains($0) }.flatMap { groups[$0].messages }
        let count = generation.messages.count - messages.count
        return Smaller(
            messages: messages, what: count == 1 ? "1 earlier message was" : "\(count) earlier messages were")
    }

    private func fits(
        _ generation: GenerationRequest, _ groups: [Group], without gone: ArraySlice<Int>
    ) async throws -> Bool {
        var smaller = generation
        let gone = Set(gone)
        smaller.messages = groups.indices.filter { !gone.contains($0) }.flatMap { groups[$0].messages }
        return try await model.promptTokens(of: smaller) <= limit
    }

    /// Messages that stay or go together: a call with its results, a question with its answer.
    struct Group {
        var messages: [Message]
        var mayGo: Bool
    }

    static func groups(_ messages: [Message]) -> [Group] {
        let task = messages.lastIndex { $0.role == .user } ?? messages.count - 1
        var groups: [Group] = []
        for (index, message) in messages.enumerated() {
            let isInstruction = message.role == .system || message.role == .developer
            let opensGroup = isInstruction || message.role == .user || (message.role == .assistant && index > task)
            if opensGroup || groups.isEmpty || groups[groups.count - 1].messages.contains(where: { $0.role == .system })
            {
                groups.append(Group(messages: [message], mayGo: !isInstruction && index != task))
            } else {
                groups[groups.count - 1].messages.append(message)
            }
        }
        // The newest round is what the model is about to answer from.
        if let last = groups.indices.last, groups[last].messages.contains(where: { $0.role == .tool }) {
            groups[last].mayGo = false
        }
        return groups
    }
}
