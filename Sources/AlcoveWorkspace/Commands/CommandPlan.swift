package import AlcoveCore

/// What an explicit request comes to: calls in their order, known before anything runs.
package struct CommandPlan: Sendable, Hashable {
    /// One call of a tool.
    package struct Step: Sendable, Hashable {
        package var tool: String
        package var arguments: JSONObject
        /// The person's words it comes from.
        package var words: String

        package init(tool: String, arguments: JSONObject, words: String) {
            self.tool = tool
            self.arguments = arguments
            self.words = words
        }
    }

    package var steps: [Step]

    package init(steps: [Step]) { self.steps = steps }

    /// Longest message that is looked at.
    package static let lengthLimit = 4_000
    /// Most parts that are told apart; a plan of more is refused all the same.
    private static let partLimit = 100

    /// The plan of a message that consists of nothing but commands; nil for every other message, which is then ordinary
    /// conversation.
    ///
    /// Parts are joined by "then" or "然后". Quotation marks hold a text together that has these words in it.
    package init?(_ message: String) {
        guard message.count <= CommandPlan.lengthLimit else { return nil }
        let parts = CommandParts(message).parts
        guard !parts.isEmpty, parts.count <= CommandPlan.partLimit else { return nil }
        var steps: [Step] = []
        for part in parts {
            guard let step = CommandGrammar.step(part) else { return nil }
            steps.append(step)
        }
        self.steps = steps
    }

    /// Refuses what a run may not do, before anything of it is done.
    package func check(limit: Int?) throws(InputError) {
        if let limit, steps.count > limit {
            throw InputError(
                code: "plan_too_long",
                message:
                    "This asks for \(steps.count) steps and a run has at most \(limit), so nothing of it was done.",
                hint: "Send it in parts.")
        }
        for (index, step) in steps.enumerated()
        where steps[..<index].contains(where: { $0.tool == step.tool && $0.arguments == step.arguments }) {
            throw InputError(
                code: "plan_repeats",
                message: "Step \(index + 1) (\(step.words)) is asked for twice, so nothing of it was done.",
                hint: "Leave one of them out, or send it by itself.")
        }
    }

    /// For people: which tools, in which order.
    package var summary: String {
        "Plan: " + steps.enumerated().map { "\($0.offset + 1). \($0.element.tool)" }.joined(separator: ", ") + "."
    }
}

/// A message cut at its joints.
struct CommandParts {
    private(set) var parts: [String] = []

    init(_ message: String) {
        let letters = Array(message)
        var current = ""
        var closing: Character?
        var index = 0
        while index < letters.count {
            let letter = letters[index]
            if closing == nil, let length = CommandParts.fence(letters, index) {
                // Code is never cut, whatever words are in it.
                current += String(letters[index..<index + length])
                index += length
            } else if let end = closing {
                if letter == end { closing = nil }
                current.append(letter)
                index += 1
            } else if let end = CommandText.quotes[letter],
                letters[(index + 1)...].contains(end), CommandParts.opens(letters, index)
            {
                closing = end
                current.append(letter)
                index += 1
            } else if let length = CommandParts.joint(letters, index, after: current) {
                parts.append(current)
                current = ""
                index += length
            } else {
                current.append(letter)
                index += 1
            }
        }
        parts.append(current)
        parts = parts.map(CommandText.trimmed)
        if parts.contains("") { parts = [] }
    }

    /// Characters of a fenced block that begins here, its marks with it.
    private static func fence(_ letters: [Character], _ index: Int) -> Int? {
        let mark: [Character] = ["`", "`", "`"]
        guard letters[index] == "`", letters[index...].starts(with: mark) else { return nil }
        var end = index + 3
        while end < letters.count {
            if letters[end] == "`", letters[end...].starts(with: mark) { return end + 3 - index }
            end += 1
        }
        return nil
    }

    /// A straight quotation mark opens only before a word, so that 5" or an apostrophe holds nothing together.
    private static func opens(_ letters: [Character], _ index: Int) -> Bool {
        index == 0 || letters[index] != "\"" || letters[index - 1].isWhitespace || ":：(（".contains(letters[index - 1])
    }

    /// Characters of a joint that begins here.
    private static func joint(_ letters: [Character], _ index: Int, after current: String) -> Int? {
        let rest = letters[index...]
        for word in ["然后", "接着"] where rest.starts(with: word) {
            // Inside a sentence only after a mark: a title may hold the word.
            guard let last = current.last(where: { !$0.isWhitespace }), "，,。；;、.".contains(last) else { continue }
            return word.count
        }
        guard index == 0 || letters[index - 1].isWhitespace || letters[index - 1].isPunctuation else { return nil }
        for word in ["and then", "then"] {
            let end = index + word.count
            guard end < letters.count, letters[index..<end].elementsEqual(word, by: { $0.lowercased() == String($1) }),
                letters[end].isWhitespace || letters[end] == ","
            else { continue }
            return word.count
        }
        return nil
    }
}

/// Trimming and unwrapping of what people type.
enum CommandText {
    static let quotes: [Character: Character] = ["\"": "\"", "“": "”", "「": "」", "『": "』", "«": "»"]

    /// Without white space and joining marks at both ends.
    static func trimmed(_ text: String) -> String {
        var view = text[...]
        while let first = view.first, first.isWhitespace || "，,；;。、".contains(first) { view.removeFirst() }
        while let last = view.last, last.isWhitespace || "，,；;。、.".contains(last) { view.removeLast() }
        return String(view)
    }

    /// The inside of a fenced block that holds all of a text, without the language's name; else the text.
    static func unfenced(_ text: String) -> String {
        guard text.hasPrefix("```"), text.hasSuffix("```"), text.count > 6 else { return text }
        let inside = text.dropFirst(3).dropLast(3)
        guard let line = inside.firstIndex(where: \.isNewline) else { return String(inside) }
        return String(inside[inside.index(after: line)...])
    }

    /// The text inside one pair of quotation marks that hold all of it, else the text.
    static func unquoted(_ text: String) -> String {
        let text = trimmed(text)
        guard let first = text.first, let end = quotes[first], text.count > 2, text.last == end,
            !text.dropFirst().dropLast().contains(end)
        else { return text }
        return String(text.dropFirst().dropLast())
    }
}
