public import AlcoveCore
internal import llama

/// A prompt as text, with the one distinction that keeps it safe: whose words are whose.
public struct RenderedPrompt: Sendable, Hashable {
    /// A stretch of the prompt.
    public struct Part: Sendable, Hashable {
        public var text: String
        /// True for words that came from outside: messages, tool declarations, tool results, file names. No spelling of
        /// a control token in them may ever become that token.
        public var isInput: Bool

        public init(text: String, isInput: Bool) {
            self.text = text
            self.isInput = isInput
        }
    }

    public var parts: [Part]
    /// Texts at which the template's format ends an answer.
    public var stops: [String]
    public var grammar: OutputGrammar?
    /// Control tokens whose spelling is part of the answer's text: markers that the parser looks for.
    public var preservedTokens: [String]
    public var parser: OutputParser
    /// Whether the template knows of reasoning.
    public var supportsThinking: Bool

    /// Texts that begin a call in this format.
    public var callMarkers: [String] {
        (grammar?.triggers ?? []).compactMap(\.beginning)
            + preservedTokens.filter { $0.contains("tool_call") || $0.contains("TOOL_CALL") }
    }

    public var text: String { parts.map(\.text).joined() }

    /// A text to go on from, without any template: somebody's words from end to end, and so is the answer.
    public static func raw(_ text: String) -> RenderedPrompt {
        RenderedPrompt(document: ["parts": [[.string(text), true]]])
    }

    init(document: JSONValue) {
        parts = (document["parts"]?.array ?? []).map { pair in
            Part(text: pair.array?.first?.string ?? "", isInput: pair.array?.last?.bool ?? true)
        }
        stops = (document["stops"]?.array ?? []).compactMap(\.string)
        supportsThinking = document["supports_thinking"]?.bool ?? false
        parser = OutputParser(
            format: document["format"]?.int ?? 0, program: document["parser"]?.string ?? "",
            generationPrompt: document["generation_prompt"]?.string ?? "",
            reasoningStart: document["thinking_start"]?.string ?? "",
            reasoningEnds: (document["thinking_ends"]?.array ?? []).compactMap(\.string).filter { !$0.isEmpty })
        preservedTokens = (document["preserved_tokens"]?.array ?? []).compactMap(\.string)
        let text = document["grammar"]?.string ?? ""
        grammar =
            text.isEmpty
            ? nil
            : OutputGrammar(
                text: text, isLazy: document["grammar_lazy"]?.bool ?? false,
                triggers: (document["triggers"]?.array ?? []).map {
                    OutputGrammar.Trigger(
                        kind: $0["type"]?.int ?? 0, text: $0["value"]?.string ?? "", token: $0["token"]?.int ?? -1)
                })
    }
}

/// A grammar (GBNF) that the answer is held to.
public struct OutputGrammar: Sendable, Hashable {
    public struct Trigger: Sendable, Hashable {
        /// The library's `common_grammar_trigger_type`: 0 token, 1 word, 2 pattern, 3 full pattern.
        public var kind: Int
        static let token = 0
        static let word = 1
        static let pattern = 2
        static let fullPattern = 3
        public var text: String
        public var token: Int

        /// The pattern that llama-server makes of it; nil for a token.
        ///
        /// A word ends at its last visible character, as in `StreamingOutput`: models leave out the white space that the
        /// template writes behind it, and the grammar puts it back.
        public var pattern: String? {
            switch kind {
            case Trigger.word: Trigger.escaped(text.trimmingSpacesAtEnd())
            case Trigger.pattern: text
            case Trigger.fullPattern: (text.hasPrefix("^") ? "" : "^") + text + (text.hasSuffix("$") ? "" : "$")
            default: nil
            }
        }

        /// The text a match begins with; nil where the pattern only fits at the beginning of an answer.
        public var beginning: String? {
            guard let pattern, !pattern.hasPrefix("^") else { return nil }
            var text = ""
            var isEscaped = false
            for character in pattern {
                if isEscaped {
                    if character.isLetter { break }
                    text.append(character)
                    isEscaped = false
                } else if character == "\\" {
                    isEscaped = true
                } else if "([.*+?{|^$".contains(character) {
                    break
                } else {
                    text.append(character)
                }
            }
            return text.isEmpty ? nil : text
        }

        private static func escaped(_ text: String) -> String {
            text.reduce(into: "") { out, character in
                if "\\.^$|()[]{}*+?".contains(character) { out.append("\\") }
                out.append(character)
            }
        }
    }

    public var text: String
    /// Whether the grammar describes what the prompt ends in, too.
    public var coversPrompt = true
    /// A lazy grammar holds only after one of its triggers was seen.
    public var isLazy: Bool
    public var triggers: [Trigger]

    /// A grammar of every text that does not contain `word`, one state for each of its characters that was seen.
    static func without(_ word: String) -> OutputGrammar {
        let letters = Array(word.unicodeScalars)
        var rules: [String] = []
        for seen in letters.indices {
            // Where a character leads: to the longest beginning of the word that the text then ends in.
            var alternatives = [""]
            for next in Set(letters).sorted(by: { $0.value < $1.value }) {
                let state = overlap(letters, Array(letters[..<seen]) + [next])
                if state > 0, state < letters.count { alternatives.append("\(OutputGrammar.set([next])) s\(state)") }
            }
            alternatives.append("\(OutputGrammar.set(Array(Set(letters)), isNegated: true)) s0")
            for next in Set(letters) where overlap(letters, Array(letters[..<seen]) + [next]) == 0 {
                alternatives.append("\(OutputGrammar.set([next])) s0")
            }
            rules.append("s\(seen) ::= \(alternatives.joined(separator: " | "))")
        }
        return OutputGrammar(
            text: (["root ::= s0"] + rules).joined(separator: "\n"), coversPrompt: false, isLazy: false, triggers: [])
    }

    private static func overlap(_ word: [Unicode.Scalar], _ text: [Unicode.Scalar]) -> Int {
        (0...min(word.count, text.count)).reversed().first { text.suffix($0).elementsEqual(word.prefix($0)) } ?? 0
    }

    private static func set(_ letters: [Unicode.Scalar], isNegated: Bool = false) -> String {
        let codes = letters.sorted { $0.value < $1.value }.map { letter in
            let digits = String(letter.value, radix: 16, uppercase: true)
            return "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
        }
        return "[\(isNegated ? "^" : "")\(codes.joined())]"
    }

    /// The grammar of a JSON schema.
    ///
    /// - Throws: `TemplateError.badSchema` naming what cannot be compiled.
    public static func grammar(ofSchema schema: JSONValue) throws(TemplateError) -> String {
        do throws(TemplateError) {
            return try ChatLibrary.take(alcove_chat_schema_grammar(schema.text()))["grammar"]?.string ?? ""
        } catch .fault(let reason, _) {
            throw .badSchema(reason: reason)
        }
    }
}
