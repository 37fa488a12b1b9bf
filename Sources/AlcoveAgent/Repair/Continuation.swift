/// Whether an answer that broke off can be gone on with from its own words.
package enum Continuation {
    /// Shorter ones are quicker begun anew than explained.
    private static let fewestCharacters = 40

    /// What opens something that must not be cut in the middle, with what closes it.
    private static let pairs: [(open: String, close: [String])] = [
        ("<tool_call>", ["</tool_call>"]), ("<|tool_call>", ["<tool_call|>", "</tool_call>"]),
        ("<function=", ["</function>"]), ("<parameter=", ["</parameter>"]), ("<arg_key>", ["</arg_key>"]),
        ("<arg_value>", ["</arg_value>"]), ("<think>", ["</think>"]), ("<|channel>", ["<channel|>", "<|message|>"]),
        ("<|channel|>", ["<channel|>", "<|message|>"]), ("<|start|>", ["<|end|>"]),
    ]

    package static let instruction =
        "Your answer above was interrupted. Continue it exactly where it stopped, without repeating anything and without "
        + "mentioning the interruption."

    package static func isPossible(from text: String) -> Bool {
        guard text.count >= fewestCharacters else { return false }
        return pairs.allSatisfy { pair in
            guard let opened = last(pair.open, in: text) else { return true }
            let closed = pair.close.compactMap { last($0, in: text) }.max()
            return closed.map { opened < $0 } ?? false
        }
    }

    private static func last(_ mark: String, in text: String) -> String.Index? {
        text.ranges(of: mark).last?.lowerBound
    }
}
