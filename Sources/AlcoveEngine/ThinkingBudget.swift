internal import AlcoveCore

/// Counts tokens until the answer's first word.
struct ThinkingBudget {
    /// Most tokens of reasoning.
    let tokens: Int
    private var used = 0
    private var isReasoning = false
    private var hasAnswered = false

    init(tokens: Int) { self.tokens = tokens }

    /// Takes what one token brought.
    mutating func isSpent(by events: [GenerationEvent]) -> Bool {
        guard !hasAnswered else { return false }
        used += 1
        for event in events {
            switch event {
            case .reasoning: isReasoning = true
            case .text, .toolCallPart, .toolCall, .brokenToolCall: hasAnswered = true
            case .promptProgress, .chance, .notice, .finished: break
            }
        }
        return isReasoning && !hasAnswered && used >= tokens
    }
}
