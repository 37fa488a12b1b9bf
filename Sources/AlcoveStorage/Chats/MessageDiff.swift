internal import AlcoveCore

/// How the stored messages of a chat become those handed in, touching as few rows as may be.
///
/// The page sends the whole history with every turn. What is the same at its beginning and at its end keeps its row; in
/// between a message that is known by its id is changed in place, and the rest goes and comes.
struct MessageDiff {
    enum Step: Equatable {
        /// Row of the stored message, by its index, at a new position or the same.
        case keep(stored: Int)
        case change(stored: Int)
        case insert
    }

    /// One for each message handed in, in order.
    private(set) var steps: [Step]
    /// Stored messages, by index, that are no more.
    private(set) var removed: [Int]

    init(stored: [StoredMessage], drafts: [MessageDraft]) {
        let shorter = min(stored.count, drafts.count)
        var prefix = 0
        while prefix < shorter, drafts[prefix].isSame(as: stored[prefix]) { prefix += 1 }
        var suffix = 0
        while suffix < shorter - prefix,
            drafts[drafts.count - 1 - suffix].isSame(as: stored[stored.count - 1 - suffix])
        {
            suffix += 1
        }
        let middle = prefix..<stored.count - suffix
        var open = Dictionary(uniqueKeysWithValues: middle.map { (stored[$0].id, $0) })
        steps = drafts.indices.map { index in
            if index < prefix { return .keep(stored: index) }
            if index >= drafts.count - suffix { return .keep(stored: index - drafts.count + stored.count) }
            guard let id = drafts[index].id, let known = open.removeValue(forKey: id) else { return .insert }
            return drafts[index].isSame(as: stored[known]) ? .keep(stored: known) : .change(stored: known)
        }
        removed = open.values.sorted()
    }

    var changesNothing: Bool {
        removed.isEmpty && steps.enumerated().allSatisfy { $0.element == .keep(stored: $0.offset) }
    }
}

extension MessageDraft {
    fileprivate func isSame(as stored: StoredMessage) -> Bool {
        (id == nil || id == stored.id) && (createdAt == nil || createdAt == stored.createdAt)
            && body.isSame(as: stored.body)
    }
}

extension MessageBody {
    /// Whether both say the same. The order of the extras is not compared: what we sent comes back in another.
    fileprivate func isSame(as other: MessageBody) -> Bool {
        role == other.role && content == other.content && thinking == other.thinking
            && extras.count == other.extras.count
            && extras.members.allSatisfy { other.extras[$0.key] == $0.value }
    }
}
