package import AlcoveCore

/// Makes a conversation fit: whole rounds go, the oldest first, never the instructions, the task or the newest results.
package struct Compaction {
    /// Nothing more may go, and it still does not fit.
    struct Overflow: UserFacingError, Equatable {
        let tokens: Int
        let limit: Int
        var code: String { "prompt_too_long" }
        var place: ErrorPlace { .request }
        var message: String { "The chat needs \(tokens) tokens and the model holds \(limit)." }
        var hint: String? {
            "Begin a new chat, shorten the message, or give the model a larger context (Settings, or --context)."
        }
    }

    struct Smaller {
        var messages: [Message]
        /// Tokens of the conversation as it was.
        var needed: Int
        /// What went, as the subject of a sentence: "3 earlier messages were".
        var what: String
    }

    let model: any LanguageModel
    var window: Int { model.description.contextLength }

    /// - Returns: nil when everything fits beside room for an answer, or nothing may go and it fits without.
    /// - Throws: `Overflow` when what may not go leaves no room for a single token.
    func compacted(_ generation: GenerationRequest) async throws -> Smaller? {
        let needed = try await model.promptTokens(of: generation)
        let requested = generation.maxTokens ?? window
        let reserve = Compaction.preferredReserve(requested, window: window)
        guard needed + reserve > window else { return nil }
        // Pictures take most room and tell least: words are left alone as long as they are enough.
        let old = PictureTrimming.places(in: generation.messages)
        if !old.isEmpty {
            let (count, messages) = try await PictureTrimming.fewest(
                old, of: generation, model, limit: window - reserve)
            let what = count == 1 ? "an earlier picture or sound was" : "\(count) earlier pictures and sounds were"
            if let messages { return Smaller(messages: messages, needed: needed, what: what) }
            var plain = generation
            plain.messages = PictureTrimming.without(old[...], generation.messages)
            guard var smaller = try await withoutGroups(plain, needed: needed) else {
                return Smaller(messages: plain.messages, needed: needed, what: what)
            }
            smaller.what = "the earlier pictures and sounds, and then \(smaller.what)"
            return smaller
        }
        return try await withoutGroups(generation, needed: needed)
    }

    private func withoutGroups(_ generation: GenerationRequest, needed all: Int) async throws -> Smaller? {
        let needed = try await model.promptTokens(of: generation)
        let requested = generation.maxTokens ?? window
        guard needed + Compaction.preferredReserve(requested, window: window) > window else { return nil }
        let groups = Compaction.groups(generation.messages)
        let removable = groups.indices.filter { groups[$0].mayGo }
        let protected =
            removable.isEmpty
            ? needed : try await tokens(generation, groups, without: removable.prefix(removable.count))
        guard protected < window else { throw Overflow(tokens: protected, limit: window) }
        let limit = window - Compaction.replyReserve(requested, window: window, protected: protected)
        guard needed > limit, !removable.isEmpty else { return nil }
        // The smallest number of oldest groups that is enough, found by halving; all of them when even that is not.
        var low = 1, high = removable.count
        while low < high {
            let middle = (low + high) / 2
            if try await tokens(generation, groups, without: removable.prefix(middle)) <= limit {
                high = middle
            } else {
                low = middle + 1
            }
        }
        let messages = Compaction.messages(groups, without: removable.prefix(low))
        let count = generation.messages.count - messages.count
        return Smaller(
            messages: messages, needed: all,
            what: count == 1 ? "1 earlier message was" : "\(count) earlier messages were")
    }

    /// Tokens kept free for the answer when there is plenty of room.
    static func preferredReserve(_ requested: Int, window: Int) -> Int { min(requested, window / 4) }

    /// Tokens kept free for the answer beside what may not go: less than preferred when that is most of the window.
    ///
    /// - Parameter protected: Tokens of the instructions, the task and the newest results.
    package static func replyReserve(_ requested: Int, window: Int, protected: Int) -> Int {
        let preferred = preferredReserve(requested, window: window)
        let free = window - 1 - protected
        if free >= 2 * preferred { return preferred }
        return min(preferred, max(free / 2, min(requested, 1024)))
    }

    private func tokens(
        _ generation: GenerationRequest, _ groups: [Group], without gone: ArraySlice<Int>
    ) async throws -> Int {
        var smaller = generation
        smaller.messages = Compaction.messages(groups, without: gone)
        return try await model.promptTokens(of: smaller)
    }

    private static func messages(_ groups: [Group], without gone: ArraySlice<Int>) -> [Message] {
        let gone = Set(gone)
        return groups.indices.filter { !gone.contains($0) }.flatMap { groups[$0].messages }
    }

    /// Messages that stay or go together: a call with its results, a question with its answer.
    package struct Group {
        package var messages: [Message]
        package var mayGo: Bool
        var isInstruction = false
    }

    package static func groups(_ messages: [Message]) -> [Group] {
        let task = messages.lastIndex { $0.role == .user && !$0.isFromHost } ?? messages.count - 1
        var groups: [Group] = []
        for (index, message) in messages.enumerated() {
            let isInstruction = message.role == .system || message.role == .developer
            let opensGroup =
                isInstruction || (message.role == .user && !message.isFromHost)
                || (message.role == .assistant && index > task)
            if opensGroup || groups.isEmpty || groups[groups.count - 1].isInstruction {
                groups.append(
                    Group(messages: [message], mayGo: !isInstruction && index != task, isInstruction: isInstruction))
            } else {
                groups[groups.count - 1].messages.append(message)
            }
        }
        // The newest round is what the model is about to answer from.
        if let last = groups.indices.last, groups[last].messages.contains(where: { $0.role == .tool || $0.isFromHost })
        {
            groups[last].mayGo = false
        }
        return groups
    }
}
